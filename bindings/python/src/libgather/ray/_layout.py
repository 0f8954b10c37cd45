"""What a table is: which rows each shard has, and what they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _constants as c
from .. import errors
from .. import types as t
from .._numbers import integer


class Layout(NamedTuple):
    """The table as its handles and actors know it.

    Attributes:
        shape, dtype: those of the whole table
        borders: shard s has the rows from ``borders[s]`` up to ``borders[s + 1]``
        replicas: how many actors have each shard
        writable: whether its rows can be written to
        timeout: for how many seconds an actor is waited for, unless a call says otherwise
        in_flight: how many gathers a handle has under way at once
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
    """Borders of blocks, the last ones shorter or empty: as :func:`libgather.partition` has them."""
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
