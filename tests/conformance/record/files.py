"""The folders and files of the cases and of the pages about them."""

import argparse
import re
import sys
from pathlib import Path

from . import elements_grid, grid

HERE = Path(__file__).resolve().parent.parent
CASES = HERE / "cases"
GRID = HERE / "grid"
HEADER = "# Recorded by `python -m record --write`; README.md beside this folder defines the format.\n\n"


def path_of(case):
    return _folder(case) / ("elements" if case.op == "gather_elements" else "") / f"{case.profile}.txt"


def _folder(case):
    """Returns the folder of all languages, or that of the cases of the grid that no system has answered.

    Without a profile, the grid is in the folder of all languages.
    """
    is_grid = grid.cell_of(case.name) or elements_grid.cell_of(case.name)
    return GRID if is_grid and case.source == "oracle" and case.profile != "none" else CASES


def parser_of(name):
    parser = argparse.ArgumentParser(prog=name, description=f"python -m {name} --write | --check")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true", help="record everything anew")
    action.add_argument("--check", action="store_true", help="record, and compare with the files")
    return parser


def finish(files, write):
    """Writes the files, or prints the names of those that differ and exits with 1 if there are any."""
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale if write else []:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
    if not write:
        print("".join(f"differs: {path.relative_to(HERE)}\n" for path in stale), end="")
        answers = re.findall(r"^source (?!oracle$)", "".join(files.values()), re.MULTILINE)
        print(f"{len(answers)} answers of systems in {len(files)} files, {len(stale)} files differ")
        sys.exit(1 if stale else 0)
