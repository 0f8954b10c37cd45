"""The contexts of calls that name none: one for each device and stream that has been met, kept for the next call."""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict

from . import errors
from ._streams import PER_THREAD
from .context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._places import Place

Key = tuple[int, int, int]

#: Far more streams than programs have: a context that goes is waited for, and a graph may have been captured with it.
LIMIT = 1024
_contexts: OrderedDict[Key, Context] = OrderedDict()
_lost: list[errors.Error] = []  # of contexts that had to go
_lock = threading.Lock()


def context_for(place: Place, stream: int, keep: Any = None) -> Context:
    """The context of a device and a stream; `keep` is the stream's object, which lives as long as the context."""
    # Number 2 names another stream in each thread, and what streams share must not be used by two of them at once.
    key = (place[1], stream, threading.get_ident() if stream == PER_THREAD else 0)
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
            # Before CUDA ends, whose libraries were loaded earlier and end later.
            atexit.register(release)
        kept = _contexts.setdefault(key, made)  # another thread may have been faster
        dropped = [_contexts.popitem(last=False)[1] for _ in range(len(_contexts) - LIMIT)]
    for context in dropped:
        _note(context)
    return kept


def _note(context: Context) -> None:
    """The error of a context that goes waits for the next sync()."""
    try:
        _checked(context)
    except errors.Error as error:
        _lost.append(error)


def _checked(context: Context) -> None:
    # The stream of a context that has nothing to say may be gone; that of another thread has no name here.
    if context._busy and context._is_here:
        context.sync()


def sync() -> None:
    """Waits for the calls on device arrays that were given no context, and raises the first error among them.

    A call on device arrays returns before its work is done, and so before it knows of an index out of bounds; its
    output is then zeros, or unchanged if it was `out`. Each stream has one error to say, the first of its calls; where
    several have one, the next ``sync()`` says the next. Does nothing where there have been no such calls.

    A stream that was given by its number may be destroyed once it has been waited for, not before. Calls on the stream
    of each thread (number 2) are waited for by the thread that made them.

    Raises:
        IndexError: an index out of bounds
        DeviceError: CUDA has failed

    >>> import libgather
    >>> libgather.sync()
    """
    with _lock:
        contexts = list(_contexts.values())
    if _lost:
        raise _lost.pop(0)
    for context in contexts:
        _checked(context)


def release() -> None:
    """Lets the contexts go; each is released when no tensor or call has it any more."""
    with _lock:
        _contexts.clear()


def _renew_lock() -> None:
    """In a child after fork(): the thread that had the lock is not there."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)
