"""Keeps the last column of docs/hostile.md up to date: hostile.py --write|--check

--write lists for each entry the tests whose names begin with its number. --check fails if --write would change the
page. Both fail if a test has a number that is not on the page.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))

from record.named import hostile  # noqa: E402

PAGE = ROOT / "docs" / "hostile.md"

# For each language: patterns of the files with tests, and a regular expression that finds the names of tests.
TESTS = {
    "C++": (("tests/**/*.cpp",), r"^(?:TYPED_)?TEST(?:_F|_P)?\(\w+, (\w+)\)"),
    "Python": (("bindings/python/tests/*.py",), r"^ *def test_(\w+)\("),
    "Rust": (("bindings/rust/*/tests/**/*.rs",), r"^ *fn (\w+)\(\)"),
    "Go": (("bindings/go/*_test.go",), r"^func Test(\w+)\("),
}

# Tests of an entry whose names do not begin with its number. They must exist.
ALSO = {
    "F20": {"Python": ["no_arrays"]},
    "H5": {"C++": ["WrongDevices"]},
    "H8": {"C++": ["BadReplaysAreCountedAndDoNotStopGoodOnes", "RefusedUnderCapture"]},
    "H10": {"C++": ["RacingWriters", "RacingWritersWhileBlocksValidate"]},
}
PROGRAMS = {"H11": "tests/abi/without_driver.py"}

# Entries that cannot have a test, with the reason.
DROPPED = {
    "C11": "the library is 64-bit only",
    "E9": "the library has no last error: a call writes its error to the caller's struct",
}


def numbered(name):
    """Returns the number at the beginning of a test's name in the form of the page, or None."""
    match = re.match(r"([A-Ma-m])0*([1-9]\d?)(?=_|$)", name)
    return match and match[1].upper() + match[2]


def tests_of(language):
    """Returns the names of a language's tests."""
    patterns, definition = TESTS[language]
    files = sorted(file for pattern in patterns for file in ROOT.glob(pattern))
    return sorted({name for file in files for name in re.findall(definition, file.read_text(), re.MULTILINE)})


def conformance_cases():
    """Returns the names of the hostile conformance cases, by number and profile."""
    found = defaultdict(lambda: defaultdict(list))
    for case in sorted(hostile.cases(), key=lambda case: case.profile):
        match = re.fullmatch(r"(\w+)/hostile/(\w+)", case.name)
        if match and case.op != "gather_elements" and (number := numbered(match[2])):
            found[number][match[1]].append(match[2])
    return found


def holders():
    """Returns for each number the pairs of language and test of the last column."""
    held = defaultdict(list)
    for language in TESTS:
        names = tests_of(language)
        for name in names:
            if number := numbered(name):
                held[number].append((language, f"`{name}`"))
        for number, others in ALSO.items():
            held[number] += [(language, f"`{name}`") for name in others.get(language, [])]
            if missing := set(others.get(language, [])) - set(names):
                raise SystemExit(f"{number}: there is no {language} test {', '.join(sorted(missing))}")
    for number, program in PROGRAMS.items():
        if not (ROOT / program).is_file():
            raise SystemExit(f"{number}: there is no {program}")
        held[number].append(("program", f"`{program}`"))
    for number, profiles in conformance_cases().items():
        for profile, names in profiles.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            held[number].append(("every language", f"`{profile}/{names[0]}`{more}"))
    return held


def cell(number, held):
    if number in DROPPED:
        return f"dropped: {DROPPED[number]}"
    by_language = defaultdict(list)
    for language, name in held.get(number, []):
        by_language[language].append(name)
    return "; ".join(f"{language}: {', '.join(names)}" for language, names in by_language.items()) or "**no test yet**"


def filled(page, held):
    """Returns the page with a new summary and a new last column."""
    numbers = re.findall(r"^\| ([A-M]\d+) \|", page, re.MULTILINE)
    if unknown := sorted(set(held) - set(numbers)):
        raise SystemExit(f"numbers in test names that {PAGE.name} does not have: {', '.join(unknown)}")
    if both := sorted(set(held) & set(DROPPED)):
        raise SystemExit(f"dropped entries that have tests: {', '.join(both)}")
    missing = [number for number in numbers if number not in held and number not in DROPPED]
    held_count = len(numbers) - len(missing) - len(DROPPED)
    summary = (
        f"{len(numbers)} entries: {held_count} have tests, {len(DROPPED)} are dropped, {len(missing)} have no test yet"
    )
    summary += f" ({', '.join(missing)})." if missing else "."
    page = re.sub(r"<!-- summary -->\n(?:.+\n)?", lambda _: f"<!-- summary -->\n{summary}\n", page)
    row = re.compile(r"^(\| ([A-M]\d+) \|[^|]*\|[^|]*\|).*$", re.MULTILINE)
    return row.sub(lambda match: f"{match[1]} {cell(match[2], held)} |", page)


def main():
    page = PAGE.read_text()
    fresh = filled(page, holders())
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(fresh)
    elif sys.argv[1:] != ["--check"]:
        raise SystemExit(__doc__)
    elif page != fresh:
        raise SystemExit(f"{PAGE.name} is out of date: python3 tests/hostile.py --write")


if __name__ == "__main__":
    main()
