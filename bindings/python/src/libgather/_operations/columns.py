"""Gathers and scatters of rows of columns, which are never converted.

A gather costs what the rows cost that it selects.
"""

from __future__ import annotations

from .. import errors
from .._arrays.kinds import call_library, enter, kind_of
from .._base import constants as c
from .._base.devices import is_host
from .._base.request_fields import Request
from .._objects import NULL_FILL
from .._requests.options_struct import check_bounds_of_fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .._arrays.selection import Selection

#: The profiles that have only numbers.
_OF_NUMBERS = ("tensorflow_gpu", "torch", "jax_fill", "jax_clip")


def row_axis(kind: Any, params: Any, options: tuple[Any, ...]) -> int | None:
    """Returns the axis of a request that selects rows of a column or a table.

    Returns None for other arrays and other requests. `options` are the fields of a Request.
    """
    find = getattr(kind, "row_axis", None)
    if find is None:
        return None
    request = Request._make(options)
    has_other_rules = request.stream is not None or request.padding_index is not None or request.profile in _OF_NUMBERS
    if has_other_rules or request.batch_dims != 0:
        return None
    return find(params, request.axis)  # type: ignore[no-any-return]


def gather_rows(params: Any, indices: Any, options: tuple[Any, ...]) -> Any:
    """Gathers rows of a column or a table. Returns NotImplemented for other arrays and other requests.

    `options` are the fields of a Request.
    """
    kind = kind_of(params)
    axis = row_axis(kind, params, options)
    request = Request._make(options)
    if axis is None or request.bounds == "skip":
        return NotImplemented
    if request.fill_value is NULL_FILL:
        is_null = hasattr(kind, "split_nulls") and request.bounds in (None, "fill")
        request = request._replace(fill_value=None, bounds="null" if is_null else request.bounds)
    if request.fill_value is not None:
        check_bounds_of_fill(request.bounds)
    for selection in selections(indices, axis, request):
        rows = call_library(kind.gather_rows, params, "params", selection)
        if rows is not NotImplemented:
            return rows
    return NotImplemented


def scatter_rows(target: Any, indices: Any, updates: Any, options: tuple[Any, ...]) -> Any:
    """Writes rows of a column. Returns NotImplemented for other arrays and other requests.

    `options` are the fields of a Request.
    """
    kind = kind_of(target)
    write = getattr(kind, "scatter_rows", None)
    if write is None:
        return NotImplemented
    request = Request._make(options)
    is_plain = request.reduction in (None, "none") and isinstance(request.inplace, bool)
    axis = row_axis(kind, target, options) if is_plain and request.bounds not in ("fill", "null") else None
    if axis is None:
        return NotImplemented
    # The library resolves the number of a skipped row to -1.
    bounds = "fill" if request.bounds == "skip" else request.bounds
    resolved = request._replace(bounds=bounds, reduction=None, accumulate=None, inplace=False)
    for selection in selections(indices, axis, resolved):
        if selection.validity[0] is None:
            written = call_library(write, target, "updates", updates, selection, request.inplace)
            if written is not NotImplemented:
                return written
    return NotImplemented


def selections(indices: Any, axis: int, options: tuple[Any, ...]) -> Iterator[Selection]:
    """Yields the selection of indices as they are, and that of their memory, which the C half always reads."""
    from .._arrays.selection import NO_NULLS, Selection

    split = getattr(kind_of(indices), "split_nulls", None)
    indices, validity = (indices, NO_NULLS) if split is None else call_library(split, indices, "indices")
    shape = shape_of(indices)
    if shape is not None:
        yield Selection(indices, shape, validity, axis, options)
    try:
        index = enter(indices, None, "indices")[0]
    except errors.Error:  # the general path raises it
        return
    if index._dtype != c.DTYPE_STRING and is_host(index._desc[1:3]):
        yield Selection(index.memory(), index.shape, validity, axis, options)


def shape_of(indices: Any) -> tuple[int, ...] | None:
    """Returns the shape of an array, of a list of integers or of an integer. Returns None for other objects."""
    shape = getattr(indices, "shape", None)
    if isinstance(shape, tuple):
        return shape
    if isinstance(indices, int):
        return ()
    if isinstance(indices, (list, tuple)):
        return (len(indices),) if all(type(index) is int for index in indices) else None
    return (len(indices),) if hasattr(indices, "__arrow_c_array__") else None
