"""Fails if the Go module lacks a source of the library, or includes one that does not exist."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
LIST = SOURCES / "sources.inc"  # the sources that CMake and the module share

LAYERS = ("api", "columns", "core", "cpu", "execution", "files")

# The module supports Linux and Windows without CUDA, and contains no test code.
ELSEWHERE = {"core/os/os_macos.cpp", "core/os/testing.cpp"}


def library():
    files = [path for layer in LAYERS for path in (SOURCES / layer).rglob("*.cpp")]
    return {path.relative_to(SOURCES).as_posix() for path in files} - ELSEWHERE | {"cuda/stub.cpp"}


def module():
    units = [path.read_text() for path in (ROOT / "bindings/go").rglob("*.cc")]
    if any(f'#include "{LIST.name}"' in unit for unit in units):
        units.append(LIST.read_text())
    return {name for unit in units for name in re.findall(r'^#include "(.+\.cpp)"', unit, re.MULTILINE)}


def main():
    ours, theirs = library(), module()
    missing = [f"bindings/go: no .cc includes {name}" for name in sorted(ours - theirs)]
    gone = [f"bindings/go: {name} is included, but does not exist" for name in sorted(theirs - ours)]
    print("\n".join(missing + gone or [f"{len(ours)} sources"]))
    return bool(missing + gone)


if __name__ == "__main__":
    sys.exit(main())
