"""Finds the programs that execute a line of src, by gcov."""

import json
import re
import subprocess
from collections import defaultdict
from dataclasses import replace

from builds import COVERAGE, FAST, make_all, run
from places import ROOT, WORK


class Coverage:
    """The programs by line. The file build/mutate/lines.json has the lines of each program, so each is run once."""

    def __init__(self):
        self.file = WORK / "lines.json"
        self.known = json.loads(self.file.read_text()) if self.file.is_file() else {}
        self.programs = {}  # by file and line, and by file

    def measure(self):
        """Runs the programs that have changed since. The fast build must be that of prepare()."""
        digests = {program: FAST.digest(program) for program in COVERAGE.programs}
        changed = [program for program in digests if self.known.get(program, [None])[0] != digests[program]]
        if changed:
            make_all(replace(COVERAGE, programs=tuple(changed)))
        for program in changed:
            self.known[program] = (digests[program], executed(program))
            self.file.write_text(json.dumps(self.known))
        for program in COVERAGE.programs:
            for file, lines in self.known[program][1].items():
                for line, count in lines.items():
                    for place in (file, (file, int(line))):
                        self.programs.setdefault(place, set()).update({program} if count else ())

    def of(self, build, mutant):
        """Returns the programs of a build that may execute a mutant. If gcov knows the line, they execute it."""
        places = [(mutant.file, line) for line in mutant.lines((ROOT / mutant.file).read_text())]
        found = [self.programs[place] for place in places if place in self.programs]
        chosen = set().union(*found) if found else self.programs.get(mutant.file, build.programs)
        return [program for program in build.programs if program in chosen or program not in COVERAGE.programs]


def executed(program):
    """Returns how often a program executes the lines of src, by file and line."""
    for old in COVERAGE.folder.rglob("*.gcda"):
        old.unlink()
    run(COVERAGE, program)
    words = ("gcov", "--json-format", "--stdout", *COVERAGE.folder.rglob("*.gcda"))
    lines = defaultdict(lambda: defaultdict(int))
    done = subprocess.run(words, cwd=COVERAGE.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    for text in done.stdout.splitlines():
        for file in json.loads(text)["files"]:
            name = re.search(r"(?:^|/tree/)(src/.*)", file["file"])  # a cache of the compiler makes names relative
            for line in file["lines"] if name else ():
                lines[name[1]][line["line_number"]] += line["count"]
    return lines
