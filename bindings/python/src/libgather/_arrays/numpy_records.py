"""NumPy elements that are blocks of bytes, such as records and strings of one size.

The array gets an additional axis of words, in which indices do not select. Blocks are moved without a conversion, in
any layout.
"""

from __future__ import annotations

import numpy as np

from .. import errors
from .._base import constants as c
from . import numpy_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request


def only_moves(dtype: np.dtype[Any], request: Request) -> bool:
    """Returns whether a request only moves blocks. Other requests need the values of the elements."""
    is_text = dtype.kind in "US"
    if not is_text and not str(request.profile or "numpy").startswith("numpy"):
        return False
    fill = request.fill_value
    return fill is None or (isinstance(fill, str) and fill in (("zero", "") if is_text else ("zero",)))


def refused(dtype: np.dtype[Any]) -> errors.DTypeError:
    return errors.dtype_error("params", f"dtype {dtype} has no values that this profile or fill_value knows")


def check_moved(dtype: np.dtype[Any], request: Request) -> None:
    """Raises DTypeError if a scatter needs the values of the blocks."""
    if not only_moves(dtype, request):
        raise errors.dtype_error("target", f"dtype {dtype} has no values that this profile knows")
    if request.reduction not in (None, "none"):
        message = f"dtype {dtype} is only moved, reduction {request.reduction!r} needs numbers of this library"
        raise errors.dtype_error("target", message)


class Words:
    """The blocks of an array as words, in NumPy's array interface. The object keeps the array alive."""

    def __init__(self, array: np.ndarray, size: int) -> None:
        self.array = array
        self.__array_interface__ = {
            "version": 3,
            "typestr": np.dtype(f"u{size}").str,
            "shape": (*array.shape, array.dtype.itemsize // size),
            "strides": (*array.strides, size),
            "data": (array.ctypes.data, not array.flags.writeable),
        }


def word_size(dtype: np.dtype[Any]) -> int:
    """Returns the size in bytes of the largest words that a block consists of."""
    return next(size for size in (8, 4, 2, 1) if dtype.itemsize % size == 0)


def with_words(array: np.ndarray) -> np.ndarray:
    return np.asarray(Words(np.asarray(array), word_size(array.dtype)))


def repeated(indices: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Returns the indices of elements as indices of their words."""
    return np.broadcast_to(indices[..., None], (*indices.shape, dtype.itemsize // word_size(dtype)))


def without_values(params: np.ndarray) -> np.ndarray:
    """Returns an array of the same shape that uses one byte. It serves to validate indices."""
    return np.broadcast_to(np.zeros((), np.uint8), params.shape)


def output_words(out: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    if dtype.kind in "US":
        raise errors.unsupported("out", "strings have no place to be written to")
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        raise errors.dtype_error("out", f"records go into an array of dtype {dtype}")
    if out.shape != shape:
        raise errors.ShapeError(f"out: shape {out.shape}, needed is {shape}", status=c.E_SHAPE, operand="out")
    if not out.flags.writeable:
        raise errors.read_only("out", "it is read-only")
    return with_words(out)


def update_words(updates: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Returns updates as words. Shorter strings are extended to the size of the target's strings."""
    array = numpy_.of_list(updates, "updates") if isinstance(updates, (list, tuple)) else np.asarray(updates)
    if dtype.kind in "US" and array.dtype.kind == dtype.kind and array.dtype.itemsize <= dtype.itemsize:
        array = array.astype(dtype, copy=False)
    if array.dtype != dtype:
        raise errors.dtype_error("updates", f"dtype is {array.dtype}, needed is {dtype}")
    if array.shape != shape:
        message = f"updates: shape {array.shape}, needed is {shape}"
        raise errors.ShapeError(message, status=c.E_SHAPE, operand="updates")
    return with_words(array)


def of_words(array: np.ndarray, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Returns the blocks of a new array of words."""
    return np.ndarray(shape, dtype, np.ascontiguousarray(array))
