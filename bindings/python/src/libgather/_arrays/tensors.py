"""Tensors of this library."""

from __future__ import annotations

from .. import errors
from .._base.devices import HOST
from .._memory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.devices import Place
    from .._memory.device_site import Site


def enter(value: Memory, site: Site | None, operand: str) -> Memory:
    if not isinstance(value, Memory):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if value._handle is None:
        raise errors.closed(operand)
    if site is not None:
        site.follow(value._live_context)
    return value


def place_of(value: Memory, operand: str) -> Place:
    if not isinstance(value, Memory) or value._handle is None:
        return HOST  # enter() rejects the value
    return value._desc[1:3]  # type: ignore[no-any-return]


def enter_output(value: Memory, site: Site | None, operand: str) -> Memory:
    return enter(value, site, operand)


def leave(tensor: Memory, like: object) -> Memory:
    return tensor
