"""Reads the operations of the library, their operands and their roles from core/base/operation_list.hpp."""

import re
from dataclasses import dataclass

from header import ROOT

LIST = ROOT / "src/core/base/operation_list.hpp"


@dataclass(frozen=True)
class Operand:
    kind: str
    role: str
    name: str  # GTH_OPERAND_* without the prefix
    use: str  # read, written or zeroed
    need: str
    dtype: str
    shape: str
    access: str


@dataclass(frozen=True)
class Operation:
    name: str
    number: str  # GTH_OP_* without the prefix
    rules: str
    kind: str
    form: str  # slices or paired
    tuples: str  # one or last


def entries(text, macro):
    """Returns the columns of each entry. An entry may continue on other lines."""
    found = re.findall(rf"^  {macro}\((.*?)\)(?= *\\?$)", text, re.DOTALL | re.MULTILINE)
    return [[column.strip() for column in entry.replace("\\\n", " ").split(",")] for entry in found]


class Operations:
    def __init__(self, text, options, profiles):
        self.options, self.profiles = options, profiles
        listed = [Operand(*columns) for columns in entries(text, "OPERAND")]
        self.operands = [each for each in listed if each.dtype != "codec"]  # the others belong to the codec of a table
        used = {each.role for each in self.operands}
        self.roles = [role for role, *_ in entries(text, "ROLE") if role in used]
        self.operations = [Operation(*columns[:6]) for columns in entries(text, "OPERATION")]
        self.kinds = list(dict.fromkeys(each.kind for each in self.operands))

    def operand(self, kind, role):
        """Returns the operand of a kind of operations with a role, or None."""
        return next((each for each in self.operands if (each.kind, each.role) == (kind, role)), None)

    def written(self, kind):
        """Returns the role that operations of a kind write."""
        return next(each.role for each in self.operands if each.kind == kind and each.use != "read")
