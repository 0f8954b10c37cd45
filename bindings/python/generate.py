"""Generates the low layer from gather.h: native/cdef.h for cffi, and src/libgather/_constants.py for Python.

python generate.py --write    writes both files
python generate.py --check    compares them with a fresh generation and fails if they differ
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE / "core" / "include" / "gather" / "gather.h"
CONSTANT = re.compile(r"^#define (GTH_\w+) +(-?\d+)\s*$", re.MULTILINE)
NOTICE = "Generated from gather.h by generate.py: do not edit."


def without_comments(header: str) -> str:
    return re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL).replace("\\\n", " ")


def cdef(header: str) -> str:
    """Returns the part of the header that cffi can parse: plain constants, types and functions."""
    text = without_comments(header)
    constants = "".join(f"#define {name} {value}\n" for name, value in CONSTANT.findall(text))
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("GTH_API ", "")
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\n{2,}", "\n\n", text).strip()
    return f"/* {NOTICE} */\n{constants}\n{text}\n"


def constants(header: str) -> str:
    """Returns a module of all plain constants of the header. Their names have no prefix."""
    lines = [f"{name.removeprefix('GTH_')} = {value}\n" for name, value in CONSTANT.findall(without_comments(header))]
    return f'"""The constants of gather.h. {NOTICE}"""\n\n' + "".join(lines)


def generated() -> dict[Path, str]:
    header = HEADER.read_text(encoding="utf-8")
    return {HERE / "native" / "cdef.h": cdef(header), HERE / "src" / "libgather" / "_constants.py": constants(header)}


def main(arguments: list[str]) -> int:
    if arguments not in (["--write"], ["--check"]):
        print(__doc__)
        return 2
    stale = 0
    for path, text in generated().items():
        if arguments == ["--write"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(HERE)} is not what gather.h says: run generate.py --write")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
