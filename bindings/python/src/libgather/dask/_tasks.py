"""What the tasks of a graph do: rows of a chunk, and a block of the result out of such rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import types as t
from .._partition import bordered, dealt
from .._parts import Partition
from .._request import Request
from .._scatters import scatter
from .._take import take

#: For each piece, from which of its rows on they are a block's, and where in the block they belong.
Cuts = list[tuple[int, t.Any]]


class Block(NamedTuple):
    """A block of the result.

    Attributes:
        first, last: the ids that it is for, from the first one up to the last one, by their row-major positions
        before, within, after: the extents of the dims before those of the ids, of theirs, and of those after them
        dtype: that of its elements
        missing: an element as an id that no chunk has gives it; None: there is no such id
    """

    first: int
    last: int
    before: tuple[int, ...]
    within: tuple[int, ...]
    after: tuple[int, ...]
    dtype: t.Any
    missing: t.Any


def parts_of(ids: t.Any, *, borders: t.Any, request: Request, axis: int) -> Partition:
    return dealt(ids, bordered(int(borders[-1]), borders), False, request, axis)


def rows_of(chunk: t.Any, *, local: t.Any, axis: int) -> t.Any:
    return take(chunk, local, axis)


def rows_of_shard(chunk: t.Any, parts: Partition, *, shard: int, axis: int) -> t.Any:
    begin = int(parts.counts[:shard].sum())
    return rows_of(chunk, local=parts.local[begin : begin + parts.counts[shard]], axis=axis)


def cuts_of(parts: Partition, first: int, last: int) -> Cuts:
    """Of each shard's rows those that ids from the first one up to the last one ask for, which are neighbours."""
    cuts = []
    for rows in parts.slices:
        order = parts.order[rows]  # type: ignore[index]
        begin, end = np.searchsorted(order, (first, last))
        cuts.append((int(begin), order[begin:end] - first))
    return cuts


def join(pieces: list[t.Any], *, cuts: Cuts, block: Block) -> t.Any:
    """Rows of chunks where they belong in a block."""
    axis, count = len(block.before), block.last - block.first
    out = np.empty((*block.before, count, *block.after), block.dtype)
    if sum(len(order) for _, order in cuts) < count:
        out[...] = block.missing
    for piece, (begin, order) in zip(pieces, cuts, strict=True):
        rows = piece[(slice(None),) * axis + (slice(begin, begin + len(order)),)]
        put(out, order, rows, axis)
    return out.reshape(block.before + block.within + block.after)


def join_of_parts(pieces: list[t.Any], parts: Partition, *, block: Block) -> t.Any:
    return join(pieces, cuts=cuts_of(parts, block.first, block.last), block=block)


def put(out: t.Any, order: t.Any, rows: t.Any, axis: int) -> None:
    if out.dtype.hasobject:  # which only NumPy can copy
        out[(slice(None),) * axis + (order,)] = rows
    else:
        scatter(out, order, rows, axis, inplace=True)
