"""The folders and files of the cases and of the pages about them."""

from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
CASES = HERE / "cases"
HEADER = "# Recorded by `python -m record --write`; README.md beside this folder defines the format.\n\n"


def path_of(case):
    return CASES / _folder(case) / f"{case.profile}.txt"


def _folder(case):
    return "elements" if case.op == "gather_elements" else ""
