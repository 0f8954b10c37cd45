"""Calls of the library: structs that know their size, and a status that becomes an exception."""

from __future__ import annotations

from . import errors
from ._library import ffi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def new(kind: str) -> Any:
    """A struct of the library, zero but for its size."""
    struct = ffi.new(kind + " *")
    struct.size = ffi.sizeof(kind)
    return struct


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last parameter is the error."""
    error = new("gth_error")
    if function(*arguments, error):
        raise errors.of_struct(error)


def created(kind: str, release: Any, function: Any, *arguments: Any) -> Any:
    """The handle that a function of the library makes in its last parameter but one, released when it is let go."""
    out = ffi.new(kind + " **")
    call(function, *arguments, out)
    return ffi.gc(out[0], release)


def shape_of(function: Any, *arguments: Any) -> tuple[int, ...]:
    """The answer of a shape query."""
    from ._constants import MAX_NDIM

    ndim, shape = ffi.new("int32_t *"), ffi.new("int64_t[]", MAX_NDIM)
    call(function, *arguments, MAX_NDIM, ndim, shape)
    return tuple(ffi.unpack(shape, ndim[0])) if ndim[0] else ()
