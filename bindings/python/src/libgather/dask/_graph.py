"""The graph: one task for each touched chunk, one piece of it for each band, and one join for each block."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise, product
from operator import getitem
from typing import NamedTuple

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .. import types as t
from .._operations.partition_result import Partition
from ._arguments import Chunks
from ._files import file_of, part_of
from ._tasks import (
    Block,
    Chunk,
    as_declared,
    edges_of,
    elements_of,
    join_of_numbers,
    join_of_parts,
    located,
    rows_of_chunk,
    rows_of_shard,
    smallest,
)

#: The largest size of a band of several blocks, in bytes of rows. More tasks take more time than larger messages.
BAND = 32 << 20

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


class Bands(NamedTuple):
    """Consecutive blocks of the result, grouped into bands. A join depends on the rows of its band only.

    Attributes:
        ends: The position of the first id of each block, and the number of ids.
        blocks: The first block of each band, and the number of blocks.
    """

    ends: list[int]
    blocks: list[int]

    @property
    def number(self) -> int:
        return len(self.blocks) - 1

    @property
    def borders(self) -> list[int]:
        """The position of the first id of each band, and the number of ids."""
        return [self.ends[block] for block in self.blocks]

    def of(self, block: int) -> int:
        """Returns the band of a block."""
        return bisect_right(self.blocks, block) - 1


def bands_of(source: Source, chunks: Chunks) -> Bands:
    """Groups blocks. A band is one block, or has at most `BAND` bytes."""
    inner = math.prod(extent for (extent,) in chunks[1:])
    ends = [end * inner for end in accumulate(chunks[0] if chunks else (1,), initial=0)]
    row = math.prod(map(max, source.before + source.after)) * source.array.dtype.itemsize
    blocks = [0]
    for block, (_, end) in enumerate(pairwise(ends)):
        if block > blocks[-1] and (end - ends[blocks[-1]]) * row > BAND:
            blocks.append(block)
    return Bands(ends, [*blocks, len(ends) - 1])


def at_once(source: Source, parts: Partition, chunks: Chunks, missing: t.Any) -> da.Array:
    """Builds the graph for ids that are already partitioned."""
    token = tokenize(source.array.name, parts, chunks, source.axis, missing)
    bands = bands_of(source, chunks)
    edges = edges_of(parts.counts, parts.order, bands.ends)
    layer: Graph = {}
    for shard, rows in enumerate(parts.slices):
        if rows.start < rows.stop:
            gathered = partial(rows_of_chunk, local=smallest(parts.local[rows]), ends=edges[shard, bands.blocks])
            present = np.flatnonzero(np.diff(edges[shard, bands.blocks])).tolist()
            add_rows(layer, source, token, shard, gathered, bands, present, ())
    shards_of = np.full(bands.ends[-1], len(parts.counts))
    shards_of[parts.order] = np.repeat(np.arange(len(parts.counts)), parts.counts)
    for number, (first, last) in enumerate(pairwise(bands.ends)):
        band = bands.of(number)
        shards = np.flatnonzero(edges[:, number + 1] - edges[:, number])
        begins = edges[shards, number] - edges[shards, bands.blocks[band]]
        numbers = np.searchsorted(shards, shards_of[first:last])
        joined = partial(join_of_numbers, begins=smallest(begins), numbers=smallest(numbers))
        for key, block, before, after in blocks(source, token, chunks, missing, bands, number):
            pieces = [piece(token, before, shard, after, band) for shard in shards.tolist()]
            layer[key] = (partial(joined, block=block), pieces)
    return made(source, token, layer, [], chunks)


def lazily(
    source: Source, ids: da.Array, chunks: Chunks, make_parts: t.Callable[..., Partition], missing: t.Any
) -> da.Array:
    """Builds the graph for ids that a task partitions. Each chunk may be needed."""
    whole = declared("indices", ids).rechunk(-1)
    token = tokenize(source.array.name, ids.name, chunks, source.axis, missing, make_parts)
    parts, bands = f"libgather-parts-{token}", bands_of(source, chunks)
    layer: Graph = {parts: (partial(located, make_parts=make_parts), (whole.name, *(0 for _ in ids.shape)))}
    shards, every = range(source.shards), range(bands.number)
    for shard in shards:
        gathered = partial(rows_of_shard, shard=shard, ends=bands.borders)
        add_rows(layer, source, token, shard, gathered, bands, every, (parts,))
    for number in range(len(bands.ends) - 1):
        band = bands.of(number)
        for key, block, before, after in blocks(source, token, chunks, missing, bands, number):
            pieces = [piece(token, before, shard, after, band) for shard in shards]
            layer[key] = (partial(join_of_parts, begin=bands.borders[band], block=block), pieces, parts)
    return made(source, token, layer, [whole], chunks)


def add_rows(
    layer: Graph,
    source: Source,
    token: str,
    shard: int,
    gathered: t.Callable[..., t.Any],
    bands: Bands,
    present: Sequence[int],
    needed: tuple[str, ...],
) -> None:
    """Adds the tasks that gather from the chunks of a shard, and those that separate the bands.

    A chunk has one such task, so it is released before its rows are sent.
    """
    for before, after in beside(source):
        chunk = source.chunk(before, shard, after)
        part, work = part_of(source.array, chunk.number), partial(gathered, declared=chunk, axis=source.axis)
        task = (work, source.key(chunk), *needed) if part is None else (partial(work, part), *needed)
        if bands.number == 1:
            layer[piece(token, before, shard, after, 0)] = task
            continue
        rows = (f"libgather-bands-{token}", *before, shard, *after)
        layer[rows] = task
        for band in present:
            layer[piece(token, before, shard, after, band)] = (getitem, rows, band)


def declared(operand: str, array: da.Array) -> da.Array:
    """Returns the array with a check that compares each computed chunk with its declared size."""
    checked: da.Array = da.map_blocks(as_declared, array, operand=operand, dtype=array.dtype, meta=array._meta)
    return checked


def beside(source: Source) -> list[tuple[Numbers, Numbers]]:
    """Returns the numbers of the chunks of the dims before and after the indexed dims."""
    before, after = (product(*(range(len(sizes)) for sizes in chunks)) for chunks in (source.before, source.after))
    return [*product(before, after)]


def piece(token: str, before: Numbers, shard: int, after: Numbers, band: int) -> Key:
    return (f"libgather-rows-{token}", *before, shard, *after, band)


def blocks(
    source: Source, token: str, chunks: Chunks, missing: t.Any, bands: Bands, number: int
) -> Iterator[tuple[Key, Block, Numbers, Numbers]]:
    """Yields the blocks of the same ids with their keys, and their chunk numbers beside the indexed dims."""
    inner = tuple(extent for (extent,) in chunks[1:])
    within = (chunks[0][number], *inner) if chunks else ()
    key = (number, *(0 for _ in inner)) if chunks else ()
    first, last = bands.ends[number : number + 2]
    for before, after in beside(source):
        extents_before, extents_after = sizes_of(source.before, before), sizes_of(source.after, after)
        block = Block(first, last, extents_before, within, extents_after, source.array.dtype, missing)
        yield (name_of(token), *before, *key, *after), block, before, after


def sizes_of(chunks: Chunks, numbers: Numbers) -> tuple[int, ...]:
    return tuple(sizes[number] for sizes, number in zip(chunks, numbers, strict=True))


def name_of(token: str) -> str:
    return f"libgather-take-{token}"


def made(source: Source, token: str, layer: Graph, needed: list[t.Any], chunks: Chunks) -> da.Array:
    name, whole = name_of(token), source.before + chunks + source.after
    if file_of(source.array) is None:
        needed = [source.array, *needed]
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
