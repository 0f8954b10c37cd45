"""python -m record --write | --check"""

import sys
from collections import defaultdict

from . import coverage, differences, elements_grid, grid, named, settle
from .files import HEADER, HERE, finish, parser_of, path_of
from .format import dump


def main():
    write = parser_of("record").parse_args().write
    finish(record(), write)


def record():
    """Returns {path: text} of all generated files."""
    cases = [*named.cases(), *grid.cases(), *elements_grid.cases()]
    try:
        cases = settle.settle(cases)
    except settle.Unexplained as complaints:
        sys.exit(str(complaints))
    texts = defaultdict(list)
    for case in cases:
        texts[path_of(case)].append(dump(case))
    files = {path: HEADER + "".join(found) for path, found in texts.items()}
    files[HERE / "differences.md"] = differences.report(cases)
    files[HERE / "coverage.md"] = coverage.report(cases)
    return files


if __name__ == "__main__":
    main()
