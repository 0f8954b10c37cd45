"""Rows of shards where they belong in a result."""

from __future__ import annotations

import numpy as np

from .. import types as t
from .._join import put, repeated, with_rows, written
from .._parts import Partition


def joined(
    parts: Partition, answers: list[t.Any], shape: tuple[int, ...], dtype: t.Any, missing: t.Any, out: t.Any
) -> t.Any:
    """Each shard's rows are scattered straight from where Ray has them."""
    result, rows = with_rows(out, shape, dtype, parts)
    put(rows, parts.order, tuple(answers))
    return filled(result, rows, parts, missing, out)


def joined_once(
    parts: Partition, answers: list[t.Any], shape: tuple[int, ...], dtype: t.Any, missing: t.Any, out: t.Any
) -> t.Any:
    """Each row is repeated wherever it is asked for."""
    result, rows = with_rows(out, shape, dtype, parts)
    if answers:
        repeated(np.concatenate(answers), parts.place.reshape(-1), rows)
    return filled(result, rows, parts, missing, out)


def filled(result: t.Any, rows: t.Any, parts: Partition, missing: t.Any, out: t.Any) -> t.Any:
    if missing is not None:
        absent = np.flatnonzero(parts.place.reshape(-1) < 0)
        rows[absent] = missing
    return written(result, out)
