"""The result of a partition."""

from __future__ import annotations

from collections import namedtuple
from itertools import accumulate, pairwise

from .. import types as t
from .partition_join import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Fields(NamedTuple):
        counts: t.Any
        local: t.Any
        order: t.Any
        place: t.Any

else:
    # The modules dataclasses and typing would double the time to import this package.
    Fields = namedtuple("Fields", "counts local order place")


class Partition(Fields):
    """The rows that each shard gathers, and their places in the result. :func:`partition` returns it.

    On a device, `local` and `order` have one element for each id. Those after the last slice are not used. The method
    :meth:`join` puts the rows of the shards into one result.

    Attributes:
        counts: The number of requested rows of each shard.
        local: The row numbers within each shard. Those of shard 0 come first, in the order of the ids.
        order: For each row of `local` the row-major position of its id. It is None if duplicate ids request a row once.
        place: For each id the position of its row in `local`, in the shape of the ids. -1 means that the id is out of
            bounds.

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
        """For each shard, the range of its rows in `local` and `order`. On a device, this waits for the counts."""
        return [slice(*ends) for ends in pairwise(accumulate(self.counts.tolist(), initial=0))]

    def join(self, answers: t.Any, out: t.Any = None) -> t.Any:
        """Puts the rows that the shards return at the places of their ids.

        The call is a scatter along `order` for each answer, or a gather along `place`. To add answers one at a time,
        call :func:`scatter` with ``order[slice]``. On a device, call :func:`gather` with the rows of all shards in one
        array and `place`.

        Args:
            answers: For each shard an array of ``counts[shard]`` rows. All have one dtype and one shape of a row.
            out: A NumPy array that the call writes. Its shape is that of the ids followed by that of a row. Rows of ids
                that are in no shard are not written.

        Returns:
            `out`, or a new NumPy array, in which the rows of ids that are in no shard are zeros.

        Raises:
            ShapeError: There are too few answers, or an answer has another length or shape.
            DTypeError: The answers have several dtypes.
            OutputError: `out` is read-only, or shares memory with an answer.
            UnsupportedError: The partition is on a device.

            All answers are validated before the first one is copied. On an error `out` is unchanged, except if it
            shares memory with an answer other than the first.

        >>> import numpy as np
        >>> import libgather
        >>> shards = [np.array([0.0, 0.1, 0.2]), np.array([0.3, 0.4, 0.5])]
        >>> parts = libgather.partition([5, 0, 4], rows=6, shards=2)
        >>> parts.join([shard[parts.local[rows]] for shard, rows in zip(shards, parts.slices)]).tolist()
        [0.5, 0.0, 0.4]
        """
        return joined(self, answers, out)
