"""Tensors of this library."""

from __future__ import annotations

from .. import errors
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..context import Context


def enter(value: Tensor, context: Context | None, operand: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if value._handle is None:
        raise errors.closed(operand)
    return value


def enter_output(value: Tensor, context: Context | None) -> Tensor:
    return enter(value, context, "out")


def leave(tensor: Tensor, like: object) -> Tensor:
    return tensor
