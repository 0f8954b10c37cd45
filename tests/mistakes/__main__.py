"""The same mistake in every language, and what each answers: bindings/mistakes.md.

python3 tests/mistakes --write|--check PREFIX BUILD

PREFIX has the library installed, BUILD is a folder for build products, and PYTHON names an interpreter that has
libgather. Each language has a program that makes the mistakes. Languages must agree but for what stands in EXEMPT, and
--check fails where bindings/mistakes.md says something else. A language whose toolchain is not here is left out.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "bindings/mistakes.md"
FIELDS = ("status", "operand", "component", "position", "value", "limit")
OPERANDS = ("none", "params", "indices", "out", "options", "context", "plan", "tensor", "target", "updates")

COMPILER = "does not compile"
ARRAYS = "an array knows its memory, shape and strides"
# Where a language cannot make a mistake, or answers with other fields, and why.
EXEMPT = {
    ("a fill value of another dtype", "C"): "a fill value is bytes",
    ("a fill value of another dtype", "Python"): "it becomes what NumPy makes of it, or is a TypeError",
    ("an unknown switch", "Rust"): COMPILER,
    ("an unknown switch", "Python"): "a ValueError that lists the names",
    ("indices that are floats", "Go"): COMPILER,
    ("memory shorter than its shape", "Python"): ARRAYS,
    ("memory longer than its shape", "Python"): ARRAYS,
    ("strides for another rank", "C"): "strides have no count of their own",
    ("strides for another rank", "C++"): "value and limit are 65 and 64: such a view has a rank that no tensor has",
    ("strides for another rank", "Rust"): "refused where the view is made, which is no operand yet: tensor",
    ("strides for another rank", "Python"): ARRAYS,
    ("strides that leave the memory", "Python"): ARRAYS,
    ("an output of another dtype", "Go"): COMPILER,
    ("an output over params", "Rust"): COMPILER,
    ("a run without its open extent", "Python"): "the extent is that of the indices",
    ("a run over less memory", "Python"): ARRAYS,
    ("a plan that has been closed", "Rust"): COMPILER,
    ("updates of another dtype", "Go"): COMPILER,
    ("updates that are the target", "Rust"): COMPILER,
}


def output(*command, **options):
    parts = [str(part) for part in command]
    return subprocess.run(parts, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def compiled(compiler, source, build):
    program = build / source.partition(".")[0]
    flags = output("pkg-config", "--cflags", "--libs", "gather").split()
    output(*compiler, HERE / source, "-o", program, *flags)
    return output(program)


def rust(build):
    manifest = HERE / "rust/Cargo.toml"
    return output("cargo", "run", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", build / "rust")


def go(build):
    output("go", "build", "-buildvcs=false", "-tags=gather_shared", "-o", build / "go", ".", cwd=HERE / "go")
    return output(build / "go")


def python(_):
    return output(os.environ.get("PYTHON", sys.executable), HERE / "python.py")


def has_libgather():
    command = [os.environ.get("PYTHON", sys.executable), "-c", "import libgather, numpy"]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


LANGUAGES = {
    "C": (lambda: shutil.which("cc"), lambda build: compiled(["cc", "-std=c99"], "c.c", build)),
    "C++": (lambda: shutil.which("c++"), lambda build: compiled(["c++", "-std=c++17"], "cpp.cpp", build)),
    "Python": (has_libgather, python),
    "Rust": (lambda: shutil.which("cargo"), rust),
    "Go": (lambda: shutil.which("go"), go),
}


def status_names():
    header = (ROOT / "include/gather/gather.h").read_text()
    return {number: name for name, number in re.findall(r"#define (GTH_E_\w+) (-\d+)", header)}


def answers(text, names):
    """The fields of each mistake; GTH_OK has no others."""
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
                yield f"{language}, {mistake}: {rows[mistake]}, the others say {answer}"


def agree(found):
    """What most languages say to each mistake."""
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
        "Written by `tests/mistakes`, whose programs make each mistake in each language; the tests compare it.",
        "All languages answer with these fields, but for the numbered exceptions.",
        "",
        "Memory may be longer than its shape needs, in every language: the shape says how much of it is the tensor, so",
        "that a buffer with room to grow need not be cut.",
        "",
        "| mistake | " + " | ".join(FIELDS) + " | but |",
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
    libraries = next(pathlib.Path(prefix).resolve().rglob("gather.pc")).parents[1]
    os.environ |= {"PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries)}
    build = pathlib.Path(build).resolve()
    build.mkdir(parents=True, exist_ok=True)
    names = status_names()
    found = {language: answers(run(build), names) for language, (here, run) in LANGUAGES.items() if here()}
    for language in LANGUAGES.keys() - found.keys():
        print(f"skipped: mistakes in {language}, which is not here")
    agreed = agree(found)
    wrong = list(problems(found, agreed))
    for problem in wrong:
        print(f"mistakes: {problem}")
    if mode == "--write":
        PAGE.write_text(page(agreed))
    elif PAGE.read_text() != page(agreed):
        wrong.append("mistakes.md")
        print("mistakes: bindings/mistakes.md is out of date: python3 tests/mistakes --write PREFIX BUILD")
    print(f"mistakes: {len(agreed)} in {', '.join(found)}")
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
