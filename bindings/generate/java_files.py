"""The low layer of Java, the public enums, and the setters of the options."""

import re
import textwrap

from header import ROOT, between, capital, comment, marks, sentence, type_of

PACKAGE = ROOT / "bindings/java/src/main/java/io/libgather"
NOTICE = "Generated from gather.h by ./dev generate: do not edit."
SETTERS, GETTERS = marks("    //", "part"), marks("  //", "getters")
WIDTH = 120
# Java types of C types: the layout, and the Java type.
TYPES = {
    "int32_t": ("JAVA_INT", "int"),
    "uint32_t": ("JAVA_INT", "int"),
    "int64_t": ("JAVA_LONG", "long"),
    "uint64_t": ("JAVA_LONG", "long"),
    "char": ("JAVA_BYTE", "byte"),
    "float": ("JAVA_FLOAT", "float"),
    "pointer": ("ADDRESS", "MemorySegment"),
}


def enums_of(table):
    """Returns the public enums: prefix of the constants, name and description."""
    return [
        *((each.prefix, each.type_name, f"{capital(each.what)}.") for each in table.options if each.prefix),
        ("GTH_OPERAND_", "OperandName", "The operand to which an error belongs."),
        ("GTH_E_", "Status", "The status of a failed call."),
    ]


def camel(name):
    first, *rest = name.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def packed(before, items, after, indent):
    """Returns a list of arguments in lines of at most 120 columns. The first line is after `indent` spaces."""
    line = f"{before}{', '.join(items)}{after}"
    if indent + len(line) <= WIDTH:
        return line
    space = " " * (indent + 4)
    lines = textwrap.wrap(", ".join(items), WIDTH - len(space) - len(after), break_on_hyphens=False)
    return before + "".join(f"\n{space}{line}" for line in lines) + after


def kept(header, function):
    """Returns the number of segments of memory that a function reads through structs.

    Java passes each segment of that memory as an additional argument, which the library ignores. So a downcall keeps
    the arenas of these segments open, and checks their threads. Packed rows have four segments: the handle, the rows,
    the scales and the zero points. A function without a context reads the handle of a request only. A function with
    addresses beside the structs has no such argument.
    """
    if any("const void *" in p for p in function.parameters):
        return 0
    if "gth_context *context" not in function.parameters:
        return 1 if any("gth_request" in p for p in function.parameters) else 0
    operands = len(header.operands()) + 3
    counts = {"gth_tensor_desc": 1, "gth_request": operands, "gth_plan_args": operands, "gth_take": 1}
    found = (re.match(r"const (\w+) \*\w", parameter) for parameter in function.parameters)
    return sum(counts.get(match[1], 0) for match in found if match)


def method(function, more, critical):
    """Returns the method that calls a function. The memories of operands are one list, because requests may grow."""
    types = [TYPES[type_of(p)] for p in function.parameters]
    names = [camel(re.search(r"(\w+)$", p)[1]) for p in function.parameters]
    array = any(struct in p for p in function.parameters for struct in ("gth_request", "gth_plan_args"))
    kept = [f"at(kept, {i})" if array else f"kept{i}" for i in range(more)]
    parameters = [f"{t[1]} {n}" for t, n in zip(types, names, strict=True)]
    parameters += ["MemorySegment... kept"] if array and more else [f"MemorySegment {each}" for each in kept]
    name = camel(function.name.removeprefix("gth_")) + ("Critical" if critical else "")
    layout, value = TYPES[type_of(function.result)]
    layouts = packed("FunctionDescriptor.of(", [layout, *(t[0] for t in types), *["ADDRESS"] * more], ")", 12)
    signature = packed(f"public static {value} {name}(", parameters, ") {", 2)
    option = ",\n            Linker.Option.critical(true)" if critical else ""
    return f"""
  private static final class {capital(name)} {{
    static final MethodHandle HANDLE =
        Native.link(
            "{function.name}",
            {layouts}{option});
  }}

  /** Calls {function.name}. */
  {signature}
    Native.check();
    try {{
      return {packed(f"({value}) {capital(name)}.HANDLE.invokeExact(", [*names, *kept], ");", 6)}
    }} catch (Throwable e) {{
      throw Native.unchecked(e);
    }}
  }}
"""


def layout(struct):
    name = struct.name.removeprefix("gth_")
    title = capital(camel(name))
    offsets = "".join(f"    public static final long {f.name.upper()} = {f.offset};\n" for f in struct.fields)
    return f"""
  /** The size of {struct.name}, and the offsets of its fields. */
  public static final class {title} {{
    public static final long BYTES = {struct.size};
{offsets}
    private {title}() {{}}
  }}
"""


def called():
    """Returns the names of the low layer that the sources of Java use."""
    sources = [path for path in (ROOT / "bindings/java/src").rglob("*.java") if path.name != "Gth.java"]
    return {name for path in sources for name in re.findall(r"\bGth(?:\.|::)(\w+)", path.read_text())}


def low_layer(header):
    used = called()
    lines = [f"  public static final int {each.name[4:]} = {each.value};\n" for each in header.constants]
    lines += [layout(struct) for struct in header.structs]
    for function in header.functions:
        name = camel(function.name.removeprefix("gth_"))
        if name in used:
            lines.append(method(function, kept(header, function), critical=False))
        if f"{name}Critical" in used:
            lines.append(method(function, 0, critical=True))
    return f"""package io.libgather.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * gather.h in Java, with the functions that Java calls. {NOTICE}
 *
 * <p>Each function is linked at its first call.
 */
public final class Gth {{
{"".join(lines)}
  private static MemorySegment at(MemorySegment[] kept, int i) {{
    return i < kept.length ? kept[i] : MemorySegment.NULL;
  }}

  private Gth() {{}}
}}
"""


def escaped(text):
    return text.replace("<", "&lt;").replace(">", "&gt;").replace("@", "{@literal @}")


def javadoc(text):
    if len(text) < 110:
        return f"  /** {text} */\n"
    return "  /**\n" + comment(text, "   * ") + "   */\n"


def documented(above, constant):
    text = above.get(constant.name) or constant.comment or f"{constant.name} of gather.h"
    return javadoc(sentence(escaped(text)))


# The members of every enum of numbers.
NUMBER = """\
  /**
   * Returns the number of this constant in gather.h.
   *
   * @return the number
   */
  public int number() {
    return number;
  }
"""


def enum(header, enums, prefix, name, description):
    above = header.above()
    items = []
    for each in header.constants:
        if each.name.startswith(prefix):
            items.append(f"{documented(above, each)}  {each.name.removeprefix(prefix)}({each.value})")
    body = ",\n".join(items)
    return f"""package io.libgather;

/**
 * {linked(description, enums)}
 *
 * <p>{NOTICE}
 */
public enum {name} {{
{body};

  final int number;

  {name}(int number) {{
    this.number = number;
  }}

{NUMBER}}}
"""


def operations(header, table):
    above, items = header.above(), []
    constants = {each.name: each for each in header.constants}
    for each in table.operations:
        constant = constants[f"GTH_OP_{each.number}"]
        items.append(f"{documented(above, constant)}  {each.number}({constant.value}, Kind.{each.kind.upper()})")
    body = ",\n".join(items)
    return f"""package io.libgather;

/**
 * An operation of the library.
 *
 * <p>{NOTICE}
 */
public enum Operation {{
{body};

  final int number;
  final Kind kind;

  Operation(int number, Kind kind) {{
    this.number = number;
    this.kind = kind;
  }}

{NUMBER}}}
"""


def kinds(table):
    items = []
    for kind in table.kinds:
        operands = [table.operand(kind, role) for role in table.roles]
        names = ", ".join(f"OperandName.{each.name}" if each else "null" for each in operands)
        items.append(f"  {kind.upper()}(Role.{table.written(kind).upper()}, {names})")
    body = ",\n".join(items)
    fields = "".join(f"  private final OperandName {role};\n" for role in table.roles)
    parameters = ", ".join(f"OperandName {role}" for role in table.roles)
    assignments = "".join(f"    this.{role} = {role};\n" for role in table.roles)
    cases = "".join(f"      case {role.upper()} -> {role};\n" for role in table.roles)
    return f"""package io.libgather;

/**
 * A kind of operations: their operands.
 *
 * <p>{NOTICE}
 */
enum Kind {{
{body};

  /** The role of the operand that is written. */
  final Role written;

{fields}
  Kind(Role written, {parameters}) {{
    this.written = written;
{assignments}  }}

  /** Returns the name of the operand with a role, or null if there is none. */
  OperandName name(Role role) {{
    return switch (role) {{
{cases}    }};
  }}
}}
"""


def roles(table):
    body = ",\n".join(f"  {role.upper()}(Gth.Request.{role.upper()})" for role in table.roles)
    return f"""package io.libgather;

import io.libgather.internal.Gth;

/**
 * A place for an operand in a request.
 *
 * <p>{NOTICE}
 */
enum Role {{
{body};

  /** The roles in the order of a request. */
  static final Role[] ALL = values();

  /** The offset in gth_request. */
  final long offset;

  Role(long offset) {{
    this.offset = offset;
  }}
}}
"""


def dtypes(header):
    items = []
    for each in header.constants:
        if each.name.startswith("GTH_DTYPE_"):
            size = 0 if each.name == "GTH_DTYPE_STRING" else (each.value & 255) // 8
            short = each.name.removeprefix("GTH_DTYPE_")
            items.append(f"  /** {each.name} of gather.h. */\n  {short}({each.value}, {size})")
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

{NUMBER}
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


def linked(text, enums):
    """Returns a text with links to constants and operations."""

    def link(match):
        for prefix, name, *_ in enums:
            if match[1].startswith(prefix):
                return f"{{@link {name}#{match[1].removeprefix(prefix)}}}"
        return f"{{@link Gather#{camel(match[1])}}}"

    return re.sub(r"\{(\w+)\}", link, text)


def option_name(option):
    return camel(option.name).replace("Dtype", "DType")


def setter(option, enums):
    name, field = option_name(option), f"Gth.Options.{option.name.upper()}"
    kind, put, value = "long", "setLong", name
    if option.type in ("count", "int32"):
        kind, put = "int", "set"
    elif option.type in ("choice", "dtype"):
        kind, put = option.type_name if option.prefix else "DType", "set"
        value = f'given({name}, "{name}").number'
    chosen = f"set(Gth.Options.HAS_{option.name.upper()}, 1)." if option.type == "given" else ""
    return f"""
    /**
{comment(f"Sets {linked(option.full_text, enums)}", "     * ")}     *
     * @param {name} the value
     * @return this builder
     */
    public Builder {name}({kind} {name}) {{
      return {chosen}{put}({field}, {value});
    }}
"""


def getter(option, enums):
    """Returns a getter, and the statement that adds the value to those of toString."""
    name, field = option_name(option), f"Gth.Options.{option.name.upper()}"
    result = "the value, or empty if it is not set"
    add = f'{name}().ifPresent(value -> set.put("{name}", value));'
    if option.type == "given":
        kind, body = "OptionalLong", f"optional(Gth.Options.HAS_{option.name.upper()}, {field})"
    elif option.type in ("choice", "dtype"):
        enum = option.type_name if option.prefix else "DType"
        kind, body = f"Optional<{enum}>", f"choice({field}, {enum}.values(), each -> each.number)"
    else:
        kind, body = ("long", f"word({field})") if option.type == "int64" else ("int", f"field({field})")
        result = "the value, or 0 if it is not set"
        add = f'if ({name}() != 0) set.put("{name}", {name}());'
    method = f"""
  /**
{comment(f"Returns {linked(option.what, enums)}.", "   * ")}   *
   * @return {result}
   */
  public {kind} {name}() {{
    return {body};
  }}
"""
    return method, add


def getters(options, enums):
    made = [getter(each, enums) for each in options]
    values = "".join(f"    {statement}\n" for _, statement in made)
    return f"""{"".join(method for method, _ in made)}
  /** Adds the values that have been set by their names. */
  private void addValues(Map<String, Object> set) {{
{values}  }}

"""


def options(text, table, enums):
    """Returns the text of Options.java with new parts between its marks."""
    text = between(text, *GETTERS, getters(table.options, enums))
    return between(text, *SETTERS, "".join(setter(each, enums) for each in table.options) + "\n")


def files(header, table):
    builder, enums = PACKAGE / "Options.java", enums_of(table)
    return {
        PACKAGE / "internal/Gth.java": low_layer(header),
        PACKAGE / "DType.java": dtypes(header),
        PACKAGE / "Operation.java": operations(header, table),
        PACKAGE / "Kind.java": kinds(table),
        PACKAGE / "Role.java": roles(table),
        builder: options(builder.read_text(), table, enums),
    } | {PACKAGE / f"{each[1]}.java": enum(header, enums, *each) for each in enums}
