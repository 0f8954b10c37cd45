"""The layout of a table: its shape, its dtype and the rows of each shard."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.integers import integer


class Layout(NamedTuple):
    """The layout of a table. Its handles and actors share it.

    Attributes:
        shape, dtype: The shape and dtype of the whole table.
        borders: Shard s has the rows from ``borders[s]`` up to ``borders[s + 1]``.
        replicas: The number of actors of each shard.
        writable: True if rows can be written.
        timeout: The time to wait for an actor in seconds. A call may replace it.
        in_flight: The largest number of concurrent gathers of a handle.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[t.Any]
    borders: tuple[int, ...]
    replicas: int
    writable: bool
    timeout: float
    in_flight: int

    @property
    def shards(self) -> int:
        return len(self.borders) - 1

    def rows(self, shard: int) -> slice:
        return slice(self.borders[shard], self.borders[shard + 1])


def equal_borders(rows: int, shards: int) -> tuple[int, ...]:
    """Returns borders of equal blocks. The last ones may be shorter or empty, as in :func:`libgather.partition`."""
    count = positive("shards", shards)
    block = -(-rows // count)
    return tuple(min(rows, block * shard) for shard in range(count + 1))


def positive(name: str, value: t.Any) -> int:
    number = integer(name, value)
    if number < 1:
        raise refused(f"{name} {number}: at least 1 is needed")
    return number


def seconds(value: t.Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise refused(f"timeout {value!r} is no number of seconds above 0")
    return float(value)


def refused(message: str) -> errors.OptionError:
    return errors.OptionError(f"options: {message}", status=c.E_VERSION, operand="options")


def check_table(shape: tuple[int, ...], dtype: np.dtype[t.Any]) -> None:
    if not shape:
        raise errors.RankError("params: a table has at least one dim, that of its rows", status=c.E_RANK)
    if dtype.hasobject:
        raise errors.dtype_error("params", f"elements of dtype {dtype} cannot be shared between processes")
