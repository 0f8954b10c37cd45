"""Prevents NumPy from moving the memory of arrays that is used after a call."""

from __future__ import annotations

import sys
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def references(owner: Any) -> list[Any]:
    """Returns weak references to an array, and to all arrays that it, or a memoryview, is a view of.

    NumPy does not resize an array that has a weak reference. With ``refcheck=False`` it ignores strong references and
    exported buffers.
    """
    numpy = sys.modules.get("numpy")
    arrays = []
    while numpy is not None:
        if isinstance(owner, numpy.ndarray):
            arrays.append(owner)
            owner = owner.base
        elif isinstance(owner, memoryview):
            owner = owner.obj
        else:
            break
    return [weakref.ref(array) for array in arrays]
