"""Rows of shards where they belong."""

from __future__ import annotations

from . import _constants as c
from . import errors
from . import types as t
from ._modules import module
from ._operations import gather
from ._scatters import scatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._parts import Partition

#: Up to so many bytes, answers are put together first: of few rows, a call for each shard takes longer than a copy of all.
_FEW = 1 << 18


def join(parts: Partition, answers: t.Sequence[t.Any], out: t.Any) -> t.Any:
    """Partition.join()."""
    np = module("numpy")
    arrays = [np.asarray(answer) for answer in answers]
    check(parts, arrays)
    shape, dtype = parts.place.shape + arrays[0].shape[1:], arrays[0].dtype
    if out is None and is_plain(dtype) and sum(answer.nbytes for answer in arrays) <= _FEW:
        return gather(together(arrays), parts.place, bounds="skip")
    result = np.zeros(shape, dtype) if out is None else target_of(out, shape, dtype)
    write(parts, arrays, result.reshape(parts.place.size, *shape[parts.place.ndim :]))
    return result


def check(parts: Partition, answers: list[t.Any]) -> None:
    """Answers are one a shard, with the rows that it was asked for, all alike."""
    if len(answers) != len(parts.counts):
        raise wrong(f"{len(answers)} of them, there are {len(parts.counts)} shards")
    row, dtype = answers[0].shape[1:], answers[0].dtype
    for shard, (answer, count) in enumerate(zip(answers, parts.counts.tolist(), strict=True)):
        if answer.shape != (count, *row):
            raise wrong(f"shape {answer.shape} of shard {shard}, not {(count, *row)}")
        if answer.dtype != dtype:
            message = f"answers: {answer.dtype} of shard {shard}, {dtype} of shard 0"
            raise errors.DTypeError(message, status=c.E_DTYPE, operand="params")


def wrong(what: str) -> errors.ShapeError:
    return errors.ShapeError(f"answers: {what}", status=c.E_SHAPE, operand="params")


def target_of(out: t.Any, shape: tuple[int, ...], dtype: t.Any) -> t.Any:
    """An array that rows can be written to as they lie."""
    if type(out) is not module("numpy").ndarray or out.shape != shape or out.dtype != dtype:
        message = f"out: a NumPy array of shape {shape} and {dtype} is wanted"
        raise errors.ShapeError(message, status=c.E_SHAPE, operand="out")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise errors.ShapeError("out: it must be dense, and not read-only", status=c.E_SHAPE, operand="out")
    return out


def write(parts: Partition, answers: list[t.Any], rows: t.Any) -> None:
    """Writes rows of shards, those left out that were asked for none; what is for an id without a shard stays."""
    if parts.order is None or (is_plain(rows.dtype) and rows.nbytes <= _FEW):
        if answers:
            repeat(together(answers), parts.place.reshape(-1), rows)
        return
    begin = 0
    for answer in answers:
        scatter(rows, parts.order[begin : begin + len(answer)], answer, 0, inplace=True)
        begin += len(answer)


def together(answers: list[t.Any]) -> t.Any:
    return answers[0] if len(answers) == 1 else module("numpy").concatenate(answers)


def repeat(answers: t.Any, place: t.Any, rows: t.Any) -> None:
    """Each row is written wherever it is asked for."""
    if is_plain(rows.dtype):
        gather(answers, place, out=rows, bounds="skip")
        return
    present = module("numpy").flatnonzero(place >= 0)  # other elements are gathered into an array of their own alone
    scatter(rows, present, gather(answers, place[present]), 0, inplace=True)


def is_plain(dtype: t.Any) -> bool:
    """Whether elements are numbers of NumPy's own, which are gathered into any array."""
    return dtype.isbuiltin == 1 and dtype.kind in "biufc"
