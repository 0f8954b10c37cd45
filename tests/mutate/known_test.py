"""Tests that a run of mutants continues only with the same sources, and counts what an earlier run has found."""

import tempfile
from pathlib import Path

from known import SAME, Known
from mutants import Mutant

MUTANT = Mutant("src/a.cpp", 7, "  a < b;", "  a <= b;")
NAMED = Mutant("src/a.cpp", 0, "a < b", "a <= b", "the last row is read")
REPORT = """date: 2026-11-26 00:40 UTC
files: sources
options: --random --seed 1
{verdict:24.24} {mutant}
1 random mutants, 1 killed, 0 survive, 0 of them equivalent
"""


def found(file, sources, by, report="", mutant=MUTANT):
    """Returns what a run reports for the mutant, which `by` would detect now, and how many results are resumed."""
    known = Known(file, sources, report)
    return known.get(mutant, lambda mutant: by), known.resumed


def from_report(verdict, mutant=MUTANT, sources="sources", text=None):
    """Returns what a run without a file of its own reports after a report with this verdict."""
    with tempfile.TemporaryDirectory() as folder:
        report = REPORT.format(verdict=verdict, mutant=text or mutant.promise or mutant)
        return found(Path(folder) / "results.txt", sources, "now", report, mutant)


with tempfile.TemporaryDirectory() as folder:
    results = Path(folder) / "results.txt"
    assert found(results, "sources", "first") == ("first", 0)
    assert found(results, "sources", "second") == ("first", 1)
    assert found(results, "sources", "second", NAMED.promise, NAMED) == ("second", 0)
    assert found(results, "other sources", "third") == ("third", 0)
    assert found(results, "sources", "fourth") == ("fourth", 0)

assert from_report("elements") == ("elements", 1)
assert from_report("elements", NAMED) == ("elements", 1)
assert from_report("a program with a name of 31 bytes") == ("a program with a name of", 1)
assert from_report("SURVIVES") == (None, 1)
assert from_report("does not compile") == ("compiler", 0)
assert from_report("equivalent", text=f"{MUTANT}: same code") == (SAME, 1)
assert from_report("not run: no nvcc", NAMED) == ("now", 0)
assert from_report("elements", sources="other sources") == ("now", 0)
assert from_report("elements", text=NAMED) == ("now", 0)
