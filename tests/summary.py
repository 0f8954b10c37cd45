"""What the test runs of some presets came to: summary.py PRESET... prints the closing line of each, every test that
failed with the end of what it said, and every test that was skipped with its reason. Fails if a run did not come to its
end, or, with GATHER_STRICT=1, if a test ran in none.
"""

import os
import pathlib
import re
import sys
from xml.etree import ElementTree


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


def last_words(output):
    """The end of a failed test's output, indented."""
    return "".join(f"\n    {line}" for line in output.rstrip().splitlines()[-15:])


def read(folder):
    """The names of the tests that ran, the reasons of those that were skipped, and what those that failed said."""
    ran, skipped, failed = set(), {}, {}
    try:
        cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    except FileNotFoundError:
        cases = []
    for case in cases:
        mark = case.find("skipped")
        output = case.findtext("system-out") or ""
        if mark is not None and mark.get("message").startswith("SKIP_"):
            skipped[case.get("name")] = reason(output)
            continue
        ran.add(case.get("name"))
        # A test that could not even be started is marked as skipped, but counts as failed.
        if mark is not None or case.find("failure") is not None:
            failed[case.get("name")] = last_words(output)
    return ran, skipped, failed


def main():
    complete, ran, skips, failures = True, set(), [], []
    for preset in sys.argv[1:]:
        folder = pathlib.Path("build", preset)
        ran_here, skipped_here, failed_here = read(folder)
        ran |= ran_here
        failures += [(name, preset, words) for name, words in failed_here.items()]
        skips += [(name, preset, why) for name, why in skipped_here.items()]
        line = closing_line(folder)
        complete = complete and line is not None
        print(f"{preset}: {line or 'did not come to its tests'}")

    nowhere = [skip for skip in skips if skip[0] not in ran]
    # What needs a GPU, or instructions that the processor has not, is skipped wherever there is none; that is the
    # machine's doing, not a missing step.
    missing = [skip for skip in nowhere if "CUDA" not in skip[2] and "this processor" not in skip[2]]
    partly = [skip for skip in skips if skip[0] in ran]
    for title, some in (("Failed", failures), ("Skipped", nowhere), ("Skipped by one preset, run by another", partly)):
        if some:
            print(f"{title}:", *(f"  {name} ({preset}): {why}" for name, preset, why in some), sep="\n")
    if missing and os.environ.get("GATHER_STRICT") == "1":
        print("No test but those of a CUDA device or of other processors may be skipped here.")
        return 1
    return 0 if complete else 1


sys.exit(main())
