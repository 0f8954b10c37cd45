"""Generates the low layer from gather.h: io/libgather/internal/Gth.java, and the public enums.

python3 generate.py --write    writes the files
python3 generate.py --check    compares them with a new generation, and the offsets with those of the C compiler
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from generate import CONSTANT, HEADER, cdef, without_comments  # noqa: E402

PACKAGE = HERE / "src" / "main" / "java" / "io" / "libgather"
NOTICE = "Generated from gather.h by generate.py: do not edit."
# Java types of C types: the layout, the Java type, and the size in bytes.
TYPES = {
    "int32_t": ("JAVA_INT", "int", 4),
    "uint32_t": ("JAVA_INT", "int", 4),
    "int64_t": ("JAVA_LONG", "long", 8),
    "uint64_t": ("JAVA_LONG", "long", 8),
    "char": ("JAVA_BYTE", "byte", 1),
}
POINTER = ("ADDRESS", "MemorySegment", 8)
# Functions that read structs with pointers to memory. Each has so many more parameters for the segments of that memory.
# The library does not read them. A downcall keeps the arenas of its arguments open, and checks their threads.
KEPT = {"gth_run": 3, "gth_copy": 2, "gth_make": 3, "gth_partition": 1, "gth_plan_check": 1}
# Functions that also have a form with heap segments.
CRITICAL = {"gth_plan_run"}
# Public enums: prefix of the constants, name, description, and constants that are not part of it.
ENUMS = [
    ("GTH_PROFILE_", "Profile", "A set of rules that makes the library return the results of another system.", ()),
    ("GTH_NEGATIVE_", "Negative", "The meaning of a negative index.", ()),
    ("GTH_BOUNDS_", "Bounds", "The meaning of an index out of bounds.", ()),
    ("GTH_FILL_", "Fill", "The value that {@link Bounds#FILL} writes.", ()),
    ("GTH_EXTENTS_", "Extents", "The rule for extents of the dims that are not the axis, in element-wise calls.", ()),
    ("GTH_REDUCTION_", "Reduction", "The way in which a scatter combines an update with the element it selects.", ()),
    ("GTH_ACCUMULATE_", "Accumulate", "The type in which float16 and bfloat16 are added and multiplied.", ()),
    ("GTH_OP_", "Operation", "An operation of the library.", ("GTH_OP_LAST",)),
    ("GTH_OPERAND_", "OperandName", "The operand to which an error belongs.", ()),
    ("GTH_E_", "Status", "The status of a failed call.", ()),
]


def base(declaration: str) -> tuple[str, str, int]:
    """Returns the Java type of `int32_t name`, `const void *name` or a function pointer."""
    if "*" in declaration or declaration.split()[0].endswith("_fn"):
        return POINTER
    return TYPES[declaration.replace("const ", "").split()[0]]


def structs(header: str) -> dict[str, list[tuple[str, tuple[str, str, int], int]]]:
    """Returns the fields of each struct: name, type and count."""
    numbers = dict(CONSTANT.findall(without_comments(header)))
    found = {}
    for body, name in re.findall(r"typedef struct gth_\w+ \{(.*?)\} gth_(\w+);", cdef(header), flags=re.DOTALL):
        fields = []
        for line in (part.strip() for part in body.split(";")):
            if line:
                field, count = re.fullmatch(r".*?(\w+)(?:\[(\w+)\])?", line, flags=re.DOTALL).groups()
                fields.append((field, base(line), int(numbers.get(count, count or 1))))
        found[name] = fields
    return found


def offsets(fields: list[tuple[str, tuple[str, str, int], int]]) -> tuple[list[tuple[str, int]], int]:
    """Returns the offset of each field, and the size of the struct."""
    placed, end, widest = [], 0, 1
    for name, (_, _, size), count in fields:
        end = -(-end // size) * size
        placed.append((name, end))
        end += size * count
        widest = max(widest, size)
    return placed, -(-end // widest) * widest


def functions(header: str) -> list[tuple[str, str, list[str]]]:
    """Returns the result, the name and the parameters of each function."""
    text = re.sub(r"typedef .*?;|\{.*?\}", "", cdef(header), flags=re.DOTALL)
    found = re.findall(r"^((?:const )?\w+ \*?)(gth_\w+)\((.*?)\);", text, flags=re.DOTALL | re.MULTILINE)
    return [(result, name, [p.strip() for p in parameters.split(",")]) for result, name, parameters in found]


def camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def wrapped(items: list[str], indent: int) -> str:
    """Returns a list of arguments, on a line of its own for each one if there are many."""
    if len(items) < 4:
        return ", ".join(items)
    space = "\n" + " " * (indent + 4)
    return space + f",{space}".join(items)


def function(result: str, name: str, parameters: list[str], kept: int, critical: bool) -> str:
    parameters = [] if parameters == ["void"] else parameters
    types = [base(p) for p in parameters]
    names = [camel(re.fullmatch(r".*?(\w+)", p, flags=re.DOTALL)[1]) for p in parameters]
    names += [f"kept{i}" for i in range(kept)]
    types += [POINTER] * kept
    shown = name.removeprefix("gth_")
    method = camel(shown) + ("Critical" if critical else "")
    holder = method[0].upper() + method[1:]
    value = base(result)
    layouts = wrapped([t[0] for t in (value, *types)], 8)
    signature = wrapped([f"{t[1]} {n}" for t, n in zip(types, names, strict=True)], 2)
    critical_option = ", Linker.Option.critical(true)" if critical else ""
    return f"""
  private static final class {holder} {{
    static final MethodHandle HANDLE =
        Native.link("{name}", FunctionDescriptor.of({layouts}){critical_option});
  }}

  /** Calls {name}. */
  public static {value[1]} {method}({signature}) {{
    Native.check();
    try {{
      return ({value[1]}) {holder}.HANDLE.invokeExact({wrapped(names, 6)});
    }} catch (Throwable e) {{
      throw Native.unchecked(e);
    }}
  }}
"""


def low_layer(header: str) -> str:
    constants = CONSTANT.findall(without_comments(header))
    lines = [f"  public static final int {name[4:]} = {value};\n" for name, value in constants]
    for name, fields in structs(header).items():
        placed, size = offsets(fields)
        title = "".join(part.capitalize() for part in name.split("_"))
        lines.append(f"\n  /** The size of gth_{name}, and the offsets of its fields. */\n")
        lines.append(f"  public static final class {title} {{\n")
        lines.append(f"    public static final long BYTES = {size};\n")
        lines += [f"    public static final long {field.upper()} = {offset};\n" for field, offset in placed]
        lines.append(f"\n    private {title}() {{}}\n  }}\n")
    for result, name, parameters in functions(header):
        lines.append(function(result, name, parameters, KEPT.get(name, 0), critical=False))
        if name in CRITICAL:
            lines.append(function(result, name, parameters, 0, critical=True))
    return f"""package io.libgather.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** gather.h in Java. {NOTICE} Each function is linked at its first call. */
public final class Gth {{
{"".join(lines)}
  private Gth() {{}}
}}
"""


def comments(header: str) -> dict[str, str]:
    """Returns the comment of each constant: after it, or one paragraph before it."""
    after = re.findall(r"#define (GTH_\w+) *\\?\n? *-?\d+ +/\*\*< *(.*?)\*/", header, flags=re.DOTALL)
    before = re.findall(r"/\*\*(?!<)((?:(?!\*/|\n \*\n).)*)\*/\n#define (GTH_\w+)", header, flags=re.DOTALL)
    found = {}
    for name, text in [*after, *((name, text) for text, name in before)]:
        words = " ".join(text.replace("\n *", " ").split())
        found[name] = words.replace("<", "&lt;").replace(">", "&gt;").replace("@", "{@literal @}")
    return found


def sentence(text: str) -> str:
    first = text.split()[0].rstrip(":")
    text = text[0].upper() + text[1:] if first.isalpha() else text
    return text + ("" if text.endswith(".") else ".")


def javadoc(text: str) -> str:
    if len(text) < 110:
        return f"  /** {text} */\n"
    return "  /**\n" + "".join(f"   * {line}\n" for line in textwrap.wrap(text, 115)) + "   */\n"


def enum(header: str, prefix: str, name: str, description: str, without: tuple[str, ...]) -> str:
    documented = comments(header)
    constants = [
        (constant, value)
        for constant, value in CONSTANT.findall(without_comments(header))
        if constant.startswith(prefix) and constant not in without
    ]
    items = []
    for constant, value in constants:
        text = sentence(documented.get(constant, f"{constant} of gather.h"))
        items.append(f"{javadoc(text)}  {constant.removeprefix(prefix)}({value})")
    body = ",\n".join(items)
    return f"""package io.libgather;

/**
 * {description}
 *
 * <p>{NOTICE}
 */
public enum {name} {{
{body};

  final int number;

  {name}(int number) {{
    this.number = number;
  }}

  /**
   * Returns the number of this constant in gather.h.
   *
   * @return the number
   */
  public int number() {{
    return number;
  }}
}}
"""


def dtypes(header: str) -> str:
    items = []
    for constant, value in CONSTANT.findall(without_comments(header)):
        if constant.startswith("GTH_DTYPE_"):
            size = 0 if constant == "GTH_DTYPE_STRING" else (int(value) & 255) // 8
            items.append(f"  /** {constant} of gather.h. */\n  {constant.removeprefix('GTH_DTYPE_')}({value}, {size})")
    body = ",\n".join(items)
    return f"""package io.libgather;

/**
 * The type of the elements of a tensor.
 *
 * <p>{NOTICE}
 */
public enum DType {{
{body};

  final int number;
  private final int size;

  DType(int number, int size) {{
    this.number = number;
    this.size = size;
  }}

  /**
   * Returns the number of this dtype in gather.h.
   *
   * @return the number
   */
  public int number() {{
    return number;
  }}

  /**
   * Returns the size of an element.
   *
   * @return the size in bytes, 0 for strings
   */
  public int size() {{
    return size;
  }}
}}
"""


def generated() -> dict[Path, str]:
    header = HEADER.read_text(encoding="utf-8")
    files = {PACKAGE / "internal" / "Gth.java": low_layer(header), PACKAGE / "DType.java": dtypes(header)}
    return files | {PACKAGE / f"{name}.java": enum(header, prefix, name, *rest) for prefix, name, *rest in ENUMS}


def compiled() -> int:
    """Compares sizes and offsets with those of the C compiler. Returns 0 if they are equal or there is no compiler."""
    header = HEADER.read_text(encoding="utf-8")
    lines = ["#include <gather/gather.h>\n"]
    for name, fields in structs(header).items():
        placed, size = offsets(fields)
        lines.append(f'_Static_assert(sizeof(gth_{name}) == {size}, "{name}");\n')
        lines += [f'_Static_assert(offsetof(gth_{name}, {f}) == {o}, "{name}.{f}");\n' for f, o in placed]
    compiler = shutil.which("cc")
    if compiler is None:
        print("skipped: there is no C compiler that checks the offsets")
        return 0
    command = [compiler, "-std=c11", "-fsyntax-only", "-I", HEADER.parents[1], "-x", "c", "-"]
    return subprocess.run(command, input="".join(lines), text=True, check=False).returncode


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
    return stale or compiled()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
