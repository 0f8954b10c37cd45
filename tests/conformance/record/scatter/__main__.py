"""python -m record.scatter --write | --check"""

from dataclasses import replace

from .. import numbers
from ..dtypes import ALL
from ..files import HERE, finish, parser_of
from ..format import Error, Ok, tensor
from ..recordings import files_of
from ..settle import without_messages
from . import differences, grid, oracle

cases = grid.cases


def record():
    """Returns {path: text} of all generated files."""
    finished = without_messages(settle(case, ask) for case in cases())
    files = files_of("scatter", "record.scatter", finished)
    files[HERE / "scatter_differences.md"] = differences.report(finished)
    return files


def settle(case, ask):
    """Returns the finished case, or a message."""
    return settled(case, oracle.answer(case), *ask(case))


def ask(case):
    from . import systems

    return outcome_of(*systems.ask(case))


def outcome_of(source, reply):
    """Returns (source, outcome) of a system's reply, or (None, None) if the system does not express the case."""
    import numpy as np

    if isinstance(reply, str):
        return None, None
    if isinstance(reply, Exception):
        return source, Error(status=None, operand=f"{reply}"[:90])
    found = tensor(np.ascontiguousarray(reply).reshape(np.shape(reply)))
    return source, Ok(found.dtype, found.shape, found.memory)


def settled(case, expect, source, answer, table=differences.TABLE):
    if answer is None:
        return case.with_outcome(expect, "oracle")
    if agree(answer, expect):
        return case.with_outcome(expect, source)
    found = differences.find(case, answer, expect, table)
    if found is None:
        return f"{case.name}: {source} says {brief(answer)}, the oracle {brief(expect)}"
    return case.with_outcome(expect, source, found, with_one_nan(answer))


def agree(answer, expect):
    if isinstance(answer, Error) or isinstance(expect, Error):
        return isinstance(answer, Error) and isinstance(expect, Error)
    if answer.dtype.startswith(("float", "bfloat")) and (
        answer.dtype,
        answer.shape,
    ) == (expect.dtype, expect.shape):
        return same_numbers(answer, expect)
    return answer == expect


def same_numbers(answer, expect):
    """Returns true if the bytes are equal. NaNs may have any pattern."""
    if answer.data == expect.data:
        return True
    pairs = zip(*(numbers.unpack(each.dtype, each.data) for each in (answer, expect)))
    return all(
        (a != a and b != b) or numbers.pack(answer.dtype, [a]) == numbers.pack(answer.dtype, [b]) for a, b in pairs
    )


def with_one_nan(answer):
    """Returns an answer whose NaNs have the same bytes. In systems, their sign depends on the processor."""
    if isinstance(answer, Error) or ALL[answer.dtype].kind not in ("float", "bfloat16", "complex"):
        return answer
    return replace(answer, data=numbers.pack(answer.dtype, numbers.unpack(answer.dtype, answer.data)))


def brief(outcome):
    if isinstance(outcome, Ok):
        return f"ok {outcome.dtype}{list(outcome.shape)} {outcome.data!r:.60}"
    return (
        outcome if isinstance(outcome, str) else f"error {outcome.status or ''} {outcome.operand} {outcome.component}"
    )


if __name__ == "__main__":
    finish(record(), parser_of("record.scatter").parse_args().write)
