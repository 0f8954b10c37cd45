"""Rows of pandas equal those of its take, iloc and reindex: subclasses, indexes, and tables of every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from column_kinds import PANDAS, library, pandas_column

import libgather

#: Numbers of rows around the constants of `frames.py`: the first row, strings of Python, and chunks.
SIZES = (0, 1, 2, 999, 1000, 1001)
LONG = 100_001


def subclasses() -> tuple[type, type]:
    pd = library("pandas")

    class Measured(pd.Series):  # type: ignore[misc,name-defined]
        _metadata: ClassVar[list[str]] = ["unit"]

        @property
        def _constructor(self) -> type:
            return Measured

        @property
        def _constructor_expanddim(self) -> type:
            return Table

    class Table(pd.DataFrame):  # type: ignore[misc,name-defined]
        _metadata: ClassVar[list[str]] = ["unit"]

        @property
        def _constructor(self) -> type:
            return Table

        @property
        def _constructor_sliced(self) -> type:
            return Measured

    return Measured, Table


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda column, _: libgather.gather(column, [2, 0]),
    "null": lambda column, _: libgather.gather(column, [2, 9], bounds="null"),
    "null index": lambda column, _: libgather.gather(column, [2, None]),
    "fill": lambda column, value: libgather.gather(column, [2, 9], fill_value=value),
    "padding": lambda column, value: libgather.gather(column, [2, -9], padding_index=-9, fill_value=value),
}


@pytest.mark.parametrize("name", PANDAS)
def test_subclass_and_its_metadata_are_kept(name: str) -> None:
    series, frame = subclasses()
    plain = pandas_column(name)
    column = series(plain)
    column.unit, column.attrs["source"] = "m", "survey"
    table = frame({"a": plain})
    table.unit, table.attrs["source"] = "kg", "scale"
    value = plain.iloc[0]
    scatters = {"scatter": lambda column, value: libgather.scatter(column, [1], [value])} if name != "sparse" else {}
    for call, run in (CALLS | scatters).items():
        if "null" in call and name in ("int64", "bool", "interval", "sparse"):
            continue
        rows = run(column, value)
        assert type(rows) is series and (rows.unit, rows.attrs) == ("m", {"source": "survey"}), call
        if call != "scatter":
            taken = run(table, value)
            assert type(taken) is frame and (taken.unit, taken.attrs) == ("kg", {"source": "scale"}), call
            assert taken["a"].isna().tolist() == rows.isna().tolist() and taken["a"].dtype == plain.dtype


def test_long_tables_with_chunks_keep_their_class() -> None:
    import pyarrow as pa

    _, frame = subclasses()
    pd = library("pandas")
    words = pa.array([f"word {n}" for n in range(LONG)], pa.large_string())
    text = pd.arrays.ArrowExtensionArray(pa.chunked_array([words[: LONG // 2], words[LONG // 2 :]]))
    table = frame({"a": text, "b": np.arange(LONG), "c": pd.Series(list("xy") * (LONG // 2) + ["z"], dtype=object)})
    table.index, table.unit = table.index * 3, "m"
    ids = [LONG - 1, 0, 7]
    rows = libgather.gather(table, ids)
    pd.testing.assert_frame_equal(rows, table.take(ids))
    assert type(rows) is frame and rows.unit == "m" and rows["c"].dtype == object


def test_table_without_columns_keeps_its_rows() -> None:
    pd = library("pandas")
    for labels in (pd.RangeIndex(3), pd.Index(["a", "b", "c"]), pd.MultiIndex.from_product([["a"], [1, 2, 3]])):
        table = pd.DataFrame(index=labels)
        pd.testing.assert_frame_equal(libgather.gather(table, [2, 0, 2]), table.take([2, 0, 2]))
        for rows in (
            libgather.gather(table, [2, 9], bounds="null"),
            libgather.gather(table, [2, 9], bounds="fill"),
            libgather.gather(table, [2, 9], fill_value=5),
            libgather.gather(table, [2, None]),
        ):
            assert rows.shape == (2, 0) and rows.index.equals(pd.RangeIndex(2))
        with pytest.raises(libgather.IndexError):
            libgather.gather(table, [3])


@pytest.mark.parametrize(
    "values", [[1, 2, 3], ["a", "b", "c"], [True, False, True], [1.5, None, 2.5], [(1,), (2,), "x"]], ids=repr
)
def test_index_of_objects_keeps_its_dtype(values: list[Any]) -> None:
    pd = library("pandas")
    index = pd.Index(values, dtype=object, name="i", tupleize_cols=False)
    expected = index.take([2, 0])
    for rows in (
        libgather.gather(index, [2, 0]),
        libgather.scatter(index, [0, 1], [values[2], values[0]])[:2],
        libgather.gather(index, [9, 0], fill_value=values[2]),
        libgather.gather(index, [-9, 0], padding_index=-9, fill_value=values[2]),
    ):
        pd.testing.assert_index_equal(rows, expected, exact=True)
    nulls = libgather.gather(index, [2, 9], bounds="null")
    assert nulls.dtype == object and nulls[0] == values[2] and pd.isna(nulls[1])


def test_arrays_of_strings_of_numpy_are_written() -> None:
    pd = library("pandas")
    for dtype in ("U3", "S2", object, np.dtypes.StringDType(), "i4", "f8", "M8[s]", "i4,f4"):
        numbers = np.array(["1", "2", "30"]).astype("i4" if dtype in ("M8[s]", "i4,f4") else dtype).astype(dtype)
        whole = pd.arrays.NumpyExtensionArray(numbers)
        out = whole.copy()
        assert libgather.gather(whole, [2, 0, 1], out=out) is out
        assert out.to_numpy().tolist() == numbers[[2, 0, 1]].tolist()
        for updates in (whole[[2]], numbers[[2]], numbers[[2]] if dtype == "M8[s]" else numbers[[2]].tolist()):
            target = whole.copy()
            assert libgather.scatter(target, [0], updates, inplace=True) is target
            assert target.to_numpy().tolist() == numbers[[2, 1, 2]].tolist()
            written = libgather.scatter(whole, [0], updates)
            assert type(written) is type(whole) and written.dtype == whole.dtype
            assert written.to_numpy().tolist() == numbers[[2, 1, 2]].tolist()
        assert whole.to_numpy().tolist() == numbers.tolist()
    words = pd.arrays.NumpyExtensionArray(np.array(["a", "bb"]))
    with pytest.raises(libgather.DTypeError, match=r"'ccc' is no str.*: it would become 'cc'"):
        libgather.scatter(words, [0], ["ccc"], inplace=True)


def long_column(name: str, size: int) -> Any:
    """Returns a column whose values differ as far as those of `pandas_column` do."""
    column = pandas_column(name)
    numbers = np.arange(size) * 7 % 6
    column = column.take(numbers)
    column.index = np.arange(size) * 3
    return column


@pytest.mark.parametrize("name", PANDAS)
@pytest.mark.parametrize("size", SIZES)
def test_rows_equal_those_of_take_and_reindex(name: str, size: int) -> None:
    pd = library("pandas")
    column = long_column(name, size)
    chance = np.random.default_rng(size)
    ids = chance.integers(0, max(size, 1), min(size, 50))
    pd.testing.assert_series_equal(libgather.gather(column, ids), column.iloc[ids])
    table = pd.DataFrame({"a": column, "b": np.arange(size)}).set_axis(["twice", "twice"], axis=1)
    pd.testing.assert_frame_equal(libgather.gather(table, ids), table.iloc[ids])
    if name in ("int64", "bool", "interval", "sparse"):
        return
    some = np.where(chance.random(ids.size) < 0.3, size + 5, ids)
    expected = column.reset_index(drop=True).reindex(some).reset_index(drop=True)
    for rows in (libgather.gather(column, some, bounds="null"), libgather.gather(column, some, fill_value=None)):
        pd.testing.assert_series_equal(rows, expected)
    pd.testing.assert_frame_equal(
        libgather.gather(table.iloc[:, [0]], some, bounds="null"),
        table.iloc[:, [0]].reset_index(drop=True).reindex(some).reset_index(drop=True),
    )
    if size:
        value = next(value for value in column if not pd.isna(value))
        filled = column.reset_index(drop=True).reindex(some, fill_value=value).reset_index(drop=True)
        pd.testing.assert_series_equal(libgather.gather(column, some, fill_value=value), filled)
