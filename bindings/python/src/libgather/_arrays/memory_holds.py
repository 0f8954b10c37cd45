"""Prevents the owners of memory that is used after a call from moving it."""

from __future__ import annotations

import sys
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def holds(owner: Any) -> list[Any]:
    """Returns objects that hold the memory of an array or a memoryview, and of all objects that it is a view of.

    NumPy does not resize an array that has a weak reference. With ``refcheck=False`` it ignores strong references and
    exported buffers. Other owners do not move an exported buffer. ``numpy.ndarray(buffer=owner)`` keeps no export.
    """
    numpy = sys.modules.get("numpy")
    held: list[Any] = []
    while numpy is not None and isinstance(owner, (numpy.ndarray, memoryview)):
        if isinstance(owner, memoryview):
            held += exported(owner)
            owner = owner.obj
        else:
            held.append(weakref.ref(owner))
            owner = owner.base
    return [*held, *exported(owner)]


def exported(owner: Any) -> list[memoryview]:
    try:
        return [memoryview(owner)]
    except (TypeError, ValueError, BufferError):  # there is no owner, or it exports no buffer
        return []
