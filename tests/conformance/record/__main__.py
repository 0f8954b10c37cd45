"""python -m record --write | --check"""

import argparse
import sys
from collections import defaultdict

from . import coverage, differences, elements_grid, grid, named, settle
from .files import HEADER, HERE, path_of
from .format import dump


def main():
    parser = argparse.ArgumentParser(prog="record", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="record everything anew")
    action.add_argument("--check", action="store_true", help="record, and compare with the files")
    write = parser.parse_args().write
    files = record()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if write:
        for path in stale:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path])
    else:
        print("".join(f"differs: {path.relative_to(HERE)}\n" for path in stale), end="")
        sys.exit(1 if stale else 0)


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
