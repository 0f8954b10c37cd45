"""Writes every text that follows from gather.h, from the lists of operations and options, or from that of migration.py.

    generate            writes the files
    generate --check    fails if a file is not what a new generation writes

bindings/rust/generate.sh writes the low layer of Rust, because bindgen needs libclang.
"""

import sys

import abi_files
import cpp_files
import go_files
import java_files
import migration
import options
import python_files
import rust_files
from header import HEADER, ROOT, Header
from operations import LIST, Operations

TEXTS = HEADER, LIST, options.LIST


def generated(text, operations, listed):
    """Returns the paths and texts of the files that follow from a header and the lists of operations and options."""
    header, table = Header(text), Operations(operations, options.entries(listed), options.profiles(listed))
    options.check(header, table.options)
    if missing := set(table.roles) - header.operands():
        raise ValueError(f"gth_request has no operand {', '.join(sorted(missing))}")
    languages = (abi_files, cpp_files, python_files, rust_files, go_files, java_files, migration)
    return {path: new for language in languages for path, new in language.files(header, table).items()}


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__)
        return 2
    failed = 0
    for path, text in generated(*(each.read_text() for each in TEXTS)).items():
        name, before = path.relative_to(ROOT), path.read_text() if path.exists() else ""
        if lost := abi_files.lost(path, before, text):
            print(f"{name} has lines that contradict gather.h. Remove them if no release has them:", *lost, sep="\n  ")
            failed = 1
        elif text != before and arguments:
            print(f"{name} is not what the generator writes: run ./dev generate")
            failed = 1
        elif text != before:
            path.write_text(text)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
