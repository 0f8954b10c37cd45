"""Columns and extension arrays of pandas and polars: categories, types of results, and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import libgather

pd = pytest.importorskip("pandas", reason="pandas is not installed")
WORDS = pd.Series(["a", "b", "a"], dtype="category", name="words")
NUMBERS = pd.Series([1, 2, 3], dtype="category")


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: libgather.scatter(NUMBERS, [0], [3], reduction="add"), 4),
        (lambda: libgather.gather(NUMBERS, [9], fill_value=7), 7),
        (lambda: libgather.gather(NUMBERS, [9], bounds="fill"), 0),
        (lambda: libgather.gather(pd.Index(WORDS), [9], fill_value=""), ""),
    ],
)
def test_value_outside_categories_is_an_error(call: Callable[[], Any], value: Any) -> None:
    with pytest.raises(libgather.DTypeError, match=f"out: {value!r} is not in the categories of the column"):
        call()


def test_value_in_categories_is_written() -> None:
    written = WORDS.copy()
    written[0] = "b"
    pd.testing.assert_series_equal(libgather.scatter(WORDS, [0], ["b"]), written)
    assert libgather.scatter(NUMBERS, [0], [1], reduction="add").tolist() == [2, 2, 3]


def test_value_outside_an_enum_of_polars_is_an_error() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    column = pl.Series("words", ["a", "b"], dtype=pl.Enum(["a", "b"]))
    assert libgather.scatter(column, [1], ["a"]).to_list() == ["a", "a"]
    with pytest.raises(libgather.DTypeError, match=r"updates: .*conversion from `str` to `enum` failed"):
        libgather.scatter(column, [1], ["z"])


@pytest.mark.parametrize(
    "array",
    [
        pd.Series([1.5, 2.5, 3.5]).array,
        pd.array([1, 2, 3]),
        pd.array([True, False, True]),
        pd.array(["a", "b", "c"]),
        pd.array(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])),
        pd.arrays.SparseArray([0, 1, 2]),
        pd.Categorical(["a", "b", "a"]),
    ],
    ids=lambda array: type(array).__name__,
)
def test_result_of_an_extension_array_is_one(array: Any) -> None:
    expected = array.take([2, 0])
    for result in (libgather.gather(array, [2, 0]), libgather.take(array, [2, 0]), libgather.take(array, [-1, -3])):
        assert type(result) is type(array)
        assert result.dtype == array.dtype
        assert result.tolist() == expected.tolist()
    written = libgather.scatter(array, [0], array.take([1]))
    assert type(written) is type(array)
    assert written.tolist() == array.take([1, 1, 2]).tolist()


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (pd.Series(pd.date_range("2020", periods=2, tz="Europe/Paris")), "datetime64.*, Europe/Paris"),
        (pd.date_range("2020", periods=2, tz="UTC"), "datetime64.*, UTC"),
        (pd.Series(pd.period_range("2020", periods=2, freq="M")), "period.M"),
        (pd.arrays.IntervalArray.from_breaks([0, 1, 2]), "interval.int64, right"),
    ],
)
def test_message_names_the_dtype_of_a_column(column: Any, dtype: str) -> None:
    with pytest.raises(libgather.DTypeError, match=f"params: elements of dtype {dtype}. are no dtype of this library$"):
        libgather.gather(column, [0], profile="torch")
    with pytest.raises(libgather.DTypeError, match=r"indices: elements of dtype .* are no dtype of this library$"):
        libgather.gather(np.zeros(3), column)
