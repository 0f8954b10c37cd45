"""Keeps the results of mutants, so that an interrupted run can continue, also on another machine."""

import json

from report import IS_EQUIVALENT, NOT_COMPILED, SURVIVES, verdicts

SAME = "same code"  # what detects an equivalent mutant, from which the compiler creates the same library
COMPILER = "compiler"


class Known:
    """What detected each mutant. The file has a line for each. A file of other sources or tests is not used.

    The results that a report lists are known, too, if it is one of the same sources and tests. `resumed` is the number
    of results of mutants that compile which an earlier run has found.
    """

    def __init__(self, file, sources, report=""):
        self.file = file
        lines = file.read_text().splitlines() if file.is_file() else []
        self.found = dict(map(json.loads, lines))
        self.resumed = 0
        if self.found.pop("sources", None) != sources:
            self.found = {}
            self.file.write_text(json.dumps(["sources", sources]) + "\n")
        self.found = listed(report, sources) | self.found

    def get(self, mutant, find):
        """Returns the known result of a mutant. Otherwise it finds it and appends it to the file."""
        key = mutant.promise or str(mutant)
        if key in self.found:
            self.resumed += self.found[key] != COMPILER
            return self.found[key]
        found = find(mutant)
        with self.file.open("a") as file:
            print(json.dumps([key, found]), file=file)
        return found


def listed(report, sources):
    """Returns what a report has found about each mutant. A mutant that is equivalent for a stated reason never runs."""
    if f"files: {sources}" not in report.splitlines():
        return {}
    found = {}
    for verdict, mutant in verdicts(report):
        if verdict == IS_EQUIVALENT:
            found[mutant.removesuffix(f": {SAME}")] = SAME
        elif not verdict.startswith("not run"):
            found[mutant] = {SURVIVES: None, NOT_COMPILED: COMPILER}.get(verdict, verdict)
    return found
