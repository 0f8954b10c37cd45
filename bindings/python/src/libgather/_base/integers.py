"""Reads integers of the caller, and finds the names of the library's numbers."""

from __future__ import annotations

import operator

from .. import errors
from . import constants as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: The operands that are always integers. An empty list of them is int64.
INDEXING = ("indices", "bags")
_TORCHS_ORDER = ": torch.gather(input, dim, index) is gather_elements(input, index, axis=dim)"


def named(prefix: str) -> dict[str, int]:
    """Returns the constants with a prefix. The keys are the rest of their names in lower case."""
    return {name.removeprefix(prefix).lower(): value for name, value in vars(c).items() if name.startswith(prefix)}


def rules_of(profile: object) -> dict[str, str]:
    """Returns the rules of a profile, or those of no profile for None and for an unknown name."""
    return c.PROFILES.get(str(profile), c.PROFILES["none"])


def integer(name: str, value: Any, bits: int = 64) -> int:
    """Returns the integer of an object that has ``__index__``. Raises DTypeError for others, and for a bool."""
    try:
        number = operator.index(value)
        if isinstance(value, bool):
            raise TypeError
    except TypeError:
        hint = _TORCHS_ORDER if name == "axis" and hasattr(value, "shape") else ""
        raise errors.dtype_error("options", f"{name} is {type(value).__name__}, not an integer{hint}") from None
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        kind = errors.RankError if bits == 64 else errors.OptionError
        status = c.E_AXIS if bits == 64 else c.E_VERSION
        raise kind(f"options: {name} {number} is out of range", status=status, operand="options")
    return number


def integers(name: str, values: Any) -> tuple[int, ...]:
    """Returns a shape or strides as a tuple. None in it means an open extent."""
    try:
        return tuple(c.OPEN if value is None else value.__index__() for value in values)
    except (TypeError, AttributeError):
        raise errors.dtype_error(None, f"{name} {values!r} is no sequence of integers") from None


def integer_dtype(integers: list[int], operand: str) -> int:
    """Returns int64, or uint64 if an integer needs it. Raises DTypeError if neither dtype holds all integers."""
    lowest, highest = min(integers), max(integers)
    if highest < 2**63 and lowest >= -(2**63):
        return c.DTYPE_INT64
    if highest < 2**64 and lowest >= 0:
        return c.DTYPE_UINT64
    raise errors.dtype_error(operand, f"integers in [{lowest}, {highest}] are out of range of int64 and uint64")


def check_floats(integers: list[int], operand: str) -> None:
    """Raises DTypeError if float64 cannot represent an integer that is in a list with floats."""
    for integer in integers:
        if not -(2**63) <= integer < 2**64 or float(integer) != integer:
            raise errors.dtype_error(operand, f"{integer} is in a list with floats, and float64 cannot represent it")
