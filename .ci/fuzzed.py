"""The time that fuzz targets have run with the committed sources, by .ci/results/fuzz.txt.

    fuzzed.py    prints the programs of all fuzz targets, the target and the seconds of each. The fewest are first.

The file has a line for each run of a program. A target has two programs, one for each build of the library.
"""

import re
from collections import Counter

import results

THREADS = "_threads"
RUN = re.compile(r"^\S+ (\w+): (\d+) executions(?: in (\d+) s)?, ", re.MULTILINE)


def targets():
    """Returns the names of all targets. Each has a corpus."""
    return sorted(path.name for path in (results.ROOT / "tests" / "fuzz" / "corpus").iterdir())


def sums(lines, of):
    """Returns the executions and the seconds of the runs. `of` returns the key of a program."""
    executions, seconds = Counter(), Counter()
    for program, count, time in RUN.findall(lines):
        executions[of(program)] += int(count)
        seconds[of(program)] += int(time or 0)
    return executions, seconds


def of_targets(lines):
    """Returns the executions and the seconds by target."""
    return sums(lines, lambda program: program.removesuffix(THREADS))


def main():
    _, seconds = sums(results.earlier_lines("fuzz", results.sources()), lambda program: program)
    programs = [(target + build, target) for target in targets() for build in ("", THREADS)]
    for program, target in sorted(programs, key=lambda pair: seconds[pair[0]]):
        print(program, target, seconds[program])


if __name__ == "__main__":
    main()
