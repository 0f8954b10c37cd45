"""python3 -m bench --library LIBRARY --output REPORT.md: measures and writes the report.

A folder with the name of the report contains the results as JSON. Each measurement is written at once, so
that an interrupted run keeps its results.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import time

from . import cases, peers
from .library import DeviceError, Library
from .machine import Machine
from .report import Report

PEERS = "torch,cupy,numpy"
# The memory that frameworks need for themselves and for results.
RESERVED = 13 * cases.GIB
# The time for the report.
CLOSING_SECONDS = 20
REPORT_EVERY_SECONDS = 30
# Without a device, the program exits with this status. quarter.py then lists it as skipped.
NO_DEVICE, SKIP_STATUS = "there is no CUDA device", 77


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.split(":")[0])
    parser.add_argument("--library", help="libbench_cuda.so, or libbench_rehearsal.so")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the report")
    parser.add_argument("--budget", type=float, default=1500, help="seconds for all of it; the rest is left out")
    parser.add_argument("--rounds", type=int, help="of each cell")
    parser.add_argument("--cell", help="measure one cell: ROW,N with rows of ROW bytes and N indices")
    parser.add_argument("--peers", default=PEERS, help="separated by commas; default: %(default)s")
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes on an emulated device")
    parser.add_argument("--render", type=pathlib.Path, help="measure nothing: write the report of these results again")
    options = parser.parse_args(arguments)
    if not options.render and not options.library:
        parser.error("--library is missing")
    return options


class Run:
    """A plan and its measurements."""

    def __init__(self, options, started):
        self._started = started
        self._options = options
        self._library = Library(str(options.library))
        facts = self._library.facts()
        if facts.get("is_emulated", False) != options.rehearse:
            raise SystemExit("--rehearse is for the emulated device, and it for nothing else")
        wanted = set(options.peers.split(","))
        self._peers, absent = peers.load(self._library, not options.rehearse, wanted)
        free = self._library.bytes_free()
        self._sizes = cases.RehearsalSizes() if options.rehearse else cases.Sizes(max(free - RESERVED, free // 3))
        self.plan = [cases.cell(self._sizes, options.cell)] if options.cell else cases.plan(self._sizes)
        self.results = {
            "is_rehearsal": options.rehearse,
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "machine": facts,
            "peers": {peer.name: peer.version() for peer in self._peers},
            "absent_peers": absent,
            "budget": options.budget,
            "rounds": options.rounds or self._sizes.rounds,
            "batch_seconds": self._sizes.batch_seconds,
            "calls_in_graph": self._sizes.calls_in_graph,
            "calls_on_host": self._sizes.calls_on_host,
            "plan": [cases.to_json(cell) for cell in self.plan],
            "cells": [],
            "left_out": {},
            "failures": [],
        }

    def measure(self, files):
        machine = Machine(self._library, self._sizes, self._peers, self.results["rounds"])
        machine.reserve(self.plan)
        durations = [0.0]
        for cell in self.plan:
            if self._left() < 1.5 * max(durations[-8:]):
                self.results["left_out"][cell.key] = "no time was left"
                continue
            began = time.monotonic()
            if not self._measure(machine, cell):
                break
            durations.append(time.monotonic() - began)
            print(f"{time.monotonic() - self._started:6.1f} s  {cell.key}", file=sys.stderr, flush=True)
            files.write()

    def _left(self):
        closing = 0 if self._options.rehearse else CLOSING_SECONDS
        return self._started + self._options.budget - closing - time.monotonic()

    def _measure(self, machine, cell):
        """Returns False if nothing more can be measured."""
        try:
            found = rounded(machine.measure(cell))
            self.results["cells"].append(found)
            self.results["failures"] += [f"{cell.key}: {name}: a wrong result" for name in found["wrong_ours"]]
            return True
        except Exception as failure:  # reported as a failure of the run; other cells may succeed
            reason = peers.explain(failure)
        self.results["left_out"][cell.key] = reason
        if "out of memory" not in reason:
            self.results["failures"].append(f"{cell.key}: {reason}")
        return self._is_alive()

    def _is_alive(self):
        """Returns whether the device can still be used: after some errors it accepts no more work of this process."""
        try:
            self._library.synchronize()
        except DeviceError:
            return False
        return True

    def is_sound(self):
        """Returns whether the library's result is correct. A wrong result of a peer is only reported."""
        return not self.results["failures"]


def rounded(found):
    """Rounds times to five digits, which is precise enough and half as long."""
    times = {name: [float(f"{each:.5g}") for each in some] for name, some in found["times"].items()}
    return found | {"times": times}


class Files:
    """Writes the report, and the results into the folder beside it."""

    def __init__(self, report, results, plan):
        if results["is_rehearsal"] and "docs" in report.resolve().parts:
            raise SystemExit("a rehearsal is no report for docs/")
        self._report = report
        self._results = results
        self._plan = plan
        self._written = 0
        report.with_suffix("").mkdir(parents=True, exist_ok=True)

    def write(self):
        """Writes the results, and sometimes the report."""
        replace(self._report.with_suffix("") / "results.json", json.dumps(self._results, default=str) + "\n")
        if time.monotonic() - self._written > REPORT_EVERY_SECONDS:
            self._write_report()

    def close(self):
        self.write()
        self._write_report()

    def _write_report(self):
        replace(self._report, Report(self._results, self._plan).text())
        self._written = time.monotonic()


def replace(path, text):
    """Replaces a file atomically, so that no reader sees a part of it."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    os.replace(part, path)


def stop(number, frame):
    raise SystemExit(f"stopped by signal {number}")


def main():
    started = time.monotonic()
    options = parse(sys.argv[1:])
    if options.render:
        results = json.loads(options.render.read_text())
        Files(options.output, results, [cases.from_json(each) for each in results["plan"]]).close()
        return 0
    signal.signal(signal.SIGTERM, stop)
    try:
        run = Run(options, started)
    except DeviceError as failure:
        if NO_DEVICE not in str(failure):
            raise
        print(failure)
        return SKIP_STATUS
    files = Files(options.output, run.results, run.plan)
    try:
        run.measure(files)
    finally:
        files.close()
    return 0 if run.is_sound() else 1


sys.exit(main())
