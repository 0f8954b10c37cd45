"""Which programs have noticed mutants of which files: what did so before is asked first."""

import json

from places import WORK


class Killers:
    """How often which program, by file; kept from run to run under a name."""

    def __init__(self, name):
        self.file = WORK / f"killers_{name}.json"
        self.counts = json.loads(self.file.read_text()) if self.file.is_file() else {}

    def first(self, file, programs):
        """The programs, those first that have noticed most."""
        counts = self.counts.get(file, {})
        return sorted(programs, key=lambda program: -counts.get(program, 0))

    def count(self, file, program):
        of_file = self.counts.setdefault(file, {})
        of_file[program] = of_file.get(program, 0) + 1
        self.file.write_text(json.dumps(self.counts, indent=1, sort_keys=True))
