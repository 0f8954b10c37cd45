"""The graph: one task for each touched chunk, and one join for each block of the result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import accumulate, pairwise, product
from typing import NamedTuple

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .. import types as t
from .._parts import Partition
from ._arguments import Chunks
from ._tasks import (
    Block,
    Chunk,
    as_declared,
    cuts_of,
    elements_of,
    join,
    join_of_parts,
    rows_of_chunk,
    rows_of_shard,
)

#: The numbers of a chunk along some dims, and the types of dask's graphs.
Numbers = tuple[int, ...]
Key = tuple[t.Any, ...]
Graph = dict[t.Any, tuple[t.Any, ...]]


class Source(NamedTuple):
    """An array of which `depth` dims are indexed. The first of them is `axis`."""

    array: da.Array
    axis: int
    depth: int

    @property
    def before(self) -> Chunks:
        return self.array.chunks[: self.axis]  # type: ignore[no-any-return]

    @property
    def indexed(self) -> Chunks:
        return self.array.chunks[self.axis : self.axis + self.depth]  # type: ignore[no-any-return]

    @property
    def after(self) -> Chunks:
        return self.array.chunks[self.axis + self.depth :]  # type: ignore[no-any-return]

    @property
    def shards(self) -> int:
        """The number of chunks of the indexed dims."""
        return math.prod(map(len, self.indexed))

    def chunk(self, before: Numbers, shard: int, after: Numbers) -> Chunk:
        numbers = np.unravel_index(shard, tuple(map(len, self.indexed)))
        number = (*before, *map(int, numbers), *after)
        return Chunk("params", number, sizes_of(self.array.chunks, number))

    def key(self, chunk: Chunk) -> Key:
        return (self.array.name, *chunk.number)


def at_once(source: Source, parts: Partition, chunks: Chunks, missing: t.Any) -> da.Array:
    """Builds the graph for ids that are already partitioned."""
    token = tokenize(source.array.name, parts, chunks, source.axis, missing)
    touched = np.flatnonzero(parts.counts).tolist()
    locals_of = parts.slices
    layer: Graph = {}
    rows_from = [(shard, partial(rows_of_chunk, local=parts.local[locals_of[shard]])) for shard in touched]
    for before, after in beside(source):
        for shard, rows in rows_from:
            chunk = source.chunk(before, shard, after)
            layer[piece(token, before, shard, after)] = (
                partial(rows, declared=chunk, axis=source.axis),
                source.key(chunk),
            )
    for key, block, before, after in blocks(source, token, chunks, missing):
        cuts = [(shard, cut) for shard, cut in enumerate(cuts_of(parts, block.first, block.last)) if len(cut[1])]
        pieces = [piece(token, before, shard, after) for shard, _ in cuts]
        layer[key] = (partial(join, cuts=[cut for _, cut in cuts], block=block), pieces)
    return made(source, token, layer, [source.array], chunks)


def lazily(
    source: Source, ids: da.Array, chunks: Chunks, make_parts: t.Callable[..., Partition], missing: t.Any
) -> da.Array:
    """Builds the graph for ids that a task partitions. Each chunk may be needed."""
    whole = declared("indices", ids).rechunk(-1)
    token = tokenize(source.array.name, ids.name, chunks, source.axis, missing, make_parts)
    parts = f"libgather-parts-{token}"
    layer: Graph = {parts: (make_parts, (whole.name, *(0 for _ in ids.shape)))}
    shards = range(source.shards)
    for before, after in beside(source):
        for shard in shards:
            chunk = source.chunk(before, shard, after)
            rows = partial(rows_of_shard, declared=chunk, shard=shard, axis=source.axis)
            layer[piece(token, before, shard, after)] = (rows, source.key(chunk), parts)
    for key, block, before, after in blocks(source, token, chunks, missing):
        pieces = [piece(token, before, shard, after) for shard in shards]
        layer[key] = (partial(join_of_parts, block=block), pieces, parts)
    return made(source, token, layer, [source.array, whole], chunks)


def declared(operand: str, array: da.Array) -> da.Array:
    """Returns the array with a check that compares each computed chunk with its declared size."""
    checked: da.Array = da.map_blocks(as_declared, array, operand=operand, dtype=array.dtype, meta=array._meta)
    return checked


def beside(source: Source) -> list[tuple[Numbers, Numbers]]:
    """Returns the numbers of the chunks of the dims before and after the indexed dims."""
    before, after = (product(*(range(len(sizes)) for sizes in chunks)) for chunks in (source.before, source.after))
    return [*product(before, after)]


def piece(token: str, before: Numbers, shard: int, after: Numbers) -> Key:
    return (f"libgather-rows-{token}", *before, shard, *after)


def blocks(source: Source, token: str, chunks: Chunks, missing: t.Any) -> Iterator[tuple[Key, Block, Numbers, Numbers]]:
    """Yields the blocks of the result with their keys, and their chunk numbers before and after the indexed dims."""
    inner = tuple(extent for (extent,) in chunks[1:])
    ends = [end * math.prod(inner) for end in accumulate(chunks[0] if chunks else (1,), initial=0)]
    for before, after in beside(source):
        extents_before, extents_after = sizes_of(source.before, before), sizes_of(source.after, after)
        for number, (first, last) in enumerate(pairwise(ends)):
            within = (chunks[0][number], *inner) if chunks else ()
            block = Block(first, last, extents_before, within, extents_after, source.array.dtype, missing)
            key = (number, *(0 for _ in inner)) if chunks else ()
            yield (name_of(token), *before, *key, *after), block, before, after


def sizes_of(chunks: Chunks, numbers: Numbers) -> tuple[int, ...]:
    return tuple(sizes[number] for sizes, number in zip(chunks, numbers, strict=True))


def name_of(token: str) -> str:
    return f"libgather-take-{token}"


def made(source: Source, token: str, layer: Graph, needed: list[t.Any], chunks: Chunks) -> da.Array:
    name, whole = name_of(token), source.before + chunks + source.after
    graph = HighLevelGraph.from_collections(name, layer, dependencies=needed)
    return da.Array(graph, name, chunks=whole, meta=np.empty((0,) * len(whole), source.array.dtype))


def elements(array: da.Array, indices: da.Array, axis: int) -> da.Array:
    """Builds the blocks of single elements. A block needs its indices and all chunks along the axis."""
    beside = tuple(extent for dim, extent in enumerate(array.shape) if dim != axis)
    whole = (*beside[:axis], indices.shape[axis], *beside[axis:])
    chunks = (*array.chunks[:axis], indices.chunks[axis], *array.chunks[axis + 1 :])
    indices = da.broadcast_to(indices, whole).rechunk(chunks)
    dims = tuple(range(array.ndim))
    along = tuple(array.ndim if dim == axis else dim for dim in dims)
    borders = np.cumsum((0, *array.chunks[axis]))
    work = partial(elements_of, axis=axis, borders=borders)
    blocks: da.Array = da.blockwise(
        work,
        dims,
        indices,
        dims,
        declared("params", array),
        along,
        concatenate=False,
        dtype=array.dtype,
        name=f"libgather-elements-{tokenize(array.name, indices.name, axis)}",
        meta=np.empty((0,) * array.ndim, array.dtype),
    )
    return blocks
