"""Hostile inputs, and the inputs behind known advisories of other systems."""

from .. import dtypes
from ..format import Tensor
from .build import (
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    gather,
    gather_nd,
    index,
    same_index,
    stretched,
    stretched_index,
    strings,
    table,
    values,
)


def cases():
    yield gather("none/hostile/b08_fill", table(0), index([7]), axis=0, bounds="fill")
    yield gather("none/hostile/b08_clamp", table(0), index([7]), axis=0, bounds="clamp")
    for profile in ("none", "tensorflow"):
        yield from ranks_and_attributes(profile)
        yield from index_values(profile)
        yield from advisories(profile)
    yield from onnx_only()
    yield from refused_dtypes()
    yield from huge()
    yield from far_indices()
    yield from order_of_checks()
    yield from empty_axes()


def ranks_and_attributes(profile):
    p = f"{profile}/hostile/"
    abort = {"difference": "D11"} if profile == "tensorflow" else {}
    yield gather(p + "a01", table(), index([0]), axis=0)
    yield gather_nd(p + "a02", table(), same_index(0, 1, 1))
    yield gather_nd(p + "a03", table(2, 2), index(0))
    yield gather_nd(p + "a04", table(2, 2), same_index(0, 0))
    yield gather_nd(p + "a05", table(2, 2), same_index(0, 1, 3))
    yield gather_nd(p + "a09", table(0, 4), index([[0], [0]]))
    yield gather_nd(p + "a10", table(0, 4), same_index(0, 0, 1))
    yield gather(p + "a11", table(3, 0), index([0, 2]), axis=0)
    yield gather_nd(p + "a12", table(3, 0), index([[0, 0]]))
    yield gather(p + "a15", table(5), same_index(0, 3), batch_dims=1)
    yield gather(p + "a16", table(3, 2), index([0]), batch_dims=10)
    yield gather(p + "a17", table(2, 2), index([0]), axis=2)
    yield gather(p + "a18", table(1, 1), index([16]), axis=INT64_MIN, **abort)
    yield gather(p + "a19_below", table(2, 2), index([0]), axis=-3)
    yield gather(p + "a19_first", table(2, 2), index([0]), axis=-2)
    yield gather(p + "a20", table(2, 3, 4), same_index(0, 2, 5), axis=0, batch_dims=1)


def index_values(profile):
    p = f"{profile}/hostile/"
    yield gather_nd(p + "b01", table(4, 4), index([[0, -1]]))
    yield gather(p + "b02_int64", table(3), index([INT64_MIN]), axis=0)
    yield gather(p + "b02_int32", table(3), index([INT32_MIN], "int32"), axis=0)
    yield gather(p + "b05_above", table(4), index([4]), axis=0)
    yield gather(p + "b05_last", table(4), index([3]), axis=0)
    yield gather_nd(p + "b06", table(4, 4), index([[0, 5]]))
    yield gather_nd(p + "b07", table(0), index([[0], [9], [0]]))
    yield gather(p + "b09", table(3, dtype="bool"), _bad_at([999], 1000), axis=0)
    yield gather(p + "b10", table(3, dtype="uint8"), _bad_at([3, 7], 16), axis=0)
    yield gather(p + "b12", table(2, dtype="uint8"), index([0, 1, 0], "int32"), axis=0)
    yield gather(p + "b13", table(4), index([2**32 + 1]), axis=0)
    for lane in (0, 7, 8, 15, 16, 31, 32, 63, 64, 99):
        yield gather(p + f"b14_lane_{lane}", table(3, dtype="uint8"), _bad_at([lane], 100, "int32"), axis=0)
        yield gather_nd(p + f"b14_nd_lane_{lane}", table(3, 3, dtype="uint8"), _bad_tuple(lane, 100))


def _bad_at(positions, count, dtype="int64"):
    return index([3 if i in positions else i % 3 for i in range(count)], dtype)


def _bad_tuple(position, count):
    return index([[i % 3, 5 if i == position else 1] for i in range(count)])


def advisories(profile):
    p = f"{profile}/advisories/"
    yield gather(p + "cve_2021_37653", table(0, 1), index([0]), batch_dims=1)
    yield gather(p + "cve_2021_37654", table(5), same_index(0, 3), batch_dims=1)
    yield gather(p + "cve_2021_37654_beyond_both", table(2, 2), same_index(0, 2, 2), batch_dims=7)
    yield gather_nd(p + "cve_2021_37655_divisible_counts", table(3, 3), same_index(0, 6, 1), batch_dims=1)
    for value in (-1, INT32_MIN):
        yield gather(p + f"cve_2021_37687_{value}", table(3), index([value], "int32"), axis=0)
        yield gather_nd(p + f"cve_2021_37687_nd_{value}", table(3), index([[value]], "int32"))
    yield gather_nd(p + "cve_2022_35937_first", table(2, 2), index([[2, 0]]))
    yield gather_nd(p + "cve_2022_35937_second", table(2, 2), index([[1, 2]]))
    yield gather_nd(p + "ort_27963", table(2, 0, 3), index([[0, 0]]))
    yield gather_nd(p + "ort_31646_far", table(4, 4, 4), index([[1048576, 0]]))
    yield gather_nd(p + "ort_31646_empty", table(2, 0, 3), index([[0, -1]]))
    yield gather_nd(p + "ort_32349_scalar_indices", table(3), index(0))
    yield gather(p + "tf_62603_axis_max", table(2, 2), index([0]), axis=INT64_MAX)
    yield gather(p + "tf_65936_batch_dims_min", table(2, 2), index([0]), axis=0, batch_dims=INT32_MIN)
    yield gather(p + "truncated_to_zero", table(3), index([2**32]), axis=0)
    yield gather(p + "migraphx_5246", table(1, 4, 0), index([3, 0]), axis=1)
    yield gather_nd(p + "ov_37125_sum_is_inside", table(4, 4), index([[1, -1]]))
    yield gather_nd(p + "ov_38296_far_component", table(4, 4), index([[0, 2**62]]))


def onnx_only():
    p = "onnx/hostile/"
    yield gather_nd(p + "a04", table(2, 2), same_index(0, 0))
    yield gather_nd(p + "a13", table(3, 3), index([[1], [2]]), batch_dims=1)
    yield gather_nd(p + "a14_minus_1", table(3, 3), index([[1], [2]]), batch_dims=-1)
    yield gather_nd(p + "a14_int64_min", table(3, 3), index([[1], [2]]), batch_dims=INT64_MIN)
    yield gather_nd(p + "a24", table(0, 3), same_index(0, 0, 1), batch_dims=1)
    yield gather(p + "b03", table(4), index([-4]), axis=0)
    yield gather(p + "b04", table(4), index([-5]), axis=0)
    for profile in ("onnx", "ort"):
        p = f"{profile}/advisories/"
        yield gather_nd(p + "ort_23828", table(3, 3), index([[1], [2]]), batch_dims=1)
        yield gather_nd(p + "ort_27090_no_batches", table(0, 3), same_index(1, 2, 1), batch_dims=1)
        yield gather_nd(p + "onnx_8465_minus_1", table(2, 2), same_index(0, 2, 1), batch_dims=-1)
        yield gather_nd(p + "ort_27963", table(2, 0, 3), index([[0, 0]]))
        yield gather(p + "ov_38296_below", table(3), index([-4]), axis=0)
        yield gather_nd(p + "ov_38297_below", table(3), index([[-4]]))


def refused_dtypes():
    p = "none/hostile/"
    for dtype in dtypes.ALL:
        if dtype not in dtypes.INTEGERS:
            yield gather(p + f"a23_{dtype}", table(3), table(2, dtype=dtype), axis=0)
            yield gather_nd(p + f"a23_nd_{dtype}", table(3), table(2, 1, dtype=dtype))


def huge():
    p = "none/hostile/"
    yield gather_nd(p + "a06", table(2, 2), stretched_index(0, INT64_MAX, dtype="int8"))
    yield gather(p + "a21", table(*[1] * 40), same_index(0, *[1] * 40), axis=0)
    yield gather_nd(p + "a21_nd", table(*[1] * 40), same_index(0, *[1] * 40))
    yield gather(p + "a22", table(*[1] * 64), index([0]), axis=0)
    yield gather(p + "a22_last_axis", table(*[1] * 64), index(0), axis=63)
    yield gather_nd(p + "a22_nd", table(*[1] * 64), same_index(0, 1, 64))
    yield gather(p + "output_rank_64", table(*[1] * 33), same_index(0, *[1] * 32), axis=0)
    yield gather(p + "output_rank_65", table(*[1] * 33), same_index(0, *[1] * 33), axis=0)
    yield gather(p + "c05", stretched(1, 2**40), stretched_index(2**40), axis=0)
    yield gather(p + "c05_float32", stretched(2, 2**31, dtype="float32"), stretched_index(2**31, 2), axis=0)
    yield gather(p + "c05_passes_at_the_item", stretched(1, 2**31, dtype="float64"), stretched_index(2**29), axis=0)
    yield gather(p + "c05_empty_rows", stretched(1, 2**40, 0, dtype="uint8"), stretched_index(2**40), axis=0)
    yield gather(
        p + "c05_just_fits_empty",
        Tensor("uint8", (0, 2**31), b"", 0, (0, 0)),
        stretched_index(0, 2**31, dtype="int8"),
        axis=0,
    )
    yield gather_nd(p + "c05_nd", stretched(2**20, 2**40), stretched_index(2**32, 1, dtype="uint8"))
    yield gather(p + "c10_far_row", stretched(262144, 8), index([239674]), axis=0)
    yield gather(p + "offset_beyond_int32", stretched(2**33, 2), index([2**33 - 1, 2**33]), axis=0)
    yield gather(p + "offset_beyond_int32_good", stretched(2**33, 2), index([2**33 - 1, 2**32]), axis=0)


def far_indices():
    """Cases with every policy and indices at the ends of every index dtype.

    The work is bounded, and the result is defined.
    """
    p = "none/far/"
    for bounds in ("error", "fill", "clamp", "modulo", "skip"):
        for negative in ("reject", "wrap"):
            for dtype in dtypes.INTEGERS:
                size = dtypes.ALL[dtype].size * 8
                ends = [0, 2**size - 1] if dtype.startswith("u") else [-(2 ** (size - 1)), 2 ** (size - 1) - 1]
                options = {"bounds": bounds, "negative": negative}
                name = f"{bounds}_{negative}_{dtype}"
                yield gather(p + name, table(3, dtype="int16"), index([1, *ends, 2], dtype), axis=0, **options)
                yield gather_nd(
                    p + f"{name}_nd",
                    table(2, 3, dtype="int16"),
                    index([[0, end] for end in ends], dtype),
                    **options,
                )
            yield gather(
                p + f"{bounds}_{negative}_minus_2_62",
                table(3),
                index([-(2**62), 2**62]),
                axis=0,
                bounds=bounds,
                negative=negative,
            )
            yield gather(
                p + f"{bounds}_{negative}_uint64_2_63",
                table(3),
                index([2**63, 2**63 - 1], "uint64"),
                axis=0,
                bounds=bounds,
                negative=negative,
            )


def order_of_checks():
    """Calls with two errors. The error of the earlier check is reported."""
    p = "none/order/"
    yield gather(p + "params_dtype_never_fails", table(dtype="float8_e5m2"), index([0]), axis=0)
    yield gather("torch/order/params_dtype_before_index_dtype", strings([b"a"]), index([0], "int8"), axis=0)
    yield gather("torch/order/index_dtype_before_rank", table(), index([0], "int8"), axis=0)
    yield gather(p + "index_dtype_before_rank", table(), values([0.0]), axis=0)
    yield gather_nd("onnx/order/dtype_before_opset", table(dtype="float8_e5m2"), index([[0]]), opset=3)
    yield gather_nd("onnx/order/index_dtype_before_opset", table(3), index([[0]], "int32"), opset=3)
    yield gather_nd("onnx/order/opset_before_rank", table(), index([[0]]), opset=3)
    yield gather_nd(p + "params_rank_before_indices_rank", table(), index(0))
    yield gather(p + "rank_before_axis", table(), index([0]), axis=9)
    yield gather(p + "axis_before_batch_dims", table(2, 2), index([0]), axis=9, batch_dims=9)
    yield gather(p + "batch_dims_before_axis_below", table(2, 2), index([0]), axis=0, batch_dims=9)
    yield gather(p + "axis_below_before_batch_extents", table(2, 2, 2), same_index(0, 3, 1), axis=0, batch_dims=1)
    yield gather(p + "batch_extents_before_values", table(2, 2), same_index(9, 3, 1), axis=1, batch_dims=1)
    yield gather_nd(p + "nd_axis_before_batch_dims", table(2, 2), same_index(0, 2, 1), axis=0, batch_dims=9)
    yield gather_nd(p + "nd_axis_is_refused", table(2, 2), same_index(0, 2, 1), axis=0)
    yield gather_nd(p + "nd_batch_dims_before_depth", table(2, 2), same_index(0, 2, 5), batch_dims=2)
    yield gather_nd(p + "nd_depth_before_batch_extents", table(2, 2), same_index(0, 3, 5), batch_dims=1)
    yield gather_nd("onnx/order/no_depth_before_batch_extents", table(2, 2), same_index(0, 3, 0), batch_dims=1)
    yield gather_nd(
        "onnx/order/nd_opset_11_batch_dims_before_range",
        table(2, 2),
        same_index(0, 3, 1),
        batch_dims=9,
        opset=11,
    )
    yield gather("onnx/order/axis_before_batch_dims", table(2, 2), index([0]), axis=9, batch_dims=1)
    yield gather("onnx/order/no_axis_batch_dims", table(2, 2), index([0]), batch_dims=9)
    yield gather(
        p + "size_before_values",
        stretched(1, 2**40),
        Tensor("int64", (2**40,), b"\x09" + bytes(7), 0, (0,)),
        axis=0,
    )
    yield gather_nd("tensorflow/order/empty_params_before_values", table(2, 0), index([[5, 5]]))
    yield gather_nd("tensorflow/order/empty_params_with_clamp", table(2, 0), index([[5, 5]]), bounds="clamp")
    yield gather_nd("tensorflow/order/empty_params_with_skip", table(2, 0), index([[5]]), bounds="skip")
    for b in (-2, 2):
        yield gather(p + f"no_axis_batch_dims_{b}_of_rank_1_indices", table(2, 2, 2), same_index(0, 2), batch_dims=b)
    yield gather(p + "no_axis_batch_dims_-3_beyond_params", table(2, 2), same_index(0, 2, 2, 2), batch_dims=-3)
    yield gather(p + "no_axis_batch_dims_-1_below_batches", table(2, 2, 2, 2), same_index(0, 2, 2, 2, 2), batch_dims=-2)
    yield gather(p + "string_by_dtype", strings([b"a"]), index([0]), axis=0, bounds="fill", fill="by_dtype")
    yield gather(p + "string_value", strings([b"a"]), index([0]), axis=0, bounds="fill", fill="value", fill_value=b"")
    yield gather(
        p + "index_dtype_before_string_fill",
        strings([b"a"]),
        values([0.0]),
        axis=0,
        bounds="fill",
        fill="by_dtype",
    )


def empty_axes():
    """Indexed dims of size 0, with and without other empty dims, under every policy and profile."""
    profiles = (
        "none",
        "tensorflow",
        "tensorflow_gpu",
        "onnx",
        "ort",
        "numpy_raise",
        "numpy_wrap",
        "numpy_clip",
        "torch",
        "jax_fill",
        "jax_clip",
    )
    for profile in profiles:
        for bounds in ("error", "fill", "clamp", "modulo", "skip"):
            p = f"{profile}/empty_axis/{bounds}_"
            options = {"bounds": bounds}
            yield gather(p + "gather", table(0, 2), index([3]), axis=0, **options)
            yield gather(
                p + "gather_empty_inner",
                table(0, 0),
                index([3]),
                axis=0,
                **_hangs(profile, bounds),
                **options,
            )
            yield gather(p + "gather_empty_outer", table(0, 0), index([3]), axis=1, **options)
            yield gather(p + "gather_no_indices", table(0, 2), same_index(0, 0), axis=0, **options)
            yield gather_nd(p + "nd", table(0, 2), index([[3], [1]]), **options)
            yield gather_nd(p + "nd_second", table(2, 0), index([[1, 1]]), **options)
            yield gather_nd(p + "nd_second_and_bad_first", table(2, 0), index([[5, 1]]), **options)
            yield gather_nd(p + "nd_empty_inner", table(0, 0), index([[3]]), **options)
            yield gather_nd(p + "nd_one_tuple", table(0, 0), index([3]), **options)
            yield gather_nd(p + "nd_no_tuples", table(0, 2), same_index(0, 0, 1), **options)


def _hangs(profile, bounds):
    """Calls for which np.take(mode="wrap") does not return."""
    return {"difference": "D03"} if (profile, bounds) == ("numpy_wrap", "modulo") else {}
