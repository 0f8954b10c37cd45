#!/usr/bin/env python3
"""first_hour.py OUT [HALF | PART[.STEP]...]: runs the first tests on a GPU, in a bundle (./dev cuda bundle).

It downloads nothing. Each part takes less than ten minutes, and all take less than 46. No part needs the results of
another one. Without names, all parts run in this order:

{parts}

The halves `first` and `second` take at most 28 minutes each. They run these parts:

{halves}

A number selects one step of a part, such as cuda.3. The output of the steps is in OUT/PART.tar.gz. OUT/PART.txt and
the terminal show how each step ended: passed, FAILED, or skipped with the reason. An interrupted part keeps its
results. The exit status is 0 if every step has passed, and 1 if a step has failed. It is 3 if no step has failed but
some were skipped, or if there was nothing to run. On a machine without a CUDA device, a run whose steps are skipped is
a rehearsal, and its status is 0.
"""

import argparse
import contextlib
import ctypes
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
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"
SKIP_STATUS = 77
NO_DEVICE = "there is no CUDA device"


@dataclass(frozen=True)
class Step:
    """A command in the folder of the bundle. needs: the files of the bundle and commands of the machine that it
    requires."""

    name: str
    command: tuple
    seconds: int
    needs: tuple = ()
    environment: dict = field(default_factory=dict)


def tests(*arguments, **environment):
    return {"command": ("./cuda", *arguments), "needs": ("./cuda",), "environment": environment}


# Each case of the conformance tests runs once instead of five times.
ONE_SHIFT = {"GATHER_ONE_SHIFT": "1"}


def sanitized(tool, some, seconds):
    command = ("compute-sanitizer", f"--tool={tool}", "--error-exitcode=99", "./cuda", "--gtest_brief=1")
    return Step(tool, (*command, f"--gtest_filter={some}"), seconds, ("compute-sanitizer", "./cuda"), ONE_SHIFT)


def bench(report, *arguments):
    command = ("python3", "-u", "-B", "-m", "bench", "--library", "./libbench_cuda.so")
    return (*command, "--output", f"{{out}}/{report}", *arguments)


def profiled(row, n):
    """Profiles the kernels of one cell of the benchmark, at the clock that the benchmark runs at."""
    name = f"kernels-of-{row}-bytes"
    ncu = ("ncu", "--set", "full", "--clock-control", "none", "--kernel-name", "regex:copy_kernel|validate_kernel")
    cell = bench(f"{name}.md", "--peers", "none", "--rounds", "1", "--cell", f"{row},{n}")
    command = (*ncu, "--launch-skip", "4", "--launch-count", "8", "-o", f"{{out}}/{name}", *cell)
    return Step(f"profile of rows of {row} bytes", command, 105, ("ncu", "python3", "./libbench_cuda.so"))


# Tests with several blocks, kernels or streams. The size tests are too slow under a sanitizer.
SOME = "Errors.*:Forms.*:Graphs.*:Streams.*:MemoryTest.*"
PYTHON = {"PYTHONPATH": "python/site", "PYTHONDONTWRITEBYTECODE": "1"}
PYTEST = ("python3", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs")

PARTS = {
    "cuda": (
        Step("machine", ("sh", "machine.sh"), 30, ("./machine.sh",)),
        Step("what CUDA does by itself", ("./probe",), 120, ("./probe",)),
        Step("tests", seconds=240, **tests()),
        Step(
            "tests, shuffled and repeated",
            seconds=180,
            **tests(
                "--gtest_shuffle",
                "--gtest_repeat=5",
                "--gtest_brief=1",
                "--gtest_filter=-Sizes.*:Stress.*",
                **ONE_SHIFT,
            ),
        ),
    ),
    "stress": (
        Step("stress", seconds=300, **tests("--gtest_filter=Stress.*", GATHER_STRESS_SECONDS="240")),
        Step("python package", ("sh", "install.sh"), 60, ("./install.sh", "python3")),
        Step("python device tests", (*PYTEST, "python/tests/test_devices.py"), 90, ("python/site", "python3"), PYTHON),
        Step("torch: graphs, and 33 streams", ("python3", "torch_hour.py"), 120, ("python/site", "python3"), PYTHON),
    ),
    "sanitize": (
        sanitized("memcheck", "-Sizes.*:Stress.*", 240),
        sanitized("racecheck", SOME, 110),
        sanitized("initcheck", SOME, 110),
        sanitized("synccheck", SOME, 110),
    ),
    "bench": (
        Step(
            "benchmark",
            bench("performance-cuda.md", "--budget", "500"),
            560,
            ("./libbench_cuda.so", "python3"),
        ),
    ),
    "profile": (
        *(profiled(row, 10**7) for row in (64, 1024, 100, 4)),
        Step(
            "profile of calls",
            ("nsys", "profile", "-o", "{out}/calls", "./cuda", "--gtest_filter=Graphs.*:Streams.*"),
            120,
            ("nsys", "./cuda"),
        ),
    ),
}


# Two halves, which can run on different machines. Each takes at most 28 minutes.
HALVES = {"first": ("cuda", "stress", "profile"), "second": ("sanitize", "bench")}


@dataclass
class Outcome:
    step: Step
    how: str
    why: str
    seconds: float

    def line(self):
        return f"{self.how:8} {self.seconds:6.1f} s  {self.step.name}" + (f": {self.why}" if self.why else "")


def missing(step, bundle):
    for need in step.needs:
        if not ((bundle / need).exists() if "/" in need else shutil.which(need)):
            return f"there is no {need}"
    return ""


def run(command, log, seconds, bundle, environment):
    """Returns the exit status, or None if it took too long and was ended with all processes that it had started."""
    library_path = ":".join(filter(None, (str(bundle), os.environ.get("LD_LIBRARY_PATH"))))
    settings = {"LD_LIBRARY_PATH": library_path, "GATHER_CONFORMANCE_CASES": str(bundle / "cases"), **environment}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=bundle,
            stdout=out,
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


def outcome_of(status, seconds, text):
    """Returns how a step ended, and why. A step that skips itself has not passed."""
    if status is None:
        return FAILED, f"not done after {seconds} s"
    if status == SKIP_STATUS:
        return SKIPPED, (text.strip().splitlines() or ["it does not say why"])[-1][:150]
    if status:
        return FAILED, f"exit status {status}"
    counts = [int(each) for each in re.findall(r"^\[  PASSED  \] (\d+) test", text, re.MULTILINE)]
    counts += [int(each) for each in re.findall(r"^(?:.* )?(\d+) passed", text, re.MULTILINE)]
    skips = [int(each) for each in re.findall(r"^\[  SKIPPED \] (\d+) test", text, re.MULTILINE)]
    skips += [int(each) for each in re.findall(r"(\d+) skipped", text)]
    if NO_DEVICE in text:
        return SKIPPED, NO_DEVICE
    if skips and not sum(counts):
        return SKIPPED, "every test skipped itself"
    if re.search(r"^\[=+\] 0 tests|no tests ran", text, re.MULTILINE):
        return SKIPPED, "there was no test to run"
    return PASSED, f"{sum(skips)} of its tests skipped themselves" if skips else ""


def perform(step, number, folder, bundle):
    why = missing(step, bundle)
    if why:
        return Outcome(step, SKIPPED, why, 0)
    log = folder / f"{number}-{re.sub('[^a-z0-9]+', '-', step.name.lower())}.log"
    command = [word.format(out=folder) for word in step.command]
    began = time.monotonic()
    try:
        status = run(command, log, step.seconds, bundle, step.environment)
    except OSError as error:
        return Outcome(step, FAILED, str(error), 0)
    how, why = outcome_of(status, step.seconds, log.read_text(errors="replace"))
    return Outcome(step, how, why, time.monotonic() - began)


def pack(folder, out, name, outcomes):
    """Called after every step, so that an interrupted part keeps its results."""
    text = "".join(f"{outcome.line()}\n" for outcome in outcomes)
    (out / f"{name}.txt").write_text(text)
    with tarfile.open(out / f"{name}.tar.gz.part", "w:gz") as archive:
        archive.add(folder, name)
    os.replace(out / f"{name}.tar.gz.part", out / f"{name}.tar.gz")


def perform_part(name, steps, out, bundle, show):
    folder = Path(out) / f"{name}.logs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcomes = []
    for number, step in enumerate(steps, 1):
        show(f"== {name}: {step.name} (at most {step.seconds} s)")
        outcomes.append(perform(step, number, folder, bundle))
        show(f"== {outcomes[-1].line()}")
        pack(folder, out, name, outcomes)
    shutil.rmtree(folder)
    return outcomes


def steps_of(name):
    """Returns the steps of a part, or the one of PART.STEP, or none."""
    part, dot, number = name.partition(".")
    steps = PARTS.get(part, ())
    if not dot:
        return steps
    return steps[int(number) - 1 : int(number)] if re.fullmatch("[1-9]", number) else ()


def has_device():
    """Returns whether the driver has a CUDA device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def status_of(outcomes, is_rehearsal=False):
    hows = {outcome.how for outcome in outcomes}
    if FAILED in hows:
        return 1
    return 0 if hows == {PASSED} or (is_rehearsal and hows == {SKIPPED}) else 3


def describe_parts():
    return "\n".join(f"    {name:10} {', '.join(step.name for step in steps)}" for name, steps in PARTS.items())


def parts_of(names):
    """Replaces the names of halves by their parts."""
    return [part for name in names for part in HALVES.get(name, (name,))]


def main():
    halves = "\n".join(f"    {name:10} {', '.join(parts)}" for name, parts in HALVES.items())
    description = __doc__.format(parts=describe_parts(), halves=halves)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder for what comes of it")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join([*HALVES, *PARTS]))
    parser.add_argument(
        "--list", action="store_true", help="run nothing: say what would run, and what would be skipped"
    )
    options = parser.parse_args()
    chosen = parts_of(options.parts or PARTS)
    unknown = [name for name in chosen if not steps_of(name)]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(PARTS)}, each of so many steps as --list shows")
    if options.list:
        for name in chosen:
            for step in steps_of(name):
                why = missing(step, HERE)
                print(f"{name:10} {step.seconds:4} s  {step.name}" + (f": would be skipped, {why}" if why else ""))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for name in chosen:
        outcomes += perform_part(
            name, steps_of(name), options.out.resolve(), HERE, lambda text: print(text, flush=True)
        )
    print()
    for outcome in outcomes:
        print(outcome.line())
    is_rehearsal = not has_device()
    if is_rehearsal:
        print(f"This was a rehearsal: {NO_DEVICE}.")
    return status_of(outcomes, is_rehearsal)


if __name__ == "__main__":
    sys.exit(main())
