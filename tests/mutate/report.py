"""Prints the output of a run, and writes it to build/mutate/report_NAME.txt."""

import sys

from places import ROOT, WORK

sys.path.insert(0, str(ROOT / ".ci"))

import results


class Report:
    def __init__(self, name):
        WORK.mkdir(parents=True, exist_ok=True)
        self.file = (WORK / f"report_{name}.txt").open("w")
        self.say(f"date: {results.now()}")
        self.say(f"version: {results.sources()}")
        self.say(f"options: {' '.join(sys.argv[1:])}")

    def say(self, line):
        for out in (None, self.file):
            print(line, file=out, flush=True)
