"""Keeps the results of mutants, so that an interrupted run can continue."""

import json

from places import WORK


class Known:
    """What detected each mutant. The file build/mutate/NAME.txt has a line for each."""

    def __init__(self, name):
        self.file = WORK / f"{name}.txt"
        lines = self.file.read_text().splitlines() if self.file.is_file() else []
        self.found = dict(map(json.loads, lines))

    def get(self, mutant, find):
        """Returns the known result of a mutant. Otherwise it finds it and appends it to the file."""
        key = f"{mutant.file}:{mutant.line}: {mutant.old}  ->  {mutant.new}"
        if key not in self.found:
            self.found[key] = find(mutant)
            with self.file.open("a") as file:
                print(json.dumps([key, self.found[key]]), file=file)
        return self.found[key]
