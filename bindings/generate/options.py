"""Reads the options of a call from core/base/option_list.hpp."""

import re
from dataclasses import dataclass

from header import ROOT

LIST = ROOT / "src/core/base/option_list.hpp"

# The fields that no entry of the list has. Each language sets them by the type of the value.
OTHERS = {"size", "fill_value", "fill_dtype", "reserved"}


# The columns of an entry: a comma may have the end of a line after it.
PLAIN, QUOTED = r" ?(\w+)", r'\s*\\?\n?\s*"([^"]*)"'


@dataclass(frozen=True)
class Option:
    name: str
    type: str  # choice, count, given, int32, int64 or dtype
    highest: str
    kinds: str
    unset: str  # completes the sentence "The default is .."
    text: str  # completes the sentence "Sets .."

    @property
    def prefix(self):
        """Returns the prefix of the constants that are the values of a choice, or None."""
        return "_".join(self.highest.split("_")[:2]) + "_" if self.type == "choice" else None

    @property
    def type_name(self):
        """Returns the name of the type of a choice."""
        return self.name.title().replace("_", "")

    @property
    def what(self):
        """Returns the first sentence of the text without its period. For a choice, this sentence describes the type."""
        return self.text.split(". ")[0].removesuffix(".")

    @property
    def full_text(self):
        """Returns the text with the default."""
        default = "default, 0," if self.type in ("count", "int32") else "default"
        return f"{self.text} The {default} is {self.unset}."


def entries(text):
    """Returns the options of the list. Adjacent strings are one text."""
    text = re.sub(r'"\s*\\\n\s*"', "", text)
    return [Option(*columns) for columns in re.findall(rf"\bOPTION\({','.join([PLAIN] * 4 + [QUOTED] * 2)}\)", text)]


@dataclass(frozen=True)
class Profile:
    name: str  # GTH_PROFILE_* without the prefix, or NONE
    numbers: str
    strings: str
    foreign: str
    negative: str
    bounds: str
    fill: str
    extents: str
    empty: str
    end: str
    repeats: str
    check: str


def profiles(text):
    """Returns the profiles of the list, by number."""
    found = re.findall(r"^  PROFILE\((.*?)\)", text, re.MULTILINE)
    return [Profile(*(column.strip() for column in entry.split(","))) for entry in found]


def check(header, options):
    """Fails if a field has no option, or an option no field."""
    fields = {each.name for each in next(s for s in header.structs if s.name == "gth_options").fields}
    named = {each.name for each in options} | {f"has_{each.name}" for each in options if each.type == "given"}
    for name in named - fields:
        raise ValueError(f"gth_options has no field {name}")
    for name in fields - named - OTHERS:
        raise ValueError(f"gth_options.{name} has no option")
