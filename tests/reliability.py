"""Writes docs/reliability.md: the tests of the library's reliability and their last results.

    reliability.py --write     reads the results of the long run in .ci/results
    reliability.py --check     fails if the page has another text, or a result is not that of its lines
    reliability.py --release   fails and names the steps if a step has not passed on the committed sources

The gate has no figures, because .ci/run must pass before each change. The page names the sources with which it compares
those of the results. Later changes of the sources do not change the page.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "peers"), str(ROOT / "tests" / "mutate"), str(ROOT / ".ci")]

import fuzzed  # noqa: E402
import results  # noqa: E402
import soak  # noqa: E402
from named import NAMED  # noqa: E402
from report import IS_EQUIVALENT, NOT_COMPILED, SURVIVES, verdicts  # noqa: E402
from table import table  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
NOT_YET = "no result yet"
OLD = "out of date"
FUZZED = 3600  # seconds of each fuzz target
WISH, BAR = 300, 97  # random mutants of each language, and how many per cent of them the tests must detect

HEAD = """# Reliability

[hostile.md](hostile.md) lists inputs that have caused errors elsewhere. [SECURITY.md](../SECURITY.md) states what the
library guarantees. `python3 tests/reliability.py --write` writes this page.

## Each change

`.ci/run` must pass before a change is merged. A skipped test is a failure, unless `.ci/allowed_skips.txt` allows it and
states why. It includes these tests:

"""

LONG_RUN = """
## The long run

`./dev soak` runs what takes hours. Each row is the last result of a step. Its file in `.ci/results` has the command,
the version of the sources, the seed, the duration and the lines of the log that state the result. The page is computed
from these files, and each file has the digest of its lines.

Each result has the version of the sources that it was measured with. "Changed" counts the files that differ between
that version and the git trees {trees}. A result is "out of date" if a file changed that the step tests.

| Step | Tests | Date | Changed | Result |
|---|---|---|---|---|
"""

MUTANTS = f"""
## Mutants

A mutant is a copy of the sources with one change. It is detected if a test fails. There are {len(NAMED)} named mutants.
Each one breaks a promise of the library, and a test of the gate must detect it. The aim for random mutants is {WISH} of
each language, of which {BAR} % are detected. A run with the same seed, sources and tests continues from the file in
`.ci/results`, so the figures are those of all such runs together. "Resumed" is the number of results that earlier runs
have found.

| Mutants | Date | Changed | Seed | Run | Resumed | Detected | Equivalent | The aim |
|---|---|---|---|---|---|---|---|---|
"""

NOTES = """
The tests do not cover three kinds of lines. The compiler executes some functions, for example the table of dtypes. Some
code is for an affinity mask with more CPUs than `cpu_set_t` has. Some code follows a `switch` that handles every value.
"""


def hostile():
    return re.search(r"<!-- summary -->\n(.+)\n", (ROOT / "docs/hostile.md").read_text())[1].rstrip(".")


def of_gate():
    """Returns the tests of the gate, by line."""
    return (
        f"the inputs of hostile.md, by name: {hostile()}",
        "the tests in C++ under the address, leak and undefined-behaviour sanitizers",
        "stored and random fuzzing inputs, compared with a model of the documentation, with every tier",
        "random calls, compared with an oracle",
        "operands between unreadable pages, and every alignment of the operands",
        "each allocation is made to fail: first alone, then together with all later ones",
        "concurrent writers of indices, forks, signals and exits",
        "a thousand times loading and unloading the library",
        "sizes above 2^31 and 2^32",
        "the ABI: exported symbols, needed libraries, hardening and glibc version",
        "calls that must not allocate",
    )


def tests(lines):
    """Returns how many tests of ctest passed and failed. A log may repeat the line of a run in a summary."""
    found = dict.fromkeys(re.findall(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", lines))
    return "; ".join(f"{int(total) - int(failed)} tests passed, {failed} failed" for _, failed, total in found)


def least_fuzzed(lines):
    """Returns the seconds of the fuzz target that has run for the shortest time."""
    seconds = fuzzed.of_targets(lines)[1]
    return min(seconds[target] for target in fuzzed.targets())


def executions(lines):
    """Returns the time and the executions of all fuzz targets, and the share of calls that passed the first check."""
    total, seconds = fuzzed.of_targets(lines)
    shares = [int(share) for share in re.findall(r"(\d+) % passed the first check", lines)]
    if not total or not shares:
        return ""
    least = least_fuzzed(lines)
    verdict = "met" if least >= FUZZED else "not met"
    time = f"{sum(seconds.values())} s, at least {least} s for each of {len(fuzzed.targets())} targets"
    each = f"{min(total.values())} to {max(total.values())} for each"
    valid = f"{min(shares)} to {max(shares)} % of the calls passed the first check"
    return f"{time} (the aim of {FUZZED} s is {verdict}), {sum(total.values())} executions ({each}), {valid}"


def coverage(lines):
    percents = re.findall(r"([\d.]+)%", lines)
    return "functions {} %, lines {} %, branches {} %".format(*percents[:3]) if len(percents) >= 3 else ""


def bindings(lines):
    """Returns how many tests of pytest, cargo and go passed and failed."""
    passed = sum(map(int, re.findall(r"\b(\d+) (?:tests )?passed\b", lines)))
    failed = sum(map(int, re.findall(r"\b(\d+) failed\b", lines)))
    return f"{passed} tests passed, {failed} failed" if passed else ""


def stated(lines):
    """Returns the last line."""
    return lines.strip().rpartition("\n")[2]


def packages(lines):
    """Returns the kinds of packages that were installed in a minimal system."""
    return f"{', '.join(re.findall(r'^([^:]+): installed', lines, re.MULTILINE))}: installed, and the READMEs run"


SUMMARIES = {
    "fuzz": executions,
    "coverage": coverage,
    "bindings": bindings,
    "peers": bindings,
    "asan": bindings,
    "reproducible": stated,
    "macos": stated,
    "site": stated,
    "lint": stated,
    "package": packages,
}


def difference(result, trees):
    """Returns how many files of the sources differ from those of a result."""
    counts = results.changed(results.trees_in(result.fields["version"]), trees)
    return "unknown" if counts is None else ", ".join(f"{count} of {part}" for part, count in counts.items())


def is_old(step, result, trees):
    """Returns true if a folder that the step tests has changed since the result, or if git cannot tell."""
    counts = results.changed(results.trees_in(result.fields["version"]), trees)
    return counts is None or any(counts.get(part, 1) for part in step.parts)


def verdict_of(step, result, trees):
    """Returns "passed", "failed" or "out of date"."""
    return OLD if is_old(step, result, trees) else result.fields["result"]


def long_run(trees):
    for step in soak.STEPS:
        if step.name.startswith("mutants"):
            continue
        result = results.read(step.name)
        if result:
            summary = SUMMARIES.get(step.name, tests)(result.lines)
            verdict = ": ".join(filter(None, (verdict_of(step, result, trees), summary)))
            cells = (step.name, step.contents, result.day, difference(result, trees), verdict)
            yield f"| {' | '.join(cells)} |\n"
        else:
            yield f"| {step.name} | {step.contents} | | | {NOT_YET} |\n"


def recounted(step, lines):
    """Returns how many mutants ran, were detected and are equivalent. They must be the figures of the last line."""
    found = [verdict for verdict, _ in verdicts(lines) if verdict != NOT_COMPILED]
    ran = [verdict for verdict in found if verdict != "not run: no nvcc"]
    survivors, equivalent = ran.count(SURVIVES), ran.count(IS_EQUIVALENT)
    stated = re.findall(r"^(\d+) (?:named|random) mutants(?:, (\d+) killed)?, (\d+) survive", lines, re.MULTILINE)
    if not stated:
        return None
    detected = len(ran) - survivors - equivalent
    if stated[-1] != (str(len(found)), str(detected) if stated[-1][1] else "", str(survivors + equivalent)):
        raise SystemExit(f".ci/results/{step}.txt: the figures are not those of the listed mutants")
    return len(ran), detected, equivalent


def resumed(lines):
    """Returns how many results of a run are those of an earlier run."""
    found = re.findall(r"^(\d+) resumed results", lines, re.MULTILINE)
    return found[-1] if found else "not recorded"


def aim(ran, detected, equivalent):
    """Returns how far the result of random mutants is from the aim."""
    missed = [f"fewer than {WISH}"] if ran < WISH else []
    if detected * 100 < BAR * (ran - equivalent):
        missed.append(f"fewer than {BAR} % detected")
    return f"not met: {', '.join(missed)}" if missed else "met"


def mutants(trees):
    for step in soak.STEPS:
        if not step.name.startswith("mutants"):
            continue
        result = results.read(step.name)
        figures = recounted(step.name, result.lines) if result else None
        if not figures:
            yield f"| {step.contents} | | | | {NOT_YET} | | | | not met |\n"
            continue
        ran, detected, equivalent = figures
        share = f"{detected} ({detected * 100 / max(ran - equivalent, 1):.1f} %)"
        if step.name == "mutants-named":
            seed = ""
            verdict = "met" if detected == ran == len(NAMED) else f"not met: all {len(NAMED)} must be detected"
        else:
            seed, verdict = result.fields["seed"], aim(*figures)
        if is_old(step, result, trees):
            verdict = OLD
        earlier, changed = resumed(result.lines), difference(result, trees)
        cells = (step.contents, result.day, changed, seed, ran, earlier, share, equivalent, verdict)
        yield f"| {' | '.join(map(str, cells))} |\n"


def page(trees):
    gate = "".join(f"- {test}\n" for test in of_gate())
    names = " and ".join(f"{tree} of {part}" for part, tree in trees.items())
    rest = NOTES + table((ROOT / "docs/hostile.md").read_text())
    runs = LONG_RUN.format(trees=names) + "".join(long_run(trees))
    return HEAD + gate + runs + MUTANTS + "".join(mutants(trees)) + rest


def is_current(text):
    """Returns true if the page is that of the results. Where git lacks the trees, the rows of results may differ."""
    fresh = page(results.trees_in(text))
    rows = re.compile(r"^\|.*\| (?:unknown|\d+ of (?:src|bindings)[^|]*) \|.*\n", re.MULTILINE)
    return text == fresh or ("| unknown |" in fresh and rows.sub("", text) == rows.sub("", fresh))


def not_passed(trees):
    """Returns the steps without a result that passed on these trees, and the steps whose aim is not met."""
    read = {step: results.read(step.name) for step in soak.STEPS}
    missed = [step.name for step, result in read.items() if not result or verdict_of(step, result, trees) != "passed"]
    fuzz = results.read("fuzz")
    if fuzz and least_fuzzed(fuzz.lines) < FUZZED:
        missed.append(f"fuzz: {executions(fuzz.lines)}")
    return missed + [row.strip() for row in mutants(trees) if not row.endswith("| met |\n")]


def main():
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(results.trees()))
    elif sys.argv[1:] == ["--release"]:
        missed = not_passed(results.trees())
        if missed:
            raise SystemExit("\n".join(["not passed on these sources:", *missed]))
    elif sys.argv[1:] != ["--check"]:
        raise SystemExit(__doc__)
    elif not is_current(PAGE.read_text()):
        raise SystemExit(f"{PAGE.name} is not the page that --write writes from .ci/results")


if __name__ == "__main__":
    main()
