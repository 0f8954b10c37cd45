"""docs/reliability.md: what is measured of the library's reliability, and how to measure it again.

    reliability.py --write     from build/: the logs that ./dev test, fuzz, soak, coverage and mutate have left there
    reliability.py --check     fails where a command of the page is none, or the page lacks a row

A figure that no log has stands as it was measured last, or as "not measured yet": nothing is made up.
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

What is tested beyond examples, the last figure, and the command that gives it again. The inputs are listed in
[hostile.md](hostile.md), what is promised in [SECURITY.md](../SECURITY.md). Written by
`python3 tests/reliability.py --write` from the logs of these commands.

| | Test | Figure | Command |
|---|---|---|---|
"""

NOTES = """
Lines that coverage leaves: functions that the
compiler runs (the table of dtypes), an affinity mask of more CPUs than it holds, and what stands behind a switch over
every value.
"""


def read(name):
    try:
        return (BUILD / name).read_text()
    except FileNotFoundError:
        return ""


def hostile():
    return re.search(r"<!-- summary -->\n(.+)\n", (ROOT / "docs/hostile.md").read_text())[1].rstrip(".")


def passed(preset, pattern):
    """How many tests of a preset, by a part of their names, passed in its last run."""
    lines = [line for line in read(f"{preset}/ctest.log").splitlines() if re.search(pattern, line)]
    good, bad = sum("Passed" in line for line in lines), sum("***Failed" in line for line in lines)
    return f"{good} tests passed, {bad} failed" if lines else None


def executions():
    """The executions of each fuzz target in all runs that were logged."""
    total = {}
    for name, count in re.findall(r"^\S+ (\w+): (\d+) executions", read("soak.log"), re.MULTILINE):
        name = name.removesuffix("_threads")
        total[name] = total.get(name, 0) + int(count)
    if not total:
        return None
    least, most = min(total.values()), max(total.values())
    return f"{sum(total.values())} executions of {len(total)} targets ({least} to {most} each)"


def gates():
    """How many of the fuzzers' calls passed the first check, target by target."""
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


# Test, figure, command.
ROWS = (
    ("hostile inputs by name", hostile, "./dev test"),
    (
        "every hostile input under the address and undefined-behaviour sanitizers",
        lambda: passed("asan", r"Hostile|Handles\."),
        "./dev asan",
    ),
    ("fuzzing against an oracle written from the documents", executions, "./dev soak"),
    ("fuzzing: how much of it gets past the first check", gates, "./dev fuzz"),
    ("stored inputs, and random ones, on every tier", lambda: passed("test", r" fuzz\."), "./dev test"),
    ("random gathers against an oracle", lambda: passed("test", r" (oracle|elements)[._]"), "./dev test"),
    ("coverage of src/ by the tests of C++", coverage, "./dev coverage"),
    ("mutants of src/ that tests notice", lambda: mutation("library"), "./dev mutate"),
    ("mutants of the wheel that its tests notice", lambda: mutation("python"), "./dev mutate --binding python"),
    ("mutants of the crate that its tests notice", lambda: mutation("rust"), "./dev mutate --binding rust"),
    ("mutants of the Go module that its tests notice", lambda: mutation("go"), "./dev mutate --binding go"),
    ("pages that nothing may touch", lambda: passed("test", r" guard_pages"), "./dev test"),
    ("every alignment of the buffers", lambda: passed("test", r" alignment"), "./dev test"),
    (
        "every allocation fails, once and from then on",
        lambda: passed("asan", r"allocation_failures|no_memory"),
        "./dev asan",
    ),
    ("writers on indices, forks, signals, exits", lambda: passed("test", r"Hostile\.G\d"), "./dev test"),
    ("the same for longer, 64 threads of 10,000 calls, 1,000 forks of a kind", soaked, "./dev soak"),
    ("thread sanitizer", lambda: passed("tsan", r"."), "./dev soak"),
    ("memory sanitizer", lambda: passed("msan", r" fuzz\."), "./dev soak"),
    ("loaded and unloaded a thousand times", lambda: passed("test", r" load_cycles\."), "./dev test"),
    ("sizes beyond 2^31 and 2^32", lambda: passed("test", r" sizes"), "./dev test"),
    ("the ABI: exports, needed libraries, hardening, glibc", lambda: passed("test", r" abi\."), "./dev test"),
    ("calls that allocate nothing", allocations, "./dev test"),
    ("two builds in two folders are the same", lambda: read("twice/report.txt").strip() or None, "./dev soak"),
)


def before():
    """The figures of the page as it is."""
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
        raise SystemExit(f"no commands of ./dev: {', '.join(unknown)}")


if __name__ == "__main__":
    main()
