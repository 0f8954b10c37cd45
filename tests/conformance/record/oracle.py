"""Computes the expected result of a case in pure Python, one element at a time.

Every recorded result of a system is compared with it. If no system can express a case, only the oracle computes the
result.
"""

import itertools
import math
from dataclasses import dataclass

from . import dtypes, elements, profiles
from .format import Ok
from .policy import (
    AXIS_FIELD,
    BATCH_DIMS_FIELD,
    INT64_MAX,
    OPSET_FIELD,
    Refused,
    as_memory,
    filler,
    resolve,
    switches,
)

MAX_RANK = 64


@dataclass(frozen=True)
class Form:
    """A validated call in the common form of gather and gather_nd."""

    batches: tuple  # params' batch dims
    outer: tuple
    indexed: tuple
    inner: tuple
    tuples: int
    out_shape: tuple


def answer(case):
    try:
        check_dtypes(case)
        check_opset(case)
        lower, execute = _OPERATIONS[case.op]
        form = lower(case)
        check_output(case, form.out_shape)
        return Ok(case.params.dtype, form.out_shape, as_memory(case, execute(case, form)))
    except Refused as refused:
        return refused.error


def check_dtypes(case):
    below_first = profiles.TABLE[case.profile].onnx_types and profiles.definition(case.op, case.opset) is None
    opset = 0 if below_first else case.opset
    params, indices = dtypes.ALL[case.params.dtype], dtypes.ALL[case.indices.dtype]
    if params.name not in profiles.params_dtypes(case.profile, case.op, opset):
        raise Refused("DTYPE", "params", -1, params.number, 0)
    if indices.name not in profiles.index_dtypes(case.profile, case.op):
        raise Refused("DTYPE", "indices", -1, indices.number, 0)
    _, bounds, fill = switches(case)
    selects_none = bounds == "fill" or case.padding_index is not None
    if params.name == "string" and selects_none and fill != "zero":
        raise Refused("DTYPE", "params", -1, params.number, 0)


def check_opset(case):
    first = profiles.ONNX_DEFINITIONS[case.op][0]
    if profiles.TABLE[case.profile].onnx_types and profiles.definition(case.op, case.opset) is None:
        raise Refused("VERSION", "options", OPSET_FIELD, case.opset, first)


def check_ranks(case):
    if not case.params.shape and not takes_scalar(case):
        raise Refused("RANK", "params", -1, 0, 1)
    if case.op == "gather_nd" and not case.indices.shape:
        raise Refused("RANK", "indices", -1, 0, 1)


def takes_scalar(case):
    no_depth = case.op == "gather_nd" and case.indices.shape[-1:] == (0,)
    return profiles.TABLE[case.profile].scalars_nd and no_depth


def lower_gather(case):
    check_ranks(case)
    axis, b = gather_attributes(case)
    params, indices = case.params.shape, case.indices.shape
    check_equal_batches(params, indices, b)
    return Form(
        batches=params[:b],
        outer=params[b:axis],
        indexed=(params[axis],),
        inner=params[axis + 1 :],
        tuples=math.prod(indices),
        out_shape=params[:axis] + indices[b:] + params[axis + 1 :],
    )


def gather_attributes(case):
    """Returns axis and batch_dims, both normalised."""
    r, q, given = len(case.params.shape), len(case.indices.shape), case.batch_dims
    if case.axis is not None and not -r <= case.axis < r:
        raise Refused("AXIS", "options", AXIS_FIELD, case.axis, r)
    if profiles.TABLE[case.profile].onnx_types and given != 0:
        raise Refused("BATCH", "options", BATCH_DIMS_FIELD, given, 0)
    if not -q <= given <= q:
        raise Refused("BATCH", "options", BATCH_DIMS_FIELD, given, q)
    b = given + q if given < 0 else given
    axis = given if case.axis is None else case.axis
    if b >= r or not -r <= axis < r:
        raise Refused("BATCH", "options", BATCH_DIMS_FIELD, given, r)
    normal = axis + r if axis < 0 else axis
    if normal < b:
        raise Refused("AXIS", "options", AXIS_FIELD, axis, b)
    return normal, b


def lower_gather_nd(case):
    check_ranks(case)
    params, indices, b = case.params.shape, case.indices.shape, case.batch_dims
    check_gather_nd_attributes(case)
    profile, k, room = profiles.TABLE[case.profile], indices[-1], len(params) - b
    if k > room:
        raise Refused("SHAPE", "indices", len(indices) - 1, k, room)
    if k == 0 and not profile.k0:
        raise Refused("SHAPE", "indices", len(indices) - 1, 0, 1)
    if profile.divisible_batches:
        check_divisible_batches(params, indices, b)
    else:
        check_equal_batches(params, indices, b)
    return Form(
        batches=params[:b],
        outer=(),
        indexed=params[b : b + k],
        inner=params[b + k :],
        tuples=math.prod(indices[:-1]),
        out_shape=indices[:-1] + params[b + k :],
    )


def check_gather_nd_attributes(case):
    r, q, b = len(case.params.shape), len(case.indices.shape), case.batch_dims
    profile = profiles.TABLE[case.profile]
    if case.axis is not None:
        raise Refused("AXIS", "options", AXIS_FIELD, case.axis, 0)
    if profile.onnx_types and profiles.definition(case.op, case.opset) == 11 and b != 0:
        raise Refused("BATCH", "options", BATCH_DIMS_FIELD, b, 0)
    if profile.divisible_batches:
        allowed, limit = 0 <= b <= r, r
    else:
        allowed, limit = 0 <= b < min(q, r), min(q, r)
    if not allowed:
        raise Refused("BATCH", "options", BATCH_DIMS_FIELD, b, limit)


def check_equal_batches(params, indices, b):
    for d in range(b):
        if params[d] != indices[d]:
            raise Refused("BATCH", "indices", d, indices[d], params[d])


def check_divisible_batches(params, indices, b):
    """ONNX Runtime distributes the tuples evenly over the batches, for all shapes."""
    batches, tuples = math.prod(params[:b]), math.prod(indices[:-1])
    output = math.prod(indices[:-1] + params[b + indices[-1] :])
    if output > 0 and (batches == 0 or tuples % batches != 0):
        raise Refused("BATCH", "indices", 0, tuples, batches)


def check_output(case, shape):
    rank = len(shape)
    if rank > MAX_RANK:
        raise Refused("RANK", "out", -1, rank, MAX_RANK)
    total = max(dtypes.ALL[case.params.dtype].size, 1)
    for extent in shape:
        total *= max(extent, 1)
        if total > INT64_MAX:
            raise Refused("SIZE", "out", -1, extent, INT64_MAX)


def gather(case, form):
    negative, bounds, fill = switches(case)
    check_empty_params(case, form)
    profile = profiles.TABLE[case.profile]
    work = profiles.Work(
        case.op,
        form.tuples,
        math.prod(form.outer),
        math.prod(form.inner),
        form.indexed,
        len(case.indices.shape),
    )
    positions = []
    if profile.values_checked(work):
        positions = [
            resolve(values, form.indexed, negative, bounds, position, case.padding_index)
            for position, values in enumerate(tuples_of(case, form))
        ]
    elif not work.output_is_empty:
        raise AssertionError("values of a non-empty output must be checked")
    return copy(case, form, positions, filler(case, bounds, fill))


def check_empty_params(case, form):
    refuses = profiles.TABLE[case.profile].refuses_empty_params_nd and case.op == "gather_nd"
    if refuses and form.tuples > 0 and 0 in case.params.shape:
        raise Refused("INDEX", "params", case.params.shape.index(0), 0, 1)


def tuples_of(case, form):
    values, k = case.indices.integers(), len(form.indexed)
    return [values[t * k : t * k + k] for t in range(form.tuples)]


def copy(case, form, positions, fill):
    if math.prod(form.out_shape) == 0:
        return []
    per_batch = form.tuples // math.prod(form.batches)
    out = []
    for number, batch in enumerate(itertools.product(*map(range, form.batches))):
        for outer in itertools.product(*map(range, form.outer)):
            for position in range(number * per_batch, (number + 1) * per_batch):
                for inner in itertools.product(*map(range, form.inner)):
                    if positions[position] is None:
                        out.append(fill)
                        continue
                    out.append(case.params.at((*batch, *outer, *positions[position], *inner)))
    return out


_OPERATIONS = {
    "gather": (lower_gather, gather),
    "gather_nd": (lower_gather_nd, gather),
    "gather_elements": (elements.lower, elements.gather),
}
