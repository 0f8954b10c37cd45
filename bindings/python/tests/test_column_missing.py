"""Missing ids of tables and columns: a fill value for each column, null, and promotion, as pandas' reindex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from column_kinds import PANDAS, library, pandas_column

import libgather

NUMBERS = ("int8", "int64", "uint8", "uint64", "float16", "float32", "complex64", "bool", "M8[s]", "m8[ns]", "object")
MORE = ("Sparse[int64]", "Sparse[float64]", "Int16", "UInt64", "Float32", "boolean", "string", "string[python]")


def column_of(name: str, size: int) -> Any:
    pd = library("pandas")
    numbers = np.arange(size) * 7 % 11
    if name in PANDAS:
        return pandas_column(name).take(numbers % 6).set_axis(np.arange(size) * 3)
    values = numbers % 2 == 0 if name in ("bool", "boolean") else numbers.astype(str) if "string" in name else numbers
    return pd.Series(pd.array(values, name) if name in MORE else values.astype(name), np.arange(size) * 3, name="n")


def reindexed(values: Any, ids: np.ndarray, **fills: Any) -> Any:
    return values.reset_index(drop=True).reindex(ids, **fills).reset_index(drop=True)


@pytest.mark.parametrize("name", [*NUMBERS, *MORE, *PANDAS])
@pytest.mark.parametrize("size", [1, 2, 999, 1000, 1001])
def test_promoted_rows_equal_those_of_reindex(name: str, size: int) -> None:
    pd = library("pandas")
    column = column_of(name, size)
    chance = np.random.default_rng(size)
    ids = chance.integers(0, size, 40)
    some = np.where(chance.random(40) < 0.3, size + ids, ids)
    some[7] = size
    expected = reindexed(column, some)
    table = pd.DataFrame({"a": column, "b": np.arange(size) * 0.5})
    nullable = pd.Series(some, dtype="Int64").where(some < size)
    for rows in (
        libgather.gather(column, some, bounds="promote"),
        libgather.gather(column, nullable, bounds="promote"),
        libgather.gather(column, np.where(some < size, some, -7), bounds="promote", padding_index=-7),
        libgather.gather(table, some, bounds="promote")["a"].rename("n"),
    ):
        pd.testing.assert_series_equal(rows, expected)
    pd.testing.assert_frame_equal(libgather.gather(table, some, bounds="promote"), reindexed(table, some))
    # Without a missing id, nothing is promoted.
    for bounds in ("null", "promote"):
        pd.testing.assert_series_equal(libgather.gather(column, ids, bounds=bounds), reindexed(column, ids))
    strict = libgather.gather(table, some, bounds="null") if expected.dtype == column.dtype else None
    if strict is not None:
        pd.testing.assert_series_equal(strict["a"].rename("n"), expected)
        return
    with pytest.raises(libgather.DTypeError, match=r"cannot represent null, bounds 'promote' takes .*: column 'a'$"):
        libgather.gather(table, some, bounds="null")


def test_promoted_integers_are_exact() -> None:
    pd = library("pandas")
    for dtype, large in (("int64", 2**53 + 1), ("uint64", 2**64 - 1), ("Sparse[int64]", -(2**53) - 1)):
        numbers = np.array([5, large], "uint64" if dtype == "uint64" else "int64")
        table = pd.DataFrame({"small": [1, 2], "large": pd.array(numbers, dtype)})
        assert libgather.gather(table, [0, 9], bounds="promote")["large"].iloc[0] == 5
        with pytest.raises(
            libgather.DTypeError, match=r"has integers that .*float64.* does not hold exactly: column 'lar"
        ):
            libgather.gather(table, [1, 9], bounds="promote")


TABLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": lambda data: library("pandas").DataFrame(data),
    "pandas of Arrow": lambda data: pa.table(data).to_pandas(types_mapper=library("pandas").ArrowDtype),
    "polars": lambda data: library("polars").DataFrame(data),
    "pyarrow": pa.table,
    "record batch": pa.record_batch,
    "pyarrow chunks": lambda data: pa.concat_tables([pa.table(data).slice(0, 2), pa.table(data).slice(2)]),
}
DATA: dict[str, list[Any]] = {"age": [31, 42, 53], "city": ["Rome", "Oslo", "Lima"], "score": [0.5, 1.5, 2.5]}


def listed(table: Any) -> list[dict[str, Any]]:
    rows = table.to_pylist() if hasattr(table, "to_pylist") else None
    rows = rows if rows is not None else table.to_dicts() if hasattr(table, "to_dicts") else table.to_dict("records")
    return [
        {name: None if str(value) in ("nan", "<NA>", "None") else value for name, value in row.items()} for row in rows
    ]


@pytest.mark.parametrize("name", TABLES)
def test_each_column_has_its_fill_value(name: str) -> None:
    table, null = TABLES[name](DATA), dict.fromkeys(DATA)
    rows = [dict(zip(DATA, values, strict=True)) for values in zip(*DATA.values(), strict=True)]
    every = {"age": -1, "city": "?", "score": 9.25}
    for ids in ([2, 7, 0], np.array([2, -4, 0]), pa.array([2, 3, 0], pa.uint8())):
        assert listed(libgather.gather(table, ids, fill_value=every)) == [rows[2], every, rows[0]]
        found = libgather.gather(table, ids, fill_value={"age": 5})
        assert type(found) is type(table) and listed(found) == [rows[2], null | {"age": 5}, rows[0]]
        for bounds in ("null", "fill", None):
            filled = libgather.gather(table, ids, bounds=bounds, fill_value={"age": 5, "city": None})
            assert listed(filled) == [rows[2], null | {"age": 5}, rows[0]]
    # A null index selects null, which a column of int64 of NumPy does not have.
    some = {"age": -1} if name != "pandas" else {}
    narrow = table if name != "pandas" else table[["city", "score"]]
    wanted = [
        {key: row[key] for key in narrow.columns} if name == "pandas" else row for row in (rows[1], null | some, null)
    ]
    assert listed(libgather.gather(narrow, pa.array([1, 9, None]), fill_value=some)) == wanted
    padded = libgather.gather(table, [1, -5], padding_index=-5, fill_value={"age": 7, "city": "none"})
    assert listed(padded) == [rows[1], null | {"age": 7, "city": "none"}]
    with pytest.raises(libgather.IndexError):
        libgather.gather(table, [1, 3], padding_index=-5, fill_value=every)
    with pytest.raises(libgather.OptionError, match=r"fill_value has 'town', which is no column of the table"):
        libgather.gather(table, [1], fill_value=every | {"town": "x"})
    with pytest.raises(libgather.DTypeError, match=r"^options: fill_value 'old' is no .*: column 'age'$") as caught:
        libgather.gather(table, [9], fill_value=every | {"age": "old"})
    assert caught.value.column == "age"
    with pytest.raises(libgather.OptionError, match=r"fill_value is for bounds 'fill', which is 'clamp'"):
        libgather.gather(table, [9], bounds="clamp", fill_value=every)


def test_fill_values_of_columns_with_the_same_name() -> None:
    pd = library("pandas")
    table = pd.DataFrame([[1, 2.5, "x"], [3, 4.5, "y"]], columns=["n", "n", "s"])
    rows = libgather.gather(table, [1, 2], fill_value={"n": 7, "s": ""})
    assert rows.to_numpy().tolist() == [[3, 4.5, "y"], [7, 7.0, ""]] and rows.dtypes.tolist() == table.dtypes.tolist()
    levels = pd.DataFrame([[1, "x"]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert libgather.gather(levels, [9], fill_value={("a", 1): 4, ("a", 2): "z"}).to_numpy().tolist() == [[4, "z"]]
    with pytest.raises(libgather.OptionError, match=r"fill_value has 'a', which is no column"):
        libgather.gather(levels, [9], fill_value={"a": 4})


def test_promotion_and_fill_values_in_one_call() -> None:
    """A look-up in a feature store: some features have a default, and the others are missing."""
    pd = library("pandas")
    features = pd.DataFrame({"visits": [3, 5], "active": [True, False], "rate": [0.5, 0.25], "plan": ["a", "b"]})
    ids = [1, 77, 0]
    rows = libgather.gather(features, ids, bounds="promote", fill_value={"visits": 0, "plan": "none"})
    expected = features.reindex(ids).reset_index(drop=True).fillna({"visits": 0, "plan": "none"})
    pd.testing.assert_frame_equal(rows, expected.astype({"visits": "int64"}))
    assert rows.dtypes.tolist() == [np.dtype("int64"), np.dtype(object), np.dtype("float64"), features["plan"].dtype]
    with pytest.raises(libgather.DTypeError, match=r"bool cannot represent null.*: column 'active'$") as caught:
        libgather.gather(features, ids, fill_value={"visits": 0, "plan": "none"})
    assert caught.value.column == "active"


def test_dict_is_a_value_of_a_column_of_structs() -> None:
    structs = pa.array([{"a": 1}, {"a": 2}])
    for column in (structs, pa.chunked_array([structs]), library("polars").Series("s", structs)):
        values = libgather.gather(column, [9, 0], fill_value={"a": 5})
        assert (values.to_pylist() if hasattr(values, "to_pylist") else values.to_list()) == [{"a": 5}, {"a": 1}]
    table = pa.table({"s": structs, "n": [1, 2]})
    assert libgather.gather(table, [9], fill_value={"s": {"a": 5}, "n": 3}).to_pylist() == [{"s": {"a": 5}, "n": 3}]


def test_bounds_of_columns_are_refused_for_arrays() -> None:
    for bounds in ("null", "promote"):
        with pytest.raises(libgather.OptionError, match=f"bounds '{bounds}' is none of"):
            libgather.gather(np.zeros(3), [9], bounds=bounds)
    with pytest.raises(libgather.DTypeError, match="fill_value"):
        libgather.gather(np.zeros((3, 2)), [9], fill_value={"a": 1})
