"""python -m record --write | --check"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from . import coverage, differences, grid, named, profiles, settle
from .format import dump

HERE = Path(__file__).resolve().parent.parent
HEADER = "# Recorded by `python -m record --write`; README.md beside this folder defines the format.\n\n"


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
            path.write_text(files[path])
    else:
        print("".join(f"differs: {path.relative_to(HERE)}\n" for path in stale), end="")
        sys.exit(1 if stale else 0)


def record():
    """{path: text} of everything that is generated."""
    cases = [*named.cases(), *grid.cases()]
    try:
        cases = settle.settle(cases)
    except settle.Unexplained as complaints:
        sys.exit(str(complaints))
    by_profile = defaultdict(list)
    for case in cases:
        by_profile[case.profile].append(dump(case))
    files = {HERE / "cases" / f"{profile}.txt": HEADER + "".join(by_profile[profile]) for profile in profiles.TABLE}
    files[HERE / "differences.md"] = differences.report(cases)
    files[HERE / "coverage.md"] = coverage.report(cases)
    return files


if __name__ == "__main__":
    main()
