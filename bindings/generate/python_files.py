"""The low layer of Python: the declarations for cffi, a module of constants, and the fields of a request."""

import re

import python_signatures
from header import ROOT, between, comment, marks, sentence
from python_signatures import PUBLIC, TYPE_MARKS, TYPED, TYPES, field, typed

PYTHON = ROOT / "bindings/python"
NOTICE = "Generated from gather.h by ./dev generate: do not edit."
FIELDS = PYTHON / "src/libgather/_base/request_fields.py"
HINTS, NAMES = marks("        #", "options"), marks("#", "names")

# The values that only columns have.
OF_COLUMNS = {"bounds": ["null", "promote"]}
BITS = {"GIVEN": 64, "INT64": 64, "INT32": 32, "COUNT": 32}
# The options that are not switches of an operator of torch. Each operator also has the switch sparse, which is not in
# gth_options.
NO_SWITCHES = {"axis", "batch_dims", "threads", "bag_count", "out_dtype"}


def cdef(header):
    """Returns the declarations, and the constants that they contain. Python has the others as a module."""
    used = set(re.findall(r"\w+", header.declarations))
    constants = "".join(f"#define {each.name} {each.value}\n" for each in header.constants if each.name in used)
    return f"/* {NOTICE} */\n{constants}\n{header.declarations}\n"


# The columns that Python and C read, and the roles of the operands that every operation has.
OF_OPERATIONS = "kind", "form", "tuples"
OF_PROFILES = "strings", "foreign", "bounds", "fill"
OF_PROFILES_IN_C = "strings", "foreign", "negative", "bounds", "empty", "repeats"
ROLES = "table", "indices", "rows"


def constants(header, lists):
    lines = [f"{each.name.removeprefix('GTH_')} = {each.value}\n" for each in header.constants]
    operations = [f'    "{each.name}": {operation_row(header, lists, each)},\n' for each in lists.operations]
    profiles = [f'    "{each.name.lower()}": {profile_row(each)},\n' for each in lists.profiles]
    return f'''"""The constants, operations and profiles of gather.h. {NOTICE}"""

{"".join(lines)}
#: The operations: the number, {", ".join(OF_OPERATIONS)}, the operands by role, and the place of the written operand.
OPERATIONS = {{
{"".join(operations)}}}

#: The rules of each profile, and of no profile.
PROFILES = {{
{"".join(profiles)}}}
'''


def operation_row(header, lists, operation):
    operands = [lists.operand(operation.kind, role) for role in ROLES]
    names = tuple(each.name.lower() for each in operands if each)
    columns = [getattr(operation, column) for column in OF_OPERATIONS]
    row = header.numbers[f"GTH_OP_{operation.number}"], *columns, names, ROLES.index(lists.written(operation.kind))
    return repr(row).replace("'", '"')


def profile_row(profile):
    return repr({column: getattr(profile, column) for column in OF_PROFILES}).replace("'", '"')


def sets(prefix, entries, columns, number):
    """Returns a constant for each value of the columns. Bit n states whether entry n has the value."""
    lines = []
    for column in columns:
        values = [getattr(each, column) for each in entries]
        for value in dict.fromkeys(values):
            bits = sum(1 << number(each) for each in entries if getattr(each, column) == value)
            lines.append(f"#define {prefix}_{column}_{value} {bits:#x}u\n")
    return "".join(lines)


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


def table(header, lists):
    """Returns the lists that options_reader.h expands, and the columns of other lists that C reads."""
    options, operations, profiles = lists.options, lists.operations, lists.profiles
    read = [f"OPTION({name.upper()}, {name}, {o.name}, {kind})" for o in options for name, kind in [field(o)]]
    stored = [f"SWITCH({name.upper()}, {name}, {kinds})" if kinds else "SPARSE" for name, kinds in switches(options)]
    named = [f'NAME("{each.name}")' for each in operations]
    return f"""/* {NOTICE} */
#ifndef LIBGATHER_OPTION_TABLE_H
#define LIBGATHER_OPTION_TABLE_H

#include <stdint.h>

/* clang-format off */
/* The options in the order of a Request: the name, the field of gth_options, and how its value is read. */
{defined("OPTION_FIELDS(OPTION)", read)}

/* The switches of the operators of torch in the order of their argument: the field of gth_options, and the operations
 * that have it. SPARSE stands for the switch that is no field. */
{defined("OPTION_SWITCHES(SWITCH, SPARSE)", stored)}

/* The names of the operations, from number 1 on. */
{defined("OPERATION_NAMES(NAME)", named)}
/* clang-format on */

#ifdef __cplusplus
#define LIBGATHER_INLINE constexpr
#else
#define LIBGATHER_INLINE static inline
#endif

/* Returns whether a set has a number. The library refuses numbers that are not in [0, 32). */
LIBGATHER_INLINE int is_in(int64_t number, uint32_t set) {{ return (int)(set >> (number & 31) & 1u); }}

/* The operations and the profiles with a value in a column of their list. Bit n is number n. */
{sets("OPERATIONS", operations, OF_OPERATIONS, lambda each: header.numbers[f"GTH_OP_{each.number}"])}
{sets("PROFILES", profiles, OF_PROFILES_IN_C, profiles.index)}
#endif
"""


def hints(options):
    lines = []
    for option in options:
        name, kind = field(option)
        lines.append(f"        {name}: {typed(option)} = {TYPES[kind][1]}\n")
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
    signatures = python_signatures.files(lists)
    typed_module = between(signatures.pop(TYPED), *TYPE_MARKS, types(header, lists.options))
    return {
        PYTHON / "native/cdef.h": cdef(header),
        PYTHON / "native/option_table.h": table(header, lists),
        PYTHON / "src/libgather/_base/constants.py": constants(header, lists),
        TYPED: typed_module,
        PUBLIC: between(PUBLIC.read_text(), *TYPE_MARKS, python_signatures.public(typed_module)),
        FIELDS: between(fields, *NAMES, names(lists.options)),
        **signatures,
    }
