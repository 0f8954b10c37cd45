"""Values that are not arrays."""

from __future__ import annotations

from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .._memory.device_site import Site


def enter(value: Any, site: Site | None, operand: str) -> NoReturn:
    raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")


def enter_output(value: Any, site: Site | None, operand: str) -> NoReturn:
    enter(value, site, operand)
