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
    from .._request import Request
    from .._site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if isinstance(value, module("jax").core.Tracer):
        message = f"{type(value).__name__} has no value while JAX traces: jax.pure_callback() calls this with values"
        raise errors.dtype_error(operand, message)
    if not hasattr(value, "__dlpack_device__"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    return dlpack.enter(value, site, operand)


def quick(run: Any, params: Any, indices: Any, request: Request) -> Any:
    """On the CPU, through NumPy's views of the memory: it takes JAX longer to hand DLPack out."""
    from . import numpy_  # noqa: F401 - the C half makes NumPy's arrays from then on

    numpy = module("numpy")
    jax, is_jaxs = module("jax"), isinstance(indices, module("jax").Array)
    if not is_on_host(params) or (is_jaxs and not is_on_host(indices)):
        return NotImplemented
    result = run(numpy.asarray(params), numpy.asarray(indices) if is_jaxs else indices, None, request)
    if result is NotImplemented:
        return result
    return jax.dlpack.from_dlpack(result) if getattr(result, "ndim", 0) else jax.numpy.asarray(result)


def is_on_host(value: Any) -> bool:
    jax = module("jax")
    if not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
        return False
    return all(device.platform == "cpu" for device in value.devices())


def place_of(value: Any, operand: str) -> Place:
    # What has no device, such as a tracer, is refused by enter().
    return dlpack.place_of(value, operand) if hasattr(value, "__dlpack_device__") else HOST


def leave(tensor: Memory, like: Any) -> Any:
    return module("jax").dlpack.from_dlpack(tensor)
