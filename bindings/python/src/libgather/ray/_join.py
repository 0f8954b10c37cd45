"""Rows of shards where they belong in a result."""

from __future__ import annotations

import numpy as np

from .. import types as t
from .._operations import gather
from .._parts import Partition
from .._scatters import scatter


def joined(
    parts: Partition, answers: list[t.Any], shape: tuple[int, ...], dtype: t.Any, missing: t.Any, out: t.Any
) -> t.Any:
    """Each shard's rows are scattered straight from where Ray has them."""
    result, rows = with_rows(out, shape, dtype, parts)
    begin = 0
    for answer in answers:
        scatter(rows, parts.order[begin : begin + len(answer)], answer, 0, inplace=True)  # type: ignore[index]
        begin += len(answer)
    return filled(result, rows, parts, missing, out)


def joined_once(
    parts: Partition, answers: list[t.Any], shape: tuple[int, ...], dtype: t.Any, missing: t.Any, out: t.Any
) -> t.Any:
    """Each row is repeated wherever it is asked for."""
    result, rows = with_rows(out, shape, dtype, parts)
    if answers:
        repeated(np.concatenate(answers), parts.place.reshape(-1), rows)
    return filled(result, rows, parts, missing, out)


def repeated(answers: t.Any, place: t.Any, rows: t.Any) -> None:
    if rows.dtype.isbuiltin == 1 and rows.dtype.kind in "biufc":
        gather(answers, place, out=rows, bounds="skip")
        return
    present = np.flatnonzero(place >= 0)  # other elements are gathered into an array of their own alone
    scatter(rows, present, gather(answers, place[present]), 0, inplace=True)


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
