"""Prints the skipped tests of a log. In a strict run, fails if .ci/allowed_skips.txt does not allow one of them.

    skips.py RUNNER LOG

RUNNER is pytest, cargo, go or java. tests/summary.py does the same for ctest. With GATHER_LONG=1, the skips of the
gate are not allowed, and with PEERS=1 those of runs without the peers.
"""

import os
import re
import sys
from pathlib import Path

ALLOWED = Path(__file__).with_name("allowed_skips.txt")

# pytest prints the first form, and the scripts of the bindings print the second one.
SKIPPED = re.compile(r"^SKIPPED \[\d+\] (.+)$|^skipped: (.+)$|(\b[1-9]\d* ignored)\b", re.MULTILINE)


def patterns(runner):
    """Returns the expressions of the skipped tests of a runner that this run allows."""
    runs = ["all"]
    runs += [] if os.environ.get("GATHER_LONG") == "1" else ["gate"]
    runs += [] if os.environ.get("PEERS") == "1" else ["peers"]
    lines = [line.split(" ", 2) for line in ALLOWED.read_text().splitlines() if line and not line.startswith("#")]
    return [pattern for name, run, pattern in lines if name == runner and run in runs]


def refused(runner, skips):
    """Returns those of the skipped tests that are not allowed. Each one is "NAME: REASON"."""
    allowed = re.compile("|".join(f"(?:{pattern})$" for pattern in patterns(runner)) or "(?!)")
    return [skip for skip in skips if not allowed.search(skip)]


def is_strict():
    return os.environ.get("GATHER_STRICT") == "1"


def main():
    runner, log = sys.argv[1:]
    text = Path(log).read_text(errors="replace")
    skips = ["".join(filter(None, found)) for found in SKIPPED.findall(text)]
    bad = refused(runner, skips)
    for skip in sorted(set(bad)):
        print(f"This skipped test is not in .ci/{ALLOWED.name}: {skip}")
    return 1 if bad and is_strict() else 0


if __name__ == "__main__":
    sys.exit(main())
