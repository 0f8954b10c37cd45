"""Computes the conformance cases from the calls, the oracle and the recorded answers of the systems.

    derive.py [--random PROGRAM] [--write] [FOLDER]

FOLDER is build/conformance of the tree by default. The script does nothing if the cases have been computed from the
current sources. It fails if a file differs from its digest in digests.txt. --write writes the digests and the pages of
differences anew. PROGRAM is that of tests/cpp/random_cases.cpp, which writes random.txt of each folder. The target
conformance_cases of CMake runs this script with it. Python's standard library is enough.
"""

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIGESTS = HERE / "digests.txt"
HEADER = (
    "# Digests of the computed files, with their numbers of cases and of recorded answers. derive.py writes them.\n"
)
COMMAND = "cmake --preset test && cmake --build --preset test --target conformance_cases"
SEED, COUNT = 20261124, 400
sys.path.insert(0, str(HERE))


def main():
    parser = argparse.ArgumentParser(prog="derive.py", usage=__doc__.splitlines()[2].strip())
    parser.add_argument("--random", metavar="PROGRAM")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parents[1] / "build" / "conformance")
    arguments = parser.parse_args()
    stamp = arguments.folder / "sources"
    is_new = stamp.exists() and stamp.read_text() == digest_of_sources() and not arguments.write
    files = {} if is_new else computed(arguments.write)
    if arguments.random:
        files |= random_files(arguments.random)
    check(files, arguments.write)
    for name, text in {**files, "sources": digest_of_sources()}.items():
        replace(arguments.folder / name, text)
    require(arguments.folder)


def digest_of_sources():
    """Returns a digest of what the cases depend on."""
    found = hashlib.sha256()
    for path in sorted([*HERE.rglob("*.txt"), *HERE.rglob("*.py"), *HERE.glob("*.md")]):
        found.update(path.read_bytes())
    return found.hexdigest()


def computed(writes):
    """Returns {path: text} of the cases that Python computes."""
    from record import parts

    texts = defaultdict(list)
    for place, profile, text in parts.cases(writes):
        texts[f"{place}/{profile}.txt"].append(text)
    header = "# Computed by tests/conformance/derive.py; README.md of that folder defines the format.\n\n"
    return {name: header + "".join(found) for name, found in texts.items()}


def random_files(program):
    """Returns {path: text} of the cases that the oracle of C++ computes."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("elements", "scatter", "gradient"):
            (Path(folder) / part).mkdir()
        subprocess.run([program, folder, str(SEED), str(COUNT)], check=True)
        found = sorted(Path(folder).rglob("*.txt"))
        return {f"cases/{path.relative_to(folder).as_posix()}": path.read_text() for path in found}


def digests():
    """Returns {path: line} of the digests."""
    lines = DIGESTS.read_text().splitlines()[1:] if DIGESTS.exists() else []
    return {line.split()[-1]: line for line in lines}


def check(files, writes):
    """Compares the files with their digests, or writes these."""
    lines, found = digests(), {name: line_of(name, text) for name, text in files.items()}
    if writes:
        lines |= found
        DIGESTS.write_text(HEADER + "".join(f"{lines[name]}\n" for name in sorted(lines)))
    elif drifted := sorted(name for name, line in found.items() if line != lines.get(name)):
        sys.exit(
            f"{', '.join(drifted)}: the computed cases differ from tests/conformance/digests.txt. If that is intended, "
            f"write it anew: {shlex.join(['python3', sys.argv[0], '--write', *sys.argv[1:]])}"
        )


def require(folder):
    """Fails if a file of the digests is missing or old."""
    for name, line in digests().items():
        if not (folder / name).exists() or line_of(name, (folder / name).read_text()) != line:
            sys.exit(f"{folder / name} is missing or old: {COMMAND}")


def line_of(name, text):
    cases = text.count("\ncase ")
    recorded = cases - text.count("\nsource oracle\n")
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]} {cases:5} {recorded:5} {name}"


def replace(path, text):
    """Writes a file at once, because other builds may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    other = path.with_name(f".{path.name}.{os.getpid()}")
    other.write_text(text)
    other.replace(path)


if __name__ == "__main__":
    main()
