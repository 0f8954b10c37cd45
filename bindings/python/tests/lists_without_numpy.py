"""Nested lists and Python scalars in a process that cannot import NumPy.

As in NumPy, integers become int64, or uint64 if one needs it. test_package.py runs this file.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest

sys.modules["numpy"] = None  # type: ignore[assignment]

from lists_of_values import *  # noqa: E402, F403 - its tests run here too

import libgather  # noqa: E402


class Three:
    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([True, False], "bool"),
        ([True, 2], "int64"),
        ([1, -(2**63)], "int64"),
        ([0, 2**63 - 1], "int64"),
        ([0, 2**63], "uint64"),
        ([2**64 - 1], "uint64"),
        ([1, 2.5], "float64"),
        ([True, 0.5], "float64"),
        ([], "float64"),
        ([[], []], "float64"),
        (["a", "\ud800"], "string"),
        ([b"a", b""], "string"),
        (range(3), "int64"),
        (7, "int64"),
        (((1, 2), [3, 4]), "int64"),
    ],
    ids=repr,
)
def test_dtype_and_elements(values: Any, dtype: str) -> None:
    elements = [[1, 2], [3, 4]] if values == ((1, 2), [3, 4]) else [*values] if isinstance(values, range) else values
    tensor = libgather.Tensor(values)
    assert tensor.dtype == dtype
    assert tensor.tolist() == elements


@pytest.mark.parametrize(
    ("values", "shape"),
    [(5, ()), ([], (0,)), ([[], []], (2, 0)), ([[[1], [2]]], (1, 2, 1)), ([[1, 2, 3], [4, 5, 6]], (2, 3))],
    ids=repr,
)
def test_shape(values: Any, shape: tuple[int, ...]) -> None:
    assert libgather.Tensor(values).shape == shape


@pytest.mark.parametrize(
    "values",
    [[[1], [1, 2]], [[1, 2], [1]], [[1], 2], [1, [2]], [[1], "a"], [[1, [2]], [3, 4]], [[[1], [2]], [[3], 4]]],
    ids=repr,
)
@pytest.mark.parametrize("operand", ["params", "indices"])
def test_ragged_lists(operand: str, values: Any) -> None:
    with pytest.raises(libgather.ShapeError, match=f"{operand}: a ragged list is not an array") as caught:
        libgather.gather(**{"params": [1, 2], "indices": [0], operand: values})
    assert caught.value.operand == operand


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None], "a list of NoneType is not an array"),
        ([1, "a"], "a list of int, str is not an array"),
        (["a", b"b"], "a list of bytes, str is not an array"),
        ([1j], "a list of complex is not an array"),
        ([10**30], "out of range"),
        ([-1, 2**64], "out of range"),
    ],
    ids=repr,
)
def test_lists_that_are_no_arrays(values: Any, message: str) -> None:
    with pytest.raises(libgather.DTypeError, match=message) as caught:
        libgather.gather(values, [0])
    assert caught.value.operand == "params"


def test_fill_value_of_a_dtype_that_only_numpy_rounds_to() -> None:
    table = libgather.Tensor.zeros((2,), "bfloat16")
    with pytest.raises(libgather.UnsupportedError, match="fill_value of bfloat16 needs NumPy and ml_dtypes"):
        libgather.gather(table, [9], fill_value=1.0)
    assert libgather.gather(table, [9, 0], fill_value=b"\x80\x3f").tolist() == [0x3F80, 0]


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1


def test_rank_is_at_most_64() -> None:
    assert libgather.Tensor(nested(64)).ndim == 64
    with pytest.raises(libgather.RankError, match="64 dims"):
        libgather.gather(nested(65), [0])


def test_indices() -> None:
    values = [10, 11, 12, 13]
    assert libgather.gather(values, Three()) == 13
    assert libgather.gather(values, [Three(), 0]) == [13, 10]
    assert libgather.gather(values, range(1, 3)) == [11, 12]
    assert libgather.gather(values, []) == []
    assert libgather.gather([], []) == []
    with pytest.raises(libgather.DTypeError, match="indices"):
        libgather.gather(values, [True])
    with pytest.raises(libgather.DTypeError, match="indices"):
        libgather.gather(values, [1.0])


def test_results_are_lists() -> None:
    assert libgather.gather([[1, 2], [3, 4]], [1], axis=1) == [[2], [4]]
    assert libgather.gather(["a", "b"], [[1, 0]]) == [["b", "a"]]
    assert libgather.gather([b"a", b"b"], 1) == b"b"
    assert libgather.take([[1, 2], [3, 4]], [3, 0]) == [4, 1]
    assert libgather.take_along_axis([[5, 6], [7, 8]], [1, 2], None) == [6, 7]


def test_scatter() -> None:
    assert libgather.scatter([1, 2, 3], [2, 0], [9, True]) == [1, 2, 9]
    assert libgather.scatter([[1, 2], [3, 4]], [1], [[5, 6]]) == [[1, 2], [5, 6]]
    assert libgather.scatter([1.0, 2.0], [1], [7]) == [1.0, 7.0]
    assert libgather.scatter([1, 2, 3], 1, 8) == [1, 8, 3]
    with pytest.raises(libgather.ShapeError, match="updates: a ragged list is not an array"):
        libgather.scatter([[1, 2]], [0], [[1], 2])
