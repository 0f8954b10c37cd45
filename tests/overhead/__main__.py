"""Prints the cost of a call in every language: the time of C, and the time that each language adds.

python3 tests/overhead PREFIX BUILD [--check] [--write FILE]

The library is installed in PREFIX. BUILD is a folder for build products. PYTHON names an interpreter that has
libgather. Each language has a program that runs its loops and those of C in turn. --check fails if a language adds more
than its limit. --write replaces the table between the lines <!-- calls --> and <!-- end of calls --> of a file.
"""

import argparse
import datetime
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "bench"))

from machine import processor  # noqa: E402

MARKS = "<!-- calls -->\n", "<!-- end of calls -->\n"
PLANS = ("plan run", "plan run, open extent")
INTO = "gather into an output, operands described once"
# The nanoseconds that a language may add to a call.
LIMITS = {
    "C++": dict.fromkeys((*PLANS, INTO, "gather with a new output"), 2.5),
    "Rust": dict.fromkeys((*PLANS, INTO), 4),
    "Go": dict.fromkeys(PLANS, 45),
    "Java": dict.fromkeys(PLANS, 15) | {INTO: 80},
}


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def output(*command, **options):
    return run(*command, stdout=subprocess.PIPE, **options).stdout


def c_and_cpp(build):
    flags = output("pkg-config", "--cflags", "--libs", "gather").split()
    run("c++", "-std=c++17", "-O2", HERE / "calls.cpp", "-o", build / "calls", *flags)
    return [build / "calls"]


def rust(build):
    manifest = HERE / "rust/Cargo.toml"
    run("cargo", "build", "--release", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", build)
    return [build / "release/overhead"]


def go(build):
    run("go", "build", "-buildvcs=false", "-tags=gather_shared", "-o", build / "go", ".", cwd=HERE / "go")
    return [build / "go"]


def python(build):
    interpreter = os.environ.get("PYTHON", sys.executable)
    found = subprocess.run([interpreter, "-c", "import libgather, numpy"], stderr=subprocess.DEVNULL, check=False)
    return [interpreter, HERE / "calls.py"] if found.returncode == 0 else None


def java(build):
    binding = HERE.parents[1] / "bindings/java"
    found = subprocess.run([binding / "jdk.sh", "22"], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode or not shutil.which("mvn"):
        return None
    home, jmh, classes, loops = pathlib.Path(found.stdout.strip()), build / "jmh", build / "java", build / "loops.so"
    os.environ["JAVA_HOME"] = str(home)
    fetch = ["mvn", "-q", "-B", "-f", HERE / "java/pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={jmh}"]
    if subprocess.run(fetch, stdout=sys.stderr, check=False).returncode:
        return None
    flags = output("pkg-config", "--cflags", "--libs", "gather").split()
    run("cc", "-O2", "-shared", "-fPIC", HERE / "java/loops.c", "-o", loops, *flags)
    sources = [*sorted((binding / "src/main/java/io").rglob("*.java")), HERE / "java/Overhead.java"]
    run(home / "bin/javac", "-nowarn", "-proc:full", "-cp", f"{jmh}/*", "-d", classes, *sources)
    library = next(pathlib.Path(os.environ["LD_LIBRARY_PATH"]).glob("libgather.so.1"))
    properties = {"io.libgather.library": library, "loops": loops, "jmh.ignoreLock": "true"}
    native = ["--enable-native-access=ALL-UNNAMED", *(f"-D{name}={value}" for name, value in properties.items())]
    return [home / "bin/java", *native, "-cp", f"{classes}:{jmh}/*", "overhead.Overhead"]


LANGUAGES = {
    "C++": ("c++", c_and_cpp),
    "Rust": ("cargo", rust),
    "Go": ("go", go),
    "Java": (None, java),
    "Python": (None, python),
}


def measure(build):
    """Returns the numbers of each row by language and name."""
    found = {}
    for language, (tool, prepare) in LANGUAGES.items():
        program = prepare(build) if tool is None or shutil.which(tool) else None
        if program is None:
            print(f"skipped: {language} has no toolchain here", file=sys.stderr)
            continue
        lines = [line.split("\t") for line in output(*program).splitlines()]
        found[language] = {name: [float(number) for number in numbers] for name, *numbers in lines}
    return found


def table(found):
    shared = [name for name, numbers in found["C++"].items() if len(numbers) == 3]
    lines = ["| One row of 4 bytes, ns | C | " + " | ".join(found) + " |", "|---|---|" + "---|" * len(found)]
    for name in shared:
        cells = [f"{found['C++'][name][0]:.0f}"]
        for rows in found.values():
            numbers = rows.get(name, [])
            cells.append(f"+ {max(numbers[2], 0):.0f}" if len(numbers) == 3 else f"{numbers[0]:.0f}" if numbers else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    for language, rows in found.items():
        for name in [name for name, numbers in rows.items() if len(numbers) == 1 and name not in shared]:
            columns = dict.fromkeys(["C", *found], "")
            columns["C" if language == "C++" else language] = f"{rows[name][0]:.0f}"
            lines.append(f"| {name} | " + " | ".join(columns.values()) + " |")
    note = f"`./dev overhead` wrote this table on {datetime.date.today()}, on {processor()}. Values are medians."
    return "\n".join([*lines, "", note, ""])


def missed(found):
    for language, limits in LIMITS.items():
        for name, limit in limits.items() if language in found else ():
            more = found[language][name][2]
            if more > limit:
                yield f"{language}, {name}: {more:.1f} ns more than C, the limit is {limit}"


def write(path, text):
    before, rest = path.read_text().split(MARKS[0])
    path.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])


def main():
    plain = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog="overhead", description=__doc__, formatter_class=plain)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    libraries = next(options.prefix.resolve().rglob("gather.pc")).parents[1]
    os.environ |= {"PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries)}
    options.build.mkdir(parents=True, exist_ok=True)
    found = measure(options.build.resolve())
    print(table(found))
    if options.write:
        write(options.write, table(found))
    over = list(missed(found))
    for line in over:
        print(line)
    return bool(options.check and over)


if __name__ == "__main__":
    sys.exit(main())
