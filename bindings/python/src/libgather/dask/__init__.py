"""Rows, slices and elements of dask's arrays by index: one task a touched chunk, and one join a block of the result.

Chunks that no id touches are not read. Ids that are known are judged before there is a graph. It needs dask 2024.8 or
newer with NumPy, and is imported when it is first used.
"""

from __future__ import annotations

from functools import partial

import dask.array as da
import numpy as np

from .. import types as t
from .._missing import missing_of
from .._request import Request
from ._arguments import axis_of, check_array, check_elements, check_ids, check_sizes, chunks_of, depth_of
from ._graph import Source, at_once, declared, elements, lazily
from ._tasks import judged, parts_of, parts_of_tuples

__all__ = ["gather_nd", "take", "take_along_axis"]


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

    The result's shape is ``x.shape[:axis] + ids.shape + x.shape[axis+1:]``; it keeps the chunks of the other dims.

    Args:
        x: of chunks that are NumPy's arrays of any dtype, whose sizes are known
        ids: integers of any shape: any array on the host, whose ids are judged at once; or an array of dask's, which is
            computed and judged as a task, before which it is not known which chunks of `x` are touched
        bounds, negative, fill_value, profile: as for :func:`libgather.gather`
        out_chunks: the chunks of the result along the first dim of `ids`, as dask takes those of one dim; None: as long
            as the longest one of `x` along the axis. The other dims of `ids` have one chunk

    Raises:
        IndexError: an id out of bounds, with its place in `ids`; of dask's ids when they are computed
        RankError: `axis` out of range
        ShapeError: chunks of unknown size, `out_chunks` that do not fit; when it is computed, a chunk of another length
            than its array declares
        DTypeError: ids that are no integers, an `x` that is no array of dask's, or of other chunks than NumPy's
        OptionError: an unknown switch

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
    request = Request(None, 0, negative, bounds, fill_value, profile)
    missing = missing_of(x.dtype, request)
    source = Source(x, axis, 1)
    deal = partial(parts_of, borders=np.cumsum((0, *x.chunks[axis])), request=request, axis=axis)
    if isinstance(ids, da.Array):
        check_ids(ids, request)
        return lazily(source, ids, chunks_of(x.chunks[axis], ids.shape, out_chunks), deal, missing)
    parts = deal(ids)
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
    """:func:`libgather.gather_nd` of a dask array: slices by tuples along the last axis of `tuples`.

    With ``K = tuples.shape[-1]`` the result's shape is ``tuples.shape[:-1] + x.shape[K:]``; it keeps the chunks of the
    other dims. The indexed dims may have any chunks.

    Args:
        x: as for :func:`take`
        tuples: integers, as for :func:`take`: any array on the host, or one of dask's
        bounds, negative, fill_value, profile: as for :func:`libgather.gather_nd`
        out_chunks: the chunks of the result along the first dim of `tuples`, as for :func:`take`

    Raises:
        IndexError: a tuple out of bounds: the attribute `position` is its number, `component` which index of it; of
            dask's tuples when they are computed
        RankError: tuples that are longer than the rank of `x`, or of rank 0
        Error: as for :func:`take`

    >>> import dask.array, libgather.dask
    >>> x = dask.array.arange(20, chunks=5).reshape(10, 2)
    >>> libgather.dask.gather_nd(x, [[9, 0], [0, 1]]).compute().tolist()
    [18, 1]
    """
    check_array(x)
    request = Request(None, 0, negative, bounds, fill_value, profile)
    missing = missing_of(x.dtype, request)
    lazy = isinstance(tuples, da.Array)
    if lazy:
        check_sizes("indices", tuples)
    else:
        tuples = np.asarray(tuples)
    depth = depth_of(x, tuples, request)
    source = Source(x, 0, depth)
    deal = partial(parts_of_tuples, borders=[np.cumsum((0, *sizes)) for sizes in source.indexed], request=request)
    chunks = chunks_of(x.chunks[0], tuples.shape[:-1], out_chunks)
    return lazily(source, tuples, chunks, deal, missing) if lazy else at_once(source, deal(tuples), chunks, missing)


def take_along_axis(arr: da.Array, indices: t.Any, axis: int = -1) -> da.Array:
    """``numpy.take_along_axis`` of a dask array, a task a block of the result: :func:`libgather.take_along_axis`.

    The result has the chunks of `arr` beside the axis, and those of `indices` along it. A task reads all the chunks of
    `arr` along the axis that lie beside its block, of which it makes no copy.

    Args:
        arr: as for :func:`take`
        indices: integers of the rank of `arr`, whose other extents are those of `arr`, or 1: any array on the host,
            which is judged at once, or one of dask's, whose blocks are judged as they are computed; negative ones count
            from the end
        axis: which dim

    Raises:
        IndexError: an index out of bounds, with its place in `indices`; of dask's when they are computed, one of them
        RankError, ShapeError: ranks or extents that do not agree, `axis` out of range
        DTypeError: as for :func:`take`

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
            judged, declared("indices", indices), extent=extent, axis=axis, dtype=indices.dtype, meta=indices._meta
        )
    else:
        indices = np.asarray(indices)
        check_elements(arr, indices, axis)
        parts_of(indices, borders=(0, extent), request=Request(negative="wrap"), axis=axis)
        indices = da.from_array(indices)
    return elements(arr, indices, axis)
