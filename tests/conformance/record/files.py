"""Where the cases and what is told about them lie."""

from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
CASES = HERE / "cases"
HEADER = "# Recorded by `python -m record --write`; README.md beside this folder defines the format.\n\n"
# Sections whose cases the library does not answer yet; nobody replays their folder.
PENDING = ("scalar_params",)


def path_of(case):
    return CASES / _folder(case) / f"{case.profile}.txt"


def _folder(case):
    if case.name.split("/")[1] in PENDING:
        return "pending"
    return "elements" if case.op == "gather_elements" else ""
