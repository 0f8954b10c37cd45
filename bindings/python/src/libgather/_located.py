"""Where a bad index stands: its position as a multi-index, and the dim of params that it is for."""

from __future__ import annotations

from . import errors
from ._operation import GATHER_ND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._operation import Operation


def locate(
    error: errors.IndexError,
    operation: Operation,
    params_rank: int,
    shape: tuple[int, ...],
    axis: int | None,
    batch_dims: int,
) -> None:
    """Tells an error of a call with indices of that shape where its index is, if it has a position."""
    if error.position < 0 or error.index is not None:
        return
    if operation is GATHER_ND:
        error.place((*multi_index(error.position, shape[:-1]), error.component), batch_dims + error.component)
        return
    if axis is None:
        axis = batch_dims + len(shape) if batch_dims < 0 else batch_dims
    error.place(multi_index(error.position, shape), axis + params_rank if axis < 0 else axis)


def multi_index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A row-major position as an index for each dim."""
    index = []
    for extent in reversed(shape):
        position, place = divmod(position, extent)
        index.append(place)
    return tuple(reversed(index))
