"""Writes docs/reliability.md: the tests of the library's reliability, their last results and their commands.

    reliability.py --write     reads the logs that ./dev test, fuzz, soak, coverage and mutate have written to build/
    reliability.py --check     fails if a command of the page does not exist, or if the page lacks a row

A row without a log keeps its last result, or is "not measured yet".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "peers"))

from table import table  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
BUILD = ROOT / "build"
NOT_YET = "not measured yet"

HEAD = """# Reliability

The table lists tests beyond examples, their last results, and the commands that repeat them.
[hostile.md](hostile.md) lists the inputs. [SECURITY.md](../SECURITY.md) states what the library guarantees.
`python3 tests/reliability.py --write` writes this page from the logs of the commands.

| | Test | Result | Command |
|---|---|---|---|
"""

NOTES = """
The tests do not cover three kinds of lines: functions that only the compiler executes (the table of dtypes), an
affinity mask with more CPUs than `cpu_set_t` has, and code after a `switch` that handles every value.
"""


def read(name):
    try:
        return (BUILD / name).read_text()
    except FileNotFoundError:
        return ""


def hostile():
    return re.search(r"<!-- summary -->\n(.+)\n", (ROOT / "docs/hostile.md").read_text())[1].rstrip(".")


def passed(preset, pattern):
    """Returns how many tests of a preset, selected by their names, passed and failed in its last run."""
    lines = [line for line in read(f"{preset}/ctest.log").splitlines() if re.search(pattern, line)]
    good, bad = sum("Passed" in line for line in lines), sum("***Failed" in line for line in lines)
    return f"{good} tests passed, {bad} failed" if lines else None


def executions():
    """Returns the number of executions of all fuzz targets in the logged runs."""
    total = {}
    for name, count in re.findall(r"^\S+ (\w+): (\d+) executions", read("soak.log"), re.MULTILINE):
        name = name.removesuffix("_threads")
        total[name] = total.get(name, 0) + int(count)
    if not total:
        return None
    least, most = min(total.values()), max(total.values())
    return f"{sum(total.values())} executions of {len(total)} targets ({least} to {most} for each target)"


def gates():
    """Returns the lowest and the highest share of calls of a fuzz target that passed the first check."""
    shares = [int(share) for share in re.findall(r"(\d+) % passed the first check", read("soak.log"))]
    return f"{min(shares)} to {max(shares)} % of the calls" if shares else None


def coverage():
    total = re.search(r"^TOTAL +(.+)$", read("coverage/report.txt"), re.MULTILINE)
    if not total:
        return None
    percents = re.findall(r"([\d.]+)%", total[1])
    return f"functions {percents[0]} %, lines {percents[1]} %, branches {percents[2]} %"


def mutation(name):
    found = re.findall(r"^(\d+ named mutants.*|\d+ random mutants.*)$", read(f"mutate/report_{name}.txt"), re.MULTILINE)
    return "; ".join(found) or None


def allocations():
    return passed("test", r"allocations(_threads)?\.")


def soaked():
    return passed("soak", r".")


# Test, function that returns its result, command.
ROWS = (
    ("inputs of hostile.md, by name", hostile, "./dev test"),
    (
        "inputs of hostile.md under the address and undefined-behaviour sanitizers",
        lambda: passed("asan", r"Hostile|Handles\."),
        "./dev asan",
    ),
    ("fuzzing, compared with a model of the documentation", executions, "./dev soak"),
    ("fuzzing: the share of calls that pass the first check", gates, "./dev fuzz"),
    ("stored and random fuzzing inputs on every tier", lambda: passed("test", r" fuzz\."), "./dev test"),
    ("random gathers, compared with an oracle", lambda: passed("test", r" (oracle|elements)[._]"), "./dev test"),
    ("coverage of src/ by the C++ tests", coverage, "./dev coverage"),
    ("mutants of src/", lambda: mutation("library"), "./dev mutate"),
    ("mutants of the Python package", lambda: mutation("python"), "./dev mutate --binding python"),
    ("mutants of the Rust crate", lambda: mutation("rust"), "./dev mutate --binding rust"),
    ("mutants of the Go module", lambda: mutation("go"), "./dev mutate --binding go"),
    ("operands between unreadable pages", lambda: passed("test", r" guard_pages"), "./dev test"),
    ("every alignment of the operands", lambda: passed("test", r" alignment"), "./dev test"),
    (
        "each allocation fails: once, and from then on",
        lambda: passed("asan", r"allocation_failures|no_memory"),
        "./dev asan",
    ),
    ("concurrent writers of indices, forks, signals and exits", lambda: passed("test", r"Hostile\.G\d"), "./dev test"),
    ("the same for longer: 64 threads with 10,000 calls each, 1,000 forks of each kind", soaked, "./dev soak"),
    ("tests under the thread sanitizer", lambda: passed("tsan", r"."), "./dev soak"),
    ("fuzzing inputs under the memory sanitizer", lambda: passed("msan", r" fuzz\."), "./dev soak"),
    ("the library is loaded and unloaded a thousand times", lambda: passed("test", r" load_cycles\."), "./dev test"),
    ("sizes above 2^31 and 2^32", lambda: passed("test", r" sizes"), "./dev test"),
    (
        "ABI: exported symbols, needed libraries, hardening, glibc version",
        lambda: passed("test", r" abi\."),
        "./dev test",
    ),
    ("calls that must not allocate", allocations, "./dev test"),
    (
        "two builds in different folders have the same bytes",
        lambda: read("twice/report.txt").strip() or None,
        "./dev soak",
    ),
)


def before():
    """Returns the results of the current page by test."""
    if not PAGE.exists():
        return {}
    return dict(re.findall(r"^\| \d+ \| (.+?) \| (.+?) \|", PAGE.read_text(), re.MULTILINE))


def page(known):
    lines = []
    for number, (test, figure, command) in enumerate(ROWS, 1):
        lines.append(f"| {number} | {test} | {figure() or known.get(test, NOT_YET)} | `{command}` |\n")
    return HEAD + "".join(lines) + NOTES + table((ROOT / "docs/hostile.md").read_text())


def main():
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(before()))
        return
    if sys.argv[1:] != ["--check"]:
        raise SystemExit(__doc__)
    known = before()
    missing = [test for test, _, _ in ROWS if test not in known]
    if missing:
        raise SystemExit(f"{PAGE.name} is out of date, it lacks: {', '.join(missing)}")
    commands = {command.split()[1] for _, _, command in ROWS}
    front = (ROOT / "dev").read_text()
    unknown = [command for command in sorted(commands) if f"\n./dev {command} " not in front]
    if unknown:
        raise SystemExit(f"./dev has no command: {', '.join(unknown)}")


if __name__ == "__main__":
    main()
