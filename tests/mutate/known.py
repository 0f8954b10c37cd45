"""Keeps the results of mutants, so that an interrupted run can continue."""

import json


class Known:
    """What detected each mutant. The file has a line for each. A file of other sources or tests is not used.

    `resumed` is the number of results that an earlier run has found.
    """

    def __init__(self, file, sources):
        self.file = file
        lines = file.read_text().splitlines() if file.is_file() else []
        self.found = dict(map(json.loads, lines))
        self.resumed = 0
        if self.found.pop("sources", None) != sources:
            self.found = {}
            self.file.write_text(json.dumps(["sources", sources]) + "\n")

    def get(self, mutant, find):
        """Returns the known result of a mutant. Otherwise it finds it and appends it to the file."""
        key = f"{mutant.file}:{mutant.line}: {mutant.old}  ->  {mutant.new}"
        if key in self.found:
            self.resumed += 1
            return self.found[key]
        found = find(mutant)
        with self.file.open("a") as file:
            print(json.dumps([key, found]), file=file)
        return found
