"""Calls on nested lists whose results do not depend on NumPy. The results are stated here as Python values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import libgather
import libgather.onnx
import libgather.tf

BIG, ODD = 2**63 + 1, 2**53 + 1
DIGEST = b"\1" * 31 + b"\0"

Call = Callable[[], Any]
RESULTS: list[tuple[Call, Any]] = [
    (lambda: libgather.gather([BIG, 1], [0, 1]), [BIG, 1]),
    (lambda: libgather.gather([[BIG], [1]], 0), [BIG]),
    (lambda: libgather.gather([ODD, -1], [0]), [ODD]),
    (lambda: libgather.gather([2**63, 0.5], [0]), [2.0**63]),
    (lambda: libgather.Tensor([BIG, 1]), [BIG, 1]),
    (lambda: libgather.take([BIG, 1], [0]), [BIG]),
    (lambda: libgather.take_along_axis([BIG, 1], [0]), [BIG]),
    (lambda: libgather.tf.gather([BIG, 1], [0]), [BIG]),
    (lambda: libgather.onnx.Gather([BIG, 1], [0]), [BIG]),
    (lambda: libgather.scatter([BIG, 1], [1], [BIG + 1]), [BIG, BIG + 1]),
    (lambda: libgather.scatter([2**64 - 1, 1], [1, 0], [BIG, 2]), [2, BIG]),
    (lambda: libgather.scatter([0.0, 0.0], [0, 1], [2**53, -1]), [2.0**53, -1.0]),
    (lambda: libgather.scatter([0.5, 0.5], [0, 1], [-1, 2**63]), [-1.0, 2.0**63]),
    (lambda: libgather.gather([DIGEST, b"x"], [0, 1]), [DIGEST, b"x"]),
    (lambda: libgather.gather([[DIGEST], [b"x"]], 0), [DIGEST]),
    (lambda: libgather.gather(["a\0", "x"], [0]), ["a\0"]),
    (lambda: libgather.gather(["a\0", "x"], 0), "a\0"),
    (lambda: libgather.gather_nd([["a\0"]], [[0, 0]]), ["a\0"]),
    (lambda: libgather.Tensor([DIGEST, b"x"]), [DIGEST, b"x"]),
    (lambda: libgather.take([[DIGEST], [b"x"]], [0]), [DIGEST]),
    (lambda: libgather.take_along_axis([DIGEST, b"x"], [0]), [DIGEST]),
    (lambda: libgather.tf.gather([DIGEST, b"x"], [0]), [DIGEST]),
    (lambda: libgather.tf.gather(["a\0", "x"], [0]), [b"a\0"]),
    (lambda: libgather.onnx.Gather(["a\0", "x"], [0]), ["a\0"]),
    (lambda: libgather.scatter([DIGEST, b"x"], [1], [b"y\0"]), [DIGEST, b"y\0"]),
    (lambda: libgather.scatter(["x", "y"], [1], ["a\0"]), ["x", "a\0"]),
    (lambda: libgather.scatter(["x", "y"], 1, "a\0"), ["x", "a\0"]),
]

ERRORS: list[tuple[Call, type[Exception], str]] = [
    (lambda: libgather.gather([1, 2], [BIG, 0]), IndexError, f"indices: component 0 of tuple 0 is {BIG}"),
    (lambda: libgather.gather([1, 2], [0, 2**64 - 1]), IndexError, f"of tuple 1 is {2**64 - 1}"),
    (lambda: libgather.scatter([1, 2], [0, BIG], [5, 6]), IndexError, f"of tuple 1 is {BIG}"),
    (lambda: libgather.gather([1, 2], [-1, BIG]), TypeError, f"indices: integers in .-1, {BIG}. are out of range"),
    (lambda: libgather.gather([-1, 2**63], [0]), TypeError, "params: integers in .* are out of range"),
    (lambda: libgather.gather([ODD, 0.5], [0]), TypeError, f"params: {ODD} is in a list with floats"),
    (lambda: libgather.scatter([0.5], [0], [ODD]), TypeError, f"updates: {ODD} is no float64"),
    (lambda: libgather.scatter([0.5], 0, ODD), TypeError, f"updates: {ODD} is no float64"),
    (lambda: libgather.scatter([1], [0], [1.0]), TypeError, "updates: 1.0 is no int64"),
    (lambda: libgather.scatter([1, 2], [0, 1], [ODD, 0.5]), TypeError, "updates: 0.5 is no int64"),
    (lambda: libgather.gather([0.5], [9], fill_value=ODD), TypeError, f"options: fill_value {ODD} is no float64"),
    (lambda: libgather.gather(["a", b"b"], [0]), TypeError, "params: a list of bytes, str is not an array"),
    (lambda: libgather.scatter([1, 2], [0], [[1], 2]), ValueError, "updates: a ragged list is not an array"),
]


@pytest.mark.parametrize(("call", "expected"), RESULTS)
def test_result_is_exact(call: Call, expected: Any) -> None:
    result = call()
    result = result if isinstance(result, (list, str)) else result.tolist()
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(("call", "kind", "message"), ERRORS)
def test_list_that_no_dtype_holds_is_an_error(call: Call, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
