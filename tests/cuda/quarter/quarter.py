#!/usr/bin/env python3
"""quarter.py [--minutes M] [--steps NAME,...] OUT: runs the tests on a GPU that fit into M minutes, in a bundle.

`./dev cuda bundle` makes the bundle. The script downloads nothing. The steps that teach most come first, and each one
is cut to the time that is left:

{steps}

OUT/steps.txt has a line for each step: passed, FAILED with the failed tests, cut after its time, skipped with the
reason, or left out because no time was left. OUT/quarter.tar.gz has the logs, the reports and the profiles. Both files
are written after each step, so an interrupted run keeps its results. The exit status is 0 if every step has passed or
was cut, 1 if a step has failed, and 3 if a step was skipped or left out. Without a CUDA device it is 77.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PASSED, FAILED, CUT, SKIPPED, LEFT_OUT = "passed", "FAILED", "cut", "skipped", "left out"
SKIP_STATUS = 77
NO_DEVICE = "there is no CUDA device"
LEAST_SECONDS = 8  # A step is left out if less time is left.
CLOSING_SECONDS = 4  # the time for ending a step and for the last archive


@dataclass(frozen=True)
class Step:
    """A command in the folder of the bundle, its longest time, and the commands of the machine that it needs."""

    name: str
    seconds: int
    command: tuple
    needs: tuple = ()
    environment: dict = field(default_factory=dict)


# Each conformance case runs with one alignment instead of five.
TEST_ENVIRONMENT = {"GATHER_ONE_SHIFT": "1"}
PYTHON = {"PYTHONPATH": "python/site", "PYTHONDONTWRITEBYTECODE": "1"}
# These suites change the state of a process, so each one has its own.
RUNTIME = ("Forks", "Graphs", "Lifetimes", "Many", "MemoryTest", "Streams", "ForeignErrors")
PYTEST = ("python3", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs")
BENCH = ("python3", "-u", "-B", "-m", "bench", "--library", "./libbench_cuda.so")
PEERS = ("--peers", "torch,cupy")


def tests(name, seconds, some, **environment):
    return Step(name, seconds, ("./cuda", f"--gtest_filter={some}"), (), TEST_ENVIRONMENT | environment)


def sanitized(tool, seconds, some):
    command = ("compute-sanitizer", f"--tool={tool}", "--error-exitcode=99", "./cuda", f"--gtest_filter={some}")
    return Step(tool, seconds, command, ("compute-sanitizer",), TEST_ENVIRONMENT)


def measured(row):
    cell = (*PEERS, "--rounds", "7", "--cell", f"{row},10000000")
    return Step(f"rows-{row}", 35, (*BENCH, *cell, "--output", f"{{out}}/rows-{row}.md"))


def profiled(row):
    """Profiles the kernels of a cell of the benchmark, at the clock that the benchmark runs at."""
    ncu = ("ncu", "--set", "full", "--clock-control", "none", "--kernel-name", "regex:copy_kernel|validate_kernel")
    cell = ("--peers", "none", "--rounds", "1", "--cell", f"{row},10000000", "--output", f"{{out}}/profile-{row}.md")
    few = ("--launch-skip", "4", "--launch-count", "2", "-f", "-o", f"{{out}}/profile-{row}")
    return Step(f"profile-{row}", 45, (*ncu, *few, *BENCH, *cell), ("ncu",))


STEPS = (
    Step("machine", 20, ("sh", "machine.sh")),
    tests("scatters", 60, "Scatters.*"),
    tests("bags", 60, "Bags.*:BagGradients.*"),
    tests("others", 60, "ScatterPositions.*:Partition.*:Padding.*"),
    tests("forms", 60, "Forms.*:Errors.*"),
    *(tests(suite.lower(), 20, f"{suite}.*") for suite in RUNTIME),
    tests("conformance", 100, "Profiles*"),
    tests("sizes", 30, "Sizes.*"),
    sanitized("memcheck", 60, "*.*AtTheLimits*:Forms.EveryRow*:Errors.*:Graphs.*"),
    *(measured(row) for row in (64, 256, 1024, 4)),
    Step("install", 40, ("sh", "install.sh")),
    Step("torch", 60, ("python3", "torch_graphs.py"), (), PYTHON),
    Step("sums", 240, ("python3", "torch_sums.py", "--seconds", "200", "--out", "{out}/sums.md"), (), PYTHON),
    Step("pytest", 60, (*PYTEST, "python/tests/test_devices.py"), (), PYTHON),
    Step("probe", 45, ("./probe",)),
    *(profiled(row) for row in (64, 4, 1024)),
    sanitized("racecheck", 50, "Scatters.LongSlices:Scatters.Replays*:Forms.EveryRow*:Graphs.*"),
    tests("stress", 40, "Stress.*", GATHER_STRESS_SECONDS="30"),
    Step("bench", 420, (*BENCH, *PEERS, "--rounds", "5", "--budget", "{left}", "--output", "{out}/bench.md")),
)


@dataclass
class Outcome:
    name: str
    how: str
    why: str = ""
    seconds: float = 0

    def line(self):
        return f"{self.how:8} {self.seconds:6.1f} s  {self.name}" + (f": {self.why}" if self.why else "")


def run(step, log, seconds, out, bundle):
    """Returns the exit status, or None if the step was ended with all processes that it had started."""
    library_path = ":".join(filter(None, (str(bundle), os.environ.get("LD_LIBRARY_PATH"))))
    settings = {"LD_LIBRARY_PATH": library_path, "GATHER_CONFORMANCE_CASES": str(bundle / "cases")} | step.environment
    command = [word.format(out=out, left=int(seconds - 2)) for word in step.command]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            cwd=bundle,
            stdout=file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=os.environ | settings,
            start_new_session=True,
        )
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def failed_tests(text):
    """Returns the names of the failed tests, each once."""
    pattern = r"^\[  FAILED  \] ([\w./]+)(?:,| \(|$)|^FAILED (\S+)"
    return list(dict.fromkeys("".join(names) for names in re.findall(pattern, text, re.MULTILINE)))


def counts_of(text):
    """Returns how many tests have passed, and how many were skipped."""
    passed = len(re.findall(r"^\[       OK \]", text, re.MULTILINE))
    passed += sum(int(each) for each in re.findall(r"\b(\d+) passed", text))
    skipped = len(re.findall(r"^\[  SKIPPED \] .*\(\d+ ms\)$", text, re.MULTILINE))
    skipped += sum(int(each) for each in re.findall(r"\b(\d+) skipped", text))
    return passed, skipped


def outcome_of(status, text):
    """Returns how a step ended, and why. A step that skips itself, or that runs no test, has not passed."""
    passed, skipped = counts_of(text)
    counts = ", ".join(f"{count} {how}" for count, how in ((passed, PASSED), (skipped, SKIPPED)) if count)
    failures = failed_tests(text)
    if failures:
        return FAILED, ", ".join(failures[:20])
    if status is None:
        return CUT, counts
    if status == SKIP_STATUS or NO_DEVICE in text:
        return SKIPPED, (text.strip().splitlines() or ["it gives no reason"])[-1][:150]
    if status:
        return FAILED, f"exit status {status}" + (f" after {counts}" if counts else "")
    if (skipped and not passed) or re.search(r"^\[=+\] 0 tests|no tests ran", text, re.MULTILINE):
        return SKIPPED, "no test has run"
    return PASSED, counts


def perform(step, left, folder, bundle):
    """Runs a step for at most its own time and the time that is left."""
    for need in step.needs:
        if not shutil.which(need):
            return Outcome(step.name, SKIPPED, f"there is no {need}")
    seconds = min(step.seconds, left)
    if seconds < min(step.seconds, LEAST_SECONDS):
        return Outcome(step.name, LEFT_OUT, "no time was left")
    log = folder / f"{step.name}.log"
    began = time.monotonic()
    try:
        status = run(step, log, seconds, folder, bundle)
    except OSError as error:
        return Outcome(step.name, FAILED, str(error))
    return Outcome(step.name, *outcome_of(status, log.read_text(errors="replace")), time.monotonic() - began)


def write(folder, out, outcomes):
    (out / "steps.txt").write_text("".join(f"{outcome.line()}\n" for outcome in outcomes))
    part = out / "quarter.tar.gz.part"
    with tarfile.open(part, "w:gz") as archive:
        archive.add(folder, "quarter")
    os.replace(part, out / "quarter.tar.gz")


def perform_all(steps, out, bundle, deadline, show):
    """Runs the steps until the deadline, a time of time.monotonic(). A machine without a device runs only the first."""
    folder = out / "quarter.logs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcomes = []
    for step in steps:
        outcomes.append(perform(step, deadline - CLOSING_SECONDS - time.monotonic(), folder, bundle))
        show(outcomes[-1].line())
        write(folder, out, outcomes)
        if outcomes[-1].why == NO_DEVICE:
            break
    shutil.rmtree(folder)
    return outcomes


def status_of(outcomes):
    hows = {outcome.how for outcome in outcomes}
    if FAILED in hows:
        return 1
    if NO_DEVICE in {outcome.why for outcome in outcomes}:
        return SKIP_STATUS
    return 0 if hows and hows <= {PASSED, CUT} else 3


def chosen_steps(names):
    """Returns the steps of these names in their order, or all."""
    known = [step.name for step in STEPS]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"there is no step {unknown[0]}; there are {', '.join(known)}")
    return [step for step in STEPS if not names or step.name in names]


def main():
    began = time.monotonic()
    lines = "\n".join(f"    {step.name:12} {step.seconds:3} s" for step in STEPS)
    description = __doc__.format(steps=lines)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder for the results")
    parser.add_argument("--minutes", type=float, default=9, help="the time for all steps; default: %(default)s")
    parser.add_argument("--steps", default="", help="the steps to run, separated by commas; default: all")
    options = parser.parse_args()
    steps = chosen_steps([name for name in options.steps.split(",") if name])
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    outcomes = perform_all(steps, out, HERE, began + 60 * options.minutes, lambda line: print(line, flush=True))
    return status_of(outcomes)


if __name__ == "__main__":
    sys.exit(main())
