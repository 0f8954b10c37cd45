"""Memory of NumPy's arrays that is used beyond a call, which NumPy must not move."""

from __future__ import annotations

import sys
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def references(owner: Any) -> list[Any]:
    """Weak references to an array, and to all those that it, or a memoryview, is a view of.

    NumPy resizes no array that has a weak reference. With ``refcheck=False`` it asks for nothing else: neither for
    strong references nor for exported buffers.
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
