"""Calls of the library through cffi: creates structs and tensors, and converts a status to an exception."""

from __future__ import annotations

from .. import errors
from .library import ffi, lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# cffi parses a type name at each use, so the types of frequent calls are looked up once.
_STRUCTS = {
    kind: (ffi.typeof(f"{kind} *"), ffi.sizeof(kind))
    for kind in (
        "gth_error",
        "gth_tensor_desc",
        "gth_request",
        "gth_context_options",
        "gth_capability_info",
        "gth_segment",
        "gth_files_options",
        "gth_files_stats",
    )
}
_TENSOR, _TENSORS, _EXTENTS = map(ffi.typeof, ("gth_tensor *", "gth_tensor **", "int64_t[]"))


def new(kind: str) -> Any:
    """Returns a struct of the library. Its size is set, and all other fields are zero."""
    pointer, size = _STRUCTS[kind]
    struct = ffi.new(pointer)
    struct.size = size
    return struct


def extents(values: Any) -> Any:
    """Returns integers as a C array."""
    return ffi.new(_EXTENTS, values)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter is the error. Raises the error if the call fails."""
    error = new("gth_error")
    if function(*arguments, error):
        raise errors.of_struct(error)


def owned(tensor: Any) -> Any:
    """Returns the handle of a tensor, or of its token. It is released when the returned object is collected."""
    return ffi.gc(ffi.cast(_TENSOR, tensor), lib.gth_tensor_release)


def created(function: Any, *arguments: Any) -> Any:
    """Returns the handle of the tensor that a function creates, as `owned`.

    The last two parameters of the function are the handle and the error.
    """
    out = ffi.new(_TENSORS)
    call(function, *arguments, out)
    return owned(out[0])
