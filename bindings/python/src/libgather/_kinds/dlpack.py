"""Producers of DLPack: torch, CuPy, paddle and every other library that has ``__dlpack__``."""

from __future__ import annotations

from .. import _constants as c
from .. import _objects, errors
from .._call import created
from .._library import NULL, ffi, lib
from ..context import pointer_of
from ..tensor import Tensor
from . import module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context

_VERSION = (1, 3)


def enter(value: Any, context: Context | None, operand: str) -> Tensor:
    if getattr(value, "requires_grad", False):
        raise errors.dtype_error(operand, "it requires a gradient, which a gather would lose: pass detach() of it")
    if is_lazy(value):
        raise errors.dtype_error(operand, "its memory waits to be conjugated or negated: pass resolve_conj() of it")
    try:
        capsule = capsule_of(value, context)
        return of_capsule(capsule, context)
    except (BufferError, AttributeError, ValueError, RuntimeError, TypeError) as error:
        if isinstance(error, errors.Error):
            raise
        raise errors.dtype_error(operand, f"{type(value).__name__}: {error}") from error


def is_lazy(value: Any) -> bool:
    """torch's views whose memory holds other values than they show; its exchange table does not ask."""
    return any(getattr(value, name, bool)() for name in ("is_conj", "is_neg"))


def enter_output(value: Any, context: Context | None) -> Tensor:
    return enter(value, context, "out")


def capsule_of(value: Any, context: Context | None) -> Any:
    """A capsule, out of the exchange table where the type has one: it is many times faster than the method."""
    device = value.__dlpack_device__()
    if int(device[0]) == c.DEVICE_CPU:
        table = exchange_of(type(value))
        return _objects.exchange_out_of(table, value) if table else protocol_capsule(value, {})
    # 1 is the legacy default stream, on which a context without a stream works.
    return protocol_capsule(value, {"stream": (context and context._stream) or 1})


def protocol_capsule(value: Any, keywords: dict[str, Any]) -> Any:
    try:
        return value.__dlpack__(max_version=_VERSION, **keywords)
    except TypeError:
        return value.__dlpack__(**keywords)  # from before DLPack had versions


def exchange_of(kind: type) -> Any:
    """The C exchange table of a type; before it was a capsule it was an address under another name."""
    table = getattr(kind, "__dlpack_c_exchange_api__", None)
    return table if type(table).__name__ == "PyCapsule" else None


def of_capsule(capsule: Any, context: Context | None) -> Tensor:
    """A tensor over the memory of a capsule, which is used up."""
    if '"dltensor_versioned"' in repr(capsule):
        name, struct, function = "dltensor_versioned", "DLManagedTensorVersioned", lib.gth_tensor_from_dlpack
    else:
        name, struct, function = "dltensor", "DLManagedTensor", lib.gth_tensor_from_dlpack_legacy
    managed = ffi.cast(f"struct {struct} *", _objects.capsule_address(capsule, name))
    handle = created("gth_tensor", lib.gth_tensor_release, function, pointer_of(context) or NULL, managed)
    _objects.dlpack_used(capsule)
    return Tensor._of_handle(handle, context)


def leave(tensor: Tensor, like: Any) -> Any:
    table = exchange_of(type(like))
    if table and tensor.device == "cpu":
        return _objects.exchange_into(table, tensor.__dlpack__(max_version=_VERSION))
    package = type(like).__module__.partition(".")[0]
    if package == "paddle":
        return module("paddle").utils.dlpack.from_dlpack(tensor)
    if package in ("torch", "cupy"):
        return module(package).from_dlpack(tensor)
    if hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack(tensor)
    return tensor
