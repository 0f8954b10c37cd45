"""python -m record.bags --write | --check"""

from collections import defaultdict

from ..files import CASES, HEADER, HERE, finish, parser_of
from ..format import dump
from ..scatter import __main__ as scatters
from ..scatter.differences import report
from . import differences, grid, oracle, systems

CASES_HEADER = HEADER.replace("record --write", "record.bags --write")


def record():
    """Returns {path: text} of all generated files."""
    finished = [settle(case) for case in grid.cases()]
    complaints = [each for each in finished if isinstance(each, str)]
    if complaints:
        raise SystemExit("\n".join(complaints))
    texts = defaultdict(list)
    for case in finished:
        texts[CASES / "bags" / f"{case.profile}.txt"].append(dump(case))
    files = {path: CASES_HEADER + "".join(found) for path, found in texts.items()}
    files[HERE / "bag_differences.md"] = report(finished, differences.TABLE, differences.HEADER)
    return files


def settle(case):
    """Returns the finished case, or a message."""
    return scatters.settled(case, oracle.answer(case), *systems.ask(case), differences.TABLE)


if __name__ == "__main__":
    arguments = parser_of("record.bags").parse_args()
    finish(record(), arguments.write)
