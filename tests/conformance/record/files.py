"""The folders and files of recorded answers, of computed cases, and of the pages about them."""

import argparse
import os
import sys
from pathlib import Path

from . import elements_grid, grid

HERE = Path(__file__).resolve().parent.parent
RECORDED = HERE / "recorded"
#: The folder of computed cases, beside that of the cases of the grid.
CASES = Path(os.environ.get("GATHER_CONFORMANCE_CASES", HERE.parents[1] / "build" / "conformance" / "cases"))
HEADER = "# Recorded by `python -m {} --write`. Each line is a case, the digest of its call, a system and its answer.\n"


def place_of(case):
    """Returns the folder of a finished gather, relative to that of all files.

    Cases of the grids that no system has answered are in another folder than those of all languages. Without a
    profile, the grid is in the folder of all languages.
    """
    is_grid = grid.cell_of(case.name) or elements_grid.cell_of(case.name)
    folder = "grid" if is_grid and case.source == "oracle" and case.profile != "none" else "cases"
    return folder + "/elements" * (case.op == "gather_elements")


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
    if write:
        print("Write the digests, too: python3 tests/conformance/derive.py --write")
    else:
        print("".join(f"differs: {path.relative_to(HERE)}\n" for path in stale), end="")
        answers = sum(text.count("\n") - 1 for path, text in files.items() if path.suffix == ".txt")
        print(f"{answers} answers of systems in {len(files)} files, {len(stale)} files differ")
        sys.exit(1 if stale else 0)
