"""Contexts: a device, a stream, and how many threads calls may use."""

from __future__ import annotations

from . import _constants as c
from . import errors
from ._call import call, created, new
from ._library import NULL, ffi, lib, token
from ._options import integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEVICES = {"cpu": c.DEVICE_CPU, "cuda": c.DEVICE_CUDA}


class Context:
    """Where calls run. Without one, calls run on the CPU with all threads that this process may use.

    Args:
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``
        stream: the CUDA stream as an integer, as ``__dlpack__`` takes it: 1 legacy, 2 per thread, else a handle
        threads: the most CPU threads a call may use; 0: all that this process may use

    Raises:
        DeviceError: no such device, or a library without CUDA

    >>> import libgather
    >>> with libgather.Context(threads=1) as context:
    ...     print(list(libgather.gather(bytearray(b"abc"), [2, 0], context=context)))
    [99, 97]
    """

    def __init__(self, device: str = "cpu", *, stream: int | None = None, threads: int = 0) -> None:
        kind, _, number = str(device).partition(":")
        if kind not in _DEVICES or (number and not number.isdecimal()):
            known = ", ".join(f"{kind!r}" for kind in _DEVICES)
            message = f"options: device {device!r} is none of {known}, or one with its number as in 'cuda:0'"
            raise errors.DeviceError(message, status=c.E_DEVICE, operand="options")
        options = new("gth_context_options")
        options.device = _DEVICES[kind]
        options.device_id = integer("device number", int(number or 0), 32)
        options.threads = integer("threads", threads, 32)
        if stream:
            options.stream = ffi.cast("struct CUstream_st *", stream)
        self._handle: Any = created("gth_context", lib.gth_context_release, lib.gth_context_create, options)
        self._token = token(self._handle)
        self._stream = stream
        self.device = str(device)

    def close(self) -> None:
        """Releases the context; tensors made with it stay valid. Calls with it raise Error from then on."""
        ffi.release(self._handle)  # The token stays: the library knows that it is no longer alive.

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"libgather.Context({self.device!r})"

    @property
    def _pointer(self) -> Any:
        return ffi.cast("gth_context *", self._token)

    def sync(self) -> None:
        """Waits for the work that was enqueued on the context's stream. On the CPU there is none."""
        call(lib.gth_context_sync, self._pointer)

    def wait(self, stream: int) -> None:
        """Makes the context's stream wait for what `stream` has been given so far."""
        call(lib.gth_context_wait, self._pointer, ffi.cast("struct CUstream_st *", stream))

    def signal(self, stream: int) -> None:
        """Makes `stream` wait for what the context's stream has been given so far."""
        call(lib.gth_context_signal, self._pointer, ffi.cast("struct CUstream_st *", stream))

    def take_error(self) -> None:
        """Waits for the stream and raises the first error of the device calls since the last take, if there is one."""
        call(lib.gth_context_take_error, self._pointer)

    def enqueue_take_error(self, record: int) -> None:
        """Enqueues a copy of the error record to the 64 bytes at the address `record` of device or pinned memory."""
        call(lib.gth_context_enqueue_take_error, self._pointer, ffi.cast("gth_error_record *", record))


def pointer_of(context: Context | None) -> Any:
    return NULL if context is None else checked(context)._pointer


def checked(context: object) -> Context:
    if not isinstance(context, Context):
        raise errors.dtype_error("context", f"{type(context).__name__} is not a libgather.Context")
    return context
