"""The low layer of Python: the declarations for cffi, a module of constants, and the fields of a request."""

import re

from header import ROOT, between, comment, marks, sentence

PYTHON = ROOT / "bindings/python"
NOTICE = "Generated from gather.h by ./dev generate: do not edit."
FIELDS = PYTHON / "src/libgather/_base/request_fields.py"
TYPED = PYTHON / "src/libgather/_base/signature_types.py"
HINTS, NAMES, TYPE_MARKS = marks("        #", "options"), marks("#", "names"), marks("#", "types")

# The options whose value in Python is not that of the field: the name, and how options_reader.h reads it.
OTHERS = {"fill": ("fill_value", "FILL"), "initial": ("include_self", "FLAG")}
# The types of values in options_reader.h: the type in Python, and the default.
TYPES = {
    "CHOICE": ("t.{} | None", "None"),
    "DTYPE": ("t.OutDType | None", "None"),
    "COUNT": ("int | None", "None"),
    "INT32": ("int | None", "None"),
    "GIVEN": ("int | None", "None"),
    "INT64": ("int", "0"),
    "FILL": ("Any", "None"),
    "FLAG": ("bool", "True"),
}
# The values that only columns have.
OF_COLUMNS = {"bounds": ["null", "promote"]}
BITS = {"GIVEN": 64, "INT64": 64, "INT32": 32, "COUNT": 32}
# The options that are no switch of an operator of torch. Each operator has the switch sparse, which is no option.
NO_SWITCHES = {"axis", "batch_dims", "threads", "bag_count", "out_dtype"}


def cdef(header):
    """Returns the declarations, and the constants that they contain. Python has the others as a module."""
    used = set(re.findall(r"\w+", header.declarations))
    constants = "".join(f"#define {each.name} {each.value}\n" for each in header.constants if each.name in used)
    return f"/* {NOTICE} */\n{constants}\n{header.declarations}\n"


def constants(header):
    lines = [f"{each.name.removeprefix('GTH_')} = {each.value}\n" for each in header.constants]
    return f'"""The constants of gather.h. {NOTICE}"""\n\n' + "".join(lines)


def field(option):
    """Returns the name of an option in Python, and how options_reader.h reads it."""
    return OTHERS.get(option.name, (option.name, option.type.upper()))


def switches(options):
    """Yields the switches of the operators of torch, with the operations that have the option.

    Saved programs store them by place. `sparse` is no option.
    """
    for option in options:
        if option.name not in NO_SWITCHES:
            yield from ([(f"has_{option.name}", option.kinds)] if option.type == "given" else [])
            yield option.name, option.kinds
        if option.name == "initial":
            yield "sparse", None


def defined(macro, rows):
    """Returns the definition of a list with one row in each line."""
    return " \\\n  ".join([f"#define {macro}", *rows])


def table(options):
    """Returns the lists that options_reader.h expands."""
    read = [f"OPTION({name.upper()}, {name}, {o.name}, {kind})" for o in options for name, kind in [field(o)]]
    stored = [f"SWITCH({name.upper()}, {name}, {kinds})" if kinds else "SPARSE" for name, kinds in switches(options)]
    return f"""/* {NOTICE} */
#ifndef LIBGATHER_OPTION_TABLE_H
#define LIBGATHER_OPTION_TABLE_H

/* clang-format off */
/* The options in the order of a Request: the name, the field of gth_options, and how its value is read. */
{defined("OPTION_FIELDS(OPTION)", read)}

/* The switches of the operators of torch in the order of their argument: the field of gth_options, and the operations
 * that have it. SPARSE stands for the switch that is no field. */
{defined("OPTION_SWITCHES(SWITCH, SPARSE)", stored)}
/* clang-format on */

#endif
"""


def hints(options):
    lines = []
    for option in options:
        name, kind = field(option)
        hint, default = TYPES[kind]
        lines.append(f"        {name}: {hint.format(option.type_name)} = {default}\n")
    return "".join(lines)


def names(options):
    """Returns the names of the options, their defaults, and the prefixes of their values."""
    defaults = [f'    "{name}": {TYPES[kind][1]},\n' for name, kind in map(field, options)]
    kinds = [(option, *field(option)) for option in options]
    integers = [f'    "{name}": {BITS[kind]},\n' for _, name, kind in kinds if kind in BITS]
    prefixes = [f'    "{name}": "{o.prefix.removeprefix("GTH_")}",\n' for o, name, kind in kinds if kind == "CHOICE"]
    order = [f'    "{name}",\n' for name, _ in switches(options)]
    return f"""#: The options and their defaults.
OPTIONS = {{
{"".join(defaults)}}}
#: The bits of the options that are integers.
INTEGERS = {{
{"".join(integers)}}}
#: The prefixes of the constants of gather.h that are the values of an option.
PREFIXES = {{
{"".join(prefixes)}}}
#: The switches of the operators of torch, in the order of their argument.
SWITCHES = (
{"".join(order)})
"""


def literal(name, values):
    """Returns a type of names, as ruff formats it."""
    words = [f'"{value}"' for value in values]
    line = f"{name} = Literal[{', '.join(words)}]\n"
    return line if len(line) <= 121 else f"{name} = Literal[\n" + "".join(f"    {word},\n" for word in words) + "]\n"


def types(header, options):
    """Returns the types of the options that are names."""
    lines = []
    for option in options:
        if field(option)[1] == "CHOICE":
            of_header = [each.name for each in header.constants if each.name.startswith(option.prefix)]
            values = [name.removeprefix(option.prefix).lower() for name in of_header]
            what = re.sub(r"\{(?:GTH_[A-Z]+_)?(\w+)\}", r"\1", sentence(option.what))
            lines.append(comment(what, "#: "))
            lines.append(literal(option.type_name, values + OF_COLUMNS.get(option.name, [])))
            if option.name == "bounds":
                lines.append("#: The bounds of scatters, which do not fill.\n")
                lines.append(literal("ScatterBounds", [value for value in values if value != "fill"]))
    return "".join(lines)


def files(header, lists):
    fields = between(FIELDS.read_text(), *HINTS, hints(lists.options))
    return {
        PYTHON / "native/cdef.h": cdef(header),
        PYTHON / "native/option_table.h": table(lists.options),
        PYTHON / "src/libgather/_base/constants.py": constants(header),
        TYPED: between(TYPED.read_text(), *TYPE_MARKS, types(header, lists.options)),
        FIELDS: between(fields, *NAMES, names(lists.options)),
    }
