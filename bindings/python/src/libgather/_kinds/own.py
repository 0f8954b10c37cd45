"""Tensors of this library."""

from __future__ import annotations

from .. import errors
from .._places import HOST
from ..tensor import Tensor
from . import written as of_origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._places import Place
    from .._sites import Site


def enter(value: Tensor, site: Site | None, operand: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if value._handle is None:
        raise errors.closed(operand)
    if site is not None:
        site.follow(value._live_context)
    return value


def place_of(value: Tensor, operand: str) -> Place:
    if not isinstance(value, Tensor) or value._handle is None:
        return HOST  # enter() refuses it
    return value._desc[1:3]  # type: ignore[no-any-return]


def enter_output(value: Tensor, site: Site | None) -> Tensor:
    return enter(value, site, "out")


def written(value: Tensor) -> None:
    if value._origin is not None:
        of_origin(value._origin)


def leave(tensor: Tensor, like: object) -> Tensor:
    return tensor
