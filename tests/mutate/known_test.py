"""Tests that a run of mutants continues only with the same sources, and counts what an earlier run has found."""

import tempfile
from pathlib import Path
from types import SimpleNamespace

from known import Known

MUTANT = SimpleNamespace(file="src/a.cpp", line=7, old="<", new="<=")


def found(file, sources, by):
    """Returns what a run reports for the mutant, which `by` would detect now, and how many results are resumed."""
    known = Known(file, sources)
    return known.get(MUTANT, lambda mutant: by), known.resumed


with tempfile.TemporaryDirectory() as folder:
    results = Path(folder) / "results.txt"
    assert found(results, "sources", "first") == ("first", 0)
    assert found(results, "sources", "second") == ("first", 1)
    assert found(results, "other sources", "third") == ("third", 0)
    assert found(results, "sources", "fourth") == ("fourth", 0)
