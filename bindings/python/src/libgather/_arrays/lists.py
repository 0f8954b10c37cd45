"""Nested lists and Python scalars. They become NumPy arrays if NumPy is installed, and stay lists otherwise."""

from __future__ import annotations

import operator
import struct
from functools import cache

from .. import errors
from .._base import constants as c
from .._base.integers import INDEXING, check_floats, integer_dtype
from .._base.optional_packages import module
from .._memory.memory import Memory
from .._objects import buffer_of
from .nested_lists import list_of
from .selection import NO_NULLS, bits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.device_site import Site


@cache
def numpy_kind() -> Any:
    """Returns the kind of NumPy arrays, or None without NumPy."""
    try:
        from . import numpy_
    except ImportError:
        return None
    return numpy_


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    numpy_ = numpy_kind()
    if numpy_:
        return numpy_.enter(numpy_.of_list(value, operand), site, operand)  # type: ignore[no-any-return]
    return of_nested(value, operand)


def split_nulls(value: Any) -> tuple[Any, tuple[Any, int]]:
    """Returns indices without None, and their validity bits."""
    if not isinstance(value, (list, tuple)) or not numpy_kind() or all(index is not None for index in value):
        return value, NO_NULLS
    valid = module("numpy").array([index is not None for index in value])
    return [0 if index is None else index for index in value], bits_of(valid)


def carried_of(value: Any) -> Any:
    numpy_ = numpy_kind()
    return numpy_.carried_of(numpy_.of_list(value, "params")) if numpy_ else None


def leave(tensor: Memory, like: Any) -> Any:
    numpy_ = numpy_kind()
    if not numpy_:
        return list_of(tensor)
    array = numpy_.of_list(like, "params")
    return numpy_.leave(tensor, numpy_.widened(array, tensor) if array.dtype.kind in "US" else array)


def flat(value: Any) -> Any:
    numpy_ = numpy_kind()
    if numpy_:
        return numpy_.of_list(value, "params").reshape(-1)
    shape = shape_of(value)
    return flattened(value, len(shape), shape, "params")


# ---------------------------------------------------------------------------------------------------- without NumPy


def of_nested(value: Any, operand: str) -> Memory:
    """Creates a tensor of a nested list. As in NumPy, integers become int64, or uint64 if one needs it."""
    elements, shape = parts_of(value, operand)
    if operand in INDEXING:
        elements = [element if isinstance(element, bool) else index_of(element) for element in elements]
    kinds = {type(element) for element in elements}
    if kinds in ({str}, {bytes}):
        return Memory._of_strings(elements, shape, kinds == {str})
    code, dtype = number_format(kinds, elements, operand)
    try:
        data = bytearray(struct.pack(f"={len(elements)}{code}", *elements))
    except struct.error as error:
        raise errors.dtype_error(operand, str(error)) from None
    return Memory._borrow(data, buffer_of(data)[1], dtype, shape, None, False)


def parts_of(value: Any, operand: str) -> tuple[list[Any], tuple[int, ...]]:
    """Returns the elements in row-major order, and the shape."""
    value = list(value) if isinstance(value, range) else value
    shape = shape_of(value)
    return flattened(value, len(shape), shape, operand), shape


def index_of(element: Any) -> Any:
    """Returns the integer of an object with ``__index__``, and other objects unchanged."""
    return operator.index(element) if hasattr(type(element), "__index__") else element


def number_format(kinds: set[type], elements: list[Any], operand: str) -> tuple[str, int]:
    if not kinds:
        # As in NumPy's x[[]], an empty list of indices has integers.
        return ("q", c.DTYPE_INT64) if operand in INDEXING else ("d", c.DTYPE_FLOAT64)
    if kinds == {bool}:
        return "?", c.DTYPE_BOOL
    if kinds <= {bool, int}:
        dtype = integer_dtype(elements, operand)
        return ("Q" if dtype == c.DTYPE_UINT64 else "q"), dtype
    if kinds <= {bool, int, float}:
        check_floats([element for element in elements if isinstance(element, int)], operand)
        return "d", c.DTYPE_FLOAT64
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise errors.dtype_error(operand, f"a list of {names} is not an array")


def shape_of(value: Any) -> tuple[int, ...]:
    shape = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
        if len(shape) > c.MAX_NDIM:
            raise errors.RankError(f"more than {c.MAX_NDIM} dims", status=c.E_RANK)
    return tuple(shape)


def flattened(value: Any, depth: int, shape: tuple[int, ...], operand: str) -> list[Any]:
    if not depth:
        return [value]
    if not isinstance(value, (list, tuple)) or len(value) != shape[-depth]:
        raise errors.ShapeError(f"{operand}: a ragged list is not an array", status=c.E_SHAPE, operand=operand)
    if depth == 1:
        if any(isinstance(element, (list, tuple)) for element in value):
            raise errors.ShapeError(f"{operand}: a ragged list is not an array", status=c.E_SHAPE, operand=operand)
        return list(value)
    return [element for part in value for element in flattened(part, depth - 1, shape, operand)]
