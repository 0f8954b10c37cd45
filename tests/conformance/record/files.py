"""The folders and files of the cases and of the pages about them."""

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
