"""Calls of the library: creates its structs, and converts a status to an exception."""

from __future__ import annotations

from .. import _objects, errors
from .constants import MAX_NDIM
from .library import ffi, token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# cffi parses a type name at each use, so the types of frequent calls are looked up once.
_STRUCTS = {
    kind: (ffi.typeof(f"{kind} *"), ffi.sizeof(kind))
    for kind in (
        "gth_error",
        "gth_options",
        "gth_tensor_desc",
        "gth_request",
        "gth_plan_args",
        "gth_context_options",
        "gth_capability_info",
        "gth_shards",
        "gth_parts",
    )
}
_HANDLES = {kind: ffi.typeof(f"{kind} **") for kind in ("gth_context", "gth_tensor", "gth_plan")}
_POINTERS = {kind: ffi.typeof(f"{kind} *") for kind in ("gth_context", "gth_plan")}
_SHAPE = ffi.typeof("int64_t[]")


def new(kind: str) -> Any:
    """Returns a struct of the library. Its size is set, and all other fields are zero."""
    pointer, size = _STRUCTS[kind]
    struct = ffi.new(pointer)
    struct.size = size
    return struct


def extents(values: Any) -> Any:
    """Returns integers as a C array, or a C array of zeros of the given length."""
    return ffi.new(_SHAPE, values)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter is the error. Raises the error if the call fails."""
    error = new("gth_error")
    if function(*arguments, error):
        raise errors.of_struct(error)


def made(kind: str, function: Any, *arguments: Any) -> Any:
    """Returns the handle that a function creates.

    The last two parameters of the function are the handle and the error.
    """
    out = ffi.new(_HANDLES[kind])
    call(function, *arguments, out)
    return out[0]


def created(kind: str, release: Any, function: Any, *arguments: Any) -> Any:
    """As `made`. The handle is released when the returned object is collected."""
    return ffi.gc(made(kind, function, *arguments), release)


def held(kind: str, function: Any, *arguments: Any) -> _objects.Handle:
    """The same as `made` for handles that may be closed during calls. Calls use it through `pointer_to`."""
    return _objects.handle(kind, token(made(kind, function, *arguments)))


def pointer_to(kind: str, handle: _objects.Handle, operand: str) -> Any:
    """Returns the library's pointer. The handle is not released while the pointer exists."""
    number = handle.enter()
    if number is None:
        raise errors.closed(operand)
    return ffi.gc(ffi.cast(_POINTERS[kind], number), handle.leave)


def shape_of(function: Any, *arguments: Any) -> tuple[int, ...]:
    """Returns the shape that a function of the library infers."""
    rows, shape = new("gth_tensor_desc"), extents(MAX_NDIM)
    call(function, *arguments, rows, MAX_NDIM, shape)
    return tuple(ffi.unpack(shape, rows.ndim)) if rows.ndim else ()
