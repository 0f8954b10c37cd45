"""Makes the same mistakes in every language and compares the errors: bindings/mistakes.md.

python3 tests/mistakes.py --write|--check PREFIX BUILD

The library is installed in PREFIX. BUILD is a folder for build products. PYTHON names an interpreter that has
libgather. examples/run.sh builds and runs the program `mistakes` of each language. All languages must return the same
fields, except those in EXEMPT. --check fails if bindings/mistakes.md is out of date. A language without a toolchain is
skipped.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "bindings/mistakes.md"
FIELDS = ("status", "operand", "component", "position", "value", "limit")
OPERANDS = ("none", "params", "indices", "out", "options", "context", "plan", "tensor", "target", "updates")

COMPILER = "does not compile"
ARRAYS = "an array defines its memory, shape and strides"
# Mistakes that a language cannot make, or for which its fields differ, with the reason.
EXEMPT = {
    ("a fill value of another dtype", "C"): "the fill value is bytes without a dtype",
    ("a fill value of another dtype", "Python"): "NumPy converts the value, or it is a TypeError",
    ("an unknown switch", "Rust"): COMPILER,
    ("an unknown switch", "Python"): "a ValueError that lists the names",
    ("an unknown switch", "Java"): COMPILER,
    ("indices of float32", "Go"): COMPILER,
    ("memory that is too small for its shape", "Python"): ARRAYS,
    ("memory that is larger than its shape needs", "Python"): ARRAYS,
    ("strides whose count is not the rank", "C"): "strides have no count",
    (
        "strides whose count is not the rank",
        "C++",
    ): "value and limit are 65 and 64, because such a view gets an invalid rank",
    ("strides whose count is not the rank", "Rust"): "creating the view fails, with the operand tensor",
    ("strides whose count is not the rank", "Python"): ARRAYS,
    ("strides whose count is not the rank", "Java"): "creating the view throws an IllegalArgumentException",
    ("strides that leave the memory", "Python"): ARRAYS,
    ("an output of another dtype", "Go"): COMPILER,
    ("an output that overlaps params", "Rust"): COMPILER,
    ("a run without a value for its open extent", "Python"): "the extent follows from the indices",
    ("a run with memory that is too small", "Python"): ARRAYS,
    ("a run of a released plan", "Rust"): COMPILER,
    ("a run of a released plan", "Java"): "its arena is closed, which is an IllegalStateException",
    ("updates of another dtype", "Go"): COMPILER,
    ("updates that overlap the target", "Rust"): COMPILER,
}


def succeeds(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def has_libgather():
    return succeeds(os.environ.get("PYTHON", sys.executable), "-c", "import libgather, numpy")


# The name of a language in examples/run.sh, and a test for its toolchain.
LANGUAGES = {
    "C": ("c", lambda: shutil.which("cc")),
    "C++": ("cpp", lambda: shutil.which("c++")),
    "Python": ("python", has_libgather),
    "Rust": ("rust", lambda: shutil.which("cargo")),
    "Go": ("go", lambda: shutil.which("go")),
    "Java": ("java", lambda: succeeds(ROOT / "bindings/java/jdk.sh", "22")),
}


def run(language, prefix, build):
    command = [ROOT / "examples/run.sh", prefix, build, language, "--"]
    subprocess.run(command, check=True)
    return subprocess.run([*command, "mistakes"], check=True, stdout=subprocess.PIPE, text=True).stdout


def status_names():
    header = (ROOT / "include/gather/gather.h").read_text()
    return {number: name for name, number in re.findall(r"#define (GTH_E_\w+) (-\d+)", header)}


def answers(text, names):
    """Returns the fields of each mistake. GTH_OK has no other field."""
    found = {}
    for line in text.splitlines():
        mistake, status, *fields = line.split("\t")
        found[mistake] = (names.get(status, status), *(int(field) for field in fields))
    return found


def problems(found, agreed):
    for language, rows in found.items():
        for mistake, answer in agreed.items():
            exempt = (mistake, language) in EXEMPT
            if mistake not in rows and not exempt:
                yield f"{language} does not make the mistake: {mistake}"
            if mistake in rows and (rows[mistake] != answer) != exempt:
                yield f"{language}, {mistake}: {rows[mistake]}, the other languages have {answer}"


def agree(found):
    """Returns the fields that most languages have for each mistake."""
    agreed = {}
    for mistake in dict.fromkeys(mistake for rows in found.values() for mistake in rows):
        bound = [rows for language, rows in found.items() if mistake in rows and (mistake, language) not in EXEMPT]
        said = [rows[mistake] for rows in bound]
        agreed[mistake] = max(said, key=said.count)
    return agreed


def page(agreed):
    lines = [
        "# The same mistake in every language",
        "",
        "The programs `mistakes` of the [examples](../examples) make each mistake in each language.",
        "`tests/mistakes.py` writes this page from their output, and the tests compare it. All languages return these",
        "fields, except for the numbered exceptions.",
        "",
        "In every language, memory may be larger than its shape needs. So a buffer with spare capacity is valid.",
        "",
        "| mistake | " + " | ".join(FIELDS) + " | exceptions |",
        "|---|" + "---|" * len(FIELDS) + "---|",
    ]
    notes = []
    for mistake, (status, *fields) in agreed.items():
        cells = [f"`{status}`", *([OPERANDS[fields[0]], *map(str, fields[1:])] if fields else [""] * 5)]
        numbers = []
        for (name, language), reason in EXEMPT.items():
            if name == mistake:
                notes.append(f"{len(notes) + 1}. {language}, {mistake}: {reason}.")
                numbers.append(f"{language} ({len(notes)})")
        lines.append(f"| {mistake} | " + " | ".join(cells) + f" | {', '.join(numbers)} |")
    return "\n".join([*lines, "", *notes, ""])


def main(mode, prefix, build):
    names = status_names()
    found = {
        language: answers(run(name, prefix, build), names) for language, (name, here) in LANGUAGES.items() if here()
    }
    for language in LANGUAGES.keys() - found.keys():
        print(f"skipped: mistakes in {language}, which has no toolchain here")
    agreed = agree(found)
    wrong = list(problems(found, agreed))
    for problem in wrong:
        print(f"mistakes: {problem}")
    if mode == "--write":
        PAGE.write_text(page(agreed))
    elif PAGE.read_text() != page(agreed):
        wrong.append("mistakes.md")
        print("mistakes: bindings/mistakes.md is out of date: python3 tests/mistakes.py --write PREFIX BUILD")
    print(f"mistakes: {len(agreed)} in {', '.join(found)}")
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
