"""Which programs execute a line of src, by gcov."""

import json
import re
import subprocess
from collections import defaultdict

from builds import COVERAGE, make_all, run
from places import ROOT, WORK


class Coverage:
    """The programs by line. The file build/mutate/lines.json has the lines of each program, so each is run once."""

    def __init__(self):
        self.file = WORK / "lines.json"
        self.known = json.loads(self.file.read_text()) if self.file.is_file() else {}
        self.programs = {}  # by file and line, and by file

    def measure(self):
        """Runs the programs that have changed since. The tree must be that of prepare()."""
        make_all(COVERAGE)
        for program in COVERAGE.programs:
            digest = COVERAGE.digest(program)
            if self.known.get(program, [None])[0] != digest:
                self.known[program] = (digest, executed(program))
                self.file.write_text(json.dumps(self.known))
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
