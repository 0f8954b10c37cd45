"""Records which programs have detected mutants of which files. These run first, if they are fast."""

import json

from builds import name_of, took
from places import WORK


class Killers:
    """The number of detected mutants by file and program. A file with the given name keeps it between runs."""

    def __init__(self, name):
        self.file = WORK / f"killers_{name}.json"
        self.counts = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def first(self, build, file, programs):
        """Returns the programs in the order of their time for each mutant that they have detected."""
        counts = self.counts.get(file, {})
        return sorted(programs, key=lambda program: took[name_of(build, program)] / (counts.get(program, 0) + 0.1))

    def count(self, file, program):
        of_file = self.counts.setdefault(file, {})
        of_file[program] = of_file.get(program, 0) + 1
        self.file.write_text(json.dumps(self.counts, indent=1, sort_keys=True))
