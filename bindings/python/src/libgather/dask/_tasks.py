"""The tasks of a graph: gather from one chunk, and join such pieces to a block of the result."""

from __future__ import annotations

import math
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.request_fields import Request
from .._operations.gather_plan import Plan
from .._operations.gathers import gather_nd
from .._operations.numpy_take import take
from .._operations.partition_result import Partition
from .._operations.partitions import bordered, partition_ids
from .._operations.scatters import scatter
from .._requests.spec import Spec
from ._files import Part


class Chunk(NamedTuple):
    """A declared chunk: the operand of its array, its number along each dim, and its shape."""

    operand: str
    number: tuple[int, ...]
    shape: tuple[int, ...]


class Located(NamedTuple):
    """The fields of a partition that tasks need, in small integers."""

    counts: t.Any
    local: t.Any
    order: t.Any


class Block(NamedTuple):
    """A block of the result.

    Attributes:
        first, last: The ids of the block. They are the row-major positions from `first` up to `last`.
        before, within, after: The shape of the dims before those of the ids, of those of the ids, and after them.
        dtype: The dtype of its elements.
        missing: The element of an id that is in no chunk. None means that no id is invalid.
    """

    first: int
    last: int
    before: tuple[int, ...]
    within: tuple[int, ...]
    after: tuple[int, ...]
    dtype: t.Any
    missing: t.Any


def parts_of(ids: t.Any, *, borders: t.Any, request: Request, axis: int) -> Partition:
    return partition_ids(ids, bordered(int(borders[-1]), borders), False, request, axis)


def parts_of_tuples(tuples: t.Any, *, borders: list[t.Any], request: Request) -> Partition:
    """Partitions tuples by chunk. The chunks of the indexed dims are numbered in row-major order."""
    check_tuples(tuples, tuple(int(border[-1]) for border in borders), request)
    flat = tuples.reshape(-1, len(borders))
    chunk, inside, present = np.zeros(len(flat), np.int64), np.zeros(flat.shape, np.int64), np.ones(len(flat), bool)
    for dim, border in enumerate(borders):
        parts = partition_ids(flat[:, dim], bordered(int(border[-1]), border), False, request)
        number = np.full(len(flat), -1)
        number[parts.order] = np.repeat(np.arange(len(parts.counts)), parts.counts)
        inside[parts.order, dim] = parts.local
        present &= number >= 0
        chunk = chunk * len(parts.counts) + number
    found = np.flatnonzero(present)
    count = math.prod(len(border) - 1 for border in borders)
    parts = partition_ids(chunk[found], bordered(count, range(count + 1)), False, Request())
    order, place = found[parts.order], np.full(len(flat), -1)
    place[order] = np.arange(len(order))
    return Partition(parts.counts, inside[order], order, place.reshape(tuples.shape[:-1]))


def check_tuples(tuples: t.Any, extents: tuple[int, ...], request: Request) -> None:
    """Validates whole tuples before they are partitioned.

    Errors name the first invalid index of the first bad tuple.
    """
    switches: t.Any = {name: getattr(request, name) for name in ("negative", "bounds", "profile")}
    plan = Plan(Spec("uint8", extents), Spec(tuples.dtype, tuples.shape), op="gather_nd", **switches)
    plan.check(tuples)


def check_chunk(chunk: t.Any, declared: Chunk) -> None:
    """Validates the shape of a chunk. Ids would select wrong rows in a chunk of another shape than declared."""
    operand, number, needed = declared
    shape = np.shape(chunk)
    if len(shape) != len(needed):
        message = f"{operand}: chunk {number} has rank {len(shape)}, {len(needed)} is declared"
        raise errors.RankError(message, status=c.E_RANK, operand=operand, value=len(shape), limit=len(needed))
    for dim, (extent, wanted) in enumerate(zip(shape, needed, strict=True)):
        if extent != wanted:
            message = f"{operand}: chunk {number} has length {extent} along dim {dim}, {wanted} is declared"
            raise errors.ShapeError(
                message, status=c.E_SHAPE, operand=operand, component=dim, value=extent, limit=wanted
            )


def as_declared(chunk: t.Any, operand: str, block_info: t.Any = None) -> t.Any:
    """Returns a chunk unchanged after a comparison with its declared shape."""
    info = block_info[0]
    extents = tuple(end - begin for begin, end in info["array-location"])
    check_chunk(chunk, Chunk(operand, tuple(info["chunk-location"]), extents))
    return chunk


def rows_of_chunk(chunk: t.Any, *, declared: Chunk, local: t.Any, ends: t.Any, axis: int) -> t.Any:
    """Gathers from a chunk the rows between each two of `ends`. Returns a list, or the only array."""
    if isinstance(chunk, Part):
        return chunk.gather(partial(rows_of_chunk, declared=declared, local=local, ends=ends, axis=axis))
    check_chunk(chunk, declared)
    bands = [rows_of(chunk, local=local[first:last], axis=axis) for first, last in pairwise(ends.tolist())]
    return bands if len(bands) > 1 else bands[0]


def rows_of(chunk: t.Any, *, local: t.Any, axis: int) -> t.Any:
    """Gathers rows of a chunk along an axis, or slices by tuples."""
    if local.ndim == 1:
        return take(chunk, local, axis)
    return chunk[tuple(local.T)] if getattr(chunk.dtype, "hasobject", False) else gather_nd(chunk, local)


def elements_of(indices: t.Any, chunks: list[t.Any], *, axis: int, borders: t.Any) -> t.Any:
    """Gathers a block of single elements from the chunks along an axis."""
    parts = partition_ids(indices, bordered(int(borders[-1]), borders), False, Request(negative="wrap"))
    out = np.empty(indices.shape, chunks[0].dtype)
    flat = out.reshape(-1)
    for chunk, rows in zip(chunks, parts.slices, strict=True):
        if rows.start < rows.stop:
            where = list(np.unravel_index(parts.order[rows], indices.shape))
            where[axis] = parts.local[rows]
            put(flat, parts.order[rows], rows_of(chunk, local=np.column_stack(where), axis=0), 0)
    return out


def validated(indices: t.Any, extent: int, axis: int, block_info: t.Any = None) -> t.Any:
    """Returns a block of indices after validation. Errors have the position of the index in the whole array."""
    try:
        partition_ids(indices, bordered(extent, (0, extent)), False, Request(negative="wrap"), axis)
    except errors.IndexError as error:
        (info, *_) = block_info.values()
        first = [begin for begin, _ in info["array-location"]]
        index = tuple(begin + place for begin, place in zip(first, error.index or (), strict=True))
        raise placed(error, index, info["shape"], axis) from None
    return indices


def placed(error: errors.IndexError, index: tuple[int, ...], shape: tuple[int, ...], axis: int) -> errors.IndexError:
    """Returns the same error with another place of the index."""
    position = 0
    for number, extent in zip(index, shape, strict=True):
        position = position * extent + number
    message = f"indices: component 0 of tuple {position} is {error.value}, valid are [-{error.limit}, {error.limit})"
    other = errors.IndexError(
        message,
        status=error.status,
        operand="indices",
        component=0,
        position=position,
        value=error.value,
        limit=error.limit,
        wraps=True,
    )
    other.place(index, axis)
    return other


def smallest(numbers: t.Any) -> t.Any:
    """Returns the numbers in the smallest unsigned integers. dask sends them to its workers."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def located(ids: t.Any, *, make_parts: t.Callable[[t.Any], Partition]) -> Located:
    parts = make_parts(ids)
    return Located(parts.counts, smallest(parts.local), smallest(parts.order))


def edges_of(counts: t.Any, order: t.Any, ends: t.Any) -> t.Any:
    """Returns for each shard and each of `ends` the number of the shard's rows whose ids have smaller positions."""
    shards = pairwise(accumulate(counts.tolist(), initial=0))
    return np.array([np.searchsorted(order[first:last], ends) for first, last in shards])


def rows_of_shard(chunk: t.Any, parts: Located, *, declared: Chunk, shard: int, ends: t.Any, axis: int) -> t.Any:
    first = int(parts.counts[:shard].sum())
    rows = slice(first, first + int(parts.counts[shard]))
    ends = np.searchsorted(parts.order[rows], ends)
    return rows_of_chunk(chunk, declared=declared, local=parts.local[rows], ends=ends, axis=axis)


def join_of_parts(pieces: list[t.Any], parts: Located, *, begin: int, block: Block) -> t.Any:
    """Joins a block from the pieces of all shards. The first id of the pieces has the position `begin`."""
    edges = edges_of(parts.counts, parts.order, (begin, block.first, block.last))
    starts = np.cumsum(parts.counts) - parts.counts
    orders = [parts.order[start + low : start + high] for start, (_, low, high) in zip(starts, edges, strict=True)]
    rows = [slice(low - first, high - first) for first, low, high in edges.tolist()]
    return join(pieces, rows, np.concatenate(orders).astype(np.int64) - block.first, block)


def join_of_numbers(pieces: list[t.Any], *, begins: t.Any, numbers: t.Any, block: Block) -> t.Any:
    """Joins a block. `numbers` has for each id the number of its piece, and `begins` its first row in each piece.

    The number of an id that is in no chunk is the count of the pieces.
    """
    count = len(pieces)
    parts = partition_ids(numbers, bordered(count + 1, range(count + 2)), False, Request())
    sizes = parts.counts[:count].tolist()
    rows = [slice(begin, begin + size) for begin, size in zip(begins.tolist(), sizes, strict=True)]
    return join(pieces, rows, parts.order[: sum(sizes)], block)


def join(pieces: list[t.Any], rows: list[slice], order: t.Any, block: Block) -> t.Any:
    """Copies rows of each piece to their places in a block. The places of the first piece come first in `order`."""
    axis, count = len(block.before), block.last - block.first
    out = np.empty((*block.before, count, *block.after), block.dtype)
    if len(order) < count:
        out[...] = block.missing
    place = 0
    for piece, part in zip(pieces, rows, strict=True):
        size = part.stop - part.start
        put(out, order[place : place + size], piece[(slice(None),) * axis + (part,)], axis)
        place += size
    return out.reshape(block.before + block.within + block.after)


def put(out: t.Any, order: t.Any, rows: t.Any, axis: int) -> None:
    if out.dtype.hasobject:  # only NumPy can copy objects
        out[(slice(None),) * axis + (order,)] = rows
    else:
        scatter(out, order, rows, axis, inplace=True)
