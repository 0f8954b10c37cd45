"""Contexts: a device, a stream, and the number of threads of a call."""

from __future__ import annotations

from .. import _objects, errors
from .. import types as t
from .._base.cuda_streams import LEGACY, PER_THREAD, stream_number, this_thread
from .._base.devices import is_host, name_of, place_named
from .._base.integers import integer
from .._base.library import NULL, ffi, lib, token
from .._base.library_calls import call, new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._objects import Handle

_CONTEXT = ffi.typeof("gth_context *")


class Context:
    """The device and the stream of calls. Calls without a context run on the CPU with all threads of the process.

    Args:
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        stream: The CUDA stream, which must outlive the context. It is an integer as in ``__dlpack__`` (1 legacy, 2 per
            thread, else a handle), or a stream of torch, CuPy, numba or ``__cuda_stream__``. None means the legacy
            stream.
        threads: The largest number of CPU threads of a call. 0 means all that the process may use.

    Raises:
        DeviceError: The device does not exist, or the library has no CUDA.

    >>> import libgather
    >>> with libgather.Context(threads=1) as context:
    ...     print(list(libgather.gather(bytearray(b"abc"), [2, 0], context=context)))
    [99, 97]
    """

    def __init__(self, device: str = "cpu", *, stream: t.Any = None, threads: int = 0) -> None:
        self._place = place_named(device)
        #: The name of the device, such as ``"cuda:0"``.
        self.device: str = name_of(self._place)
        # Each call on a device reads these two.
        self._is_device = not is_host(self._place)
        self._number = LEGACY if stream is None else stream_number(stream)
        #: The thread that a per-thread stream belongs to, else None.
        self._thread = this_thread() if self._number == PER_THREAD else None
        self._keep = stream
        self._busy = self._closed = False
        options = new("gth_context_options")
        options.device, options.device_id = self._place
        options.threads = integer("threads", threads, 32)
        if stream is not None:
            options.stream = ffi.cast("struct CUstream_st *", self._number)
        made = ffi.new("gth_context **")
        call(lib.gth_context_create, options, made)
        self._handle = _objects.handle(token(made[0]))

    def close(self) -> None:
        """Releases the context after the calls that use it. Tensors made with it stay valid.

        Later calls with it raise Error.
        """
        self._closed = True
        self._handle.close()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __copy__(self) -> Context:
        return self

    def __deepcopy__(self, memo: object) -> Context:
        return self

    def __reduce__(self) -> t.Any:
        raise TypeError("a Context is of one process and cannot be pickled: make one where it is needed")

    def __repr__(self) -> str:
        return f"libgather.Context({self.device!r})"

    @property
    def _pointer(self) -> t.Any:
        """The library's pointer. The handle is not released while the pointer exists."""
        number = self._handle.enter()
        if number is None:
            raise errors.closed("context")
        return ffi.gc(ffi.cast(_CONTEXT, number), self._handle.leave)

    @property
    def _is_here(self) -> bool:
        """True if the number refers to the stream in this thread. Number 2 is another stream in each thread."""
        return self._thread is None or self._thread is this_thread()

    @property
    def stream(self) -> int | None:
        """The number of the stream; None on the CPU."""
        return self._number if self._is_device else None

    def _note_work(self) -> None:
        """Records that the stream has work, which may leave an error."""
        self._busy = True

    def sync(self) -> None:
        """Waits for the work on the context's stream. Raises the first error of its calls since the last sync.

        A call on device arrays returns before the device has finished. So it cannot report an index out of bounds.
        After such an error, a new output has zeros, and `out` is unchanged. On the CPU there is nothing to wait for.

        A call that was captured into a CUDA graph runs on the stream that the graph is launched on. If that is another
        stream than the context's, call :meth:`wait` with it first. This function then raises the error.

        Raises:
            IndexError: An index is out of bounds.
            DeviceError: A CUDA call failed.
        """
        self._wait_for_work()
        self.take_error()

    def _wait_for_work(self) -> None:
        """Waits as :meth:`sync` does, but raises no error of a call. The next sync raises it."""
        call(lib.gth_context_sync, self._pointer)

    def wait(self, stream: t.Any) -> None:
        """Makes the context's stream wait for the work that `stream` has so far."""
        call(lib.gth_context_wait, self._pointer, ffi.cast("struct CUstream_st *", stream_number(stream)))

    def signal(self, stream: t.Any) -> None:
        """Makes `stream` wait for the work that the context's stream has so far."""
        call(lib.gth_context_signal, self._pointer, ffi.cast("struct CUstream_st *", stream_number(stream)))

    def take_error(self) -> None:
        """Waits for the stream. Raises the first error of its device calls since the last call, if there is one."""
        self._busy = False  # set before the wait, which does not include later calls of other threads
        call(lib.gth_context_take_error, self._pointer)

    def enqueue_take_error(self, record: int) -> None:
        """Enqueues a copy of the error record.

        It writes 64 bytes at the address `record` of device or pinned memory.
        """
        call(lib.gth_context_enqueue_take_error, self._pointer, ffi.cast("gth_error_record *", record))


def pointer_of(context: Context | None) -> t.Any:
    return NULL if context is None else checked(context)._pointer


def handle_of(context: Context | None) -> Handle | None:
    return None if context is None else checked(context)._handle


def checked(context: object) -> Context:
    if not isinstance(context, Context):
        raise errors.dtype_error("context", f"{type(context).__name__} is not a libgather.Context")
    return context
