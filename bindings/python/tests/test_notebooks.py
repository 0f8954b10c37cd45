"""The notebooks run, and their output equals the stored output."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import BINDING

NOTEBOOKS = sorted((BINDING.parents[1] / "docs/python/notebooks").glob("*.ipynb"))
#: The additional package that a notebook needs.
NEEDED = {"torch-module": "torch"}


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """Returns the text output of each cell, which may arrive in pieces."""
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(each.get("text") or each.data["text/plain"] for each in of_cell) for of_cell in outputs]


def test_there_are_notebooks() -> None:
    assert {*NEEDED} < {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = NEEDED.get(path.stem)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    notebook = nbformat.read(path, as_version=4)
    shown = printed(notebook)
    assert any(shown)
    # Results do not depend on the extension. Without it, a warning states that calls are slow.
    monkeypatch.setenv("PYTHONWARNINGS", "ignore:libgather.torch is slow")
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    assert printed(client.execute()) == shown
