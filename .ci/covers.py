"""Prints the test programs in C++ that cover files: covers.py FILE..."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "tests/cpp/CMakeLists.txt").read_text()
# The programs of tests/cpp, with their sources and labels.
PROGRAMS = re.findall(r"^(gather_gtest|gather_gtest_twice|add_executable)\((\w+)\s([^)]*)\)", TEXT, re.MULTILINE)
# The programs that run in seconds and detect most mutants of src/core, src/api and src/cpu have this label.
QUICK = [name for _, name, words in PROGRAMS if "LABEL quick" in words]
QUICK += re.findall(r"^gtest_discover_tests\((\w+)[^)]*LABELS quick\)", TEXT, re.MULTILINE)
# The programs of the files of a folder. The first folder that contains a file decides.
FOLDERS = {
    "src/cuda/": ["cuda_emulated", "cuda_units"],
    "tests/cuda/": ["cuda_emulated", "cuda_units"],
    "src/cpu/tiers/": ["tiers", "conformance_threads", "scatter_conformance_threads"],
    "src/core/os/": ["os", "threads", "executor"],
    "src/": QUICK,
    "include/": QUICK,
}


def programs_of(file):
    path = Path(file)
    if path.suffix not in {".cpp", ".hpp", ".h", ".c", ".cu"}:
        return []
    if file.startswith("tests/cpp/"):
        return programs_of_test(path)
    return next((programs for folder, programs in FOLDERS.items() if file.startswith(folder)), [])


def programs_of_test(path):
    if path.suffix == ".hpp":
        return QUICK
    found = [(kind, name) for kind, name, words in PROGRAMS if str(path.relative_to("tests/cpp")) in words.split()]
    return [name + variant for kind, name in found for variant in ("", "_threads") if not variant or "twice" in kind]


if __name__ == "__main__":
    print(*sorted({program for file in sys.argv[1:] for program in programs_of(file)}))
