"""The choices and the setters of the options of Rust."""

import re

from header import ROOT, between, comment, marks, sentence

FILE = ROOT / "bindings/rust/gather/src/options.rs"
CHOICES, SETTERS = marks("//", "choices"), marks("//", "setters")

# The type Bags sets these options.
BY_HAND = {"bag_format", "bag_count"}
# The setter of the element sets this value.
HIDDEN = "GTH_FILL_VALUE"
# The kind of a setter in options.rs, and the type of its parameter.
TYPES = {
    "given": ("given", "i64"),
    "int64": ("number", "i64"),
    "int32": ("number", "i32"),
    "count": ("count", "usize"),
    "dtype": ("dtype", "DType"),
}
# The words whose Rust spelling is not one capital and lower case.
WORDS = {"TENSORFLOW": "TensorFlow", "SQRTN": "SqrtN", "DTYPE": "DType"}
STATUSES = {"GTH_E_INDEX": "Index", "GTH_E_OFFSETS": "Offsets"}


def rust_name(name):
    return "".join(WORDS.get(part) or part.capitalize() for part in name.split("_"))


def linked(text, table):
    """Returns a text with links to choices, operations and errors. Other brackets are no links."""

    def link(match):
        name = match[1] or match[2]
        for option in table.options:
            if option.prefix and name.startswith(option.prefix):
                return f"[`{option.type_name}::{rust_name(name.removeprefix(option.prefix))}`]"
        if name in STATUSES:
            return f"[`Error::{STATUSES[name]}`]"
        if name.startswith("GTH_"):
            raise ValueError(f"{name} has no name in Rust")
        return f"[`{name}`](crate::{name}())"

    text = re.sub(r"([\[\]])", r"\\\1", text)
    text = re.sub(r"gth_options\.(\w+)", lambda match: f"[`Options::{match[1]}`]", text)
    return re.sub(r"\{(\w+)\}|\b(GTH_\w+)", link, text)


def choice(option, header, table):
    above, lines = header.above(), []
    for each in header.constants:
        if each.name.startswith(option.prefix) and each.name != HIDDEN:
            text = linked(sentence(above.get(each.name) or each.comment), table)
            lines.append(comment(text, "        /// "))
            lines.append(f"        {rust_name(each.name.removeprefix(option.prefix))} = {each.name},\n")
    what = comment(linked(sentence(option.what), table), "    /// ")
    return f"{what}    {option.type_name} {{\n{''.join(lines)}    }}\n"


def setter(option, table):
    kind, parameter = ("choice", option.type_name) if option.prefix else TYPES[option.type]
    has = f", has_{option.name}" if kind == "given" else ""
    text = comment(f"Sets {linked(option.full_text, table)}", "    /// ")
    return f"{text}    {kind} {option.name}: {parameter}{has};\n"


def files(header, table):
    options = [each for each in table.options if each.name not in BY_HAND]
    choices = "\n".join(choice(each, header, table) for each in options if each.prefix)
    setters = "".join(setter(each, table) for each in options)
    text = between(FILE.read_text(), *CHOICES, f"choices! {{\n{choices}}}\n")
    return {FILE: between(text, *SETTERS, f"options! {{\n{setters}}}\n")}
