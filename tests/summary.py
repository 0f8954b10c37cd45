"""What the test runs of some presets came to: summary.py PRESET... prints the closing line of each, and every test that
was skipped with its reason. Fails if a run did not come to its end, or, with GATHER_STRICT=1, if a test ran in none.
"""

import os
import pathlib
import re
import sys
import xml.etree.ElementTree as xml


def closing_line(folder):
    try:
        lines = (folder / "ctest.log").read_text(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    return next((line for line in reversed(lines) if " tests passed, " in line), None)


def reason(output):
    """What the test said: after "skipped:", or as GoogleTest prints it, on the line after "Skipped"."""
    match = re.search(r"^skipped: *(.+)$|: Skipped\n(.+)$", output, re.MULTILINE)
    return (match[1] or match[2]) if match else "it gave no reason"


def read(folder):
    """The names of the tests that ran, and the reasons of those that were skipped."""
    ran, skipped = set(), {}
    try:
        cases = xml.parse(folder / "junit.xml").iter("testcase")
    except FileNotFoundError:
        cases = []
    for case in cases:
        mark = case.find("skipped")
        # A test that could not even be started is marked too, but counts as failed.
        if mark is not None and mark.get("message").startswith("SKIP_"):
            skipped[case.get("name")] = reason(case.findtext("system-out") or "")
        else:
            ran.add(case.get("name"))
    return ran, skipped


def main():
    complete, ran, skips = True, set(), []
    for preset in sys.argv[1:]:
        folder = pathlib.Path("build", preset)
        ran_here, skipped_here = read(folder)
        ran |= ran_here
        skips += [(name, preset, why) for name, why in skipped_here.items()]
        line = closing_line(folder)
        complete = complete and line is not None
        print(f"{preset}: {line or 'did not come to its tests'}")

    nowhere = [skip for skip in skips if skip[0] not in ran]
    # What needs a GPU is skipped wherever there is none; that is the machine's doing, not a missing step.
    missing = [skip for skip in nowhere if "CUDA" not in skip[2]]
    partly = [skip for skip in skips if skip[0] in ran]
    for title, some in (("Skipped", nowhere), ("Skipped by one preset, run by another", partly)):
        if some:
            print(f"{title}:", *(f"  {name} ({preset}): {why}" for name, preset, why in some), sep="\n")
    if missing and os.environ.get("GATHER_STRICT") == "1":
        print("No test but those of a CUDA device may be skipped here.")
        return 1
    return 0 if complete else 1


sys.exit(main())
