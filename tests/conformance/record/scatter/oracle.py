"""Computes the expected result of a scatter. Each update is written to the element that the gather of the same indices
would read.

The oracle of gathers finds this element: it gathers from a target whose elements are their own numbers.
"""

import math
from dataclasses import replace

from .. import data, dtypes
from .. import numbers as formats
from .. import oracle as gathers
from ..format import Error, Ok
from . import rules

OPERANDS = {"params": "target", "out": "updates"}
NOWHERE = -1
REDUCTION_FIELD = 52


def answer(case):
    refused = refuse_dtype(case) or refuse_reduction(case)
    if refused:
        return refused
    numbers = places(case)
    if isinstance(numbers, Error):
        return numbers
    if case.updates.dtype == "string":
        return Ok("string", case.params.shape, replaced(case, numbers))
    elements = replaced(case, numbers) if case.reduction in (None, "none") else scatter(case, numbers)
    return Ok(case.params.dtype, case.params.shape, b"".join(elements))


def refuse_dtype(case):
    kind = dtypes.ALL[case.params.dtype]
    allowed = case.params.dtype in rules.target_dtypes(case.profile, case.op)
    if not allowed or not rules.reduces(kind.kind, case.reduction):
        return Error("DTYPE", "target", value=kind.number)
    return None


def refuse_reduction(case):
    """Returns the error of an opset below the first one with the reduction, or None. Opset 0 is the newest."""
    wanted = case.reduction or "none"
    if case.profile not in ("onnx", "ort") or case.op == "scatter" or not 0 < case.opset < rules.FIRST_OPSET[wanted]:
        return None
    highest = max(n + 1 for n, r in enumerate(rules.REDUCTIONS) if rules.FIRST_OPSET[r] <= case.opset)
    number = rules.REDUCTIONS.index(wanted) + 1
    return Error("VERSION", "options", REDUCTION_FIELD, value=number, limit=highest)


def places(case):
    """Returns the number of the target's element for each update in row-major order, or the error."""
    count = math.prod(case.params.shape)
    dropped = formats.pack("int64", [NOWHERE])
    bounds = rules.bounds(case)
    gather = replace(
        case,
        op=case.op.replace("scatter", "gather"),
        profile="torch" if rules.validates_all(case) else "none",
        params=data.array("int64", case.params.shape, range(count)),
        updates=None,
        opset=0,
        negative=rules.negative(case),
        bounds="fill" if bounds == "skip" else bounds,
        fill="value",
        fill_value=dropped,
        extents=rules.extents(case) if case.op == "scatter_elements" else None,
    )
    if case.op == "scatter_nd" and case.indices.shape[-1:] == (0,) and not rules.TABLE[case.profile].k0:
        return Error("SHAPE", "indices", len(case.indices.shape) - 1, value=0, limit=1)
    found = None if validates(case) else gathers.answer(replace(gather, bounds="fill"))
    if not isinstance(found, Ok) or 0 not in found.shape:
        found = gathers.answer(gather)
    if isinstance(found, Error):
        return replace(found, operand=OPERANDS.get(found.operand, found.operand))
    if case.updates.shape != found.shape:
        return wrong_shape(case.updates.shape, found.shape)
    return formats.unpack("int64", found.data)


def validates(case):
    """Returns true if indices are validated although no element is written."""
    return case.profile == "none" or rules.validates_all(case)


def wrong_shape(given, wanted):
    if len(given) != len(wanted):
        return Error("RANK", "updates", value=len(given), limit=len(wanted))
    dim = next(d for d, (a, b) in enumerate(zip(given, wanted)) if a != b)
    return Error("SHAPE", "updates", dim, value=given[dim], limit=wanted[dim])


def replaced(case, numbers):
    elements = case.params.elements()
    for number, update in zip(numbers, case.updates.elements()):
        if number != NOWHERE:
            elements[number] = update
    return tuple(elements)


def scatter(case, numbers):
    """Returns the elements after the updates, which are applied in their order, in the type that accumulates.

    Each element is then rounded once.
    """
    kind, dtype = dtypes.ALL[case.params.dtype].kind, case.params.dtype
    wide = "float32" if rules.in_float32(case) else "float64" if rules.in_float64(case) else dtype
    elements, held, counts = case.params.elements(), {}, {}
    for number, update in zip(numbers, case.updates.numbers()):
        if number == NOWHERE:
            continue
        if number not in held:
            starts = case.initial == "update"
            held[number] = identity(case.reduction, dtype) if starts else formats.unpack(dtype, elements[number])[0]
            counts[number] = int(not starts)
        held[number] = formats.rounded(wide, reduced(case.reduction, held[number], update))
        counts[number] += 1
    for number, value in held.items():
        if case.reduction == "mean":
            value = divided(value, counts[number], kind, wide)
        elements[number] = formats.pack(dtype, [value])
    return elements


def identity(reduction, dtype):
    kind = dtypes.ALL[dtype].kind
    if reduction in ("add", "mean", "mul"):
        return int(reduction == "mul")
    if kind == "bool":
        return reduction == "min"
    if kind in ("int", "uint"):
        return formats.limits(dtype)[reduction == "min"]
    return math.inf if reduction == "min" else -math.inf


def divided(value, count, kind, wide):
    """Quotients of integers are rounded down. Quotients of numbers of 2 bytes are computed in float32."""
    if kind in ("int", "uint"):
        return value // count
    if kind == "complex":
        return complex(value.real / count, value.imag / count)
    return value / count if wide == "float64" else formats.rounded("float32", value / count)


def reduced(reduction, held, update):
    if reduction in ("add", "mean"):
        return held + update
    if reduction == "mul":
        return held * update
    if reduction in ("max", "min"):
        if held != held or update != update:
            return held if held != held else update
        better = update > held if reduction == "max" else update < held
        return update if better else held
    return update
