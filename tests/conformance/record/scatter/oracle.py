"""Computes the expected result of a scatter. Each update is written to the element that the gather of the same indices
would read.

The oracle of gathers finds this element: it gathers from a target whose elements are their own numbers.
"""

import math
from dataclasses import replace

import numpy as np

from .. import data, dtypes
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
    elements = case.params.numpy().reshape(-1).copy()
    updates = case.updates.numpy().reshape(-1)
    with np.errstate(all="ignore"):
        scatter(case, elements, numbers, updates)
    return Ok(case.params.dtype, case.params.shape, elements.tobytes())


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
    dropped = np.array(NOWHERE, dtype=np.int64).tobytes()
    bounds = rules.bounds(case)
    gather = replace(
        case,
        op=case.op.replace("scatter", "gather"),
        profile="torch" if rules.validates_all(case) else "none",
        params=data.array("int64", case.params.shape, np.arange(count)),
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
    found = gathers.answer(gather)
    if isinstance(found, Error):
        return replace(found, operand=OPERANDS.get(found.operand, found.operand))
    if case.updates.shape != found.shape:
        return wrong_shape(case.updates.shape, found.shape)
    return np.frombuffer(found.data, dtype=np.int64).tolist()


def wrong_shape(given, wanted):
    if len(given) != len(wanted):
        return Error("RANK", "updates", value=len(given), limit=len(wanted))
    dim = next(d for d, (a, b) in enumerate(zip(given, wanted)) if a != b)
    return Error("SHAPE", "updates", dim, value=given[dim], limit=wanted[dim])


def replaced(case, numbers):
    elements = list(case.params.memory)
    for number, update in zip(numbers, case.updates.memory):
        if number != NOWHERE:
            elements[number] = update
    return tuple(elements)


def scatter(case, elements, numbers, updates):
    in_float32, sums = rules.in_float32(case), {}
    for number, update in zip(numbers, updates):
        if number == NOWHERE:
            continue
        if in_float32:
            held = sums.get(number, np.float32(elements[number]))
            sums[number] = reduced(case.reduction, held, np.float32(update))
        else:
            elements[number] = reduced(case.reduction, elements[number], update)
    for number, value in sums.items():
        elements[number] = value


def reduced(reduction, held, update):
    if reduction == "add":
        return held + update
    if reduction == "mul":
        return held * update
    if reduction in ("max", "min"):
        if held != held or update != update:
            return held if held != held else update
        better = update > held if reduction == "max" else update < held
        return update if better else held
    return update
