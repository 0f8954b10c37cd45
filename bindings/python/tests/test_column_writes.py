"""Scatters to columns equal the assignments of the columns' own libraries."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from column_kinds import ARROW, DAY, ODD, PANDAS, POLARS, arrow_column, library, pandas_column, some

import libgather

# --------------------------------------------------------------------------------------------------------- pyarrow


@pytest.mark.parametrize("name", ARROW | ODD)
def test_writes_to_arrow_equal_those_to_lists(name: str) -> None:
    chance = random.Random(name)
    for _ in range(20):
        target = arrow_column(name, chance, 30)
        known = list(dict.fromkeys(target.to_pylist())) if name == "dictionary" else None
        ids = [chance.randrange(len(target)) for _ in range(chance.choice([0, 1, 5, 40]))]
        source = arrow_column(name, chance, 30)
        values = chance.choices(known or source.to_pylist(), k=len(ids))
        expected = target.to_pylist()
        for place, value in zip(ids, values, strict=True):
            expected[place] = value
        updates = pa.array(values, target.type)
        for given in (updates, pa.chunked_array([updates]), values):
            written = libgather.scatter(target, ids, given)
            assert type(written) is type(target) or isinstance(target, pa.Array)
            assert written.type == target.type and written.to_pylist() == expected
            written.validate(full=True)


def test_writes_to_arrow_equal_those_of_pyarrow() -> None:
    for name in ("bool", "int8", "float64", "timestamp", "decimal128", "string", "fixed_size_binary"):
        chance = random.Random(name)
        target = pa.array(arrow_column(name, chance, 30).to_pylist(), ARROW[name][0])
        ids = sorted(chance.sample(range(len(target)), 5))
        updates = arrow_column(name, chance, 30)[:5]
        mask = pa.array([place in ids for place in range(len(target))])
        replacements = updates.combine_chunks() if isinstance(updates, pa.ChunkedArray) else updates
        assert libgather.scatter(target, ids, updates).equals(pc.replace_with_mask(target, mask, replacements))


@pytest.mark.parametrize("name", ARROW | ODD)
def test_few_writes_to_many_rows_of_arrow_equal_those_to_lists(name: str) -> None:
    kind, make = (ARROW | ODD)[name]
    chance = random.Random(name)
    for count in (63, 64, 65, 127, 128, 500):
        target = pa.array(some(make)(chance, count + 3), kind)[3:]
        expected = target.to_pylist()
        for ids in ([count - 1], [0], [5, 0, 5], []):
            updates = pa.array([expected[7 + i] for i in range(len(ids))], kind)
            wanted = list(expected)
            for place, value in zip(ids, updates.to_pylist(), strict=True):
                wanted[place] = value
            for whole in (target, pa.chunked_array([target]), pa.chunked_array([target[:9], target[9:]])):
                written = libgather.scatter(whole, ids, updates)
                assert type(written) is type(whole) and written.type == kind and written.to_pylist() == wanted
                written.validate(full=True)
    assert libgather.scatter(target, [0, 900, -1], target[:3], bounds="skip").to_pylist() == [
        expected[0],
        *expected[1:],
    ]


def test_codes_of_arrow_keep_their_dictionary() -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, None, 2], pa.int8()), ["low", "middle", "high"], ordered=True)
    written = libgather.scatter(words, [1, 0], ["high", None])
    assert written.type == words.type and written.dictionary.equals(words.dictionary)
    assert written.indices.to_pylist() == [None, 2, 2]
    with pytest.raises(libgather.DTypeError, match="updates: 'none' is not in the dictionary of the column"):
        libgather.scatter(words, [1, 0], ["high", "none"])
    assert libgather.scatter(words, 0, "middle").to_pylist() == ["middle", None, "high"]


def test_vectors_of_numpy_are_written() -> None:
    vectors = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2))
    written = libgather.scatter(vectors, [1, 2], np.array([[5, 6], [7, 8]], "f4"))
    assert written.to_pylist() == [[1, 2], [5, 6], [7, 8]]


# ---------------------------------------------------------------------------------------------------------- pandas


def updates_of_pandas(name: str, column: Any) -> list[Any]:
    """Returns three values of a column, of which the last is null if its dtype has nulls."""
    values = column.tolist()
    has_nulls = name not in ("int64", "bool", "interval", "float64")
    return [values[4], values[2], None if has_nulls else values[5]]


@pytest.mark.parametrize("name", [name for name in PANDAS if name != "sparse"])
def test_writes_to_pandas_equal_its_assignments(name: str) -> None:
    pd = library("pandas")
    column = pandas_column(name)
    values = updates_of_pandas(name, column)
    for ids in ([0, 3, 5], [5, 5, 0], [2, 0, 2]):
        expected = column.copy()
        for place, value in zip(ids, values, strict=True):
            expected.iloc[place] = value
        before = column.copy()
        for updates in (values, pd.Series(values, dtype=column.dtype), pd.Series(values, dtype=column.dtype).array):
            pd.testing.assert_series_equal(libgather.scatter(column, ids, updates), expected)
            pd.testing.assert_series_equal(column, before)
            written = column.copy()
            assert libgather.scatter(written, np.array(ids), updates, inplace=True) is written
            pd.testing.assert_series_equal(written, expected)
            array = column.array.copy()
            made = libgather.scatter(array, ids, updates)
            pd.testing.assert_extension_array_equal(made, expected.array)
            assert libgather.scatter(array, ids, updates, inplace=True) is array
            pd.testing.assert_extension_array_equal(array, expected.array)
        if name != "object":
            index = pd.Index(column.array, name="i")
            pd.testing.assert_index_equal(
                libgather.scatter(index, ids, values), pd.Index(expected.array, name="i"), exact=name != "bool"
            )
    skipped = libgather.scatter(column, [9, 1, -1], values, bounds="skip")
    expected = column.copy()
    expected.iloc[1] = values[1]
    pd.testing.assert_series_equal(skipped, expected)
    one = libgather.scatter(column, 1, values[0])
    assert one.iloc[1] == values[0] and one.iloc[[0, 2, 3]].tolist() == column.iloc[[0, 2, 3]].tolist()
    pd.testing.assert_series_equal(libgather.scatter(column, [], []), column)
    with pytest.raises(libgather.IndexError) as caught:
        libgather.scatter(column, [0, 6, 1], values, inplace=True)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 6, 6)
    with pytest.raises(libgather.ShapeError, match=r"updates: shape \(3,\), needed is \(2,\)"):
        libgather.scatter(column, [0, 1], values)


@pytest.mark.parametrize(
    ("name", "value"),
    [("category", "z"), ("Int64", 1.5), ("int64", 1.5), ("int64", None), ("datetime", 5), ("str", 5), ("period", "x")],
)
def test_k14_value_of_another_type_is_an_error(name: str, value: Any) -> None:
    pd = library("pandas")
    column = pandas_column(name)
    for inplace in (False, True):
        before = column.copy()
        with pytest.raises(libgather.DTypeError, match="updates"):
            libgather.scatter(column, [0, 1], [column.iloc[0], value], inplace=inplace)
        pd.testing.assert_series_equal(column, before)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", "b", "c"], pa.string_view()),
        pa.array([b"a", b"b", b"c"], pa.binary_view()),
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([5, 6])),
    ],
    ids=lambda array: str(array.type).split("<")[0],
)
def test_types_that_pandas_does_not_assign_are_named(array: pa.Array, inplace: bool) -> None:
    pandas = library("pandas")
    column = pandas.Series(pandas.arrays.ArrowExtensionArray(array))
    named = "target: pandas assigns no rows of dtype " + re.escape(str(column.dtype))
    with pytest.raises(libgather.DTypeError, match=named + "$"):
        libgather.scatter(column, [1, 0], column[:2], inplace=inplace)


def test_k15_immutable_columns_are_refused() -> None:
    pd, pl = library("pandas"), library("polars")
    targets = (pd.Index([1, 2]), pl.Series([1, 2]), pa.array([1, None]), pa.chunked_array([[1, 2]]))
    for target in targets:
        with pytest.raises(libgather.OutputError, match=r"target: .* immutable: use the one that the call returns"):
            libgather.scatter(target, [0], [1], inplace=True)
    with pytest.raises(libgather.OutputError, match="read-only"):
        libgather.scatter(pd.period_range("2020", periods=2, freq="M").array, [0], [None], inplace=True)
    with pytest.raises(libgather.DTypeError, match="indices"):
        libgather.scatter(pd.Series([1, 2]), [0, None], [1, 2])


# ---------------------------------------------------------------------------------------------------------- polars


@pytest.mark.parametrize("name", POLARS)
def test_writes_to_polars_equal_those_to_lists(name: str) -> None:
    pl = library("polars")
    column = POLARS[name](pl).alias("n")
    values = column.to_list()
    for ids in ([0, 1], [2, 2], []):
        taken = [values[2], values[1]][: len(ids)]
        expected = list(values)
        for place, value in zip(ids, taken, strict=True):
            expected[place] = value
        for updates in (taken, pl.Series(taken, dtype=column.dtype)):
            written = libgather.scatter(column, ids, updates)
            assert written.name == "n" and written.dtype == column.dtype and written.to_list() == expected
        if column.dtype in (pl.Int64, pl.Float32, pl.Boolean, pl.Duration) and ids:
            assert column.clone().scatter(ids, pl.Series(taken, dtype=column.dtype)).to_list() == expected
    for rechunk in (True, False):
        many = pl.concat([column] * 100, rechunk=rechunk)  # so many rows that one update is few
        expected = many.to_list()
        expected[150], expected[299], expected[0] = values[0], values[1], values[2]
        written = libgather.scatter(
            many, [150, 0, 299, 0], pl.Series([values[i] for i in (0, 1, 1, 2)], dtype=many.dtype)
        )
        assert written.name == "n" and written.dtype == many.dtype and written.to_list() == expected
    with pytest.raises(libgather.DTypeError, match="updates"):
        libgather.scatter(column, [0], pl.Series([1], dtype=pl.Int16))


def test_strings_are_written_to_categories_of_polars() -> None:
    pl = library("polars")
    for dtype in (pl.Categorical, pl.Enum(["a", "b"])):
        column = pl.Series(["a", None, "b"], dtype=dtype)
        for updates in (["b", None], pl.Series(["b", None]), np.array(["b", "a"])):
            written = libgather.scatter(column, [0, 2], updates)
            assert written.dtype == dtype and written.to_list() == ["b", None, list(updates)[1]]


# ------------------------------------------------------------------------------------------- one row, and tuples


def test_single_row_is_written_for_each_index() -> None:
    pd, pl = library("pandas"), library("polars")
    columns: list[tuple[Any, Any]] = [
        (pa.array(["a", None, "c"]), "z"),
        (pa.chunked_array([[1, 2], [3]]), 9),
        (pa.array([DAY, None, DAY]), None),
        (pa.array([{"a": 1}, None, {"a": 2}]), {"a": 7}),
        (pa.array([1, 2, 3]), pa.scalar(5)),
        (pd.Series(["a", None, "c"], dtype="str"), "z"),
        (pd.Series(pd.Categorical(["a", "b", "a"])), "b"),
        (pd.Series(pd.to_datetime(["2020", None, "2022"])), pd.Timestamp("2021")),
        (pd.Series(pd.arrays.IntervalArray.from_breaks(range(4))), pd.Interval(0, 1)),
        (pd.Series([1.5, 2.5, 3.5]), np.float64(9)),
        (pd.array([1, None, 3], "Int64"), np.array(7)),
        (pl.Series(["a", None, "c"]), "z"),
        (pl.Series([1, 2, 3]), 8),
        (pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"])), "b"),
        (np.array([1, {}, None], object), "z"),
        (np.array(["a", "b", "c"], np.dtypes.StringDType()), "z"),
        (np.array(["a", "b", "c"]), "z"),
    ]
    for column, row in columns:
        value = row.as_py() if hasattr(row, "as_py") else row
        for ids in ([2, 0, 2], [], [1]):
            written = libgather.scatter(column, ids, row)
            expected = [value if place in ids else old for place, old in enumerate(values_of(column))]
            assert repr(values_of(written)) == repr(expected) or values_of(written) == expected
        assert values_of(libgather.scatter(column, 1, row))[1] == value


def values_of(column: Any) -> list[Any]:
    return next(getattr(column, name)() for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name))


def test_tuples_and_elements_write_rows_of_columns() -> None:
    pd, pl = library("pandas"), library("polars")
    words = ["a", None, "c"]
    for column in (pa.array(words), pd.Series(words, dtype="str"), pl.Series(words), np.array(words, object)):
        for written in (
            libgather.scatter_nd(column, [[2], [0]], ["y", "x"]),
            libgather.scatter_nd(column, np.array([[2], [0]]), ["y", "x"]),
            libgather.scatter_elements(column, [2, 0], ["y", "x"]),
            libgather.scatter_elements(column, [-1, -3], ["y", "x"], negative="wrap"),
        ):
            assert type(written) is type(column)
            assert [bool(pd.isna(v)) or v for v in values_of(written)] == ["x", True, "y"]
        with pytest.raises(libgather.IndexError):
            libgather.scatter_nd(column, [[9]], ["x"])


# ----------------------------------------------------------------------------------------------------------- NumPy

KINDS: dict[str, Any] = {
    "objects": np.array([1, None, "x", {}], object),
    "StringDType": np.array(["a", "bb" * 20, "c", ""], np.dtypes.StringDType()),
    "StringDType with NA": np.array(["a", "bb" * 20, "c", None], np.dtypes.StringDType(na_object=None)),
    "times": np.array(["2020", "NaT", "2022", "2023"], "M8[s]"),
    "durations": np.arange(4).astype("m8[ms]"),
    "records": np.array([(1, 2.5), (3, 4.5), (5, 6.5), (7, 8.5)], "i4,f8"),
    "U": np.array(["a", "bb", "ccc", ""]),
    "S": np.array([b"a", b"bb", b"ccc", b""]),
    "big-endian": np.arange(4).astype(">i8"),
}


@pytest.mark.parametrize("name", KINDS)
def test_writes_to_numpy_equal_its_assignments(name: str) -> None:
    whole = KINDS[name]
    for target, axis in ((whole, 0), (whole.reshape(2, 2), 0), (whole.reshape(2, 2), 1), (whole[::-1], 0)):
        places = np.array([1, 0, 1])
        chosen = np.array([2, 0, 3]) % target.shape[axis]
        updates = target.take(chosen, axis)
        expected = target.copy()
        expected[(*(slice(None),) * axis, places)] = updates
        assert libgather.scatter(target, places, updates, axis).tolist() == expected.tolist()
        written = target.copy()
        assert libgather.scatter(written, places, updates, axis, inplace=True) is written
        assert written.tolist() == expected.tolist() and written.dtype == target.dtype


def test_k14_updates_of_objects_and_strings_are_checked() -> None:
    words = KINDS["StringDType"].copy()
    for bad in ([5], [None], np.array([1])):
        with pytest.raises(libgather.DTypeError, match="is no string"):
            libgather.scatter(words, [0], bad, inplace=True)
    with pytest.raises(libgather.ShapeError, match=r"updates: shape \(1,\), needed is \(2,\)"):
        libgather.scatter(words, [0, 1], ["x"], inplace=True)
    with pytest.raises(libgather.IndexError):
        libgather.scatter(words, [0, 9], ["x", "y"], inplace=True)
    assert words.tolist() == KINDS["StringDType"].tolist()
    words.flags.writeable = False
    with pytest.raises(libgather.OutputError, match="read-only"):
        libgather.scatter(words, [0], ["x"], inplace=True)
