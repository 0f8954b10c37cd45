"""put_along_axis with the rules of NumPy."""

from __future__ import annotations

import sys

from .. import errors
from .. import types as t
from .._arrays.kinds import enter, enter_output
from .._base import constants as c
from .._base.integers import integer
from .._base.request_fields import Request
from .._requests.memory_runs import run_to_array, shape_for
from .._requests.operation_table import SCATTER_ELEMENTS
from .._requests.options_struct import options_of
from .._requests.scatter_updates import enter_updates, repeated
from .._requests.site_of_call import site_of
from .._requests.spec import is_dense
from .numpy_take import by_numpy
from .scatters import scatter_elements


def put_along_axis(arr: t.Any, indices: t.Any, values: t.Any, axis: int | None) -> None:
    """``numpy.put_along_axis`` for any writable arrays. It is the inverse of :func:`take_along_axis`, in place.

    For axis 1 of three::

        arr[i, indices[i, j, k], k] = values[i, j, k]

    It is :func:`scatter_elements` with ``profile="numpy_raise"`` and more rules of NumPy. `values` are repeated to the
    shape that :func:`take_along_axis` would return. Values of NumPy are converted to the dtype of `arr`, and may
    overlap it. The last value of a place wins. After an index out of bounds `arr` is unchanged.

    Args:
        arr: An array that can be written.
        indices: Integers of the rank of `arr`. Negative ones count from the end.
        values: An array, a nested list or a number.
        axis: None writes to the elements in row-major order, and `indices` then have one dim.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError: Two dims beside the axis differ and neither has size 1, or `values` cannot be broadcast.
        RankError: Ranks differ, or `axis` is out of range.
        DTypeError: `indices` are not integers, or `values` have another dtype.
        OutputError: `arr` is read-only, such as a list.

    >>> import array, libgather
    >>> row = array.array("i", [10, 30, 20])
    >>> libgather.put_along_axis(row, [1, -1], [0, 5], 0)
    >>> row
    array('i', [10, 0, 5])
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(arr, numpy.ndarray):
        put_into_memory(arr, indices, values, axis)
    elif arr.dtype.hasobject:
        by_numpy(numpy.put_along_axis, arr, numpy.asarray(indices), values, axis)
    else:
        put_into_numpys(numpy, arr, indices, values, axis)


def put_into_numpys(numpy: t.Any, arr: t.Any, indices: t.Any, values: t.Any, axis: int | None) -> None:
    """Writes to a NumPy array with the conversions of NumPy's assignments. Copies operands that overlap."""
    if type(arr) is not numpy.ndarray and isinstance(arr, numpy.ma.MaskedArray):
        raise errors.read_only("target", "a masked array cannot be written in place")
    whole = numpy.asarray(arr)
    whole = whole.reshape(-1) if axis is None else whole
    rows = converted(numpy, values, arr.dtype)
    if rows.shape != getattr(indices, "shape", None) or 1 in rows.shape:
        rows = broadcast(numpy, rows, places(whole, indices, axis))
    along = 0 if axis is None else axis
    try:
        scatter_elements(whole, indices, rows, along, profile="numpy_raise", inplace=True)
    except errors.OutputError as error:
        if error.status != c.E_ALIAS:
            raise
        scatter_elements(whole, numpy.array(indices), rows.copy(), along, profile="numpy_raise", inplace=True)
    if axis is None and not numpy.may_share_memory(whole, arr):
        arr[...] = whole.reshape(arr.shape)


def converted(numpy: t.Any, values: t.Any, dtype: t.Any) -> t.Any:
    """Returns values as NumPy assigns them to elements of a dtype."""
    if type(values) is numpy.ndarray and values.dtype is dtype:
        return values
    try:
        return numpy.asarray(values, dtype)
    except MemoryError:
        raise
    except Exception as error:  # from NumPy, or from the library of the values
        raise errors.dtype_error("updates", str(error)) from error


def broadcast(numpy: t.Any, rows: t.Any, shape: tuple[int, ...]) -> t.Any:
    """Returns rows in a larger shape, as NumPy repeats values in an assignment."""
    if rows.shape == shape:
        return rows
    filled = numpy.empty(shape, rows.dtype)
    try:
        filled[...] = rows
    except ValueError as error:
        raise errors.ShapeError(f"updates: {error}", status=c.E_SHAPE, operand="updates") from None
    return filled


def put_into_memory(arr: t.Any, indices: t.Any, values: t.Any, axis: int | None) -> None:
    site = site_of(None, None, ("target", arr), ("indices", indices), ("updates", values))
    whole = target = enter_output(arr, site, "target")
    if axis is None:
        if not is_dense(target):
            raise errors.unsupported("target", "an axis of None is for arrays that are dense, this one has strides")
        whole = target._viewed(target._dtype, (target.size,))
    index = enter(indices, site, "indices")[0]
    rows = repeated(enter_updates(values, arr, target, site), places(whole, index, axis))
    request = request_of(axis)
    run_to_array(SCATTER_ELEMENTS, site, (whole, index, rows), request, options_of(request), arr, arr)


def places(whole: t.Any, indices: t.Any, axis: int | None) -> tuple[int, ...]:
    """Returns the shape of the values: that of indices, in which dims of size 1 beside the axis are repeated."""
    shape, chosen = whole.shape, shape_of(indices)
    along = 0 if axis is None else integer("axis", axis)
    if len(shape) != len(chosen) or not -len(shape) <= along < len(shape):
        return shape_for(SCATTER_ELEMENTS, shape, chosen, request_of(axis))  # raises the error
    pairs = enumerate(zip(chosen, shape, strict=True))
    return tuple(extent if dim == along % len(shape) or extent != 1 else other for dim, (extent, other) in pairs)


def shape_of(indices: t.Any) -> tuple[int, ...]:
    shape = getattr(indices, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else enter(indices, None, "indices")[0].shape


def request_of(axis: int | None) -> Request:
    return Request(0 if axis is None else axis, profile="numpy_raise")
