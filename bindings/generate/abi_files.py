"""The numbers, layouts and functions that tests/abi compares with the library, and that never change."""

from header import ROOT

ABI = ROOT / "tests/abi"
# The values that a release of the same ABI may increase.
GROWING = {"GTH_VERSION", "GTH_OP_LAST"}

HEAD = """\
/* The numbers that are compiled into programs of earlier releases. ./dev generate adds those that gather.h adds. Within
 * an ABI number it changes and removes no line, except the SIZE of a struct that has new fields at its end. */
#include "gather/gather.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, at, bytes) \\
  _Static_assert(offsetof(type, field) == (at) && sizeof(((type*)0)->field) == (bytes), "place of " #type "." #field)
#define VALUE(name, number) _Static_assert((name) == (number), #name)
"""


def pins(header):
    lines = [HEAD]
    for struct in header.structs:
        lines.append(f"SIZE({struct.name}, {struct.size});")
        lines += [f"FIELD({struct.name}, {field.name}, {field.offset}, {field.bytes});" for field in struct.fields]
        lines.append("")
    lines += [f"VALUE({each.name}, {each.value});" for each in header.constants if each.name not in GROWING]
    return "\n".join(lines) + "\n"


def symbols(header):
    return "".join(f"{name}\n" for name in sorted(function.name for function in header.functions))


def files(header, _):
    return {ABI / "pins.c": pins(header), ABI / "symbols.txt": symbols(header)}


def lost(path, before, after):
    """Returns the lines of a file of this folder that a new generation would change or remove."""
    if path.parent != ABI:
        return []
    kept = set(after.splitlines())
    promises = (line for line in before.splitlines() if line.startswith(("FIELD(gth", "VALUE(GTH", "gth_")))
    return [line for line in promises if line not in kept]
