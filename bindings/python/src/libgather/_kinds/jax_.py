"""JAX's arrays, which nothing may write to."""

from __future__ import annotations

from .. import errors
from .._memory import Memory
from .._modules import module
from .._places import HOST
from . import dlpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._places import Place
    from .._site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if isinstance(value, module("jax").core.Tracer):
        message = f"{type(value).__name__} has no value while JAX traces: jax.pure_callback() calls this with values"
        raise errors.dtype_error(operand, message)
    if not hasattr(value, "__dlpack_device__"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    return dlpack.enter(value, site, operand)


def place_of(value: Any, operand: str) -> Place:
    # What has no device, such as a tracer, is refused by enter().
    return dlpack.place_of(value, operand) if hasattr(value, "__dlpack_device__") else HOST


def leave(tensor: Memory, like: Any) -> Any:
    return module("jax").dlpack.from_dlpack(tensor)
