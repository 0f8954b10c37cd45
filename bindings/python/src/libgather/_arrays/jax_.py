"""Arrays of JAX, which are immutable."""

from __future__ import annotations

from functools import cache

from .. import errors
from .._base import constants as c
from .._base.devices import HOST
from .._base.dtypes import NUMBERS
from .._base.optional_packages import module
from .._memory.memory import Memory
from . import dlpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._base.request_fields import Request
    from .._memory.device_site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if isinstance(value, module("jax").core.Tracer):
        message = (
            f"{type(value).__name__} has no value while JAX traces: call libgather.jax, or this by jax.pure_callback()"
        )
        raise errors.dtype_error(operand, message)
    if not hasattr(value, "__dlpack_device__"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    check_alive(value, operand)
    if is_sharded(value):
        from . import numpy_

        return numpy_.enter(module("numpy").asarray(value), site, operand)
    return dlpack.enter(value, site, operand)


def check_alive(value: Any, operand: str) -> None:
    if has_values(value.__class__) and value.is_deleted():
        raise errors.ClosedError(f"{operand}: the array has been deleted", status=c.E_HANDLE, operand=operand)


def is_program(params: Any, indices: Any, request: Request) -> bool:
    """Returns whether JAX runs the call as a compiled program. Params must be on the CPU, and the request constant.

    JAX needs much longer to create an array from existing memory than to run a program.
    """
    fill = request.fill_value
    if not (fill is None or isinstance(fill, (str, int, float))) or request.bounds == "skip":
        return False
    if request.context is not None or request.threads is not None or request.stream is not None:
        return False
    return has_values(indices.__class__) and is_on_host(params) and is_dtype(params.dtype)


@cache  # the name of a NumPy dtype is slow
def is_dtype(dtype: Any) -> bool:
    return dtype.name in NUMBERS


def is_on_host(value: Any) -> bool:
    return has_values(value.__class__) and not value.is_deleted() and is_cpus(value.sharding)


def is_sharded(value: Any) -> bool:
    """Returns whether the array is on several devices of the CPU. DLPack has only arrays on one device."""
    return is_on_host(value) and len(value.sharding.device_set) > 1


@cache  # isinstance() is slow for JAX's classes
def has_values(kind: Any) -> bool:
    """Returns whether the arrays of a class are numbers in memory. Keys of random numbers are not."""
    jax = module("jax")
    return issubclass(kind, jax.Array) and not issubclass(kind, jax.core.Tracer) and hasattr(kind, "__dlpack__")


@cache  # a program has few shardings
def is_cpus(sharding: Any) -> bool:
    return all(device.platform == "cpu" for device in sharding.device_set)


def place_of(value: Any, operand: str) -> Place:
    if not hasattr(value, "__dlpack_device__"):
        return HOST  # for example a tracer, which enter() rejects
    check_alive(value, operand)
    return HOST if is_sharded(value) else dlpack.place_of(value, operand)


def leave(tensor: Memory, like: Any) -> Any:
    return module("jax").dlpack.from_dlpack(tensor)
