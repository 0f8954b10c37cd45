"""CUDA streams of callers: numbers as in ``__dlpack__``, or stream objects of array libraries."""

from __future__ import annotations

from threading import local

from .. import errors
from .integers import integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The legacy default stream, which CUDA also calls 0, and the per-thread default stream.
LEGACY, PER_THREAD = 1, 2
# The attributes of the streams of torch, of CuPy, and of PyCUDA and numba.
_ATTRIBUTES = ("cuda_stream", "ptr", "handle")

_here = local()


def this_thread() -> object:
    """Returns an object of the current thread.

    No later thread has the same object. A number of a thread may be used again.
    """
    try:
        return _here.thread
    except AttributeError:
        _here.thread = object()
        return _here.thread


def stream_number(stream: Any) -> int:
    """Returns the number of a stream.

    A stream is an integer, or an object that has ``__cuda_stream__`` or comes from torch, CuPy, PyCUDA or numba.
    """
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    else:
        stream = next((getattr(stream, name) for name in _ATTRIBUTES if hasattr(stream, name)), stream)
    number = integer("stream", getattr(stream, "value", stream), 65)  # numba's handles are ctypes objects
    if number < 0:
        raise errors.dtype_error("options", f"stream {number} is no stream")
    return number or LEGACY
