"""Objects with ``__dlpack__``: arrays of paddle and other libraries, whose current stream is unknown."""

from __future__ import annotations

from .. import _objects, errors
from .._base.cuda_streams import stream_number
from .._base.devices import is_host
from .._base.library import ffi, lib
from .._base.library_calls import created
from .._base.optional_packages import module
from .._memory.context import pointer_of
from .._memory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._base.devices import Place
    from .._memory.context import Context
    from .._memory.device_site import Site

_VERSION = (1, 3)
_packages: dict[type, str] = {}


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    return enter_with(lambda value, place: None, value, site, operand)


def enter_with(stream_of: Callable[[Any, Place], Any], value: Any, site: Site | None, operand: str) -> Memory:
    """The same as `enter` with a function that returns the current stream of the array's library."""
    try:
        if site is None:
            return of_capsule(host_capsule(value), None)
        if is_host(place_of(value, operand)):  # pinned memory, which the device reads in stream order
            return of_capsule(host_capsule(value), site.context)
        return device_tensor(value, site, stream_of(value, site.place))
    except (BufferError, AttributeError, ValueError, RuntimeError, TypeError) as error:
        if isinstance(error, errors.Error):
            raise
        raise refused(value, operand, error) from error


def refused(value: Any, operand: str, error: Exception) -> errors.DTypeError:
    """Returns an error with the first line of another library's message. A stack dump may follow that line."""
    return errors.dtype_error(operand, f"{type(value).__name__}: {str(error).partition(chr(10))[0]}")


enter_output = enter


def place_of(value: Any, operand: str) -> Place:
    try:
        kind, number = value.__dlpack_device__()
    except (BufferError, AttributeError, ValueError, RuntimeError, TypeError) as error:
        raise refused(value, operand, error) from error
    return int(kind), int(number)


def host_capsule(value: Any) -> Any:
    """Returns a capsule. The exchange table of a type is many times faster than its method."""
    table = exchange_of(type(value))
    return _objects.exchange_out_of(table, value) if table else protocol_capsule(value, {})


def device_tensor(value: Any, site: Site, current: Any) -> Memory:
    """Returns a tensor over device memory. Its use is ordered with the work of the array's library."""
    if current is not None and stream_number(current) == site.stream:
        # The streams are the same. The array's library also releases memory in the order of this stream.
        return of_capsule(protocol_capsule(value, {"stream": -1}), None)
    capsule = protocol_capsule(value, {"stream": site.stream})
    if current is not None:
        site.precede(stream_number(current))
    return of_capsule(capsule, site.context)


def protocol_capsule(value: Any, keywords: dict[str, Any]) -> Any:
    try:
        return value.__dlpack__(max_version=_VERSION, **keywords)
    except TypeError:
        return value.__dlpack__(**keywords)  # the producer is older than DLPack 1.0


def exchange_of(kind: type) -> Any:
    """Returns the C exchange table of a type, or None. Older releases have an address under another name."""
    table = getattr(kind, "__dlpack_c_exchange_api__", None)
    return table if type(table).__name__ == "PyCapsule" else None


def of_capsule(capsule: Any, context: Context | None) -> Memory:
    """Creates a tensor from a capsule, and consumes the capsule. With a context, its stream orders the release."""
    if '"dltensor_versioned"' in repr(capsule):
        name, struct, function = "dltensor_versioned", "DLManagedTensorVersioned", lib.gth_tensor_from_dlpack
    else:
        name, struct, function = "dltensor", "DLManagedTensor", lib.gth_tensor_from_dlpack_legacy
    managed = ffi.cast(f"struct {struct} *", _objects.capsule_address(capsule, name))
    handle = created(function, pointer_of(context), managed)
    _objects.dlpack_used(capsule)
    return Memory._of_handle(handle)


def package_of(kind: type) -> str:
    """Returns "torch", "cupy" or "paddle" if a type or one of its bases comes from it, else an empty string."""
    package = _packages.get(kind)
    if package is None:
        packages = (str(base.__module__).partition(".")[0] for base in kind.__mro__)
        package = next((package for package in packages if package in ("torch", "cupy", "paddle")), "")
        _packages[kind] = package
    return package


def leave(tensor: Memory, like: Any) -> Any:
    table = exchange_of(type(like))
    if table and tensor.device == "cpu":
        return _objects.exchange_into(table, tensor.__dlpack__(max_version=_VERSION))
    package = package_of(type(like))
    if package == "paddle":
        return module("paddle").utils.dlpack.from_dlpack(tensor)
    if package in ("torch", "cupy"):
        return module(package).from_dlpack(tensor)
    if hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack(tensor)
    return tensor
