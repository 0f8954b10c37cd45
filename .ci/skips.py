"""Checks the log of a run of tests.

    skips.py RUNNER LOG

RUNNER is pytest, cargo, go or java. tests/summary.py does the same for ctest. The output has the skipped tests that
.ci/allowed_skips.txt does not allow. With GATHER_LONG=1, the skips of the gate are not allowed. With ALSO=frameworks or
ALSO=peers, tests must not be skipped because these libraries are missing. With GATHER_SANITIZED=1, tests may be skipped
because of the sanitizers. The output also has the number of tests if .ci/least_tests.txt states a larger one for the
name of the log. Both are failures in a strict run.
"""

import os
import re
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_name("allowed_skips.txt")
LEAST = Path(__file__).with_name("least_tests.txt")

# pytest prints the first form, and the scripts of the bindings print the second one.
SKIPPED = re.compile(r"^SKIPPED \[\d+\] (.+)$|^skipped: (.+)$|(\b[1-9]\d* ignored)\b", re.MULTILINE)

# Each runner prints how many tests passed and how many were skipped.
COUNTED = re.compile(r"\b(\d+) (?:tests )?(?:passed|skipped|ignored)\b")


def lines_of(path):
    """Returns the three fields of each line. The last one may have spaces."""
    return [line.split(" ", 2) for line in path.read_text().splitlines() if line and not line.startswith("#")]


def patterns(runner):
    """Returns the expressions of the skipped tests of a runner that this run allows."""
    runs = ["all"]
    runs += [] if os.environ.get("GATHER_LONG") == "1" else ["gate"]
    installed = os.environ.get("ALSO", "")
    runs += {"": ["frameworks", "peers"], "frameworks": ["peers"], "peers": []}[installed]
    runs += ["sanitized"] if os.environ.get("GATHER_SANITIZED") == "1" else []
    return [pattern for name, run, pattern in lines_of(ALLOWED) if name == runner and run in runs]


def refused(runner, skips):
    """Returns those of the skipped tests that are not allowed. Each one is "NAME: REASON"."""
    allowed = re.compile("|".join(f"(?:{pattern})$" for pattern in patterns(runner)) or "(?!)")
    return [skip for skip in skips if not allowed.search(skip)]


def too_few(runner, run, count):
    """Returns a complaint if a run has fewer tests than it must have. Otherwise, it returns None."""
    least = {(name, of): int(number) for name, of, number in lines_of(LEAST)}.get((runner, run), 0)
    return f"{runner} {run}: {count} tests, and .ci/{LEAST.name} states {least}" if count < least else None


def is_strict():
    return os.environ.get("GATHER_STRICT") == "1"


def main():
    runner, log = sys.argv[1:]
    text = Path(log).read_text(errors="replace")
    skips = ["".join(filter(None, found)) for found in SKIPPED.findall(text)]
    bad = refused(runner, skips)
    complaints = [f"This skipped test is not in .ci/{ALLOWED.name}: {skip}" for skip in sorted(set(bad))]
    few = too_few(runner, Path(log).stem, sum(map(int, COUNTED.findall(text))))
    complaints += [few] if few else []
    print("".join(f"{complaint}\n" for complaint in complaints), end="")
    return 1 if complaints and is_strict() else 0


if __name__ == "__main__":
    sys.exit(main())
