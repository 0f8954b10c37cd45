"""The low layer of Python: the declarations for cffi, and a module of constants."""

import re

from header import ROOT

PYTHON = ROOT / "bindings/python"
NOTICE = "Generated from gather.h by ./dev generate: do not edit."


def cdef(header):
    """Returns the declarations, and the constants that they contain. Python has the others as a module."""
    used = set(re.findall(r"\w+", header.declarations))
    constants = "".join(f"#define {each.name} {each.value}\n" for each in header.constants if each.name in used)
    return f"/* {NOTICE} */\n{constants}\n{header.declarations}\n"


def constants(header):
    lines = [f"{each.name.removeprefix('GTH_')} = {each.value}\n" for each in header.constants]
    return f'"""The constants of gather.h. {NOTICE}"""\n\n' + "".join(lines)


def files(header, _):
    return {
        PYTHON / "native/cdef.h": cdef(header),
        PYTHON / "src/libgather/_base/constants.py": constants(header),
    }
