"""Gathers and scatters of rows of columns, which are never converted.

A gather takes time in proportion to the rows that it selects.
"""

from __future__ import annotations

from math import prod

from .. import errors
from .._arrays.kinds import call_library, enter, has_arrow, kind_of, rank_of
from .._base import constants as c
from .._base.devices import is_host
from .._base.integers import rules_of
from .._base.optional_packages import module
from .._base.request_fields import NULLS, Request
from .._bounds import bounds_of_fill
from .._objects import NULL_FILL
from .._requests.operation_table import GATHER
from . import gathers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .._arrays.selection import Selection
    from .._requests.operation_table import Operation


def row_axis(kind: Any, params: Any, request: Request) -> int | None:
    """Returns the axis of a request that selects rows of a column or a table.

    Returns None for other arrays and other requests.
    """
    find = getattr(kind, "row_axis", None)
    has_strings = rules_of(request.profile)["strings"] == "yes"
    if find is None or request.stream is not None or not has_strings or request.batch_dims != 0:
        return None
    return find(params, request.axis)  # type: ignore[no-any-return]


def gather_rows(operation: Operation, params: Any, indices: Any, out: Any, request: Request) -> Any:
    """Gathers rows of a column or a table. Returns NotImplemented for other arrays and other requests."""
    kind = kind_of(params)
    axis = row_axis(kind, params, request)
    if axis is None or (out is not None and is_direct(kind, params, out, request)):
        return NotImplemented
    if request.fill_value is NULL_FILL and not hasattr(kind, "split_nulls"):
        request = request._replace(fill_value=None)
    if request.bounds == "skip":  # a new row is zero
        request = request._replace(bounds="fill")
    fills = fills_by_name(kind, params, request.fill_value)
    pads = request.padding_index is not None and request.bounds not in NULLS
    is_by_name = fills is not request.fill_value and request.bounds in NULLS
    if not (fills is None or fills is NULL_FILL or pads or is_by_name):
        bounds_of_fill(fills, request.bounds)
    request = request._replace(fill_value=fills)
    for selection in selections(operation, params, indices, request._replace(axis=axis)):
        rows = call_library(kind.gather_rows, params, "params", selection if out is None else selection.flat())
        if rows is not NotImplemented:
            return rows if out is None else write_rows(rows, selection, out, request)
    return NotImplemented


def fills_by_name(kind: Any, params: Any, fill_value: Any) -> Any:
    """Returns a dict as the fill values of the columns of a table, and other fill values unchanged."""
    if not isinstance(fill_value, dict) or not hasattr(kind, "names_of") or len(getattr(params, "shape", ())) != 2:
        return fill_value
    from .._arrays.selection import Fills

    names = kind.names_of(params)
    for name in fill_value:
        if name not in names:
            message = f"options: fill_value has {name!r}, which is no column of the table"
            raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    return Fills(fill_value)


def is_direct(kind: Any, params: Any, out: Any, request: Request) -> bool:
    """Returns whether the general path writes `out`, because it converts nothing, or because other rows are kept."""
    from .._arrays.lists import numpy_kind

    if request.bounds == "skip" or not numpy_kind():
        return True
    has_memory = getattr(kind, "has_memory", None)
    return has_memory is not None and hasattr(kind_of(out), "enter_output") and has_memory(params)


def write_rows(rows: Any, selection: Selection, out: Any, request: Request) -> Any:
    """Writes rows that a flat selection selects to an array of the caller."""
    kind = kind_of(out)
    if hasattr(kind, "assign_rows"):
        if call_library(kind.assign_rows, out, "out", rows, selection) is not NotImplemented:
            return out
    elif not hasattr(kind, "enter_output"):
        raise errors.not_writable("out", out)
    places = module("numpy").arange(prod(selection.shape)).reshape(selection.shape)
    copied = Request(0, threads=request.threads, context=request.context)
    return gathers.run_others(GATHER, rows, places, out, copied)


def scatter_rows(operation: Operation, target: Any, indices: Any, updates: Any, request: Request) -> Any:
    """Writes rows of a column. Returns NotImplemented for other arrays and other requests."""
    kind = kind_of(target)
    write = getattr(kind, "scatter_rows", None)
    is_plain = request.reduction in (None, "none") and isinstance(request.inplace, bool)
    if write is None or not is_plain or request.bounds in ("fill", *NULLS):
        return NotImplemented
    axis = row_axis(kind, target, request)
    if axis is None:
        return NotImplemented
    # The library resolves the number of a skipped row to -1.
    bounds = "fill" if request.bounds == "skip" else request.bounds
    resolved = request._replace(axis=axis, bounds=bounds, reduction=None, accumulate=None, order=None, inplace=False)
    for selection in selections(operation, target, indices, resolved):
        if selection.validity[0] is None:
            written = call_library(write, target, "updates", updates, selection, request.inplace)
            if written is not NotImplemented:
                return written
    return NotImplemented


def selections(operation: Operation, params: Any, indices: Any, request: Request) -> Iterator[Selection]:
    """Yields the selection of indices as they are, and that of their memory, which the C code always reads."""
    from .._arrays.selection import NO_NULLS, Selection

    split = getattr(kind_of(indices), "split_nulls", None)
    indices, validity = (indices, NO_NULLS) if split is None else call_library(split, indices, "indices")
    shape = shape_of(indices)
    selected = None if shape is None else rows_of_shape(operation, params, shape)
    if selected is not None:
        yield Selection(operation.number, indices, selected, validity, request)
    try:
        index = enter(indices, None, "indices")[0]
    except errors.Error:  # the general path raises it
        return
    selected = rows_of_shape(operation, params, index.shape)
    if selected is not None and index._dtype != c.DTYPE_STRING and is_host(index._desc[1:3]):
        yield Selection(operation.number, index.memory(), selected, validity, request)


def rows_of_shape(operation: Operation, params: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Returns the shape of the rows that indices of a shape select. Returns None if they do not select rows."""
    if operation.has_axis and operation.has_rows:
        return shape
    if rank_of(params, operation.roles[0]) != 1:
        return None
    if operation.has_axis:
        return shape if len(shape) == 1 else None
    return shape[:-1] if shape[-1:] == (1,) else None


def shape_of(indices: Any) -> tuple[int, ...] | None:
    """Returns the shape of an array, of a list of integers or of an integer. Returns None for other objects."""
    shape = getattr(indices, "shape", None)
    if isinstance(shape, tuple):
        return shape
    if isinstance(indices, int):
        return ()
    if isinstance(indices, (list, tuple)):
        return (len(indices),) if all(type(index) is int for index in indices) else None
    return (len(indices),) if has_arrow(indices) else None
