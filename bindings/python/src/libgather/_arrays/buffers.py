"""Objects with the buffer protocol: bytes, bytearray, memoryview, array.array, ctypes arrays."""

from __future__ import annotations

import array

from .. import _objects, errors
from .._memory.memory import Memory
from .memory_holds import holds
from .nested_lists import list_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.device_site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    try:
        return borrow(memoryview(value), operand)
    except (TypeError, ValueError, BufferError) as error:
        if isinstance(error, errors.Error):
            raise
        raise errors.dtype_error(operand, str(error)) from error


def borrow(view: memoryview, operand: str, dtype: int | None = None) -> Memory:
    """Creates a tensor over a memoryview. `dtype` replaces the view's dtype and must have the same size."""
    if view.strides is None or view.shape is None or view.suboffsets:
        raise errors.dtype_error(operand, "a buffer of pointers is not one block of memory")
    own, address = _objects.buffer_of(view)
    dtype = dtype or own
    if not dtype:
        raise errors.dtype_error(operand, f"elements of format {view.format!r} are no dtype of this library")
    return Memory._borrow(view, address, dtype, view.shape, view.strides, view.readonly)


enter_output = enter


def hold(value: Any) -> Any:
    return holds(memoryview(value))


def leave(tensor: Memory, like: Any) -> Any:
    """Returns an object of the type of params if it has one dim: bytes, a bytearray or an array.

    A result of rank 0 is a Python number. Other results are memoryviews.
    """
    view = tensor.memory()
    if view.ndim == 0:
        return list_of(tensor)
    if view.ndim != 1:
        return view
    if isinstance(like, (bytes, bytearray)):
        return type(like)(view)
    if isinstance(like, array.array):
        return array.array(like.typecode, view.tobytes())
    return view
