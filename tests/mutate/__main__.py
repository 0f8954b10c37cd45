"""Whether the tests notice when the sources are wrong.

    python3 tests/mutate [--count N] [--seconds S] [--seed N] [--only PATTERN]
                         [--named | --random | --check | --binding LANGUAGE]

The tree is copied to build/mutate and built there. Then one mutant at a time - one operator, condition, constant or
statement of src/core, src/api or src/cpu changed - is compiled, and the test programs run until one fails. Mutants
are the named ones, each the undoing of a promise, and random ones. Survivors are listed, those that can change
nothing with the reason; the exit status is 1 if a named one survives, or if fewer than 95 % of the others are killed.
With --binding it is the sources of a binding, its wrapper of the library, and its own tests. What is said is kept in
build/mutate/report_library.txt, or under the name of the binding.
"""

import argparse
import re
import signal
import sys
import time
from dataclasses import dataclass

from builds import HAS_NVCC, builds_for, fails, prepare
from killers import Killers
from languages import CPP, OF_BINDINGS
from named import NAMED
from places import ROOT
from random_mutants import EQUIVALENT, random_mutants
from report import Report


def judge(mutant, killers):
    """What noticed the mutant: the compiler, a program, or None."""
    builds = builds_for(mutant)
    path = builds[0].tree / mutant.file
    before = path.read_text()
    path.write_text(mutant.apply(before))
    try:
        for build in builds:
            done = build.make()
            # What reads the PTX refuses loads that may be done twice, and grids that publish nothing.
            if done.returncode:
                return "ptx/translate.py" if b"ptx/translate.py" in done.stdout else "compiler"
            programs = killers.first(mutant.file, build.programs)
            found = next((program for program in programs if fails(build, program)), None)
            if found:
                killers.count(mutant.file, found)
                return found
        return None
    finally:
        path.write_text(before)


def judge_named(chosen, killers, report):
    """The named ones that no test notices."""
    broken = []
    for mutant in chosen:
        if mutant.needs_nvcc and not HAS_NVCC:
            report.say(f"{'not run: no nvcc':24} {mutant.promise}")
            continue
        by = judge(mutant, killers)
        report.say(f"{by or 'SURVIVES':24} {mutant.promise}")
        if by in (None, "compiler"):
            broken.append(mutant)
    return broken


@dataclass
class Tally:
    total: int = 0  # that compile
    killed: int = 0
    equivalent: int = 0

    def __str__(self):
        survivors = f"{self.total - self.killed} survive, {self.equivalent} of them equivalent"
        return f"{self.total} random mutants, {self.killed} killed, {survivors}"

    def is_enough(self):
        return self.killed >= 0.95 * (self.total - self.equivalent)


def judge_random(more, killers, report, count, seconds):
    """Until there are so many, or so many seconds are over, or somebody interrupts: what was judged counts."""
    tally, began = Tally(), time.monotonic()
    try:
        for mutant in more:
            if tally.total >= count or time.monotonic() - began > seconds:
                break
            by = judge(mutant, killers)
            if by == "compiler":
                continue
            reason = EQUIVALENT.get((mutant.file, mutant.old.strip(), mutant.new.strip()))
            tally.total += 1
            tally.killed += by is not None
            tally.equivalent += by is None and reason is not None
            if by:
                report.say(f"{by:24} {mutant.file}:{mutant.line}")
            elif reason:
                report.say(f"{'equivalent':24} {mutant}: {reason}")
            else:
                report.say(f"{'SURVIVES':24} {mutant}")
    except KeyboardInterrupt:
        report.say("interrupted")
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="random mutants that compile")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further random one after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a regular expression of the names of the files to change")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--named", action="store_true", help="the named ones alone")
    what.add_argument("--random", action="store_true", help="the random ones alone")
    what.add_argument("--check", action="store_true", help="only that the sources have what the named ones change")
    what.add_argument("--binding", choices=sorted(OF_BINDINGS), help="of a binding instead of the library")
    arguments = parser.parse_args()

    # Also where a shell has begun it in the background, for which an interrupt is ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)

    named = () if arguments.random or arguments.binding else NAMED
    chosen = [mutant for mutant in named if re.search(arguments.only, mutant.file)]
    for mutant in chosen:
        mutant.apply((ROOT / mutant.file).read_text())
    if arguments.check:
        return 0
    language = OF_BINDINGS.get(arguments.binding, CPP)
    more = [] if arguments.named else random_mutants(ROOT, arguments.seed, arguments.only, language)
    prepare(dict.fromkeys(build for mutant in (*chosen, *more) for build in builds_for(mutant)))
    name = arguments.binding or "library"
    killers, report = Killers(name), Report(name)
    broken = judge_named(chosen, killers, report)
    tally = judge_random(more, killers, report, arguments.count, arguments.seconds)
    unrun = sum(mutant.needs_nvcc for mutant in chosen) if not HAS_NVCC else 0
    note = f", {unrun} not run: no nvcc" if unrun else ""
    if chosen:
        report.say(f"{len(chosen)} named mutants, {len(broken)} survive{note}")
    if tally.total:
        report.say(tally)
    return 1 if broken or not tally.is_enough() else 0


if __name__ == "__main__":
    sys.exit(main())
