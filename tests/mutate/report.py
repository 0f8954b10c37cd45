"""Prints the output of a run, and writes it to build/mutate/report_NAME.txt. Reads such outputs."""

import re
import sys

from places import ROOT, WORK

sys.path.insert(0, str(ROOT / ".ci"))

import results

SURVIVES, NOT_COMPILED, IS_EQUIVALENT = "SURVIVES", "does not compile", "equivalent"
OTHER_LINES = re.compile(
    r"date: |version: |files: |options: |\d+ (named|random) mutants|\d+ resumed results|interrupted$"
)


class Report:
    def __init__(self, name, files):
        """`files` is the digest of all sources and tests."""
        WORK.mkdir(parents=True, exist_ok=True)
        self.file = (WORK / f"report_{name}.txt").open("w")
        self.say(f"date: {results.now()}")
        self.say(f"version: {results.sources()}")
        self.say(f"files: {files}")
        self.say(f"options: {' '.join(sys.argv[1:])}")

    def say(self, line):
        for out in (None, self.file):
            print(line, file=out, flush=True)

    def verdict(self, verdict, mutant):
        self.say(f"{verdict:24.24} {mutant}")


def verdicts(text):
    """Returns the verdict on each mutant of a report, and the mutant. The verdict has 24 columns."""
    lines = (line for line in text.splitlines() if line[24:25] == " " and not OTHER_LINES.match(line))
    return [(line[:24].strip(), line[25:]) for line in lines]
