"""python -m record.scatter --write | --check [PROFILE...]"""

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from .. import dtypes
from ..files import CASES, HEADER, HERE, finish, parser_of
from ..format import Error, Ok, dump, parse, tensor
from . import differences, grid, oracle, rules, systems

CASES_HEADER = HEADER.replace("record --write", "record.scatter --write")


def main():
    parser = parser_of("record.scatter")
    parser.add_argument("profiles", nargs="*", help="of these alone; else of all")
    arguments = parser.parse_args()
    finish(record(arguments.profiles or list(rules.TABLE)), arguments.write)


def record(wanted):
    """Returns {path: text} of all generated files. The cases of other profiles are read from their files."""
    finished, complaints = [], []
    for case in grid.cases():
        if case.profile in wanted:
            outcome = settle(case)
            (complaints if isinstance(outcome, str) else finished).append(outcome)
    if complaints:
        sys.exit("\n".join(complaints))
    texts = defaultdict(list)
    for case in finished:
        texts[path_of(case.profile)].append(dump(case))
    files = {path: CASES_HEADER + "".join(found) for path, found in texts.items()}
    others = [path_of(profile) for profile in rules.TABLE if profile not in wanted]
    for path in filter(Path.exists, others):
        finished += parse(path.read_text())
    files[HERE / "scatter_differences.md"] = differences.report(
        finished, is_whole={case.profile for case in finished} == set(rules.TABLE)
    )
    return files


def path_of(profile):
    return CASES / "scatter" / f"{profile}.txt"


def settle(case):
    """Returns the finished case, or a message."""
    return settled(case, oracle.answer(case), *systems.ask(case))


def settled(case, expect, source, reply, table=differences.TABLE):
    if isinstance(reply, str):
        return case.with_outcome(expect, "oracle")
    answer = Error() if isinstance(reply, Exception) else outcome_of(reply)
    if agree(answer, expect):
        return case.with_outcome(expect, source)
    found = differences.find(case, answer, expect, table)
    if found is None:
        words = str(reply)[:90] if answer == Error() else ""
        return f"{case.name}: {source} says {brief(answer)} {words}, the oracle {brief(expect)}"
    return case.with_outcome(expect, source, found, answer)


def reproduced(case):
    """Returns true if the result of the system is still the recorded one."""
    _, reply = systems.ask(case)
    return agree(
        Error() if isinstance(reply, Exception) else outcome_of(reply),
        case.system or case.expect,
    )


def outcome_of(array):
    found = tensor(np.ascontiguousarray(array).reshape(np.shape(array)))
    return Ok(found.dtype, found.shape, found.memory)


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
    a, b = (np.frombuffer(o.data, dtypes.ALL[o.dtype].numpy) for o in (answer, expect))
    both_nan = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    bits = f"u{a.itemsize}"
    return bool(np.all((a.view(bits) == b.view(bits)) | both_nan))


def brief(outcome):
    if isinstance(outcome, Ok):
        return f"ok {outcome.dtype}{list(outcome.shape)} {outcome.data!r:.60}"
    return (
        outcome if isinstance(outcome, str) else f"error {outcome.status or ''} {outcome.operand} {outcome.component}"
    )


if __name__ == "__main__":
    main()
