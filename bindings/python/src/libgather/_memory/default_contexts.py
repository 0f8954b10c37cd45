"""The contexts of calls without a context: one for each device and stream, kept for later calls."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import OrderedDict

from .. import errors
from .. import types as t
from .._base.cuda_streams import PER_THREAD, this_thread
from .context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.devices import Place

Key = tuple[int, int, object]

#: The largest number of contexts. Programs have fewer streams. The eviction of a context waits for its stream, and a
#: CUDA graph may have been captured with the context.
LIMIT = 1024
_contexts: OrderedDict[Key, Context] = OrderedDict()
_lost: list[errors.Error] = []  # errors of evicted contexts
_lock = threading.Lock()


def context_for(place: Place, stream: int, keep: t.Any = None) -> Context:
    """Returns the context of a device and a stream. The context keeps the stream's object `keep` alive."""
    # Number 2 is another stream in each thread. Two streams must not use the shared state of a context at once.
    key = (place[1], stream, this_thread() if stream == PER_THREAD else None)
    with _lock:
        found = _contexts.get(key)
        if found is not None:
            _contexts.move_to_end(key)
            return found
    made = Context(f"cuda:{place[1]}", stream=stream)
    made._keep = keep
    return _remembered(key, made)


def _remembered(key: Key, made: Context) -> Context:
    with _lock:
        if not _contexts:
            # The callback runs before CUDA shuts down, because the CUDA libraries were loaded earlier.
            atexit.register(release)
        kept = _contexts.setdefault(key, made)  # another thread may have created it meanwhile
        dropped = [_contexts.popitem(last=False)[1] for _ in range(len(_contexts) - LIMIT)]
    for context in dropped:
        _note(context)
    return kept


def _note(context: Context) -> None:
    """Stores the error of an evicted context. The next sync() raises it."""
    try:
        _checked(context)
    except errors.Error as error:
        _lost.append(error)


def _checked(context: Context, stream: t.Any = None) -> None:
    # A replay of a graph makes no context busy. But a stream that the caller gave by its number may have been destroyed
    # if its context is idle. This thread cannot name the stream 2 of another thread.
    if context._is_here and (context._busy or not isinstance(context._keep, int)):
        if stream is not None:
            context.wait(stream)
        context.sync()


def sync(stream: t.Any = None) -> None:
    """Waits for the calls on device arrays that had no context, and raises the first error among them.

    A call on device arrays returns before the device has finished. So it cannot report an index out of bounds. After
    such an error, a new output has zeros, and `out` is unchanged. Each stream stores the first error of its calls. If
    several streams have an error, each ``sync()`` raises one of them. Without such calls the function does nothing.

    A stream that was given by its number must not be destroyed before this wait. Other streams must not be destroyed.
    Each thread waits for its own calls on the per-thread stream (number 2).

    A call that was captured into a CUDA graph runs on the stream that the graph is launched on. The function raises its
    error after it has waited for that stream. The stream of the capture must not have been given by its number.

    Args:
        stream: A stream on which graphs were launched, as for :func:`gather`. The streams of all earlier calls first
            wait for the work that has been enqueued on this stream.

    Raises:
        IndexError: An index is out of bounds.
        DeviceError: A CUDA call failed.

    >>> import libgather
    >>> libgather.sync()
    """
    with _lock:
        contexts = list(_contexts.values())
    if _lost:
        raise _lost.pop(0)
    for context in contexts:
        _checked(context, stream)


def release() -> None:
    """Drops the contexts. Each one is released when no tensor and no call uses it."""
    with _lock:
        _contexts.clear()


def _renew_lock() -> None:
    """Replaces the lock in a child process. The thread that held it does not exist there."""
    global _lock
    _lock = threading.Lock()


if sys.platform != "win32":  # which has no fork
    os.register_at_fork(after_in_child=_renew_lock)
