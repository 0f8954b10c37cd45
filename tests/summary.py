"""summary.py PRESET...: prints the results of the test runs of these presets.

It also prints the end of the output of each failed test, and the reason of each skipped test. It fails if a run is
incomplete. With GATHER_STRICT=1, it also fails if a test was skipped by all presets and .ci/allowed_skips.txt does not
allow that, or if a run has fewer tests than .ci/least_tests.txt states.
"""

import pathlib
import re
import sys
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / ".ci"))

from skips import is_strict, refused, too_few


def closing_line(folder):
    try:
        lines = (folder / "ctest.log").read_text(errors="replace").splitlines()
    except FileNotFoundError:
        lines = []
    return next((line for line in reversed(lines) if " tests passed, " in line), None)


def reason(output):
    """Returns the reason of a skipped test.

    It follows "skipped:", or GoogleTest prints it on the line after "Skipped".
    """
    match = re.search(r"^skipped: *(.+)$|: Skipped\n(.+)$", output, re.MULTILINE)
    return (match[1] or match[2]) if match else "it gave no reason"


def last_words(output):
    """Returns the end of the output of a failed test, indented."""
    return "".join(f"\n    {line}" for line in output.rstrip().splitlines()[-15:])


def read(folder):
    """Returns the names of the tests that ran, the reasons of skipped tests, and the output of failed tests."""
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
    complete, ran, skips, failures, few = True, set(), [], [], []
    for preset in sys.argv[1:]:
        folder = pathlib.Path("build", preset)
        ran_here, skipped_here, failed_here = read(folder)
        ran |= ran_here
        failures += [(name, preset, words) for name, words in failed_here.items()]
        few += filter(None, [too_few("ctest", preset, len(ran_here) + len(skipped_here))])
        skips += [(name, preset, why) for name, why in skipped_here.items()]
        line = closing_line(folder)
        complete = complete and line is not None
        print(f"{preset}: {line or 'did not come to its tests'}")

    nowhere = [skip for skip in skips if skip[0] not in ran]
    missing = refused("ctest", [f"{name}: {why}" for name, _, why in nowhere])
    partly = [skip for skip in skips if skip[0] in ran]
    for title, some in (("Failed", failures), ("Skipped", nowhere), ("Skipped by one preset, run by another", partly)):
        if some:
            print(f"{title}:", *(f"  {name} ({preset}): {why}" for name, preset, why in some), sep="\n")
    for title, some in (
        ("These skipped tests are not in .ci/allowed_skips.txt:", missing),
        ("These runs have too few tests:", few),
    ):
        if some and is_strict():
            print(title, *some, sep="\n  ")
            complete = False
    return 0 if complete else 1


sys.exit(main())
