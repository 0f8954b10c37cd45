"""Gathers from dask arrays. Each touched chunk is one task, and each block of the result is one join.

No worker has to hold the whole result. Chunks that no id selects are not read. Ids that are known are validated before
the graph is built. The module needs dask 2024.8 or newer and NumPy. It is imported at the first use.
"""

from __future__ import annotations

from functools import partial

import dask.array as da
import numpy as np

from .. import types as t
from .._base.request_fields import Request
from .._operations.missing_rows import missing_of
from .._operations.partitions import array_of
from ._arguments import axis_of, check_array, check_elements, check_ids, check_sizes, chunks_of, depth_of
from ._files import from_file
from ._graph import Source, at_once, declared, elements, lazily
from ._tasks import parts_of, parts_of_tuples, validated

__all__ = ["from_file", "gather_nd", "take", "take_along_axis"]


def take(
    x: da.Array,
    ids: t.Any,
    axis: int = 0,
    *,
    bounds: t.Bounds | None = None,
    negative: t.Negative | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    out_chunks: t.Any = None,
) -> da.Array:
    """:func:`libgather.gather` of a dask array along an axis.

    The result's shape is ``x.shape[:axis] + ids.shape + x.shape[axis+1:]``. It keeps the chunks of the other dims.

    Args:
        x: An array whose chunks are NumPy arrays of any dtype and known size.
        ids: Integers of any shape. The ids of an array on the host are validated at once. An array of dask is computed
            and validated in a task, and until then any chunk of `x` may be needed.
        axis: The axis that ids select in.
        bounds, negative, fill_value, profile: As for :func:`libgather.gather`.
        out_chunks: The chunks of the result along the first dim of `ids`, as dask accepts them for one dim. None means
            the largest chunk of `x` along the axis. The other dims of `ids` have one chunk.

    Raises:
        IndexError: An id is out of bounds. The error has its place in `ids`. Ids of dask raise it when they are
            computed.
        RankError: `axis` is out of range.
        ShapeError: A chunk has an unknown size, or `out_chunks` do not fit. A computed chunk has another size than its
            array declares.
        DTypeError: `ids` are not integers, `x` is not an array of dask, or its chunks are not NumPy arrays.
        OptionError: A switch has an unknown value.

    >>> import dask.array, libgather.dask
    >>> x = dask.array.arange(20, chunks=5).reshape(10, 2)
    >>> rows = libgather.dask.take(x, [9, 0, 9])
    >>> rows.compute().tolist()
    [[18, 19], [0, 1], [18, 19]]
    >>> libgather.dask.take(x, [9, 10])
    Traceback (most recent call last):
    libgather.errors.IndexError: indices: component 0 of tuple 1 is 10, valid are [0, 10): indices[1], axis 0
    """
    check_array(x)
    axis = axis_of(x, axis)
    request = Request(negative=negative, bounds=bounds, fill_value=fill_value, profile=profile)
    missing = missing_of(x.dtype, request)
    source = Source(x, axis, 1)
    make_parts = partial(parts_of, borders=np.cumsum((0, *x.chunks[axis])), request=request, axis=axis)
    if isinstance(ids, da.Array):
        check_ids(ids, request)
        return lazily(source, ids, chunks_of(x.chunks[axis], ids.shape, out_chunks), make_parts, missing)
    parts = make_parts(ids)
    return at_once(source, parts, chunks_of(x.chunks[axis], parts.place.shape, out_chunks), missing)


def gather_nd(
    x: da.Array,
    tuples: t.Any,
    *,
    bounds: t.Bounds | None = None,
    negative: t.Negative | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    out_chunks: t.Any = None,
) -> da.Array:
    """Gathers slices of a dask array by tuples, as :func:`libgather.gather_nd`. The last axis contains the components.

    With ``K = tuples.shape[-1]`` the result's shape is ``tuples.shape[:-1] + x.shape[K:]``. It keeps the chunks of the
    other dims. The indexed dims may have any chunks.

    Args:
        x: As for :func:`take`.
        tuples: Integers, in any array on the host or an array of dask, as for :func:`take`.
        bounds, negative, fill_value, profile: As for :func:`libgather.gather_nd`.
        out_chunks: The chunks of the result along the first dim of `tuples`, as for :func:`take`.

    Raises:
        IndexError: A tuple is out of bounds. `position` is the number of the tuple, and `component` is its invalid
            index. Tuples of dask raise it when they are computed.
        RankError: A tuple is longer than the rank of `x`, or `tuples` have rank 0.
        Error: As for :func:`take`.

    >>> import dask.array, libgather.dask
    >>> x = dask.array.arange(20, chunks=5).reshape(10, 2)
    >>> libgather.dask.gather_nd(x, [[9, 0], [0, 1]]).compute().tolist()
    [18, 1]
    """
    check_array(x)
    request = Request(negative=negative, bounds=bounds, fill_value=fill_value, profile=profile)
    missing = missing_of(x.dtype, request)
    lazy = isinstance(tuples, da.Array)
    if lazy:
        check_sizes("indices", tuples)
    else:
        tuples = array_of(tuples)
    depth = depth_of(x, tuples, request)
    source = Source(x, 0, depth)
    make_parts = partial(parts_of_tuples, borders=[np.cumsum((0, *sizes)) for sizes in source.indexed], request=request)
    chunks = chunks_of(x.chunks[0], tuples.shape[:-1], out_chunks)
    return (
        lazily(source, tuples, chunks, make_parts, missing)
        if lazy
        else at_once(source, make_parts(tuples), chunks, missing)
    )


def take_along_axis(arr: da.Array, indices: t.Any, axis: int = -1) -> da.Array:
    """``numpy.take_along_axis`` of a dask array. Each block of the result is one task.

    The result has the chunks of `arr` beside the axis, and those of `indices` along it. A task reads all chunks of
    `arr` along the axis that belong to its block. It does not concatenate them.

    Args:
        arr: As for :func:`take`.
        indices: Integers of the rank of `arr`. Their other dims have the size of those of `arr`, or size 1. An array on
            the host is validated at once. The blocks of an array of dask are validated when they are computed. Negative
            indices count from the end.
        axis: The axis that indices select in.

    Raises:
        IndexError: An index is out of bounds. The error has its place in `indices`. If `indices` is an array of dask,
        the error is raised when it is computed.
        RankError, ShapeError: Ranks or sizes do not fit, or `axis` is out of range.
        DTypeError: As for :func:`take`.

    >>> import dask.array, libgather.dask
    >>> x = dask.array.from_array([[10, 30, 20], [60, 40, 50]], chunks=2)
    >>> libgather.dask.take_along_axis(x, [[1], [-3]]).compute().tolist()
    [[30], [60]]
    """
    check_array(arr)
    axis, extent = axis_of(arr, axis), arr.shape[axis]
    if isinstance(indices, da.Array):
        check_sizes("indices", indices)
        check_elements(arr, indices, axis)
        indices = da.map_blocks(
            validated, declared("indices", indices), extent=extent, axis=axis, dtype=indices.dtype, meta=indices._meta
        )
    else:
        indices = array_of(indices)
        check_elements(arr, indices, axis)
        parts_of(indices, borders=(0, extent), request=Request(negative="wrap"), axis=axis)
        indices = da.from_array(indices)
    return elements(arr, indices, axis)
