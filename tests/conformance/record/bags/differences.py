"""The differences between gather_bags with a profile and its system, and their reasons."""

import math

from .. import numbers
from ..format import Error, Ok
from ..scatter.differences import Difference
from . import oracle

HALVES = ("float16", "bfloat16")


def _rounds(profile, also):
    """The numbers differ by rounding."""

    def matches(case, answer, expect):
        return case.profile.startswith(profile) and also(case) and _nearly(answer, expect)

    return matches


def _nearly(answer, expect):
    if not isinstance(answer, Ok) or not isinstance(expect, Ok) or answer.shape != expect.shape:
        return False
    pairs = zip(*(numbers.unpack(expect.dtype, each.data) for each in (answer, expect)))
    epsilon = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-22, "float64": 2**-51}[expect.dtype]
    return all(a == b or (a != a and b != b) or abs(a - b) <= epsilon * abs(b) < math.inf for a, b in pairs)


def _is_early(case):
    return case.bag_format == "offsets" and case.bags.integers()[-1] < case.indices.size


def _drops_the_end(case, answer, expect):
    if not isinstance(answer, Ok) or not isinstance(expect, Ok) or answer.shape[1:] != expect.shape[1:]:
        return False
    return case.profile == "tensorflow" and answer.shape[0] < expect.shape[0] and expect.data.startswith(answer.data)


TABLE = [
    Difference(
        "B01",
        "torch",
        "rounds sums of bfloat16 to the number that is farther from zero if two are equally near",
        "the even number, as in every other conversion",
        "an accident of one kernel",
        _rounds("torch", lambda case: case.params.dtype == "bfloat16" and oracle.pool_of(case) == "sum"),
    ),
    Difference(
        "B02",
        "torch",
        "rounds the sum of float16 and bfloat16 to the dtype before it divides by the number of ids",
        "the mean is rounded once",
        "a smaller error",
        _rounds("torch", lambda case: case.params.dtype in HALVES and case.pool == "mean"),
    ),
    Difference(
        "B03",
        "torch",
        "drops a NaN in the maximum unless it is in the first row of the bag",
        "NaN",
        "the result must not depend on the order of the ids",
        lambda case, answer, expect: case.profile == "torch" and case.pool == "max" and "/special_" in case.name,
    ),
    Difference(
        "B04",
        "torch",
        "if the last offset is less than the number of ids, divides by their number for mean, or reads them for max",
        "The remaining ids are not read, as for sum.",
        "one rule for all pools",
        lambda case, answer, expect: case.profile == "torch" and isinstance(answer, Ok) and _is_early(case),
    ),
    Difference(
        "B05",
        "TensorFlow",
        "multiplies sums by the reciprocal of the divisor of mean and sqrtn",
        "the quotient",
        "a smaller error",
        _rounds("tensorflow", lambda case: case.pool in ("mean", "sqrtn")),
    ),
    Difference(
        "B06",
        "TensorFlow's embedding_lookup_sparse",
        "drops empty bags at the end",
        "zeros for every bag",
        "safe_embedding_lookup_sparse has them, too",
        _drops_the_end,
    ),
    Difference(
        "B07",
        "TensorFlow, JAX",
        "round the product of weight and row before they add it",
        "one fused multiply-add for each id of float32",
        "a smaller error, as in torch",
        lambda case, answer, expect: case.weights is not None and _nearly(answer, expect),
    ),
    Difference(
        "B08",
        "TensorFlow",
        "drops a NaN in segment_max and segment_min, depending on the order of the ids",
        "NaN",
        "the result must not depend on the order of the ids",
        lambda case, answer, expect: (
            case.profile == "tensorflow" and case.pool in oracle.EXTREMES and "/special_" in case.name
        ),
    ),
    Difference(
        "B09",
        "JAX",
        "adds float16 and bfloat16 in the dtype",
        "float32, rounded once; accumulate has the dtype",
        "a sum of 400 numbers of bfloat16 no longer increases",
        lambda case, answer, expect: case.profile.startswith("jax") and case.params.dtype in HALVES,
    ),
    Difference(
        "B10",
        "JAX",
        "accepts segments in any order, and drops those that are not a bag",
        "OFFSETS",
        "the rows of a bag are successive, so that each bag is one loop",
        lambda case, answer, expect: (
            case.profile.startswith("jax")
            and isinstance(answer, Ok)
            and isinstance(expect, Error)
            and expect.status == "OFFSETS"
        ),
    ),
]

HEADER = """# Deliberate differences of bags

Generated from `record/bags/differences.py`. A profile has the results of the system of the same name, with these
exceptions. At least one case shows each id.

| id | system | its result | result of libgather | reason | cases |
|---|---|---|---|---|---|
"""
