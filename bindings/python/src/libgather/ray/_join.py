"""Rows of shards where they belong in a result."""

from __future__ import annotations

import numpy as np

from .. import types as t
from .._join import write
from .._parts import Partition


def joined(
    parts: Partition, answers: list[t.Any], shape: tuple[int, ...], dtype: t.Any, missing: t.Any, out: t.Any
) -> t.Any:
    """Each shard's rows are taken straight from where Ray has them."""
    result, rows = with_rows(out, shape, dtype, parts)
    write(parts, answers, rows)
    return filled(result, rows, parts, missing, out)


def with_rows(out: t.Any, shape: tuple[int, ...], dtype: t.Any, parts: Partition) -> tuple[t.Any, t.Any]:
    """What is written to, and the same with the dims of the ids as one."""
    dense = out if out is not None and out.flags.c_contiguous else None
    result = np.empty(shape, dtype) if dense is None else dense
    if dense is None and out is not None:
        result[...] = out  # what is skipped stays
    return result, result.reshape(parts.place.size, *shape[parts.place.ndim :])


def filled(result: t.Any, rows: t.Any, parts: Partition, missing: t.Any, out: t.Any) -> t.Any:
    if missing is not None:
        absent = np.flatnonzero(parts.place.reshape(-1) < 0)
        rows[absent] = missing
    if out is None or out is result:
        return result
    out[...] = result
    return out
