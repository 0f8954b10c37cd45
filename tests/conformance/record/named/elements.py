"""Cases of gather_elements: ranks, axes, extents, positions, limits and the facts about each system."""

import itertools
import math

from .. import data, dtypes, profiles
from ..format import Tensor
from .build import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    UINT64_MAX,
    gather_elements,
    index,
    same_index,
    stretched,
    stretched_index,
    strings,
    table,
    values,
)

BOUNDS = ("error", "fill", "clamp", "modulo", "skip")
RULES = ("equal", "prefix", "broadcast")
TAKE_ALONG_DIM = {"extents": "broadcast", "bounds": "modulo"}
TAKE_ALONG_AXIS = {"extents": "broadcast", "negative": "wrap"}


def cases():
    for profile in profiles.TABLE:
        yield from ranks_and_attributes(profile)
        yield from high_ranks(profile)
        yield from types(profile)
        yield from extents(profile)
        yield from positions(profile)
        yield from far_indices(profile)
        yield from empty_axes(profile)
    for rule in RULES:
        yield from extents("none", rule)
    yield from every_far_index()
    yield from opsets()
    yield from huge()
    yield from order_of_checks()
    yield from published()
    yield from torch_facts()
    yield from tensorflow_facts()
    yield from numpy_facts()
    yield from jax_facts()
    yield from onnx_facts()


def ranks_and_attributes(profile):
    p = f"{profile}/elements/"
    yield gather_elements(p + "scalar_both", table(), index(0), axis=0)
    yield gather_elements(p + "scalar_both_no_axis", table(), index(0))
    yield gather_elements(p + "scalar_params", table(), index([0]), axis=0)
    yield gather_elements(p + "scalar_params_two_indices", table(), index([0, 0]), axis=-1)
    yield gather_elements(p + "scalar_indices", table(3), index(2), axis=0)
    yield gather_elements(p + "scalar_bad", table(), index(1), axis=0)
    yield gather_elements(p + "scalar_params_rank_2_indices", table(), same_index(0, 1, 1), axis=0)
    yield gather_elements(p + "rank_2_params_scalar_indices", table(2, 2), index(0), axis=0)
    yield gather_elements(p + "scalar_axis_1", table(), index(0), axis=1)
    yield gather_elements(p + "fewer_index_dims", table(2, 2), index([0]), axis=0)
    yield gather_elements(p + "more_index_dims", table(2), same_index(0, 1, 1), axis=0)
    yield gather_elements(p + "no_axis_is_0", table(3, 2), index([[2, 1], [0, 2]]))
    for axis in (-3, -2, -1, 0, 1, 2, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX):
        yield gather_elements(p + f"axis_{axis}", table(2, 2), same_index(1, 2, 2), axis=axis)
    for b in (-1, 1, INT64_MIN, INT64_MAX):
        yield gather_elements(p + f"batch_dims_{b}", table(2, 2), same_index(1, 2, 2), axis=1, batch_dims=b)


def high_ranks(profile):
    p = f"{profile}/elements/rank_"
    for rank in (9, 16, 33, 64):
        numpy_limit = {"difference": "D34"} if (profile, rank) == ("numpy_raise", 64) else {}
        for axis in (0, rank // 2, rank - 1):
            params, indices = [1] * rank, [1] * rank
            params[axis], indices[axis] = 3, 2
            yield gather_elements(
                p + f"{rank}_axis_{axis}",
                table(*params),
                data.indices("int64", indices, [2, 1]),
                axis=axis,
                **numpy_limit,
            )
        yield gather_elements(p + f"{rank}_bad", table(*[1] * rank), same_index(1, *[1] * rank), axis=rank // 2)


def types(profile):
    p = f"{profile}/elements/"
    for dtype in dtypes.ALL:
        params = table(2, 3, dtype=dtype)
        yield gather_elements(p + f"params_{dtype}", params, index([[2, 0], [1, 1]]), axis=1, **_zero(profile, dtype))
        indices = table(2, 2, dtype=dtype) if dtype == "string" else values([[1, 0], [0, 1]], dtype)
        yield gather_elements(p + f"indices_{dtype}", table(2, 3), indices, axis=1)


def _zero(profile, dtype):
    """The only fill of strings is the empty string."""
    return {"fill": "zero"} if (profile, dtype) == ("jax_fill", "string") else {}


def extents(profile, rule=None):
    """Cases with every pair of small extents in the dims before and after the axis."""
    p = f"{profile}/elements/extents_{rule or 'own'}_"
    options = {"extents": rule} if rule else {}
    for params, indices in itertools.product((0, 1, 2, 3), repeat=2):
        name = p + f"{params}_and_{indices}_"
        yield gather_elements(name + "before", table(params, 2), _turns(indices, 3), axis=1, **options)
        yield gather_elements(name + "behind", table(2, params), _turns(3, indices), axis=0, **options)
    for params, indices in (
        ((2, 1, 3), (1, 2, 3)),
        ((1, 2, 2), (3, 2, 1)),
        ((3, 2, 2), (2, 2, 1)),
        ((2, 2, 2), (3, 1, 4)),
    ):
        name = p + "_".join(map(str, (*params, *indices)))
        yield gather_elements(name, table(*params), _turns(*indices), axis=1, **options)


def _turns(*shape):
    """Returns indices 0, 1, 1, 0, 1, 1, .. of a shape."""
    return data.indices("int64", shape, [int(i % 3 > 0) for i in range(math.prod(shape))])


def positions(profile):
    """The smallest invalid position is reported, for every place and every axis. All cases have bounds = error."""
    p = f"{profile}/elements/"
    own = {} if profiles.TABLE[profile].bounds == "error" else {"bounds": "error"}
    shape = (2, 3, 2)
    for axis, at in itertools.product(range(3), range(0, 12, 2)):
        indices = _bad_at([at, 11], shape)
        yield gather_elements(p + f"bad_{at}_axis_{axis}", table(*shape), indices, axis=axis, **own)
    for lane in (0, 7, 8, 15, 16, 31, 32, 63, 64, 99):
        yield gather_elements(
            p + f"lane_{lane}", table(5, dtype="uint8"), _bad_at([lane], (100,), "int32"), axis=0, **own
        )
    broadcast = {"extents": "broadcast", **own}
    yield gather_elements(p + "bad_repeats", table(2, 3), index([[0, 3]]), axis=1, **broadcast)
    yield gather_elements(p + "bad_repeats_inside", table(2, 3), index([[0], [2]]), axis=0, **broadcast)
    yield gather_elements(p + "bad_in_repeated_params", table(1, 3), index([[0, 1], [2, 3]]), axis=1, **broadcast)
    prefix = {"extents": "prefix", **own}
    yield gather_elements(p + "bad_in_prefix", table(3, 4), index([[0, 3], [4, 0]]), axis=1, **prefix)


def _bad_at(positions, shape, dtype="int64"):
    return data.indices(dtype, shape, [9 if i in positions else i % 2 for i in range(math.prod(shape))])


def far_indices(profile):
    p = f"{profile}/elements/far_"
    hangs = {"difference": "D30"} if profile == "onnx" else {}
    line = table(3, dtype="int16")
    yield gather_elements(p + "int64_min", line, index([0, INT64_MIN]), axis=0, **hangs)
    yield gather_elements(p + "2_32", line, index([0, -1, 2**32 + 1]), axis=0, **_not_onnx(profile))
    yield gather_elements(p + "int64_max", line, index([INT64_MAX, 1]), axis=0, **_not_onnx(profile))
    yield gather_elements(p + "just_outside", line, index([2, 3]), axis=0)
    yield gather_elements(p + "just_below", line, index([-3, -4]), axis=0)
    yield gather_elements(p + "last_row_from_the_end", line, index([-1, -3]), axis=0)


def _not_onnx(profile):
    """Returns another policy with the same result for which the evaluator needs no long loop."""
    return {"extents": "equal"} if profile == "onnx" else {}


def every_far_index():
    """Cases with every policy and indices at the ends of every index dtype.

    The work is bounded, and the result is defined.
    """
    for bounds, negative, dtype in itertools.product(BOUNDS, ("reject", "wrap"), dtypes.INTEGERS):
        bits = dtypes.ALL[dtype].size * 8
        ends = [0, 2**bits - 1] if dtype.startswith("u") else [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
        yield gather_elements(
            f"none/elements/far_{bounds}_{negative}_{dtype}",
            table(3, 2, dtype="int16"),
            index([[1, ends[0]], [ends[1], 2]], dtype),
            axis=0,
            bounds=bounds,
            negative=negative,
        )


def empty_axes(profile):
    for bounds in BOUNDS:
        p = f"{profile}/elements/empty_axis_{bounds}_"
        options = {"bounds": bounds}
        yield gather_elements(p + "one", table(0), index([0]), axis=0, **options)
        yield gather_elements(p + "rows", table(2, 0), index([[3], [1]]), axis=1, **options)
        yield gather_elements(p + "no_indices", table(0, 2), same_index(0, 0, 2), axis=0, **options)
        yield gather_elements(p + "and_beside", table(0, 0), same_index(3, 2, 0), axis=0, **options)
    p = f"{profile}/elements/empty_"
    broadcast = {"extents": "broadcast"}
    yield gather_elements(p + "params_unchecked", table(3, 0), same_index(7, 2, 1), axis=0, **broadcast)
    yield gather_elements(p + "indices_repeat_params", table(3, 1), same_index(7, 2, 0), axis=0, **broadcast)
    yield gather_elements(p + "prefix", table(3, 2), same_index(7, 2, 0), axis=0, extents="prefix")


def opsets():
    for profile in ("onnx", "ort"):
        p = f"{profile}/elements/opset_"
        for opset in (-1, 1, 10, 11, 12, 13, 20, 21, 1000):
            yield gather_elements(p + f"{opset}", table(3), index([1]), axis=0, opset=opset)
        for opset in (11, 12, 13, 0):
            yield gather_elements(p + f"{opset}_negative", table(3), index([-1]), axis=0, opset=opset)
            yield gather_elements(p + f"{opset}_bfloat16", table(3, dtype="bfloat16"), index([1]), axis=0, opset=opset)
        yield gather_elements(p + "10_bad_dtype_first", table(2, dtype="float8_e5m2"), index([1]), opset=10)
        yield gather_elements(p + "10_before_rank", table(), index([1]), opset=10)


def huge():
    p = "none/elements/"
    yield gather_elements(p + "size", stretched(2, dtype="float64"), stretched_index(2**61, dtype="int8"), axis=0)
    yield gather_elements(
        p + "size_of_the_last_extent",
        stretched(2**20, 2**20, 2, dtype="float64"),
        stretched_index(2**20, 2**20, 2**22, dtype="int8"),
        axis=2,
    )
    yield gather_elements(
        p + "size_of_a_broadcast",
        stretched(1, 2**40),
        stretched_index(2**40, 1),
        axis=0,
        extents="broadcast",
    )
    yield gather_elements(
        p + "size_of_an_empty_output",
        stretched(2, 2**31, 0, dtype="float64"),
        stretched_index(2**31, 2**31, 0, dtype="int8"),
        axis=0,
    )
    yield gather_elements(
        p + "just_fits_empty", stretched(2, 2**31, 0), stretched_index(2**31, 2**31, 0, dtype="int8"), axis=0
    )
    yield gather_elements(p + "far_row", stretched(2**33, 2), index([[2**33 - 1, 2**32]]), axis=0, extents="prefix")
    yield gather_elements(p + "far_row_bad", stretched(2**33, 2), index([[0, 2**33]]), axis=0)
    yield gather_elements(p + "far_prefix", stretched(2**30, 2**31, 2), index([[[1, 0]]]), axis=2, extents="prefix")
    yield gather_elements(p + "far_disagreement", stretched(2**33, 2), index([[0]]), axis=1)


def order_of_checks():
    """Calls with two errors. The error of the earlier check is reported."""
    p = "none/elements/order_"
    fp8, text = table(dtype="float8_e5m2"), strings([b"a"])
    yield gather_elements("torch/elements/order_params_dtype_first", text, index([0], "int8"), axis=0)
    yield gather_elements("torch/elements/order_index_dtype_before_rank", table(2), same_index(0, 1, 1, dtype="int8"))
    yield gather_elements("onnx/elements/order_dtype_before_opset", fp8, index([0]), opset=3)
    yield gather_elements("onnx/elements/order_index_dtype_before_opset", table(3), index([0], "int8"), opset=3)
    yield gather_elements(p + "index_dtype_before_rank", table(), values([0.0]), axis=0)
    yield gather_elements(p + "params_rank_before_index_rank", table(), same_index(0, 1, 1), axis=0)
    yield gather_elements(p + "rank_before_axis", table(2, 2), index([0]), axis=9)
    yield gather_elements(p + "axis_before_batch_dims", table(2, 2), same_index(0, 2, 2), axis=9, batch_dims=9)
    yield gather_elements(p + "batch_dims_before_extents", table(2, 2), same_index(0, 3, 2), axis=1, batch_dims=1)
    yield gather_elements(p + "extents_before_values", table(2, 2), same_index(9, 3, 1), axis=1)
    yield gather_elements(p + "first_extent", table(2, 2, 2), same_index(9, 1, 2, 1), axis=1)
    yield gather_elements(
        p + "extents_before_size",
        stretched(2**31, 2, dtype="float64"),
        stretched_index(2**32, 2**30, dtype="int8"),
        axis=1,
    )
    yield gather_elements(
        p + "size_before_values",
        stretched(2, 2**31, dtype="float64"),
        Tensor("int8", (2**31, 2**31), b"\x09", 0, (0, 0)),
        axis=0,
    )
    for fill in ("by_dtype", "value"):
        value = {"fill_value": b""} if fill == "value" else {}
        yield gather_elements(
            p + f"string_{fill}", strings([b"a"]), index([0]), axis=0, bounds="fill", fill=fill, **value
        )
    yield gather_elements(p + "string_unused_fill", text, index([0]), axis=0, bounds="clamp", fill="by_dtype")


def published():
    """The examples on the public pages of the operations, in every profile that can express them."""
    square = values([[1, 2], [3, 4]])
    grid = values([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    columns = values([[10, 30, 20], [60, 40, 50]], "int64")
    for profile in profiles.TABLE:
        p = f"{profile}/elements/example_"
        yield gather_elements(p + "onnx_1", square, index([[0, 0], [1, 0]]), axis=1)
        yield gather_elements(p + "onnx_2", grid, index([[1, 2, 0], [2, 0, 0]]), axis=0)
        yield gather_elements(p + "onnx_negative", grid, index([[-1, -2, 0], [-2, 0, 0]]), axis=0)
        yield gather_elements(p + "torch", values([[1, 2], [3, 4]], "int64"), index([[0, 0], [1, 0]]), axis=1)
        yield gather_elements(p + "numpy_argsort", columns, index([[0, 2, 1], [1, 2, 0]]), axis=1)
        yield gather_elements(p + "numpy_argmax", columns, index([[1], [0]]), axis=1)
        yield gather_elements(p + "numpy_one_row", columns, index([[1, 0, 1]]), axis=0)
        yield gather_elements(
            p + "strings",
            strings([[b"a", b"", b"\xe2\x82\xac"], [b"row", b"x", b"yy"]]),
            index([[2, 1], [0, 0]]),
            axis=1,
            **_zero(profile, "string"),
        )


def torch_facts():
    p = "torch/elements/"
    empty = same_index(0, 0)
    yield gather_elements(p + "no_indices_wrong_rank", table(2, 2), empty, axis=0)
    yield gather_elements(p + "no_indices_wrong_extent", table(2, 2), same_index(0, 0, 5), axis=0)
    yield gather_elements(p + "no_indices_of_float32", table(3, 2), table(0, 2), axis=0)
    yield gather_elements(p + "no_indices_bad_axis", table(3, 2), same_index(0, 0, 2), axis=2)
    yield gather_elements(p + "int32", table(3, 2), index([[2, 1]], "int32"), axis=0)
    p = "torch/elements/along_"
    line = table(5, dtype="int32")
    far = index([-1, -5, -6, 5, 11, INT64_MIN, INT64_MAX])
    yield gather_elements(p + "takes_modulo", line, far, axis=0, **TAKE_ALONG_DIM)
    yield gather_elements(p + "repeats_indices", table(3, 2), index([[1], [-1]]), axis=0, **TAKE_ALONG_DIM)
    yield gather_elements(p + "repeats_params", table(3, 1), index([[1, 5]]), axis=0, **TAKE_ALONG_DIM)
    yield gather_elements(p + "empty_axis", table(2, 0), index([[3], [1]]), axis=1, **TAKE_ALONG_DIM)
    yield gather_elements(p + "no_prefix", table(3, 3), same_index(0, 2, 2), axis=0, **TAKE_ALONG_DIM)


def tensorflow_facts():
    p = "tensorflow/elements/along_"
    line = table(4)
    yield gather_elements(p + "wraps", line, index([-1, -4, 3]), axis=0, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "below", line, index([0, -9]), axis=0, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "int64_min", line, index([INT64_MIN]), axis=0, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "int64_max", line, index([INT64_MAX]), axis=0, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "repeats_indices", table(3, 2), index([[1], [-1]]), axis=0, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "repeats_params", table(1, 3), index([[1], [-1]]), axis=1, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "empty_axis", table(2, 0), index([[3], [1]]), axis=1, **TAKE_ALONG_AXIS)
    yield gather_elements(p + "both_empty", table(0, 0), same_index(0, 0, 2), axis=1, **TAKE_ALONG_AXIS)
    yield gather_elements("tensorflow/elements/negative", line, index([0, -1]), axis=0)
    yield gather_elements("tensorflow_gpu/elements/negative", line, index([0, -1, 4, 3]), axis=0)


def numpy_facts():
    p = "numpy_raise/elements/"
    line = table(3)
    yield gather_elements(p + "uint64", line, index([2, 0], "uint64"), axis=0)
    yield gather_elements(p + "uint64_max", line, index([UINT64_MAX], "uint64"), axis=0)
    yield gather_elements(p + "uint64_2_63", line, index([2**63], "uint64"), axis=0)
    yield gather_elements(p + "int8_long_axis", table(200), index([-1, 127, -128], "int8"), axis=0)
    for mode in ("raise", "wrap", "clip"):
        p = f"numpy_{mode}/elements/"
        yield gather_elements(p + "7_and_minus_7_of_3", line, index([0, -7, 7, 3, -1]), axis=0)


def jax_facts():
    line = table(3)
    for mode in ("fill", "clip"):
        p = f"jax_{mode}/elements/"
        yield gather_elements(p + "wraps_first", line, index([-1, -3, -4, 3]), axis=0)
        yield gather_elements(p + "uint32", line, index([2**31, 2**32 - 1], "uint32"), axis=0)
        yield gather_elements(p + "uint64_max", line, index([1, UINT64_MAX], "uint64"), axis=0)
        yield gather_elements(p + "minus_2_40", line, index([-(2**40), 2**40]), axis=0)
        yield gather_elements(p + "int8_long_axis", table(200), index([-1, 127, -128], "int8"), axis=0)
    for dtype in dtypes.NUMERIC:
        p = f"jax_fill/elements/fills_{dtype}"
        yield gather_elements(p, table(3, dtype=dtype), index([0, 3, -4, -1]), axis=0)


def onnx_facts():
    for profile in ("onnx", "ort"):
        p = f"{profile}/elements/"
        yield gather_elements(p + "many_rows", table(70), index([69, -70]), axis=0)
        yield gather_elements(p + "no_indices_wrong_rank", table(2, 2), same_index(0, 0), axis=0)
        yield gather_elements(p + "no_indices_larger", table(3, 2), same_index(0, 0, 3), axis=0)
        yield gather_elements(p + "no_indices_smaller", table(3, 2), same_index(0, 0, 1), axis=0)
        yield gather_elements(p + "string_prefix", strings([[b"a", b"b"], [b"c", b"d"]]), index([[1], [-2]]), axis=0)
