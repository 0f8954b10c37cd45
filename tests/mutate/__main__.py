"""Mutation tests. They test that the tests fail if the sources are changed.

    python3 tests/mutate [--count N] [--seconds S] [--seed N] [--only PATTERN]
                         [--named | --random | --check FOLDER | --binding LANGUAGE]

The tree is copied to build/mutate and built there. A mutant changes one operator, condition, constant or statement of
src/core, src/api, src/execution or src/cpu. The test programs that execute the line are compiled and run until one
fails. Each named mutant violates the documentation of the library. The other mutants are random. The output lists the
survivors, and the reason if a mutant is equivalent to the original. The exit status is 1 if a named mutant survives, or
if less than 97 % of the others are killed. With --binding the mutants change the sources of a binding, and its tests
run. The output begins with the date, the version and the options. It is also written to
build/mutate/report_library.txt, or to the report with the name of the binding. The file build/mutate/library-SEED.txt
receives the result of each random mutant, and build/mutate/named.txt of each named one. A run with the same sources and
tests continues there, and does not repeat these mutants. It also continues from the results of ./dev soak in
.ci/results.
"""

import argparse
import re
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial

from binding_builds import Python
from builds import HAS_NVCC, builds_for, fails, is_original, missing_programs, prepare
from coverage import Coverage
from killers import Killers
from known import COMPILER, SAME, Known
from languages import CPP, OF_BINDINGS
from named import NAMED
from places import ROOT, WORK
from random_mutants import EQUIVALENT, random_mutants
from report import IS_EQUIVALENT, NOT_COMPILED, SURVIVES, Report, results


def detected_by(mutant, killers, coverage):
    """Returns what detected the mutant: the compiler, a program, or None. Returns SAME if no build differs."""
    path = builds_for(mutant)[0].tree / mutant.file
    before = path.read_text()
    path.write_text(mutant.apply(before))
    try:
        found = set()
        for build in builds_for(mutant):
            by = detected_in(build, mutant, killers, coverage)
            if by not in (None, SAME):
                return by
            found.add(by)
        return SAME if found == {SAME} else None
    finally:
        path.write_text(before)


def detected_in(build, mutant, killers, coverage):
    """Runs the programs of a build that execute the line. Each is compiled when it is about to run."""
    if isinstance(build, Python):
        return COMPILER if build.make().returncode else build.tests.first_failure(mutant)
    programs = killers.first(build, mutant.file, coverage.of(build, mutant))
    changed = False
    for program in programs or build.programs[:1]:
        done = build.make(program)
        # ptx/translate.py rejects loads that may be repeated, and grids that publish nothing.
        if done.returncode:
            return "ptx/translate.py" if b"ptx/translate.py" in done.stdout else COMPILER
        if is_original(build, program):
            continue
        changed = True
        if program in programs and fails(build, program):
            killers.count(mutant.file, program)
            return program
    return None if changed else SAME


def test_named(chosen, detect, known, report, seconds):
    """Tests named mutants until the time is reached. Reports how many no test detects, and returns this number."""
    total = unrun = survive = 0
    began = time.monotonic()
    for mutant in chosen:
        if time.monotonic() - began > seconds:
            break
        total += 1
        if mutant.needs_nvcc and not HAS_NVCC:
            unrun += 1
            report.verdict("not run: no nvcc", mutant.promise)
            continue
        by = known.get(mutant, detect)
        is_detected = by not in (None, SAME, COMPILER)
        survive += not is_detected
        report.verdict(by if is_detected else SURVIVES, mutant.promise)
    report.say(f"{known.resumed} resumed results, which an earlier run has found")
    report.say(f"{total} named mutants, {survive} survive{f', {unrun} not run: no nvcc' if unrun else ''}")
    return survive


@dataclass
class Tally:
    total: int = 0  # mutants that compile
    killed: int = 0
    equivalent: int = 0

    def __str__(self):
        survivors = f"{self.total - self.killed} survive, {self.equivalent} of them equivalent"
        return f"{self.total} random mutants, {self.killed} killed, {survivors}"

    def is_enough(self):
        return self.killed >= 0.97 * (self.total - self.equivalent)


def test_random(more, detect, known, report, count, seconds):
    """Tests random mutants until the count or the time is reached, or until it is interrupted. Returns the tally."""
    tally, began = Tally(), time.monotonic()
    try:
        for mutant in more:
            if tally.total >= count or time.monotonic() - began > seconds:
                break
            reason = EQUIVALENT.get((mutant.file, mutant.old.strip(), mutant.new.strip()))
            by = SAME if reason else known.get(mutant, detect)
            if by == COMPILER:
                report.verdict(NOT_COMPILED, mutant)
                continue
            tally.total += 1
            tally.killed += by not in (None, SAME)
            tally.equivalent += by == SAME
            if by == SAME:
                report.verdict(IS_EQUIVALENT, f"{mutant}: {reason or SAME}")
            else:
                report.verdict(by or SURVIVES, mutant)
    except KeyboardInterrupt:
        report.say("interrupted")
    return tally


def known_of(name, step, files):
    """Returns what earlier runs have found: the one here, and the one whose result is in .ci/results."""
    result = results.read(f"mutants-{step}")
    return Known(WORK / f"{name}.txt", files, result.lines if result else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="random mutants that compile")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no mutant after this time")
    parser.add_argument("--seed", type=int, default=1, help="the order of the random mutants")
    parser.add_argument("--only", default="", help="a regular expression for the names of the files to change")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--named", action="store_true", help="only named mutants")
    what.add_argument("--random", action="store_true", help="only random mutants")
    what.add_argument(
        "--check",
        metavar="FOLDER",
        help="only check that the sources contain the code of the named mutants, and a build folder the test programs",
    )
    what.add_argument("--binding", choices=sorted(OF_BINDINGS), help="mutants of a binding instead of the library")
    arguments = parser.parse_args()

    # A shell that starts a program in the background makes it ignore interrupts. This enables them again.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)

    named = () if arguments.random or arguments.binding else NAMED
    chosen = [mutant for mutant in named if re.search(arguments.only, mutant.file)]
    for mutant in chosen:
        mutant.apply((ROOT / mutant.file).read_text())
    if arguments.check:
        missing = missing_programs(arguments.check)
        print("".join(f"{arguments.check} has no target {program}\n" for program in missing), end="")
        return 1 if missing else 0
    language = OF_BINDINGS.get(arguments.binding, CPP)
    more = [] if arguments.named else random_mutants(ROOT, arguments.seed, arguments.only, language)
    prepare(dict.fromkeys(build for mutant in (*chosen, *more) for build in builds_for(mutant)))
    name = arguments.binding or "library"
    coverage = Coverage()
    if not arguments.binding:
        coverage.measure()
    detect = partial(detected_by, killers=Killers(name), coverage=coverage)
    files = results.files_digest()
    report = Report(name, files)
    broken = test_named(chosen, detect, known_of("named", "named", files), report, arguments.seconds) if chosen else 0
    known = known_of(f"{name}-{arguments.seed}", arguments.binding or "cpp", files)
    tally = test_random(more, detect, known, report, arguments.count, arguments.seconds)
    if tally.total:
        report.say(f"{known.resumed} resumed results, which an earlier run has found")
        report.say(tally)
    enough = arguments.named or (tally.total > 0 and tally.is_enough())
    return 0 if enough and not broken else 1


if __name__ == "__main__":
    sys.exit(main())
