"""Converts the position of an invalid index to a multi-index, and finds the dim that it selects in."""

from __future__ import annotations

from .. import errors
from .._arrays.kinds import enter, rank_of
from .._base.request_fields import Request
from .operation_table import OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .operation_table import Operation


def locate_call(error: errors.IndexError, number: int, table: Any, indices: Any, rows: Any, *options: Any) -> None:
    """Adds the multi-index and the dim of the invalid index to an error of the C code."""
    operation, request = OPERATIONS[number], Request._make(options)
    shape = getattr(table, "shape", table) if operation.is_gradient else None
    rank = rank_of(table, operation.roles[0]) if shape is None else len(shape)
    locate(error, operation, rank, enter(indices, None, "indices")[0].shape, request.axis, request.batch_dims)


def locate(
    error: errors.IndexError,
    operation: Operation,
    rank: int,
    shape: tuple[int, ...],
    axis: int | None,
    batch_dims: int,
) -> None:
    """Adds the multi-index and the dim to an error that has a position.

    `rank` is the rank of the table, and `shape` is the shape of indices.
    """
    if error.position < 0 or error.index is not None:
        return
    if not operation.has_axis:  # tuples
        error.place((*multi_index(error.position, shape[:-1]), error.component), batch_dims + error.component)
        return
    if axis is None:
        axis = batch_dims + len(shape) if batch_dims < 0 else batch_dims
    error.place(multi_index(error.position, shape), axis + rank if axis < 0 else axis)


def multi_index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns a row-major position as a multi-index."""
    index = []
    for extent in reversed(shape):
        position, place = divmod(position, extent)
        index.append(place)
    return tuple(reversed(index))
