"""Writes the library as few files for a project that compiles it with its own sources: bundle.py FOLDER

FOLDER then has gather.cpp, one source for each instruction set (tier), gather/gather.h, gather/gather.hpp, a
CMakeLists.txt that says how to compile them, and the license. The CUDA code is not in it.
"""

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HEADERS = [ROOT / "include/gather/gather.h", ROOT / "include/gather/gather.hpp"]
PLACES = [ROOT / "src", ROOT / "include"]
INCLUDE = re.compile(r'\s*#\s*include\s+["<]([\w./]+)[">]')

LIBRARY = ["cuda/stub.cpp", "sources.inc"]
SYSTEMS = {
    "#if defined(_WIN32)": ["core/os/os_windows.cpp", "core/os/files_windows.cpp"],
    "#elif defined(__APPLE__)": ["core/os/os_posix.cpp", "core/os/files_posix.cpp", "core/os/os_macos.cpp"],
    "#else": ["core/os/os_posix.cpp", "core/os/files_posix.cpp", "core/os/os_linux.cpp"],
}
TIERS = {
    "portable": "1",
    "avx2": "defined(__x86_64__)",
    "avx512": "defined(__x86_64__)",
    "neon": "defined(__aarch64__)",
}
KERNEL_OPTIONS = """\
// The kernels rely on signed overflow that wraps around, and on products that are rounded before they are added.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("wrapv", "fp-contract=off")
#endif"""


def included(line, beside):
    """Returns the file of this project that a line includes, or None."""
    match = INCLUDE.match(line)
    candidates = [place / match[1] for place in [beside, *PLACES]] if match else []
    return next((path.resolve() for path in candidates if path.is_file()), None)


def written_out(path, seen, kept=()):
    """Yields the lines of a source. The first #include of each file of this project is replaced with its lines.

    Includes of kept files remain. Files in seen, to which the files are added, are left out.
    """
    seen.add(path)
    for line in path.read_text().splitlines():
        inner = included(line, path.parent)
        if inner is None or inner in kept:
            if line.strip() != "#pragma once":
                yield line
        elif inner not in seen:
            yield from written_out(inner, seen, kept)


def sources(names, seen):
    for name in names:
        yield from written_out(ROOT / "src" / name, seen, HEADERS)


def library():
    """Yields the lines of gather.cpp. Each system has its own copy of the headers that only its sources include."""
    seen = set()
    yield from sources(LIBRARY, seen)
    for condition, names in SYSTEMS.items():
        yield condition
        yield from sources(names, set(seen))
    yield "#endif"


def tier(name, condition):
    """Yields the lines of the kernels of a tier."""
    yield f"#if {condition}"
    yield KERNEL_OPTIONS
    yield from sources([f"cpu/tiers/{name}.cpp"], set())
    yield "#endif"


def contents():
    """Returns the text of each file by its name."""
    license_line = "// libgather, written as one file by ./dev bundle. License: Apache-2.0."
    units = {"gather.cpp": library()} | {f"gather_{name}.cpp": tier(name, when) for name, when in TIERS.items()}
    texts = {name: "\n".join([license_line, *lines, ""]) for name, lines in units.items()}
    texts |= {f"gather/{header.name}": header.read_text() for header in HEADERS}
    return texts | {"CMakeLists.txt": (HERE / "CMakeLists.txt").read_text(), "LICENSE": (ROOT / "LICENSE").read_text()}


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "gather").mkdir(parents=True)
    for name, text in contents().items():
        (folder / name).write_text(text)
    print(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
