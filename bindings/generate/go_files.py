"""The constants of Go, and the functions that set options."""

import re
from dataclasses import dataclass

from header import ROOT, comment

GO = ROOT / "bindings/go"
CODE = "Code generated from gather.h by ./dev generate. DO NOT EDIT."
NOTICE = f"// {CODE}\n"


@dataclass(frozen=True)
class Group:
    """The values of the header that have one prefix. They become the constants of one Go type."""

    prefix: str
    type: str  # "" leaves the constants without a type.
    go_prefix: str
    comment: str
    declares: bool = False  # The comment documents the type, which is declared here.


# The values that need no Go constant: success, the release of the header, sizes that cgo computes, flags that only the
# shim sets, the formats that bags.go hides in its type Bags, and the exchange of C structs with other libraries.
UNUSED = (
    "GTH_OK",
    "GTH_VERSION",
    "GTH_MESSAGE_SIZE",
    "GTH_MAX_DEVICES",
    "GTH_ARGS_",
    "GTH_BAGS_",
    "GTH_CODE",  # GTH_CODEC_ and GTH_CODE_: NewPacked has the names of formats.
    "GTH_EXPORT_",
    "GTH_FILES_",  # Options of OpenTable set them.
    "GTH_PACKING_",
    "GTH_PLACE_",
    "GTH_RULE_",
    "GTH_SEGMENT_",
    "GTH_STRINGS_",
    "GTH_TAKE_",
    "GTH_ZERO_",
)


def value_group(option):
    # The type of profiles has the name of its constants, because the setter is WithProfile.
    name = option.type_name if option.name == "profile" else f"{option.type_name}Policy"
    article = "An" if name[0] in "AEIO" else "A"
    return Group(option.prefix, name, option.type_name, f"{article} {name} is {option.what}.", True)


FIXED_GROUPS = [
    Group("GTH_E_", "Status", "Err", "These are the statuses of failed calls, for errors.Is."),
    Group("GTH_OPERAND_", "Operand", "Operand", "These are the operands that an error can name."),
    Group("GTH_OP_", "operation", "op", "An operation is the number of an operation in the C library.", True),
    Group("GTH_ERROR_", "", "error", "These are the bits of gth_error.flags."),
    Group("GTH_DTYPE_", "DType", "DType", "These are the dtypes."),
    Group("GTH_DEVICE_", "DeviceKind", "Device", "These are the kinds of devices. 0 also means the CPU."),
    Group("GTH_TIER_", "Tier", "Tier", "These are the instruction sets that CPU kernels exist for."),
    Group("GTH_TENSOR_", "", "tensor", "These are the bits of gth_tensor_desc.flags."),
    Group("GTH_SHARDS_", "", "shards", "These are the distributions of the rows of a table over shards."),
    Group("GTH_PARTS_", "", "parts", "These are the bits of gth_parts.flags."),
]


def groups_of(table):
    return FIXED_GROUPS + [value_group(each) for each in table.options if each.prefix and each.prefix not in UNUSED]


# The values without a group: their Go names and comments.
ALONE = {
    "GTH_ABI_VERSION": ("abiVersion", ""),
    "GTH_MAX_NDIM": ("MaxRank", "MaxRank is the highest rank of a tensor."),
    "GTH_OPEN": ("Open", "Open is an extent that a plan leaves open, or that a shape query passes through."),
}

# The options that the type Bags sets.
HIDDEN = {"bag_format", "bag_count", "out_dtype"}

# The words whose Go spelling is not one capital and lower case. Words with digits and acronyms keep their capitals.
WORDS = {
    "DLPACK": "DLPack",
    "DTYPE": "DType",
    "NOMEM": "NoMemory",
    "READONLY": "ReadOnly",
    "BFLOAT16": "BFloat16",
    "TENSORFLOW": "TensorFlow",
    "NUMPY": "NumPy",
}
CAPITALS = re.compile(r"IO|ND|CPU|CUDA|GPU|ONNX|ORT|JAX|AVX2|AVX512|NEON|E\dM\d\w*")


def go_name(name):
    parts = name.split("_")
    return "".join(WORDS.get(p) or (p if CAPITALS.fullmatch(p) else p.capitalize()) for p in parts)


def is_in(group, constant):
    return constant.name.startswith(group.prefix) and not constant.name.endswith("_FIRST")


def block(entries):
    """Returns a list of constants. The values after one comment are aligned, as gofmt does."""
    lines, run = [], []

    def flush():
        widths = [max((len(entry[i]) for entry in run), default=0) for i in range(2)]
        for name, kind, value in run:
            columns = [name.ljust(widths[0]), kind.ljust(widths[1])] if widths[1] else [name.ljust(widths[0])]
            lines.append(f"\t{' '.join(columns)} = {value}\n")
        run.clear()

    for name, kind, value, text in entries:
        if text:
            flush()
            lines.append(f"\t// {text}\n")
        run.append((name, kind, value))
    flush()
    return "const (\n" + "".join(lines) + ")\n"


def group_text(group, groups, constants):
    text = "\n" + comment(linked(group.comment, groups), "// ")
    if group.declares:
        text += f"type {group.type} int32\n\n// These are the values of {group.type}.\n"
    return text + block(
        (group.go_prefix + go_name(each.name.removeprefix(group.prefix)), group.type, each.value, each.comment)
        for each in constants
        if is_in(group, each)
    )


def names(table, prefix, lower, constants):
    """Returns a table from the absolute values of a group to the names in the header, or to shorter ones."""
    entries = [(f"{abs(c.value)}:", c) for c in constants if c.name.startswith(prefix)]
    width = max(len(key) for key, _ in entries)
    lines = [
        f'\t{key.ljust(width)} "{each.name.removeprefix(prefix).lower() if lower else each.name}",\n'
        for key, each in entries
    ]
    return f"\nvar {table} = [...]string{{\n" + "".join(lines) + "}\n"


def check_groups(groups, constants):
    """Fails for a value that belongs to no group. So every new kind of value gets a Go type here."""
    for each in constants:
        known = each.name in ALONE or each.name.endswith("_FIRST") or each.name.startswith(UNUSED)
        if not known and not any(is_in(group, each) for group in groups):
            raise ValueError(f"{each.name} belongs to no group of Go")


def constants(header, groups):
    check_groups(groups, header.constants)
    alone = [(ALONE[c.name][0], "", c.value, ALONE[c.name][1]) for c in header.constants if c.name in ALONE]
    return (
        f"{NOTICE}\n//go:build cgo\n\npackage gather\n\n{block(alone)}"
        + "".join(group_text(group, groups, header.constants) for group in groups)
        + names("statusNames", "GTH_E_", False, header.constants)
        + names("operandNames", "GTH_OPERAND_", True, header.constants)
    )


def setter_name(option):
    # The type Profile has the name already.
    return "WithProfile" if option.name == "profile" else go_name(option.name.upper())


def linked(text, groups):
    """Returns a text with the Go names of constants and links to operations."""

    def link(match):
        for group in groups:
            if match[1].startswith(group.prefix):
                return f"[{group.go_prefix}{go_name(match[1].removeprefix(group.prefix))}]"
        return f"[{go_name(match[1].upper())}]"

    return re.sub(r"\{(\w+)\}", link, text)


def argument(option, groups):
    """Returns the name and the type of the argument of a setter."""
    kind = next((group.type for group in groups if group.prefix == option.prefix), "int")
    name = go_name(option.name.upper())
    return ("policy" if kind.endswith("Policy") else name[0].lower() + name[1:]), kind


def setter(option, groups):
    name, (given, kind) = setter_name(option), argument(option, groups)
    number = given if kind == "int" else f"int({given})"
    text = comment(f"{name} sets {linked(option.full_text, groups)}", "// ")
    return f"""
{text}func {name}({given} {kind}) Option {{
	return Option{{setting: set{name}, number: {number}}}
}}
"""


def setters(options, groups):
    shown = [each for each in options if each.name not in HIDDEN]
    numbers = block((f"set{setter_name(o)}", "setting", i, "") for i, o in enumerate(shown, 1))
    cases = []
    for option in shown:
        cases.append(f"\tcase set{setter_name(option)}:\n")
        if option.type == "given":
            cases.append(f"\t\ts.options.has_{option.name} = 1\n")
        value = "C.int64_t(option.number)" if option.type in ("given", "int64") else "narrow(option.number)"
        cases.append(f"\t\ts.options.{option.name} = {value}\n")
    return f"""{NOTICE}
package gather

// #include "shim.h"
import "C"

{numbers}{"".join(setter(each, groups) for each in shown)}
// set stores the number of an option in its field.
func (s *settings) set(option *Option) {{
	switch option.setting {{
{"".join(cases)}	}}
}}
"""


# Functions of the shim that take all operands: the method, its parameters in front of the operands, and those after.
OPERANDS = [
    ("run", ["context C.gather_go_handle", "op operation"], ["options *C.gth_options"], "gather_go_run_request"),
    ("infer", ["op operation"], ["options *C.gth_options", "rank *C.int32_t", "shape *C.int64_t"], "gather_go_infer"),
    ("createPlan", ["op operation"], ["options *C.gth_options", "plan *C.gather_go_handle"], "gather_go_plan_create"),
]


def call(table, name, before, after, function):
    def given(parameters):
        names = [each.split()[0] for each in parameters]
        return ", ".join("C.int32_t(op)" if each == "op" else each for each in names)

    views = [f"o[role{go_name(role.upper())}]" for role in table.roles]
    lines = [f"\t\t&{v}.numbers, {v}.cData(), {v}.cShape(), {v}.cStrides(),\n" for v in views]
    return f"""
func (o *operands) {name}({", ".join([*before, *after])}) *C.gather_go_error {{
	return C.{function}({given(before)},
{"".join(lines)}\t\t{given(after)})
}}
"""


def kind(table, name):
    operands = [table.operand(name, role) for role in table.roles]
    names = ", ".join(f"Operand{go_name(each.name)}" if each else "OperandNone" for each in operands)
    return f"kind{{[...]Operand{{{names}}}, role{go_name(table.written(name).upper())}}}"


def aligned(pairs, between, after):
    """Returns lines with two columns, as gofmt aligns them."""
    width = max(len(first) for first, _ in pairs)
    return "".join(f"\t{first.ljust(width)}{between}{second}{after}\n" for first, second in pairs)


def operands(table):
    roles = [f"role{go_name(role.upper())}" for role in table.roles]
    kinds = [(f"kind{go_name(name.upper())}", kind(table, name)) for name in table.kinds]
    kind_of = [(f"op{go_name(each.number)}:", f"&kind{go_name(each.kind.upper())}") for each in table.operations]
    return f"""{NOTICE}
package gather

// #include "call.h"
import "C"

// These are the roles of operands, in the order of a request.
const (
	{roles[0]} = iota
{"".join(f"	{role}{chr(10)}" for role in [*roles[1:], "roleCount"])})

// operands are the operands of a request by role. A missing operand is &absent.
type operands [roleCount]*view

// byRole returns operands of which only the first three may exist.
func byRole(table, indices, rows *view) operands {{
	return operands{{table, indices, rows{", &absent" * len(roles[3:])}}}
}}

// A kind is a set of operations with the same operands.
type kind struct {{
	names   [roleCount]Operand // by role
	written int                // the role of the operand that is written
}}

var (
{aligned(kinds, " = ", "")})

// kindOf has the kind of each operation.
var kindOf = [...]*kind{{
{aligned(kind_of, " ", ",")}}}
{"".join(call(table, *each) for each in OPERANDS)}"""


def roles_header(table):
    roles = " ".join(f"ROLE({role})" for role in table.roles)
    return f"""/* {CODE} */
#ifndef GATHER_GO_ROLES_H
#define GATHER_GO_ROLES_H

#include <gather/gather.h>

/* The operands of a request. */
#define GATHER_GO_ROLES(ROLE) {roles}

#endif
"""


def files(header, table):
    groups = groups_of(table)
    return {
        GO / "constants.go": constants(header, groups),
        GO / "setters.go": setters(table.options, groups),
        GO / "operands.go": operands(table),
        GO / "roles.h": roles_header(table),
    }
