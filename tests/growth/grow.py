"""Writes the header of a later release: every struct that grows has one more field, and the release number is higher.

grow.py gather.h grown/gather.h
"""

import pathlib
import re
import sys

FIELD = "  int64_t later;\n"


def grow(header: str) -> str:
    """Returns the header with a field at the end of each struct that begins with its size."""
    sized = re.compile(r"(typedef struct (gth_\w+) \{\n  uint32_t size;.*?\n)(\} \2;)", re.DOTALL)
    grown, count = sized.subn(lambda match: match[1] + FIELD + match[3], header)
    if count != header.count("_FIRST "):
        raise SystemExit(f"{count} structs have grown, but {header.count('_FIRST ')} first sizes are defined")
    return re.sub(r"(#define GTH_VERSION )(\d+)", lambda match: match[1] + str(int(match[2]) + 1), grown)


def main() -> None:
    source, target = map(pathlib.Path, sys.argv[1:])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(grow(source.read_text()))


if __name__ == "__main__":
    main()
