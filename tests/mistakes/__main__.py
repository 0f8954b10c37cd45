"""Makes the same mistakes in every language and compares the errors: bindings/mistakes.md.

python3 tests/mistakes --write|--check PREFIX BUILD

The library is installed in PREFIX. BUILD is a folder for build products. PYTHON names an interpreter that has
libgather. Each language has a program that makes the mistakes. All languages must return the same fields, except those
in EXEMPT. --check fails if bindings/mistakes.md is out of date. A language without a toolchain is skipped.
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
JAVA = ROOT / "bindings/java"
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


def jdk():
    found = subprocess.run([JAVA / "jdk.sh", "22"], stdout=subprocess.PIPE, text=True, check=False)
    return pathlib.Path(found.stdout.strip(), "bin") if found.returncode == 0 else None


def java(build):
    classes = build / "java"
    sources = sorted((JAVA / "src/main/java/io").rglob("*.java"))
    output(jdk() / "javac", "-nowarn", "-d", classes, *sources, HERE / "java/Mistakes.java")
    library = next(pathlib.Path(os.environ["LD_LIBRARY_PATH"]).glob("libgather.so.1"))
    native = ["--enable-native-access=ALL-UNNAMED", f"-Dio.libgather.library={library}"]
    return output(jdk() / "java", *native, "-cp", classes, "Mistakes")


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
    "Java": (jdk, java),
}


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
        "`tests/mistakes` writes this page. Its programs make each mistake in each language. The tests compare the",
        "page. All languages return these fields, except for the numbered exceptions.",
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
    libraries = next(pathlib.Path(prefix).resolve().rglob("gather.pc")).parents[1]
    os.environ |= {"PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries)}
    build = pathlib.Path(build).resolve()
    build.mkdir(parents=True, exist_ok=True)
    names = status_names()
    found = {language: answers(run(build), names) for language, (here, run) in LANGUAGES.items() if here()}
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
        print("mistakes: bindings/mistakes.md is out of date: python3 tests/mistakes --write PREFIX BUILD")
    print(f"mistakes: {len(agreed)} in {', '.join(found)}")
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
