"""CUDA streams as callers name them: numbers as ``__dlpack__`` takes them, or the objects of array libraries."""

from __future__ import annotations

from . import errors
from ._numbers import integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The legacy default stream, which CUDA itself calls 0 too, and the default stream of each thread.
LEGACY, PER_THREAD = 1, 2
# Of torch, CuPy, and PyCUDA and numba.
_ATTRIBUTES = ("cuda_stream", "ptr", "handle")


def stream_number(stream: Any) -> int:
    """A stream as its number: an integer, or an object of ``__cuda_stream__``, torch, CuPy, PyCUDA or numba."""
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    else:
        stream = next((getattr(stream, name) for name in _ATTRIBUTES if hasattr(stream, name)), stream)
    number = integer("stream", getattr(stream, "value", stream), 65)  # numba's handles are of ctypes
    if number < 0:
        raise errors.dtype_error("options", f"stream {number} is no stream")
    return number or LEGACY
