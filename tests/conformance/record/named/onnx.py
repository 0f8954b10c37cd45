"""The ONNX specification and ONNX Runtime: their edges, and ONNX's own node tests."""

from dataclasses import replace
from pathlib import Path

from .. import dtypes
from ..format import dump, parse, tensor
from .build import (
    INT64_MAX,
    INT64_MIN,
    gather,
    gather_elements,
    gather_nd,
    index,
    same_index,
    strings,
    table,
    values,
)

NODE_TESTS = Path(__file__).parents[2] / "recorded" / "node_tests.txt"
MAKERS = {"Gather": gather, "GatherND": gather_nd, "GatherElements": gather_elements}


def cases():
    for profile in ("onnx", "ort"):
        yield from common_facts(profile)
        yield from opsets(profile)
        yield from node_tests(profile)
        yield from examples(profile)
    yield from specification()
    yield from runtime()


def common_facts(profile):
    p = f"{profile}/facts/a05_"
    yield gather(p + "gather_scalar_params", table(), index([0]), axis=0)
    yield gather(p + "gather_scalar_index", table(3, 2), index(1), axis=0)
    yield gather(p + "gather_default_axis", table(3, 2), index([1]))
    yield gather(p + "gather_wraps", table(4), index([-1, -4]), axis=0)
    yield gather(p + "gather_below", table(4), index([-5]), axis=0)
    yield gather(p + "gather_above", table(4), index([0, 4]), axis=0)
    yield gather(p + "gather_batch_dims", table(2, 3), same_index(0, 2, 1), axis=1, batch_dims=1)
    yield gather(p + "gather_batch_dims_negative", table(2, 3), same_index(0, 2, 1), axis=1, batch_dims=-1)
    for axis in (-3, 2, INT64_MIN, INT64_MAX):
        yield gather(p + f"gather_axis_{axis}", table(2, 2), index([0]), axis=axis)
    for dtype in ("int8", "int16", "uint8", "uint32", "uint64", "float32"):
        yield gather(p + f"gather_refuses_{dtype}_indices", table(3), values([1], dtype), axis=0)
    for dtype in ("int8", "int16", "int32", "uint64", "bool"):
        yield gather_nd(p + f"nd_refuses_{dtype}_indices", table(3), values([[1]], dtype))
    for dtype in dtypes.FLOAT8:
        yield gather(p + f"gather_has_no_{dtype}", table(3, dtype=dtype), index([1]), axis=0)
        yield gather_nd(p + f"nd_has_no_{dtype}", table(3, dtype=dtype), index([[1]]))
    yield gather_nd(p + "nd_scalar_params", table(), same_index(0, 1, 1))
    yield gather_nd(p + "nd_scalar_indices", table(3), index(1))
    yield gather_nd(p + "nd_depth_above_rank", table(2, 2), same_index(0, 1, 3))
    yield gather_nd(p + "nd_depth_above_rank_less_batches", table(2, 2), same_index(0, 2, 2), batch_dims=1)
    yield gather_nd(p + "nd_no_depth", table(2, 2), same_index(0, 2, 0))
    yield gather_nd(p + "nd_no_depth_no_tuples", table(2, 2), same_index(0, 0, 0))
    yield gather_nd(p + "nd_wraps", table(2, 3), index([[-1, -3], [0, -1]]))
    yield gather_nd(p + "nd_below", table(2, 3), index([[0, 0], [-3, 0]]))
    yield gather_nd(p + "nd_int64_min", table(2, 3), index([[0, INT64_MIN]]))
    yield gather_nd(p + "nd_batch_1", table(2, 3), index([[-1], [0]]), batch_dims=1)
    yield gather_nd(p + "nd_batch_empty", table(0, 3), same_index(0, 0, 1), batch_dims=1)
    yield gather_nd(p + "nd_depth_9", table(*[1] * 9), same_index(-1, 1, 9))
    yield gather_nd(p + "nd_value_0_is_reported", table(2, 0, 3), index([[0, 0]]))
    yield gather(p + "gather_strings", strings([[b"", b"a"], [b"\xe2\x82\xac", b"bc"]]), index([1, 0]), axis=1)
    yield gather_nd(p + "nd_strings", strings([[b"", b"a"], [b"\xe2\x82\xac", b"bc"]]), index([[1, 0], [0, 1]]))


def opsets(profile):
    p = f"{profile}/opset/"
    one = index([1])
    for opset in (-1, 1, 10, 11, 12, 13, 20, 21, 1000):
        yield gather(p + f"gather_{opset}", table(3), one, axis=0, opset=opset)
    for opset in (-1, 1, 10, 11, 12, 13, 20, 21, 1000):
        yield gather_nd(p + f"nd_{opset}", table(3), index([[1]]), opset=opset)
    for opset in (1, 11, 12, 13, 0):
        yield gather(p + f"gather_{opset}_negative", table(3), index([-1]), axis=0, opset=opset)
        yield gather(p + f"gather_{opset}_bfloat16", table(3, dtype="bfloat16"), one, axis=0, opset=opset)
    for opset in (11, 12, 13, 0):
        yield gather_nd(p + f"nd_{opset}_batch_dims", table(2, 3), index([[1], [0]]), batch_dims=1, opset=opset)
        yield gather_nd(p + f"nd_{opset}_bfloat16", table(3, dtype="bfloat16"), index([[1]]), opset=opset)
    yield gather_nd(p + "nd_11_batch_dims_-1", table(2, 3), index([[1], [0]]), batch_dims=-1, opset=11)
    yield gather_nd(p + "nd_10_bad_dtype_first", table(2, dtype="float8_e5m2"), index([[1]]), opset=10)


def node_tests(profile):
    """The inputs of every gather node test that the onnx package generates."""
    for case in parse(NODE_TESTS.read_text()):
        yield replace(case, name=case.name.replace("onnx", profile, 1), profile=profile)


def published():
    """Returns the text of the node tests of the package."""
    import numpy as np
    from onnx import helper, numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    def given(value):
        return tensor(value if isinstance(value, np.ndarray) else numpy_helper.to_array(value))

    # The package draws some inputs at random, once, and warns about nodes of other operators.
    np.random.seed(0)
    with np.errstate(all="ignore"):
        tests = {op_type: collect_testcases(op_type) for op_type in MAKERS}
    texts = ["# Inputs of node tests of the onnx package, written by `python -m record --write`.\n\n"]
    for op_type, found in tests.items():
        for test in found:
            node = test.model.graph.node[0]
            if node.op_type == op_type:
                attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
                params, indices = map(given, test.data_sets[0][0])
                texts.append(dump(MAKERS[op_type](f"onnx/node_tests/{test.name}", params, indices, **attributes)))
    return "".join(texts)


def examples(profile):
    """The examples in the text of the operators, in each version that has them."""
    p = f"{profile}/examples/"
    rows = values([[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]])
    wide = values([[1.0, 1.2, 1.9], [2.3, 3.4, 3.9], [4.5, 5.7, 5.9]])
    for opset in (1, 11, 13):
        yield gather(p + f"gather_{opset}_rows", rows, index([[0, 1], [1, 2]]), axis=0, opset=opset)
        yield gather(p + f"gather_{opset}_columns", wide, index([[0, 2]]), axis=1, opset=opset)
    square = values([[0, 1], [2, 3]], "int32")
    cube = values([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], "int32")
    for opset in (11, 12, 13):
        yield gather_nd(p + f"nd_{opset}_elements", square, index([[0, 0], [1, 1]]), opset=opset)
        yield gather_nd(p + f"nd_{opset}_rows", square, index([[1], [0]]), opset=opset)
        yield gather_nd(p + f"nd_{opset}_cube", cube, index([[0, 1], [1, 0]]), opset=opset)
        yield gather_nd(p + f"nd_{opset}_cube_batched", cube, index([[[0, 1]], [[1, 0]]]), opset=opset)
    for opset in (12, 13):
        yield gather_nd(p + f"nd_{opset}_batch_dims", cube, index([[1], [0]]), batch_dims=1, opset=opset)


def specification():
    p = "onnx/facts/a05_"
    yield gather(p + "gather_empty_inner_is_checked", table(3, 0), index([7]), axis=0)
    yield gather(p + "gather_empty_outer_is_checked", table(0, 3), index([7]), axis=1)
    yield gather(p + "gather_empty_axis", table(0, 2), index([0]), axis=0)
    yield gather(p + "gather_empty_axis_no_indices", table(0, 2), same_index(0, 0), axis=0)
    yield gather_nd(p + "nd_empty_rows_are_checked", table(3, 0), index([[9]]))
    yield gather_nd(p + "nd_empty_params", table(0, 3), index([[0, 0]]))
    yield gather_nd(p + "nd_batch_extents_differ", table(3, 3), same_index(0, 2, 1), batch_dims=1)
    yield gather_nd(p + "nd_batch_extents_divisible", table(3, 3), same_index(0, 6, 1), batch_dims=1)
    for b in (-1, 1, 2, INT64_MIN, INT64_MAX):
        yield gather_nd(p + f"nd_batch_dims_{b}", table(3), same_index(0, 3, 1), batch_dims=b)
    yield gather_nd(p + "nd_batch_dims_equal_index_rank", table(2, 2, 3), same_index(0, 2, 1), batch_dims=2)


def runtime():
    p = "ort/facts/a06_"
    yield gather(p + "gather_empty_inner_is_checked", table(3, 0), index([7]), axis=0)
    yield gather(p + "gather_empty_outer_is_checked", table(0, 3), index([7]), axis=1)
    yield gather(p + "gather_empty_axis", table(0, 2), index([0]), axis=0)
    yield gather(p + "gather_empty_axis_no_indices", table(0, 2), same_index(0, 0), axis=0)
    yield gather_nd(p + "nd_empty_rows_are_unchecked", table(3, 0), index([[9], [-9]]))
    yield gather_nd(p + "nd_empty_params", table(0, 3), index([[0, 0]]))
    yield gather_nd(p + "nd_empty_params_no_tuples", table(0, 3), same_index(0, 0, 1))
    yield gather_nd(p + "nd_tuples_not_divisible", table(3, 3), same_index(1, 2, 1), batch_dims=1)
    yield gather_nd(
        p + "nd_tuples_divisible",
        values([[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        index([[0], [1], [2], [0], [1], [2]]),
        batch_dims=1,
    )
    yield gather_nd(p + "nd_one_batch_broadcasts", table(1, 3), index([[2], [1], [0]]), batch_dims=1)
    yield gather_nd(p + "nd_divisible_bad", table(2, 3), index([[0], [1], [2], [3]]), batch_dims=1)
    yield gather_nd(p + "nd_divisible_batch_2", table(2, 2, 3), same_index(1, 4, 2, 1), batch_dims=2)
    yield gather_nd(p + "nd_divisible_swapped", table(2, 3, 2), same_index(1, 3, 2, 1), batch_dims=2)
    yield gather_nd(p + "nd_no_batches_some_tuples", table(0, 3), same_index(0, 2, 1), batch_dims=1)
    yield gather_nd(p + "nd_no_batches_no_tuples", table(0, 3), same_index(0, 0, 1), batch_dims=1)
    yield gather_nd(p + "nd_some_batches_no_tuples", table(2, 3), same_index(0, 0, 1), batch_dims=1)
    yield gather_nd(p + "nd_no_batches_empty_rows", table(0, 3, 0), same_index(0, 2, 1), batch_dims=1)
    yield gather_nd(p + "nd_not_divisible_empty_rows", table(3, 3, 0), same_index(0, 2, 1), batch_dims=1)
    yield gather_nd(p + "nd_batch_dims_equal_index_rank", table(2, 1, 3), same_index(1, 2, 1), batch_dims=2)
    yield gather_nd(p + "nd_batch_dims_equal_index_rank_1", table(1, 3), same_index(1, 1), batch_dims=1)
    yield gather_nd(p + "nd_batch_dims_above_index_rank", table(1, 1, 1, 3), same_index(1, 2, 1), batch_dims=3)
    yield gather_nd(p + "nd_batch_dims_equal_params_rank", table(3), same_index(0, 3, 1), batch_dims=1)
    yield gather_nd(p + "nd_batch_dims_equal_params_rank_no_depth", table(3), same_index(0, 3, 0), batch_dims=1)
    yield gather_nd(p + "nd_batch_dims_-1", table(3, 3), same_index(0, 3, 1), batch_dims=-1)
    yield gather_nd(p + "nd_batch_dims_-1_empty", table(3, 0), same_index(0, 3, 1), batch_dims=-1)
    yield gather_nd(p + "nd_batch_dims_-1_no_tuples", table(3, 3), same_index(0, 0, 1), batch_dims=-1)
    yield gather_nd(p + "nd_batch_dims_-2", table(3, 3), same_index(0, 3, 1), batch_dims=-2)
    yield gather_nd(p + "nd_batch_dims_int64_min", table(3, 3), same_index(0, 3, 1), batch_dims=INT64_MIN)
    yield gather_nd(p + "nd_batch_dims_int64_max", table(3, 3), same_index(0, 3, 1), batch_dims=INT64_MAX)
    yield gather_nd(p + "nd_batch_dims_int64_max_empty", table(3, 0), same_index(0, 3, 1), batch_dims=INT64_MAX)
    p = "ort/facts/a14_"
    yield gather(p + "01_gather_string_rows", strings([[b"a", b"b"], [b"c", b"d"]]), index([1, 0]), axis=0)
    yield gather(p + "01_gather_string_elements", strings([b"a", b"b"]), index([1, 0]), axis=0)
    yield gather_nd(p + "01_nd_string_rows", strings([[b"a", b"b"], [b"c", b"d"]]), index([[1], [0]]))
    yield gather(p + "complex64", table(3, dtype="complex64"), index([1]), axis=0, difference="D18")
