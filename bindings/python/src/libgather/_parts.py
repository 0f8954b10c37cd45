"""What ids have been dealt out into."""

from __future__ import annotations

from collections import namedtuple
from itertools import accumulate, pairwise

from . import types as t
from ._join import joined

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

    Rows come back by :meth:`join`: a scatter along `order`, or a gather along `place`.

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

    def join(self, answers: t.Any, out: t.Any = None) -> t.Any:
        """Puts the rows that the shards answer with where the ids have them.

        As a scatter along `order` for each answer, or a gather along `place`, all in one call; a scatter of one answer
        alone, as they come in, is :func:`scatter` with ``order[slice]``.

        Args:
            answers: for each shard an array of ``counts[shard]`` rows, all of one dtype and shape of rows
            out: an array of NumPy's that is written to, in the shape of the ids and then of a row. Ids that are in no
                shard leave their rows in it as they are

        Returns:
            `out`, or a new array of NumPy's, where rows of ids that are in no shard are zeros

        Raises:
            ShapeError: answers that are too few, or not as long as they should be, or of another shape
            DTypeError: answers of several dtypes
            OutputError: `out` is read-only, or shares memory with an answer

        All answers are judged before the first is copied; on an error `out` is as it was, but where it shares memory
        with an answer that is not the first.

        >>> import numpy as np
        >>> import libgather
        >>> shards = [np.array([0.0, 0.1, 0.2]), np.array([0.3, 0.4, 0.5])]
        >>> parts = libgather.partition([5, 0, 4], rows=6, shards=2)
        >>> parts.join([shard[parts.local[rows]] for shard, rows in zip(shards, parts.slices)]).tolist()
        [0.5, 0.0, 0.4]
        """
        return joined(self, answers, out)
