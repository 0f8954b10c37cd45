"""What ids have been dealt out into."""

from __future__ import annotations

from collections import namedtuple
from itertools import accumulate, pairwise

from . import types as t

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

    Rows come back by :meth:`join`, which is a scatter along `order` or a gather along `place`.

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

    def join(self, answers: t.Sequence[t.Any], *, out: t.Any = None) -> t.Any:
        """The rows of the shards, in the order of the ids.

        Args:
            answers: for each shard its rows `local`, ``counts[s]`` of them: arrays of shape ``(counts[s], *row)``, all of
                one dtype
            out: a dense array of NumPy's for the result; what is for an id without a shard stays as it is

        Returns:
            `out`, or a new array of shape ``(*place.shape, *row)``, with zeros for ids without a shard.

        Raises:
            ShapeError: not as many answers as shards, or not as many rows as it was asked for; an `out` that does not
                fit or is not dense
            DTypeError: answers of several dtypes

        >>> import libgather, numpy as np
        >>> table = np.arange(12).reshape(6, 2)
        >>> shards = table[:3], table[3:]
        >>> parts = libgather.partition([5, 0, 4], rows=6, shards=2)
        >>> parts.join([rows[parts.local[own]] for rows, own in zip(shards, parts.slices)]).tolist()
        [[10, 11], [0, 1], [8, 9]]
        """
        from ._join import join  # noqa: PLC0415 - it needs what comes after this module

        return join(self, answers, out)
