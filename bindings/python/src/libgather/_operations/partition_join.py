"""Joins the rows that the shards return into one result, for Partition.join. `parts` is the Partition."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.devices import is_host
from .._base.optional_packages import module
from .._requests.site_of_call import place_of
from .gathers import gather
from .scatters import scatter


def joined(parts: t.Any, answers: t.Any, out: t.Any) -> t.Any:
    """Returns the result of :meth:`Partition.join`."""
    if not is_host(place_of(parts.place, "indices")):
        raise errors.unsupported("indices", "join() is run on the CPU only: gather(rows, place) joins rows on a device")
    asarray = module("numpy").asarray
    found = [asarray(answer) for answer in answers]
    check_answers(parts, found, out)
    shape, dtype = (*parts.place.shape, *found[0].shape[1:]), found[0].dtype
    return placed(parts, found, shape, dtype, module("numpy").zeros((), dtype) if out is None else None, out)


def check_answers(parts: t.Any, answers: list[t.Any], out: t.Any) -> None:
    """Validates all answers before the first one is copied."""
    counts = parts.counts.tolist()
    if len(answers) != len(counts):
        raise size_error(f"answers: {len(answers)} of them, needed is one a shard, {len(counts)}")
    like = answers[0] if out is None else out
    row = like.shape[1 if out is None else parts.place.ndim :]
    for i, (answer, count) in enumerate(zip(answers, counts, strict=True)):
        if answer.shape != (count, *row):
            raise size_error(f"answers: number {i} has shape {answer.shape}, needed is {(count, *row)}")
        if answer.dtype != like.dtype:
            raise errors.dtype_error("updates", f"answers: number {i} has dtype {answer.dtype}, needed is {like.dtype}")
    if out is not None and out.shape != (*parts.place.shape, *row):
        raise size_error(f"out: shape is {out.shape}, needed is {(*parts.place.shape, *row)}")


def size_error(message: str) -> errors.ShapeError:
    return errors.ShapeError(message, status=c.E_SHAPE)


def placed(
    parts: t.Any, answers: list[t.Any], shape: tuple[int, ...], dtype: t.Any, missing: t.Any, out: t.Any
) -> t.Any:
    """Returns `out` or a new array with the rows of the shards.

    `missing` is the value of ids that are in no shard. If it is None, their rows are not written.
    """
    result, rows = with_rows(out, shape, dtype, parts)
    if parts.order is not None:
        put(rows, parts.order, answers)
    elif answers:
        repeated(module("numpy").concatenate(answers), parts.place.reshape(-1), rows)
    # `order` has the ids that are in a shard.
    if missing is not None and (parts.order is None or len(parts.order) < len(rows)):
        rows[module("numpy").flatnonzero(parts.place.reshape(-1) < 0)] = missing
    if out is None or out is result:
        return result
    out[...] = result
    return out


def put(rows: t.Any, order: t.Any, answers: list[t.Any]) -> None:
    """Scatters the rows of each shard to the result without an intermediate copy."""
    begin = 0
    for answer in answers:
        scatter(rows, order[begin : begin + len(answer)], answer, 0, inplace=True)
        begin += len(answer)


def repeated(answers: t.Any, place: t.Any, rows: t.Any) -> None:
    """Copies each row to the positions of all ids that select it."""
    if rows.dtype.isbuiltin == 1 and rows.dtype.kind in "biufc":
        gather(answers, place, out=rows, bounds="skip")
        return
    # Other elements are gathered into a new array first.
    present = module("numpy").flatnonzero(place >= 0)
    scatter(rows, present, gather(answers, place[present]), 0, inplace=True)


def with_rows(out: t.Any, shape: tuple[int, ...], dtype: t.Any, parts: t.Any) -> tuple[t.Any, t.Any]:
    """Returns the array to write, and a view of it in which the dims of the ids are one dim."""
    dense = out if out is not None and out.flags.c_contiguous else None
    result = module("numpy").empty(shape, dtype) if dense is None else dense
    if dense is None and out is not None:
        result[...] = out  # skipped rows keep their values
    return result, result.reshape(parts.place.size, *shape[parts.place.ndim :])
