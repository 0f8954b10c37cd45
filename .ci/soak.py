"""The long run: the checks that .ci/run leaves out because they take hours.

    ./dev soak [--seconds S] [--mutants N] [--limit S] [--seed N] [STEP...]

Runs all steps, or the named ones, and continues after a failure. The log of a step is build/soak/STEP.log. Its last
result is .ci/results/STEP.txt, and docs/reliability.md has a table of all results.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass

import fuzzed
import results
from results import ROOT

LOGS = ROOT / "build" / "soak"


@dataclass(frozen=True)
class Step:
    name: str
    command: str
    states: str  # a regular expression: the lines of the log that state the result
    contents: str
    parts: tuple[str, ...] = results.LIBRARY  # the folders of results.PARTS whose change makes a result out of date
    adds_up: bool = False  # the lines follow those of earlier results with the same library


BOTH = results.PARTS
TESTS = r"% tests passed, \d+ tests failed|\((Failed|Timeout|SEGFAULT|Subprocess aborted)\)"
BINDINGS = r"^(== |rust: |\d+ (tests passed|passed|failed)|test result|go: |[A-Z][A-Za-z ]+: (passed|FAILED|skipped))"
STEPS = (
    Step("lint", "./dev lint clang-tidy", r"^clang-tidy:", "clang-tidy with its static analyzer"),
    Step("cuda", "./dev cuda", TESTS, "the tests of devices, the ABI and packages, with CUDA for all architectures"),
    Step(
        "bindings",
        "./dev bindings",
        BINDINGS,
        "the bindings with every way to build and link the library, with -race and cgocheck2, and the READMEs",
        BOTH,
    ),
    Step(
        "peers", "./dev peers", r"^(== test|\d+ (passed|failed|skipped))", "torch, JAX, TensorFlow, Dask and Ray", BOTH
    ),
    Step(
        "own",
        "./dev own",
        r"takes are equal|^refused|\d+ random calls|\d+ (passed|failed)",
        "each take of pandas' own tests, and random calls of torch",
        BOTH,
    ),
    Step(
        "torch",
        "./dev torch",
        r"^torch |\d+ (passed|failed)",
        "each version of torch that the wheel has an object for",
        BOTH,
    ),
    Step(
        "recorded",
        "./dev recorded",
        r"^(== |differs|\d+ answers)",
        "every recorded answer, asked again of its system",
        BOTH,
    ),
    Step("variant", "./dev variant", r"^variant:|Error", "a library with one more operation, profile and option", BOTH),
    Step("asan", "./dev asan bindings", BINDINGS, "bindings with ASan", BOTH),
    Step("tsan", "./dev tsan", TESTS, "threads under the thread sanitizer"),
    Step("msan", "./dev msan", TESTS, "fuzz targets under the memory sanitizer"),
    Step(
        "fuzz",
        "./dev fuzz {seconds} {limit}",
        fuzzed.RUN.pattern,
        "each fuzz target, in all runs with the same sources together",
        adds_up=True,
    ),
    Step("random", "./dev random", TESTS, "random calls from a fresh seed, compared with oracles"),
    Step("threads", "./dev threads", TESTS, "threads, forks, signals and concurrent writers for longer"),
    Step("aarch64", "./dev aarch64", TESTS, "the tests for aarch64, in an emulator"),
    Step(
        "windows",
        "./dev windows",
        rf"{TESTS}|^\[  PASSED|{BINDINGS}",
        "the library and the bindings of Python, Go, Rust and Java for Windows, under Wine",
        BOTH,
    ),
    Step("musl", "./dev musl", TESTS, "the tests in C and C++ with musl"),
    Step("macos", "./dev macos", r"^linked|error", "the library for macOS, linked and not run"),
    Step("site", "./dev site", r"^\d+ pages|error", "the documentation site", BOTH),
    Step("package", "./dev package", r": installed|FAILED|^[EW]: ", "all packages", BOTH),
    Step(
        "managers",
        "./dev managers",
        r"^\w+: (a project|FAILED)",
        "a project that finds the library by each manager",
        BOTH,
    ),
    Step(
        "reproducible",
        "./dev reproducible",
        r"^(identical|differs)",
        "packages of two builds in different folders",
        BOTH,
    ),
    Step("coverage", "./dev coverage", r"^TOTAL", "lines and branches of src that the tests in C++ execute"),
    Step("mutants-named", "./dev mutate --named --seconds {limit}", r".", "the named mutants of src"),
    Step(
        "mutants-cpp",
        "./dev mutate --random --seed {seed} --count {mutants} --seconds {limit}",
        r".",
        "random mutants of src",
    ),
    *(
        Step(
            f"mutants-{language}",
            f"./dev mutate --binding {language} --seed {{seed}} --count {{mutants}} --seconds {{limit}}",
            r".",
            f"random mutants of the binding for {language.capitalize()}",
            BOTH,
        )
        for language in ("python", "rust", "go", "java")
    ),
)


def run(step, arguments):
    """Runs a step, writes its result, and returns whether it passed."""
    command = step.command.format(**vars(arguments))
    environment = os.environ | {"GATHER_LONG": "1", "GATHER_STRICT": "1", "GATHER_SEED": str(arguments.seed)}
    log, date, version, began = LOGS / f"{step.name}.log", results.now(), results.sources(), time.monotonic()
    print(f"== {step.name}: {command}", flush=True)
    with log.open("w") as out:
        done = subprocess.run(
            command.split(), cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT, check=False
        )
    seconds = round(time.monotonic() - began)
    verdict = "failed" if done.returncode else "passed"
    lines = [line for line in log.read_text(errors="replace").splitlines() if re.search(step.states, line)]
    fields = {
        "contents": step.contents,
        "command": command,
        "date": date,
        "version": version,
        "seed": arguments.seed,
        "processors": len(os.sched_getaffinity(0)),
        "seconds": seconds,
        "result": verdict,
    }
    before = results.earlier_lines(step.name, version) if step.adds_up else ""
    results.write(step.name, fields, before + "".join(f"{line}\n" for line in lines))
    print(f"== {step.name}: {verdict}, {seconds} s", flush=True)
    return not done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3600, help="the time of each fuzz target in this run")
    parser.add_argument("--mutants", type=int, default=300, help="the number of random mutants of each language")
    parser.add_argument(
        "--limit", type=int, default=86400, help="start no mutant or fuzz target of a step after S seconds"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()), help="by default the time")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(step.name for step in STEPS))
    arguments = parser.parse_args()
    unknown = set(arguments.steps) - {step.name for step in STEPS}
    if unknown:
        parser.error(f"there is no step {', '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    chosen = [step for step in STEPS if not arguments.steps or step.name in arguments.steps]
    failed = [step.name for step in chosen if not run(step, arguments)]
    subprocess.run([sys.executable, "tests/reliability.py", "--write"], cwd=ROOT, check=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
