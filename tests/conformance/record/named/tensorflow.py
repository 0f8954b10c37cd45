"""TensorFlow: the edges of Gather, GatherV2, batch_gather, GatherNd, and their published examples."""

from .build import (
    INT32_MAX,
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
    yield from gather_facts()
    yield from gather_nd_facts()
    yield from python_facts()
    yield from limits()
    yield from raw_gather_nd()
    yield from batch_gather()
    yield from examples()
    yield from gpu_facts()


def gather_facts():
    p = "tensorflow/facts/a02_gather_"
    for dtype in ("int16", "int32", "int64"):
        yield gather(p + f"{dtype}_indices", table(3, 2), index([2, 0], dtype), axis=0)
    for dtype in ("int8", "uint8", "uint16", "uint32", "uint64", "float32", "bool"):
        yield gather(p + f"refuses_{dtype}_indices", table(3), values([1], dtype), axis=0)
    for dtype in (
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    ):
        yield gather(p + f"has_no_{dtype}", table(3, dtype=dtype), index([1]), axis=0)
        yield gather_nd(p + f"nd_has_no_{dtype}", table(3, dtype=dtype), index([[1]]))
    yield gather(p + "scalar_params", table(), index([0]), axis=0)
    yield gather(p + "scalar_index", table(4), index(2), axis=0)
    yield gather(p + "scalar_index_drops_axis", table(2, 3), index(1), axis=1)
    for axis in (-3, 2, INT32_MIN, INT32_MAX, INT64_MAX):
        yield gather(p + f"axis_{axis}", table(2, 2), index([0]), axis=axis)
    yield gather(p + "axis_-2", table(2, 2), index([1]), axis=-2)
    yield gather(p + "axis_int64_min", table(1, 1), index([0]), axis=INT64_MIN, difference="D11")
    yield gather(p + "axis_int64_min_batch_1", table(1, 1), index([0]), axis=INT64_MIN, batch_dims=1)
    for b in (-3, 3, INT32_MIN, INT32_MAX):
        yield gather(
            p + f"batch_dims_{b}_of_rank_2_indices",
            table(2, 2, 2, 2),
            same_index(0, 2, 2),
            axis=3,
            batch_dims=b,
        )
    yield gather(p + "batch_dims_equal_index_rank", table(2, 2, 3), same_index(1, 2, 2), axis=2, batch_dims=2)
    yield gather(p + "batch_dims_equal_params_rank", table(5), same_index(0, 3), axis=0, batch_dims=1)
    yield gather(p + "batch_dims_above_axis", table(2, 3, 4), same_index(0, 2, 5), axis=0, batch_dims=1)
    yield gather(p + "batch_dims_negative", table(2, 3, 4), same_index(1, 2, 5), axis=1, batch_dims=-1)
    yield gather(p + "batch_dims_minus_index_rank", table(3, 2), same_index(1, 2, 2), axis=0, batch_dims=-2)
    yield gather(p + "batch_extents_differ", table(2, 3), same_index(0, 3, 1), axis=1, batch_dims=1)
    yield gather(p + "batch_extents_differ_second", table(2, 3, 4), same_index(0, 2, 2, 1), axis=2, batch_dims=2)
    yield gather(p + "batch_extents_empty_and_one", table(0, 1), same_index(0, 1), axis=1, batch_dims=1)
    yield gather(p + "negative_index", table(3), index([0, -1]), axis=0)
    yield gather(p + "index_too_large", table(3), index([[0, 1], [3, 2]]), axis=0)
    yield gather(p + "first_of_several_bad", table(3, 2), index([1, 5, -2, 9]), axis=0)
    yield gather(p + "empty_inner_is_unchecked", table(3, 0), index([7]), axis=0)
    yield gather(p + "empty_outer_is_unchecked", table(0, 3), index([7]), axis=1)
    yield gather(p + "empty_axis", table(0, 5), index([0]), axis=0)
    yield gather(p + "empty_axis_and_inner", table(0, 0), index([0]), axis=0)
    yield gather(p + "empty_axis_empty_indices", table(0, 5), same_index(0, 0), axis=0)
    yield gather(p + "empty_middle", table(2, 0, 5), index([0]), axis=0)
    yield gather(p + "empty_indices", table(3, 2), same_index(0, 2, 0), axis=1)
    yield gather(p + "strings", strings([b"a", b"", b"\xc3\xbc", b"long row"]), index([2, 1, 3]), axis=0)
    yield gather(p + "string_bad", strings([b"a", b""]), index([2]), axis=0)


def gather_nd_facts():
    p = "tensorflow/facts/a03_nd_"
    for dtype in ("int16", "int32", "int64"):
        yield gather_nd(p + f"{dtype}_indices", table(3, 2), index([[2, 1], [0, 0]], dtype))
    for dtype in ("int8", "uint8", "uint64", "float64"):
        yield gather_nd(p + f"refuses_{dtype}_indices", table(3), values([[1]], dtype))
    yield gather_nd(p + "scalar_params", table(), same_index(0, 1, 1))
    yield gather_nd(p + "scalar_indices", table(2, 2), index(0))
    yield gather_nd(p + "depth_above_rank", table(2, 2), same_index(0, 1, 3))
    yield gather_nd(p + "depth_above_rank_no_tuples", table(2, 2), same_index(0, 0, 3))
    yield gather_nd(p + "empty_params", table(2, 0, 5), index([[0]]))
    yield gather_nd(p + "empty_params_first_dim", table(0, 4), index([[0], [0]]))
    yield gather_nd(p + "empty_params_empty_rows", table(3, 0), index([[0]]))
    yield gather_nd(p + "empty_params_no_tuples", table(0, 4), same_index(0, 0, 1))
    yield gather_nd(p + "empty_params_no_depth", table(0, 4), same_index(0, 2, 0))
    yield gather_nd(p + "no_tuples", table(3, 2), same_index(9, 0, 2))
    yield gather_nd(p + "no_depth_copies_params", table(6, 2, 2), same_index(0, 2, 0))
    yield gather_nd(p + "no_depth_one_tuple", table(2, 2), same_index(0, 0))
    yield gather_nd(p + "no_depth_no_tuples", table(2, 2), same_index(0, 0, 0))
    yield gather_nd(p + "one_tuple_of_rank_1", table(2, 3), index([1]))
    yield gather_nd(p + "one_element", table(2, 3), index([1, 2]))
    yield gather_nd(p + "negative_component", table(4, 4), index([[0, -1]]))
    yield gather_nd(p + "component_inside_flat_range", table(4, 4), index([[0, 5]]))
    yield gather_nd(p + "one_bad_component_in_several", table(2, 3, 4), index([[0, 0, 0], [1, 3, 4], [0, 9, 0]]))
    for b in (-1, 2, 3):
        yield gather_nd(p + f"batch_dims_{b}", table(2, 3), same_index(0, 2, 1), batch_dims=b)
    yield gather_nd(p + "batch_1", table(2, 3), index([[2], [0]]), batch_dims=1)
    yield gather_nd(p + "batch_2", table(2, 2, 3), index([[[2], [0]], [[1], [1]]]), batch_dims=2)
    yield gather_nd(p + "batch_1_bad", table(2, 3), index([[2], [3]]), batch_dims=1)
    yield gather_nd(p + "batch_extents_differ", table(2, 3), same_index(0, 3, 1), batch_dims=1)
    yield gather_nd(p + "batch_empty", table(0, 3), same_index(0, 0, 1), batch_dims=1)
    yield gather_nd(p + "strings", strings([[b"a", b""], [b"bc", b"d"]]), index([[1, 0], [0, 1]]))


def python_facts():
    p = "tensorflow/facts/a13_"
    python = {"variant": "python"}
    for b in (5, 100):
        yield gather(
            p + f"02_axis_0_drops_batch_dims_{b}",
            table(3, 2),
            index([2, 0]),
            axis=0,
            batch_dims=b,
            difference="D10",
            **python,
        )
    yield gather(p + "02_axis_0_batch_dims_-1", table(3, 2), index([2, 0]), axis=0, batch_dims=-1, **python)
    yield gather(p + "02_axis_0_batch_dims_0", table(3, 2), index([2, 0]), axis=0, **python)
    yield gather(p + "04_empty_outer", table(0, 3), index([7]), axis=1, **python)
    yield gather_nd(
        p + "05_batch_shapes_of_equal_count",
        table(2, 3, 4),
        same_index(1, 3, 2, 1),
        batch_dims=2,
        difference="D12",
    )
    yield gather_nd(
        p + "05_batch_shapes_both_empty",
        table(0, 3, 4),
        same_index(1, 2, 0, 1),
        batch_dims=2,
        difference="D12",
    )
    yield gather(p + "11_no_axis_is_batch_dims_as_given", table(2, 3, 4), same_index(1, 2, 5), batch_dims=-1)
    yield gather(
        p + "11_no_axis_is_batch_dims_as_given_python",
        table(2, 3, 4),
        same_index(1, 2, 5),
        batch_dims=-1,
        **python,
    )
    yield gather(p + "11_no_axis_no_batch_dims", table(3, 2), index([2, 0]), **python)
    yield gather(p + "11_raw_axis_below_batch_dims", table(2, 3), same_index(0, 2, 1), axis=0, batch_dims=1)
    yield gather(p + "11_no_axis_outside", table(2), same_index(0, 2, 2), batch_dims=-2)


def limits():
    p = "tensorflow/limits/"
    yield gather_nd(p + "depth_7", table(*[2] * 7), index([[1, 0, 1, 1, 0, 0, 1]]))
    yield gather_nd(p + "depth_8", table(*[2] * 8), index([[1, 0, 1, 1, 0, 0, 1, 1]]), difference="D15")
    yield gather_nd(p + "batch_1_depth_7", table(*[1] * 8), same_index(0, 1, 7), batch_dims=1, difference="D15")
    yield gather_nd(p + "depth_8_no_tuples", table(*[1] * 8), same_index(0, 0, 8))
    yield gather_nd(p + "int16_many_elements", stretched(32768), index([[5]], "int16"), difference="D14")
    yield gather_nd(
        p + "int16_many_elements_no_tuples",
        stretched(32768),
        same_index(0, 0, 1, dtype="int16"),
        difference="D14",
    )
    yield gather(p + "int16_long_axis", stretched(32768), index([5], "int16"), axis=0, difference="D14")
    yield gather_nd(
        p + "int16_many_tuples",
        table(1, dtype="bool"),
        stretched_index(65546, 1, dtype="int16"),
        difference="D13",
    )


def raw_gather_nd():
    p = "tensorflow/raw_gather_nd/"
    good, bad = index([[3], [1], [4]]), index([[3], [5], [1]])
    five = values([9, 1, 2, 8, 4], "int32")
    for policy, name in (("", "empty"), ("DEFAULT", "default"), ("ERROR", "error")):
        variant = {"variant": f"policy={policy}"}
        yield gather_nd(p + f"{name}_good", five, good, **variant)
        yield gather_nd(p + f"{name}_bad", five, bad, **variant)
        yield gather_nd(p + f"{name}_negative", five, index([[-1]]), **variant)
    for dtype in ("bool", "int8", "uint16", "float32", "bfloat16", "complex64"):
        yield gather_nd(p + f"ignore_{dtype}", table(5, dtype=dtype), bad, bounds="fill")
    yield gather_nd(p + "ignore_values", five, bad, bounds="fill")
    yield gather_nd(p + "ignore_negative", five, index([[-1], [0]]), bounds="fill")
    yield gather_nd(p + "ignore_slices", table(3, 2), index([[3], [2], [-1]]), bounds="fill")
    yield gather_nd(p + "ignore_one_bad_component", table(2, 2, 2), index([[0, 2], [1, 1]]), bounds="fill")
    yield gather_nd(p + "ignore_strings", strings([[b"x"], [b"yy"]]), index([[1], [2]]), bounds="fill")
    yield gather_nd(p + "ignore_empty_params", table(0, 2), index([[0]]), bounds="fill")
    yield gather_nd(p + "ignore_empty_rows", table(2, 0), index([[5]]), bounds="fill")


def batch_gather():
    p = "tensorflow/batch_gather/"
    variant = {"variant": "batch_gather"}

    def batched(name, params, indices, **options):
        b = len(indices.shape) - 1
        return gather(p + name, params, indices, axis=b, batch_dims=b, **variant, **options)

    two = values([[0, 1, 2], [3, 4, 5]], "int32")
    yield batched("one_dim", values([1, 2, 3]), index([2, 0]))
    yield batched("two_dims", two, index([[0, 2], [1, 1]]))
    yield batched("two_dims_with_rows", table(2, 3, 2), index([[0], [2]]))
    yield batched("three_dims", table(2, 2, 3), index([[[0], [1]], [[2], [0]]]))
    yield batched("strings", strings([[b"a", b"b"], [b"", b"d"]]), index([[1], [0]]))
    yield batched("no_indices", two, same_index(0, 2, 0))
    yield batched("foreign_row_before", two, index([[0], [-1]]), difference="D09")
    yield batched("foreign_row_after", two, index([[3], [0]]), difference="D09")
    yield batched("outside_everything", two, index([[0], [3]]))
    yield batched("outside_before_everything", two, index([[-1], [0]]))


def examples():
    """The calls on the public pages of tf.gather, tf.gather_nd, tf.batch_gather and Java's GatherNd."""
    p = "tensorflow/examples/"
    letters = strings([b"p0", b"p1", b"p2", b"p3", b"p4", b"p5"])
    yield gather(p + "gather_scalar", letters, index(3, "int32"), axis=0)
    yield gather(p + "gather_slice", letters, index([2, 0, 2, 5], "int32"), axis=0)
    yield gather(p + "gather_two_dims", letters, index([[2, 0], [2, 5]], "int32"), axis=0)
    grid = values([[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]], "int32")
    yield gather(p + "gather_rows", grid, index([3, 1], "int32"), axis=0)
    yield gather(p + "gather_columns", grid, index([2, 1], "int32"), axis=1)
    yield gather(
        p + "gather_batched",
        values([[0, 0, 1, 0, 2], [3, 0, 0, 0, 4], [0, 5, 0, 6, 0]], "int32"),
        index([[2, 4], [0, 4], [1, 3]], "int32"),
        axis=1,
        batch_dims=1,
    )

    square, cube = (
        strings([[b"a", b"b"], [b"c", b"d"]]),
        strings([[[b"a0", b"b0"], [b"c0", b"d0"]], [[b"a1", b"b1"], [b"c1", b"d1"]]]),
    )
    for name, indices in {
        "elements": [[0, 0], [1, 1]],
        "slices": [[1], [0]],
        "batched_elements": [[[0, 0]], [[0, 1]]],
        "batched_slices": [[[1]], [[0]]],
    }.items():
        yield gather_nd(p + f"nd_square_{name}", square, index(indices, "int32"))
    for name, indices in {
        "matrix": [[1]],
        "rows": [[0, 1], [1, 0]],
        "elements": [[0, 0, 1], [1, 0, 1]],
        "batched_matrix": [[[1]], [[0]]],
        "batched_rows": [[[0, 1], [1, 0]], [[0, 0], [1, 1]]],
        "batched_elements": [[[0, 0, 1], [1, 0, 1]], [[0, 1, 1], [1, 1, 0]]],
    }.items():
        yield gather_nd(p + f"nd_cube_{name}", cube, index(indices, "int32"))
    for name, indices in {
        "batch_1": [[1], [0]],
        "batch_1_tuples": [[[1]], [[0]]],
        "batch_1_depth_2": [[[1, 0]], [[0, 1]]],
    }.items():
        yield gather_nd(p + f"nd_cube_{name}", cube, index(indices, "int32"), batch_dims=1)


def gpu_facts():
    p = "tensorflow_gpu/facts/"
    yield gather(p + "a02_gather_zeros", table(3, 2), index([2, 3, -1, 0]), axis=0)
    yield gather(p + "a02_gather_zeros_batched", table(2, 3), index([[3, 0], [2, -1]]), axis=1, batch_dims=1)
    yield gather(p + "a02_gather_empty_inner", table(3, 0), index([7]), axis=0)
    yield gather(p + "a02_gather_empty_axis", table(0, 2), index([0]), axis=0)
    yield gather(p + "a02_gather_refuses_int16", table(3), index([0], "int16"), axis=0)
    yield gather(p + "a02_gather_has_no_strings", strings([b"a"]), index([0]), axis=0)
    yield gather(p + "a02_gather_scalar", table(4, dtype="complex128"), index(9), axis=0)
    yield gather_nd(p + "a03_nd_zeros", values([9, 1, 2, 8, 4]), index([[3], [5], [1]]))
    yield gather_nd(p + "a03_nd_negative", table(3, 2), index([[-1], [0]]))
    yield gather_nd(p + "a03_nd_one_bad_component", table(2, 3), index([[1, 3], [1, 2]]))
    yield gather_nd(p + "a03_nd_no_depth", table(2, 2), same_index(0, 2, 0))
    yield gather_nd(p + "a03_nd_empty_params", table(0, 2), index([[0]]))
    yield gather_nd(p + "a03_nd_empty_params_no_tuples", table(0, 2), same_index(0, 0, 1))
    yield gather_nd(p + "a03_nd_refuses_int16", table(3), index([[0]], "int16"))
    yield gather_nd(p + "a03_nd_depth_8", table(*[1] * 8), same_index(0, 1, 8), difference="D15")
