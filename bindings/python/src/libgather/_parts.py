"""What ids have been dealt out into."""

from __future__ import annotations

from collections import namedtuple
from itertools import accumulate, pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    import numpy as np

    class Fields(NamedTuple):
        counts: np.ndarray[tuple[int], np.dtype[np.int64]]
        local: np.ndarray[tuple[int], np.dtype[np.int64]]
        order: np.ndarray[tuple[int], np.dtype[np.int64]] | None
        place: np.ndarray[tuple[int, ...], np.dtype[np.int64]]

else:
    # The modules dataclasses and typing would make the import of this package twice as long.
    Fields = namedtuple("Fields", "counts local order place")


class Partition(Fields):
    """Which rows each shard is to gather, and where they belong: what :func:`partition` gives.

    Attributes:
        counts: how many rows each shard is asked for
        local: the rows, as the shards count them: those of shard 0 first, in the order of the ids
        order: which id each of them is, by its row-major position; None if rows are asked for once
        place: for each id which of `local` is its row, in the shape of the ids; -1: it is out of bounds and has none

    Rows come back by a scatter along `order`, or a gather along `place`.

    >>> import libgather
    >>> parts = libgather.partition([5, 0, 4], rows=6, shards=2)
    >>> [parts.local[rows].tolist() for rows in parts.slices]
    [[0], [2, 1]]
    >>> [parts.order[rows].tolist() for rows in parts.slices]
    [[1], [0, 2]]
    """

    __slots__ = ()

    @property
    def slices(self) -> list[slice]:
        """For each shard, where its rows are in `local` and `order`."""
        return [slice(*ends) for ends in pairwise(accumulate(self.counts.tolist(), initial=0))]
