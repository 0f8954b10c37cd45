"""NumPy's own form of gather_elements."""

from __future__ import annotations

from ._arrays import flat
from ._operation import GATHER_ELEMENTS
from ._operations import run
from ._request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """``numpy.take_along_axis`` for any arrays: elements of `arr` along an axis, each at its own place in the others.

    For axis 1 of three::

        out[i, j, k] = arr[i, indices[i, j, k], k]

    The result's shape is that of `indices`, but where one of both has an extent of 1 beside the axis, it is repeated.
    It is :func:`gather_elements` with ``profile="numpy_raise"``.

    Args:
        arr: any array that :func:`gather` takes, of numbers or strings
        indices: integers of the rank of `arr`; negative ones count from the end
        axis: None takes the elements in row-major order for one dim, and `indices` of one dim

    Returns:
        A new array of the kind and dtype of `arr`.

    Raises:
        IndexError: an index out of bounds
        ShapeError: extents beside the axis that differ, and none of both is 1
        RankError: ranks that differ, `axis` out of range
        DTypeError: indices that are no integers, an `arr` of records, an argument that is no array
        Error: an `axis` of None for an array of several dims that has no method ``reshape``

    >>> import libgather
    >>> libgather.take_along_axis([[10, 30, 20], [60, 40, 50]], [[1], [-3]]).tolist()
    [[30], [60]]
    >>> libgather.take_along_axis([[10, 30, 20], [60, 40, 50]], [4, 0], axis=None).tolist()
    [40, 10]
    """
    if axis is None:
        arr, axis = flat(arr), 0
    return run(GATHER_ELEMENTS, arr, indices, None, Request(axis, profile="numpy_raise"))
