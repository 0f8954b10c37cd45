"""The meaning of the switches of a case: the element that an index selects, the element that is written instead, and
the error of a rejected call. All operations share it.
"""

from . import dtypes, numbers, profiles
from .format import PREFILL, Error

INT64_MAX = 2**63 - 1

# Byte offsets of the fields of gth_options. Errors name a field by its offset.
AXIS_FIELD = 8
BATCH_DIMS_FIELD = 16
OPSET_FIELD = 28


class Refused(Exception):
    def __init__(self, status, operand, component, value, limit, position=-1, flags=()):
        self.error = Error(status, operand, component, position, value, limit, flags)


def switches(case):
    """Returns the policy of a call. The switches of the case override those of the profile."""
    profile = profiles.TABLE[case.profile]
    negative = case.negative or profiles.negative_rule(case.profile, case.op, case.opset)
    return negative, case.bounds or profile.bounds, case.fill or profile.fill


def extents(case):
    """The rule for different extents beside the axis in gather_elements."""
    return case.extents or profiles.TABLE[case.profile].extents


def resolve(values, sizes, negative, bounds, position, padding=None):
    """Returns the coordinates that a tuple selects, or None if nothing is read."""
    if padding is not None and set(values) == {padding}:
        return None
    flags = ("wrap",) if negative == "wrap" else ()
    resolved = []
    for component, (value, size) in enumerate(zip(values, sizes)):
        wrapped = value + size if negative == "wrap" and -size <= value < 0 else value
        coordinate = place(wrapped, size, bounds)
        if coordinate is None and bounds in ("fill", "skip"):
            return None
        if coordinate is None:
            raise Refused("INDEX", "indices", component, *reported(value, flags, size, position))
        resolved.append(coordinate)
    return resolved


def place(value, size, bounds):
    if size > 0 and bounds == "clamp":
        return min(max(value, 0), size - 1)
    if size > 0 and bounds == "modulo":
        return value % size
    return value if 0 <= value < size else None


def reported(value, flags, size, position):
    """Error fields are int64. A larger value has its bit pattern as a signed number, and a flag."""
    if value > INT64_MAX:
        return value - 2**64, size, position, (*flags, "unsigned")
    return value, size, position, flags


def filler(case, bounds, fill):
    """Returns the element of the output if no element is read."""
    if case.params.dtype == "string":
        return b""
    size = dtypes.ALL[case.params.dtype].size
    if bounds == "skip":
        return PREFILL * size
    return {
        "zero": bytes(size),
        "value": case.fill_value,
        "by_dtype": numbers.FILL_BY_DTYPE[case.params.dtype],
    }[fill]


def as_memory(case, elements):
    return tuple(elements) if case.params.dtype == "string" else b"".join(elements)
