"""What the switches of a case mean: which element an index selects, what is written instead, and
how a refused call is told. All operations share it."""

from . import dtypes, profiles
from .format import PREFILL, Error

INT64_MAX = 2**63 - 1

# Byte offsets of the fields of gth_options, by which errors name them.
AXIS_FIELD = 8
BATCH_DIMS_FIELD = 16
OPSET_FIELD = 28


class Refused(Exception):
    def __init__(self, status, operand, component, value, limit, position=-1, flags=()):
        self.error = Error(status, operand, component, position, value, limit, flags)


def switches(case):
    """The policy in force: the case's own switches over the profile's."""
    profile = profiles.TABLE[case.profile]
    negative = case.negative or profiles.negative_rule(case.profile, case.op, case.opset)
    return negative, case.bounds or profile.bounds, case.fill or profile.fill


def extents(case):
    """How far the extents beside the axis may differ, in gather_elements."""
    return case.extents or profiles.TABLE[case.profile].extents


def resolve(values, sizes, negative, bounds, position):
    """The coordinates that a tuple means, or None where nothing is read."""
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
    """Error fields hold int64, so a larger value is shown as its signed pattern and marked."""
    if value > INT64_MAX:
        return value - 2**64, size, position, (*flags, "unsigned")
    return value, size, position, flags


def filler(case, bounds, fill):
    """What stands in the output where no element is read."""
    if case.params.dtype == "string":
        return b""
    size = dtypes.ALL[case.params.dtype].size
    if bounds == "skip":
        return PREFILL * size
    return {
        "zero": bytes(size),
        "value": case.fill_value,
        "by_dtype": dtypes.FILL_BY_DTYPE[case.params.dtype],
    }[fill]


def as_memory(case, elements):
    return tuple(elements) if case.params.dtype == "string" else b"".join(elements)
