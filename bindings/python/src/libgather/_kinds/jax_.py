"""JAX's arrays, which nothing may write to."""

from __future__ import annotations

from .. import errors
from ..tensor import Tensor
from . import dlpack, module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context


def enter(value: Any, context: Context | None, operand: str) -> Tensor:
    if not hasattr(value, "__dlpack_device__"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    return dlpack.enter(value, context, operand)


def leave(tensor: Tensor, like: Any) -> Any:
    return module("jax").dlpack.from_dlpack(tensor)
