"""The cases: profile x gather x kind x dtype. Operands are those of a scatter of the same kind. Its target is zeros."""

import itertools
import math
import random
from dataclasses import replace

from .. import data, dtypes
from ..format import Tensor
from ..scatter import grid as scatters
from ..scatter import rules

PROFILES = ("none", "torch", "tensorflow", "jax_fill", "jax_clip")
OPS = ("gather_gradient", "gather_nd_gradient", "gather_elements_gradient")
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64")
KINDS = (*scatters.KINDS, "batch")
ACCUMULATES = {"none": ("dtype", "float32")}
MANY = 400


def cases():
    for profile in PROFILES:
        for op in OPS:
            for kind in KINDS:
                for dtype in DTYPES:
                    yield from of_cell(profile, op, kind, dtype)
            for dtype in rules.HALVES:
                for accumulate in ACCUMULATES.get(profile, (None,)):
                    yield of_halves(profile, op, dtype, accumulate)
    yield from with_padding()


def of_cell(profile, op, kind, dtype):
    if kind == "batch" and op == "gather_elements_gradient":
        return
    name = f"{profile}/{op}/{kind}/{dtype}"
    rng = random.Random(name)
    index_dtype = rng.choice(("int32", "int64"))
    plain = "duplicates" if kind == "batch" else kind
    case = scatters.make(rng, name, profile, scatter_of(op), plain, "add", None, dtype, index_dtype)
    yield gradient_of(op, in_batches(rng, case) if kind == "batch" else case)


def scatter_of(op):
    return op.removesuffix("_gradient").replace("gather", "scatter")


def gradient_of(op, case):
    """Returns the case of a gradient that has the result of a scatter into zeros."""
    shape, dtype = case.params.shape, case.params.dtype
    zeros = Tensor(dtype, shape, bytes(math.prod(shape) * dtypes.ALL[dtype].size))
    return replace(case, op=op, params=zeros, reduction=None)


def gather_of(case):
    """Returns the gather that a case differentiates."""
    return replace(case, op=case.op.removesuffix("_gradient"), updates=None)


def with_padding():
    """Embeddings, and other gathers without a profile, whose padding has no gradient."""
    for profile, op, dtype in itertools.product(("none", "torch"), OPS, DTYPES[:4]):
        for kind, padding in itertools.product(("plain", "duplicates", "strided"), (0, 1, -1)):
            name = f"{profile}/{op}/{kind}/{dtype}_padding_{padding}"
            rng = random.Random(name)
            case = scatters.make(rng, name, profile, scatter_of(op), kind, "add", None, dtype, "int64")
            yield gradient_of(op, scatters.padded(replace(case, padding_index=padding)))


def in_batches(rng, case):
    """Returns two such calls at once. Each of them has its own indices."""
    again = replace(case, updates=scatters.values(rng, case.updates.dtype, case.updates.shape))
    axis = {} if case.op == "scatter_nd" else {"axis": (case.axis or 0) + 1}
    indices = case.indices.dense()
    row = len(indices) // (case.indices.shape[0] or 1)
    backward = b"".join(indices[at : at + row] for at in range(len(indices) - row, -1, -row or -1))
    return replace(
        case,
        batch_dims=1,
        params=stacked(case.params, case.params.dense() * 2),
        indices=stacked(case.indices, indices + backward),
        updates=stacked(case.updates, case.updates.dense() + again.updates.dense()),
        **axis,
    )


def stacked(one, memory):
    """Returns two tensors of the shape of one as one tensor."""
    return Tensor(one.dtype, (2, *one.shape), memory)


def of_halves(profile, op, dtype, accumulate):
    """Returns a case with so many ones that their sum in the dtype no longer increases."""
    index_shape = (MANY, 1) if op == "gather_nd_gradient" else (MANY,)
    name = f"{profile}/{op}/halves/{dtype}" + (f"_{accumulate}" if accumulate else "")
    scatter = scatters.Case(
        name,
        scatter_of(op),
        data.array(dtype, (2,), [0.0, 0.0]),
        data.indices("int64", index_shape, [1] * MANY),
        profile,
        axis=0 if op == "gather_elements_gradient" else None,
        updates=data.array(dtype, (MANY,), [1.125] * MANY),
        reduction="add",
        accumulate=accumulate,
    )
    return gradient_of(op, scatter)
