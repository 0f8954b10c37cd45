"""docs/hostile.md and its tests: hostile.py --write fills in the last column with the tests whose names have the
number of an entry; --check fails where that would change the file, and where a test has a number that is not there.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "hostile.md"

# Where the tests of a language are, and how they are told from other functions. A number is what `numbered` finds at
# the beginning of the name.
TESTS = {
    "C++": (("tests/**/*.cpp",), r"^(?:TYPED_)?TEST(?:_F|_P)?\(\w+, (\w+)\)"),
    "Python": (("bindings/python/tests/*.py",), r"^ *def test_(\w+)\("),
    "Rust": (("bindings/rust/*/tests/**/*.rs",), r"^ *fn (\w+)\(\)"),
    "Go": (("bindings/go/*_test.go",), r"^func Test(\w+)\("),
}

# Tests that hold an entry under names of their own, which must exist.
ALSO = {
    "F20": {"Python": ["no_arrays"]},
    "H5": {"C++": ["WrongDevices"]},
    "H8": {"C++": ["BadReplaysAreCountedAndDoNotStopGoodOnes", "RefusedUnderCapture"]},
    "H10": {"C++": ["RacingWriters", "RacingWritersWhileBlocksJudge"]},
}
PROGRAMS = {"H11": "tests/abi/without_driver.py"}

# Entries that can have no test, and why.
DROPPED = {
    "C11": "the library is for 64 bits only",
    "E9": "there is no last error: it is in the struct that the caller gives",
}


def numbered(name):
    """The number at the beginning of a test's name, as the page has it."""
    match = re.match(r"([A-Ia-i])0*([1-9]\d?)(?=_|$)", name)
    return match and match[1].upper() + match[2]


def tests_of(language):
    """The names of a language's tests."""
    patterns, definition = TESTS[language]
    files = sorted(file for pattern in patterns for file in ROOT.glob(pattern))
    return sorted({name for file in files for name in re.findall(definition, file.read_text(), re.MULTILINE)})


def conformance_cases():
    """The names of the hostile cases that every language runs, by number, with their profiles."""
    found = defaultdict(lambda: defaultdict(list))
    for file in sorted((ROOT / "tests/conformance/cases").glob("*.txt")):
        for profile, name in re.findall(r"^case (\w+)/hostile/(\w+)$", file.read_text(), re.MULTILINE):
            if number := numbered(name):
                found[number][profile].append(name)
    return found


def holders():
    """By number: languages and tests, as they are to stand in the last column."""
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
    """The page with its summary and its last column as they should be."""
    numbers = re.findall(r"^\| ([A-I]\d+) \|", page, re.MULTILINE)
    if unknown := sorted(set(held) - set(numbers)):
        raise SystemExit(f"not in {PAGE.name}, but in names of tests: {', '.join(unknown)}")
    if both := sorted(set(held) & set(DROPPED)):
        raise SystemExit(f"dropped, but there are tests: {', '.join(both)}")
    missing = [number for number in numbers if number not in held and number not in DROPPED]
    held_count = len(numbers) - len(missing) - len(DROPPED)
    summary = (
        f"{len(numbers)} entries: {held_count} held by tests, {len(DROPPED)} dropped, {len(missing)} without a test"
    )
    summary += f" ({', '.join(missing)})." if missing else "."
    page = re.sub(r"<!-- summary -->\n(?:.+\n)?", lambda _: f"<!-- summary -->\n{summary}\n", page)
    row = re.compile(r"^(\| ([A-I]\d+) \|[^|]*\|[^|]*\|).*$", re.MULTILINE)
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
