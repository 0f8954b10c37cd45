"""Where a bad index stands: its position as a multi-index, and the dim of params or target that it is for."""

from __future__ import annotations

from . import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._operation import Operation


def locate(
    error: errors.IndexError,
    operation: Operation,
    rank: int,
    shape: tuple[int, ...],
    axis: int | None,
    batch_dims: int,
) -> None:
    """Tells an error where its index is, if it has a position: in indices of that shape, for a source of that rank."""
    if error.position < 0 or error.index is not None:
        return
    if not operation.has_axis:  # tuples
        error.place((*multi_index(error.position, shape[:-1]), error.component), batch_dims + error.component)
        return
    if axis is None:
        axis = batch_dims + len(shape) if batch_dims < 0 else batch_dims
    error.place(multi_index(error.position, shape), axis + rank if axis < 0 else axis)


def multi_index(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A row-major position as an index for each dim."""
    index = []
    for extent in reversed(shape):
        position, place = divmod(position, extent)
        index.append(place)
    return tuple(reversed(index))
