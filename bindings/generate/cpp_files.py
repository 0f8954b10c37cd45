"""The choices and the setters of the options of C++."""

import re

from header import ROOT, between, comment, marks, sentence

FILE = ROOT / "include/gather/gather.hpp"
CHOICES, SETTERS = marks("//", "choices"), marks("  //", "setters")
WIDTH = 120

# The options that gather.hpp sets by hand: bag_count also sets the format.
BY_HAND = {"bag_count"}
TYPES = {"given": "int64_t", "int64": "int64_t", "int32": "int32_t", "count": "int32_t", "dtype": "int32_t"}
# gather.hpp sets this value together with the element.
HIDDEN = "GTH_FILL_VALUE"


def named(text, options):
    """Returns a text with the names of C++."""

    def name(match):
        for option in options:
            if option.prefix and match[1].startswith(option.prefix):
                return f"{option.type_name}::{match[1].removeprefix(option.prefix).lower()}"
        return match[1]

    return re.sub(r"\{(\w+)\}", name, text)


def choice(option, constants, options):
    values = [each.name for each in constants if each.name.startswith(option.prefix) and each.name != HIDDEN]
    lines = "".join(f"  {name.removeprefix(option.prefix).lower()} = {name},\n" for name in values)
    text = comment(named(sentence(option.what), options), "/// ")
    return f"{text}enum class {option.type_name} : int32_t {{\n{lines}}};\n"


def setter(option, options):
    name, kind = option.name, option.type_name if option.prefix else TYPES[option.type]
    chosen = f"set(raw_.has_{name}, 1)." if option.type == "given" else ""
    head, body = f"  Options& {name}({kind} value) & noexcept {{", f"return {chosen}set(raw_.{name}, value);"
    line = f"{head} {body} }}\n"
    text = line if len(line) <= WIDTH + 1 else f"{head}\n    {body}\n  }}\n"
    copy = f"  Options {name}({kind} value) && noexcept {{ return {name}(value); }}\n"
    return comment(named(f"Sets {option.full_text}", options), "  /// ") + text + copy


def files(header, table):
    options = table.options
    choices = "".join(choice(each, header.constants, options) for each in options if each.prefix)
    setters = "".join(setter(each, options) for each in options if each.name not in BY_HAND)
    text = between(FILE.read_text(), *CHOICES, choices)
    return {FILE: between(text, *SETTERS, setters)}
