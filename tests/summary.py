"""What the test runs of some presets came to: summary.py PRESET... prints the closing line of each and every test that
was skipped, with its reason. Fails if a run did not end, or, with GATHER_STRICT=1, if a test was skipped.
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


def skipped(folder):
    try:
        cases = xml.parse(folder / "junit.xml").iter("testcase")
    except FileNotFoundError:
        return
    for case in cases:
        mark = case.find("skipped")
        # A test that could not even be started is marked too, but counts as failed.
        if mark is not None and mark.get("message").startswith("SKIP_"):
            yield case.get("name"), reason(case.findtext("system-out") or "")


def main():
    complete, skips = True, {}
    for preset in sys.argv[1:]:
        folder = pathlib.Path("build", preset)
        for name, why in skipped(folder):
            skips.setdefault((name, why), []).append(preset)
        line = closing_line(folder)
        complete = complete and line is not None
        print(f"{preset}: {line or 'did not come to its tests'}")

    strict = os.environ.get("GATHER_STRICT") == "1"
    if skips:
        print(f"Skipped{', and none may be' if strict else ''}:")
    for (name, why), presets in skips.items():
        print(f"  {name} ({', '.join(presets)}): {why}")
    return 0 if complete and not (strict and skips) else 1


sys.exit(main())
