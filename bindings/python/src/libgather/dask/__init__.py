"""Rows of dask's arrays by index: one task a touched chunk, and one join a block of the result.

Chunks that no id touches are not read. Ids that are known are judged before there is a graph. It needs dask 2024.8 or
newer with NumPy, and is imported when it is first used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import accumulate, pairwise, product

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .. import _constants as c
from .. import errors
from .. import types as t
from .._numbers import integer
from .._operations import gather
from .._partition import bordered, dealt
from .._parts import Partition
from .._request import Request
from ._tasks import Block, cuts_of, join, join_of_parts, parts_of, rows_of, rows_of_shard

__all__ = ["take"]

#: Sizes of chunks along each dim, numbers of chunks, and what dask has of tasks.
Chunks = tuple[tuple[int, ...], ...]
Numbers = tuple[int, ...]
Key = tuple[t.Any, ...]
Graph = dict[t.Any, tuple[t.Any, ...]]


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
        ShapeError: chunks of unknown size, `out_chunks` that do not fit
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
    borders = np.cumsum((0, *x.chunks[axis]))
    if isinstance(ids, da.Array):
        check_ids(ids, request)
        chunks = chunks_of(x.chunks[axis], ids.shape, out_chunks)
        return lazily(x, ids, chunks, axis, partial(parts_of, borders=borders, request=request, axis=axis), missing)
    parts = parts_of(ids, borders=borders, request=request, axis=axis)
    return at_once(x, parts, chunks_of(x.chunks[axis], parts.place.shape, out_chunks), axis, missing)


# -------------------------------------------------------------------------------------------------------- what came


def check_array(x: t.Any) -> None:
    if not isinstance(x, da.Array):
        raise errors.dtype_error("params", f"{type(x).__name__} is not an array of dask")
    if type(x._meta) is not np.ndarray:
        raise errors.dtype_error("params", f"the chunks are {type(x._meta).__name__}, and not NumPy's arrays")
    check_sizes("params", x)


def check_sizes(operand: str, array: da.Array) -> None:
    if any(math.isnan(extent) for extent in array.shape):
        message = f"{operand}: chunks of unknown size: compute_chunk_sizes() finds them"
        raise errors.ShapeError(message, status=c.E_SHAPE, operand=operand)


def check_ids(ids: da.Array, request: Request) -> None:
    """What can be said of ids before they are computed."""
    check_sizes("indices", ids)
    dealt(np.empty(0, ids.dtype), bordered(0, (0, 0)), False, request)


def axis_of(x: da.Array, axis: int) -> int:
    number, rank = integer("axis", axis), len(x.shape)
    if not -rank <= number < rank:
        message = f"params: axis {number} is out of range for rank {rank}"
        raise errors.RankError(message, status=c.E_AXIS, operand="params", value=number, limit=rank)
    return number % rank


def missing_of(dtype: t.Any, request: Request) -> t.Any:
    """An element as an id beyond the rows gives it; None where it is an error, or another row's."""
    try:
        if dealt([1], bordered(1, (0, 1)), False, request).place[0] >= 0:
            return None
    except errors.IndexError:
        return None
    if dtype.hasobject:
        raise errors.unsupported("params", f"elements of dtype {dtype} are not filled")
    switches = request.negative, request.bounds, request.fill_value, request.profile
    named = dict(zip(("negative", "bounds", "fill_value", "profile"), switches, strict=True))
    return gather(np.zeros(1, dtype), [1], **named)


def chunks_of(sizes: tuple[int, ...], shape: tuple[int, ...], out_chunks: t.Any) -> Chunks:
    """The chunks of the dims of ids."""
    if not shape:
        if out_chunks is not None:
            raise no_chunks(out_chunks, "ids of rank 0 have none")
        return ()
    if out_chunks is None:
        out_chunks = max(1, max(sizes) // max(1, math.prod(shape[1:])))
    if isinstance(out_chunks, str) or (
        isinstance(out_chunks, (int, np.integer)) and out_chunks < 1 and out_chunks != -1
    ):
        raise no_chunks(out_chunks, "no sizes")
    try:
        (first,) = normalize_chunks((tuple(out_chunks) if isinstance(out_chunks, list) else out_chunks,), shape[:1])
    except (ValueError, TypeError) as error:
        raise no_chunks(out_chunks, str(error)) from None
    if not all(isinstance(size, int) and size >= 0 for size in first):
        raise no_chunks(out_chunks, "sizes that are not known, or negative")
    return (first, *((extent,) for extent in shape[1:]))


def no_chunks(out_chunks: t.Any, why: str) -> errors.ShapeError:
    return errors.ShapeError(f"options: out_chunks {out_chunks!r}: {why}", status=c.E_SHAPE, operand="options")


# -------------------------------------------------------------------------------------------------------- the graph


def at_once(x: da.Array, parts: Partition, chunks: Chunks, axis: int, missing: t.Any) -> da.Array:
    """The rows of ids that have been dealt out."""
    token = tokenize(x.name, parts, chunks, axis, missing)
    touched = np.flatnonzero(parts.counts).tolist()
    locals_of = parts.slices
    layer: Graph = {}
    for before, after in beside(x, axis):
        for shard in touched:
            local = parts.local[locals_of[shard]]
            chunk = (x.name, *before, shard, *after)
            layer[piece(token, before, shard, after)] = (partial(rows_of, local=local, axis=axis), chunk)
    for key, block, before, after in blocks(x, token, chunks, axis, missing):
        cuts = [(shard, cut) for shard, cut in enumerate(cuts_of(parts, block.first, block.last)) if len(cut[1])]
        rows = [piece(token, before, shard, after) for shard, _ in cuts]
        layer[key] = (partial(join, cuts=[cut for _, cut in cuts], block=block), rows)
    return made(x, token, layer, [x], chunks, axis)


def lazily(
    x: da.Array, ids: da.Array, chunks: Chunks, axis: int, deal: t.Callable[..., Partition], missing: t.Any
) -> da.Array:
    """The rows of ids that a task deals out: any chunk may be touched."""
    whole = ids.rechunk(-1)
    token = tokenize(x.name, ids.name, chunks, axis, missing, deal)
    parts = f"libgather-parts-{token}"
    layer: Graph = {parts: (deal, (whole.name, *(0 for _ in ids.shape)))}
    shards = range(len(x.chunks[axis]))
    for before, after in beside(x, axis):
        for shard in shards:
            chunk = (x.name, *before, shard, *after)
            layer[piece(token, before, shard, after)] = (partial(rows_of_shard, shard=shard, axis=axis), chunk, parts)
    for key, block, before, after in blocks(x, token, chunks, axis, missing):
        rows = [piece(token, before, shard, after) for shard in shards]
        layer[key] = (partial(join_of_parts, block=block), rows, parts)
    return made(x, token, layer, [x, whole], chunks, axis)


def beside(x: da.Array, axis: int) -> list[tuple[Numbers, Numbers]]:
    """The chunks of the dims before an axis and after it, by their numbers."""
    numbers = [range(count) for count in x.numblocks]
    return [*product(product(*numbers[:axis]), product(*numbers[axis + 1 :]))]


def piece(token: str, before: Numbers, shard: int, after: Numbers) -> Key:
    return (f"libgather-rows-{token}", *before, shard, *after)


def blocks(
    x: da.Array, token: str, chunks: Chunks, axis: int, missing: t.Any
) -> Iterator[tuple[Key, Block, Numbers, Numbers]]:
    """The blocks of the result, their keys, and which chunks of the dims beside the axis they are of."""
    inner = tuple(extent for (extent,) in chunks[1:])
    ends = [end * math.prod(inner) for end in accumulate(chunks[0] if chunks else (1,), initial=0)]
    for before, after in beside(x, axis):
        extents_before = sizes_of(x.chunks[:axis], before)
        extents_after = sizes_of(x.chunks[axis + 1 :], after)
        for number, (first, last) in enumerate(pairwise(ends)):
            within = (chunks[0][number], *inner) if chunks else ()
            block = Block(first, last, extents_before, within, extents_after, x.dtype, missing)
            key = (number, *(0 for _ in inner)) if chunks else ()
            yield (name_of(token), *before, *key, *after), block, before, after


def sizes_of(chunks: Chunks, numbers: Numbers) -> tuple[int, ...]:
    return tuple(sizes[number] for sizes, number in zip(chunks, numbers, strict=True))


def name_of(token: str) -> str:
    return f"libgather-take-{token}"


def made(x: da.Array, token: str, layer: Graph, sources: list[t.Any], chunks: Chunks, axis: int) -> da.Array:
    name, whole = name_of(token), x.chunks[:axis] + chunks + x.chunks[axis + 1 :]
    graph = HighLevelGraph.from_collections(name, layer, dependencies=sources)
    return da.Array(graph, name, chunks=whole, meta=np.empty((0,) * len(whole), x.dtype))
