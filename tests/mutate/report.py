"""Prints the output of a run, and writes it to build/mutate/report_NAME.txt."""

from places import WORK


class Report:
    def __init__(self, name):
        WORK.mkdir(parents=True, exist_ok=True)
        self.file = (WORK / f"report_{name}.txt").open("w")

    def say(self, line):
        for out in (None, self.file):
            print(line, file=out, flush=True)
