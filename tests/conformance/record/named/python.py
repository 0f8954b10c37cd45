"""NumPy, torch and JAX."""

from .. import dtypes
from .build import (
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    UINT64_MAX,
    gather,
    gather_nd,
    index,
    same_index,
    strings,
    table,
    values,
)


def cases():
    yield from numpy_facts()
    yield from torch_facts()
    yield from jax_facts()


def numpy_facts():
    for mode in ("raise", "wrap", "clip"):
        yield from _every_mode(f"numpy_{mode}/facts/")
    p = "numpy_raise/facts/a08_"
    yield gather(p + "wraps", table(3), index([-1, -3]), axis=0)
    yield gather(p + "empty_inner_is_checked", table(3, 0), index([7]), axis=0)
    yield gather(p + "empty_outer_is_unchecked", table(0, 3), index([7]), axis=1)
    yield gather_nd(p + "nd_wraps", table(2, 3), index([[-1, -3]]))
    yield gather_nd(p + "nd_empty_rows_are_checked", table(3, 0), index([[9]]))
    yield gather_nd(p + "nd_empty_dim_and_rows", table(0, 0), index([[0]]))
    yield gather_nd(p + "nd_one_tuple", table(3, 0), index([9]))
    yield gather(p + "axis_int32_min", table(2, 3), index([5]), axis=INT32_MIN, difference="D23")
    yield gather("numpy_raise/facts/a14_06_take_uint64", table(3), index([2, 0], "uint64"), axis=0)
    yield gather("numpy_raise/facts/a14_06_take_uint64_max", table(3), index([UINT64_MAX], "uint64"), axis=0)
    yield gather_nd("numpy_raise/facts/a14_06_index_uint64_max", table(3), index([[UINT64_MAX]], "uint64"))
    p = "numpy_wrap/facts/a08_"
    yield gather(p + "minus_7_of_3", table(3), index([-7, 7, 3, -1]), axis=0)
    yield gather_nd(p + "nd_minus_7_of_3", table(3, 2), index([[-7, 3], [4, -1]]))
    p = "numpy_wrap/facts/a14_06_"
    yield gather(p + "int64_min", table(3), index([INT64_MIN]), axis=0, difference="D02")
    yield gather(p + "int64_max", table(3), index([INT64_MAX]), axis=0, difference="D02")
    yield gather(p + "empty_axis_empty_rows", table(0, 0), index([1]), axis=0, difference="D03")
    p = "numpy_clip/facts/a08_"
    yield gather(p + "negatives_become_0", table(3), index([-1, -7, 7, 3]), axis=0)
    yield gather(p + "int64_extremes", table(3), index([INT64_MIN, INT64_MAX]), axis=0)
    yield gather(p + "empty_axis_empty_rows", table(0, 0), index([1]), axis=0)
    yield gather_nd(p + "nd_negatives_become_0", table(3, 2), index([[-1, 5], [4, -9]]))


def _every_mode(p):
    yield gather(p + "a08_scalar_index", table(3, 2), index(1), axis=0)
    yield gather(p + "a08_scalar_params", table(), index([0]), axis=0, difference="D08")
    yield gather(p + "a08_index_7_of_3", table(3), index([0, 7]), axis=0)
    yield gather(p + "a08_empty_axis", table(0, 2), index([0]), axis=0)
    yield gather(p + "a08_empty_axis_no_indices", table(0, 2), same_index(0, 0), axis=0)
    yield gather(p + "a08_axis_2", table(2, 2), index([0]), axis=2)
    yield gather(p + "a08_axis_-3", table(2, 2), index([0]), axis=-3)
    yield gather(p + "a08_last_axis", table(2, 3), index([[1], [0]]), axis=-1)
    for dtype in dtypes.INTEGERS:
        yield gather(p + f"a08_{dtype}_indices", table(3, 2), index([1, 2], dtype), axis=0)
    for dtype in ("bool", "float32"):
        yield gather(p + f"a08_refuses_{dtype}_indices", table(3), values([1], dtype), axis=0)
    yield gather(p + "a08_strings", strings([b"one", b"", b"three"]), index([2, 1]), axis=0)
    yield gather_nd(p + "a08_nd_no_depth", table(2, 2), same_index(0, 2, 0))
    yield gather_nd(p + "a08_nd_depth_above_rank", table(2, 2), same_index(0, 1, 3))


def torch_facts():
    p = "torch/facts/a07_"
    yield gather(p + "select_negative", table(3), index([-1]), axis=0)
    yield gather(p + "select_too_large", table(3), index([0, 3]), axis=0)
    yield gather(p + "select_int32", table(3), index([2, 0], "int32"), axis=0)
    for dtype in ("int16", "int8", "uint8", "uint64", "bool", "float32"):
        yield gather(p + f"select_refuses_{dtype}_indices", table(3), values([1], dtype), axis=0)
    yield gather(p + "select_empty_axis_no_indices", table(0, 2), same_index(0, 0), axis=0)
    yield gather(p + "select_empty_axis", table(0, 2), index([0]), axis=0)
    yield gather(p + "select_empty_axis_empty_rows", table(0, 0), index([0]), axis=0)
    yield gather(p + "select_empty_inner_is_checked", table(3, 0), index([7]), axis=0)
    yield gather(p + "select_empty_outer_is_checked", table(0, 3), index([7]), axis=1)
    yield gather(p + "select_scalar_params", table(), index([0]), axis=0, difference="D08")
    yield gather(p + "select_axis_-1", table(2, 3), index([2]), axis=-1)
    yield gather(p + "select_axis_2", table(2, 3), index([0]), axis=2)
    yield gather(p + "no_strings", strings([b"a"]), index([0]), axis=0)
    p = "torch/facts/a14_05_"
    yield gather(p + "scalar_index", table(3, 2), index(1), axis=0, variant="index_select", difference="D24")
    yield gather(
        p + "two_dim_indices",
        table(3, 2),
        index([[1], [2]]),
        axis=0,
        variant="index_select",
        difference="D24",
    )
    yield gather_nd(p + "index_wraps", table(3, 2), index([[-1], [-3]]))
    yield gather_nd(p + "index_below", table(3, 2), index([[-4]]))
    yield gather_nd(p + "index_int32", table(3, 2), index([[2, 1]], "int32"))
    yield gather_nd(p + "index_empty_rows_are_unchecked", table(3, 0), index([[7], [-9]]))
    yield gather_nd(p + "index_empty_rows_one_tuple", table(3, 0), index([7]))
    yield gather_nd(p + "index_empty_dim_and_rows", table(0, 0), index([[0]]))
    yield gather_nd(p + "index_empty_dim_no_tuples", table(0, 2), same_index(0, 0, 1))
    yield gather_nd(p + "index_second_dim_empty", table(2, 0), index([[0, 0]]))
    for dtype in ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"):
        yield gather("torch/limits/" + dtype, table(3, dtype=dtype), index([2]), axis=0, difference="D25")


def jax_facts():
    for mode in ("fill", "clip"):
        yield from _every_jax_mode(f"jax_{mode}/facts/")
    p = "jax_fill/facts/a09_"
    for dtype in dtypes.NUMERIC:
        yield gather(p + f"take_fills_{dtype}", table(3, dtype=dtype), index([0, 3, -4, -1]), axis=0)
        yield gather_nd(p + f"get_fills_{dtype}", table(3, dtype=dtype), index([[0], [3], [-4], [-1]]))
    yield gather(p + "take_empty_axis", table(0, 2), index([0]), axis=0)
    yield gather_nd(p + "get_empty_dim", table(0, 2), index([[0], [1]]))
    yield gather(
        "jax_fill/facts/a14_03_without_64_bits",
        table(3),
        index([2**32, 1]),
        axis=0,
        variant="32-bit",
        difference="D05",
    )
    yield gather("jax_fill/facts/a14_03_with_64_bits", table(3), index([2**32, 1]), axis=0)
    p = "jax_clip/facts/a14_04_"
    yield gather(p + "take_sends_negatives_to_0", table(3), index([-1, -9, 9, 2]), axis=0)
    yield gather_nd(p + "get_wraps_negatives", table(3), index([[-1], [-9], [9], [2]]))
    yield gather_nd(p + "get_far_index", table(3), index([[2**40], [-(2**40)]]))
    yield gather(p + "take_far_index", table(3), index([2**40, -(2**40)]), axis=0)
    yield gather_nd(p + "get_empty_dim", table(0, 2), index([[0]]))


def _every_jax_mode(p):
    yield gather(p + "a09_scalar_index", table(3, 2), index(1), axis=0)
    yield gather(p + "a09_scalar_params", table(), index([0]), axis=0)
    yield gather(p + "a09_axis_2", table(2, 2), index([0]), axis=2)
    yield gather(p + "a09_axis_-3", table(2, 2), index([0]), axis=-3)
    yield gather(p + "a09_empty_inner", table(3, 0), index([7]), axis=0)
    yield gather(p + "a09_empty_outer", table(0, 3), index([7]), axis=1)
    for dtype in dtypes.INTEGERS:
        yield gather(p + f"a09_{dtype}_indices", table(3, 2), index([1, 2], dtype), axis=0)
    for dtype in ("bool", "float32"):
        yield gather(p + f"a09_refuses_{dtype}_indices", table(3), values([1], dtype), axis=0)
    yield gather(p + "a09_no_strings", strings([b"a"]), index([0]), axis=0)
    yield gather(p + "a14_04_empty_axis_no_indices", table(0, 2), same_index(0, 0, 3), axis=0)
    yield gather(p + "a14_04_empty_axis_no_indices_2", table(2, 0), same_index(0, 0, 3), axis=1)
    yield gather_nd(p + "a09_nd_depth_above_rank", table(2, 2), same_index(0, 1, 3))
    yield gather_nd(p + "a09_nd_empty_rows", table(3, 0), index([[7]]))
