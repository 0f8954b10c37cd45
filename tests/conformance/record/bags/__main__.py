"""python -m record.bags --write | --check"""

from ..files import HERE, finish, parser_of
from ..recordings import files_of
from ..scatter import __main__ as scatters
from ..scatter.differences import report
from ..settle import without_messages
from . import differences, grid, oracle

cases = grid.cases


def record():
    """Returns {path: text} of all generated files."""
    finished = without_messages(settle(case, ask) for case in cases())
    files = files_of("bags", "record.bags", finished)
    files[HERE / "bag_differences.md"] = report(finished, differences.TABLE, differences.HEADER)
    return files


def settle(case, ask):
    """Returns the finished case, or a message."""
    return scatters.settled(case, oracle.answer(case), *ask(case), differences.TABLE)


def ask(case):
    from . import systems

    return scatters.outcome_of(*systems.ask(case))


if __name__ == "__main__":
    finish(record(), parser_of("record.bags").parse_args().write)
