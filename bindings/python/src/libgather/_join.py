"""Answers of shards put where they belong in a result: what a Partition, here called parts, has for it."""

from __future__ import annotations

from . import _constants as c
from . import errors
from . import types as t
from ._modules import module
from ._objects import join


def joined(parts: t.Any, answers: t.Any, out: t.Any) -> t.Any:
    """What :meth:`Partition.join` gives."""
    answers = tuple(answers)
    if out is not None and parts.order is not None and parts.place.ndim == 1 and is_answered(parts, answers, out):
        found = join(out, parts.order, answers)
        if found is not NotImplemented:
            return found
    return joined_others(parts, answers, out)


def is_answered(parts: t.Any, answers: tuple[t.Any, ...], out: t.Any) -> bool:
    """Whether everything is as long as it should be."""
    try:
        return len(out) == len(parts.place) and [*map(len, answers)] == parts.counts.tolist()
    except TypeError:  # one has no length
        return False


def joined_others(parts: t.Any, answers: tuple[t.Any, ...], out: t.Any) -> t.Any:
    numpy = module("numpy")
    found = [numpy.asarray(answer) for answer in answers]
    check_answers(parts, found, out)
    shape, dtype = (*parts.place.shape, *found[0].shape[1:]), found[0].dtype
    return placed(parts, found, shape, dtype, numpy.zeros((), dtype) if out is None else None, out)


def check_answers(parts: t.Any, answers: list[t.Any], out: t.Any) -> None:
    """All of them before the first is copied."""
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
    """A result, `out` or a new one, with the rows of those shards that are asked for any.

    missing: what ids have that are in no shard; None: what is there
    """
    result, rows = with_rows(out, shape, dtype, parts)
    if parts.order is not None:
        put(rows, parts.order, tuple(answers))
    elif answers:
        repeated(module("numpy").concatenate(answers), parts.place.reshape(-1), rows)
    if missing is not None:
        rows[module("numpy").flatnonzero(parts.place.reshape(-1) < 0)] = missing
    if out is None or out is result:
        return result
    out[...] = result
    return out


def put(rows: t.Any, order: t.Any, answers: tuple[t.Any, ...]) -> None:
    """Each shard's rows are scattered straight from where they are."""
    if join(rows, order, answers) is not NotImplemented:
        return
    from ._scatters import scatter

    begin = 0
    for answer in answers:
        scatter(rows, order[begin : begin + len(answer)], answer, 0, inplace=True)
        begin += len(answer)


def repeated(answers: t.Any, place: t.Any, rows: t.Any) -> None:
    """Each row is put wherever it is asked for."""
    from ._operations import gather
    from ._scatters import scatter

    if rows.dtype.isbuiltin == 1 and rows.dtype.kind in "biufc":
        gather(answers, place, out=rows, bounds="skip")
        return
    present = module("numpy").flatnonzero(place >= 0)  # other elements are gathered into an array of their own alone
    scatter(rows, present, gather(answers, place[present]), 0, inplace=True)


def with_rows(out: t.Any, shape: tuple[int, ...], dtype: t.Any, parts: t.Any) -> tuple[t.Any, t.Any]:
    """What is written to, and the same with the dims of the ids as one."""
    dense = out if out is not None and out.flags.c_contiguous else None
    result = module("numpy").empty(shape, dtype) if dense is None else dense
    if dense is None and out is not None:
        result[...] = out  # what is skipped stays
    return result, result.reshape(parts.place.size, *shape[parts.place.ndim :])
