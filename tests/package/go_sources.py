"""Fails where the Go module does not compile a source of the library, or compiles one that is not there."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"

# The module is for Linux, without CUDA, and never the library of the tests.
ELSEWHERE = {"core/os/os_macos.cpp", "core/os/testing.cpp"}


def library():
    files = [path for layer in ("api", "core", "cpu") for path in (SOURCES / layer).rglob("*.cpp")]
    return {path.relative_to(SOURCES).as_posix() for path in files} - ELSEWHERE | {"cuda/stub.cpp"}


def module():
    units = [path.read_text() for path in (ROOT / "bindings/go").rglob("*.cc")]
    return {name for unit in units for name in re.findall(r'^#include "(.+\.cpp)"', unit, re.MULTILINE)}


def main():
    ours, theirs = library(), module()
    missing = [f"bindings/go: no .cc includes {name}" for name in sorted(ours - theirs)]
    gone = [f"bindings/go: {name} is included, and not there" for name in sorted(theirs - ours)]
    print("\n".join(missing + gone or [f"{len(ours)} sources"]))
    return bool(missing + gone)


if __name__ == "__main__":
    sys.exit(main())
