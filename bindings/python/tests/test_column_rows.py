"""Rows of columns and tables of pyarrow, pandas, polars and NumPy equal those of the take of the same library."""

from __future__ import annotations

import datetime
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from column_kinds import ARROW, DAY, ODD, PANDAS, POLARS, arrow_column, in_chunks, library, pandas_column, some

import libgather


@pytest.mark.parametrize("name", ARROW | ODD)
def test_rows_of_arrow_equal_those_of_pyarrow(name: str) -> None:
    chance = random.Random(name)
    for _ in range(40):
        column = arrow_column(name, chance, 30)
        ids = [chance.randrange(len(column)) for _ in range(chance.choice([0, 1, 5, 50]))]
        holes = [None if chance.random() < 0.3 else i for i in ids]
        values = column.to_pylist()
        nullable = pa.array([0, *holes], pa.int64())[1:]
        given = (
            (ids, ids),
            (np.array(ids, "i4"), ids),
            (pa.array(ids, pa.uint16()), ids),
            (holes, holes),
            (nullable, holes),
        )
        for indices, wanted in given:
            expected = [None if i is None else values[i] for i in wanted]
            rows = libgather.gather(column, indices)
            assert type(rows) is type(column) or isinstance(column, pa.Array)
            assert rows.type == column.type and rows.to_pylist() == expected
            rows.validate(full=True)
            if name in ARROW:
                assert rows.to_pylist() == column.take(pa.array(wanted, pa.int64())).to_pylist()


ENCODED = {
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 6], pa.int16()), pa.array(["a", None, "c"])),
    "slice": pa.RunEndEncodedArray.from_arrays(pa.array([2, 4, 9], pa.int64()), pa.array([[1], [], None])[0:]).slice(
        1, 6
    ),
    "chunks": pa.chunked_array(
        [
            pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(values, pa.int8()))
            for values in ([4, 5], [5, None])
        ]
    ),
}


@pytest.mark.parametrize("name", ENCODED)
def test_run_end_encoded_rows_equal_those_of_the_decoded_column(name: str) -> None:
    column, values = ENCODED[name], ENCODED[name].to_pylist()
    for ids in ([5, 0, 1, 4], [None, 3, None], []):
        rows = libgather.gather(column, pa.array(ids, pa.int64()))
        rows.validate(full=True)
        assert type(rows) is type(column) and rows.type == column.type
        assert rows.to_pylist() == [None if i is None else values[i] for i in ids]
    assert libgather.gather(column, [0, 77], bounds="null").to_pylist() == [values[0], None]
    assert libgather.take(column, [-1, 77], mode="clip").to_pylist() == [values[0], values[-1]]
    with pytest.raises(libgather.IndexError, match="of tuple 1 is 6"):
        libgather.gather(column, [0, 6])
    fill = {"runs": "z", "slice": [8, 9], "chunks": 7}[name]
    assert libgather.gather(column, [1, 77], bounds="fill", fill_value=fill).to_pylist() == [values[1], fill]
    written = libgather.scatter(column, [2, 0], [fill, None])
    assert written.type == column.type and written.to_pylist() == [None, values[1], fill, *values[3:]]
    table = pa.table({"a": column, "b": range(6)})
    assert libgather.gather(table, [3, None]).to_pylist() == [{"a": values[3], "b": 3}, {"a": None, "b": None}]
    nested = pa.StructArray.from_arrays(
        [pa.concat_arrays(table["a"].chunks)], ["x"], mask=pa.array([False] * 5 + [True])
    )
    assert libgather.gather(nested, [5, 2]).to_pylist() == [None, {"x": values[2]}]


def test_rows_of_more_runs_than_their_type_counts() -> None:
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int16()), pa.array(["a", "b"]))
    for count in (32767, 32768):
        rows = libgather.gather(runs, np.arange(count) % 2)
        rows.validate(full=True)
        assert rows.type == (runs.type if count == 32767 else pa.run_end_encoded(pa.int64(), pa.string()))
        assert len(rows) == count and rows[count - 1].as_py() == "ab"[(count - 1) % 2]


# Below a null row is a code of an empty dictionary, or a list with an offset that does not exist.
@pytest.mark.parametrize("parent", ["struct", "vector", "struct of structs"])
@pytest.mark.parametrize("child", ["dictionary", "list view", "vector of codes"])
def test_content_below_null_rows_is_not_read(parent: str, child: str) -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 3, 0, 0], pa.int8()), pa.array([], pa.string()), safe=False)
    numbers = [pa.py_buffer(np.array(given, "i4")) for given in ([0, 99, -1, 7], [5, -3, 1, 1])]
    lists = pa.Array.from_buffers(pa.list_view(pa.string()), 4, [None, *numbers], children=[pa.array(["a"])])
    rows = {"dictionary": codes, "list view": lists, "vector of codes": pa.FixedSizeListArray.from_arrays(codes, 1)}[
        child
    ]
    nulls = pa.array([True] * 4)
    column = pa.StructArray.from_arrays([rows], ["x"], mask=nulls)
    if parent == "vector":
        column = pa.FixedSizeListArray.from_arrays(rows, 1, mask=nulls)
    elif parent == "struct of structs":
        inner = pa.StructArray.from_arrays([rows], ["x"])
        column = pa.StructArray.from_arrays([inner], ["y"], mask=nulls)
    for params in (column, pa.chunked_array([column, column])):
        taken = libgather.gather(params, pa.array([3, None, 0], pa.int64()))
        taken.validate(full=True)
        assert taken.type == column.type and taken.to_pylist() == [None] * 3


def test_ranks_of_arrow() -> None:
    days = pa.array([1, None, 3], pa.date32())
    assert libgather.gather(days, 2) == days[2]
    assert libgather.gather(days, [[0, 1], [2, 2]]).equals(
        pa.FixedSizeListArray.from_arrays(days.take(pa.array([0, 1, 2, 2])), 2)
    )
    assert libgather.take(days, [-1, 0]).equals(days.take(pa.array([2, 0])))
    assert libgather.take(days, [7], mode="clip").equals(days[2:])


def test_extension_arrays_of_arrow_keep_their_type() -> None:
    class Degrees(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pa.float32(), "degrees")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

    column = pa.ExtensionArray.from_storage(Degrees(), pa.array([1.5, None, 2.5], pa.float32()))
    rows = libgather.gather(column, [2, 1])
    assert rows.type == column.type and rows.storage.to_pylist() == [2.5, None]


class Metres(pa.ExtensionType):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(pa.float32(), "metres")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    def __arrow_ext_class__(self) -> type:
        return Lengths


class Lengths(pa.ExtensionArray):  # type: ignore[misc]
    """A class of arrays that pyarrow does not define."""


def test_classes_of_extension_arrays_are_kept() -> None:
    libgather.gather(pa.array([1.5]), [0])  # configures pyarrow before the class is used
    column = pa.ExtensionArray.from_storage(Metres(), pa.array([1.5, None, 2.5], pa.float32()))
    for whole in (column, pa.chunked_array([column[:1], column[1:]])):
        for _ in range(2):
            rows = libgather.gather(whole, [2, 1])
            assert type(rows) is type(whole) and rows.type == Metres()
            assert rows.to_pylist() == [2.5, None]
    assert type(libgather.gather(column, [0, None])) is Lengths
    assert libgather.scatter(column, [0], column[2:]).storage.to_pylist() == [2.5, None, 2.5]


@pytest.mark.parametrize("name", [name for name in ARROW if name not in ("null", "fixed_size_binary")])
def test_fill_value_of_the_type_of_a_column(name: str) -> None:
    kind, make = ARROW[name]
    for column in (pa.array([make(1), None], kind), pa.chunked_array([[make(1)], [None]], kind)):
        value = pa.scalar(make(5), kind).as_py()
        filled = libgather.gather(column, [2, 1, -1, 0], fill_value=value)
        assert filled.type == kind and filled.to_pylist() == [value, None, value, column[0].as_py()]
        mixed = libgather.gather(column, pa.array([None, 9, 0]), fill_value=value)
        assert mixed.to_pylist() == [None, value, column[0].as_py()]
        nulls = libgather.gather(column, [2, 0, -1], bounds="null")
        assert nulls.type == kind and nulls.to_pylist() == [None, column[0].as_py(), None]


def test_fill_without_a_zero_is_an_error() -> None:
    days = pa.array([None, 3], pa.date32())
    with pytest.raises(libgather.DTypeError, match=r"options: date32\[day\] has no zero"):
        libgather.gather(days, [9], bounds="fill")
    with pytest.raises(libgather.DTypeError, match=r"options: fill_value 'x' is no date32"):
        libgather.gather(days, [9], fill_value="x")
    with pytest.raises(libgather.OptionError, match="fill_value is for bounds 'fill', which is 'null'"):
        libgather.gather(days, [9], fill_value=1, bounds="null")
    with pytest.raises(libgather.OptionError, match="bounds 'null' is none of"):
        libgather.gather(np.zeros(3), [9], bounds="null")


def test_tables_of_arrow() -> None:
    table = pa.table({"a": [1, None, 3], "b": ["x", "y", None], "c": pa.chunked_array([[1.5], [2.5, 3.5]])})
    table = table.replace_schema_metadata({"key": "value"})
    for source in (table, table.combine_chunks().to_batches()[0]):
        rows = libgather.gather(source, [2, 0, 2])
        assert type(rows) is type(source) and rows.equals(source.take(pa.array([2, 0, 2])), check_metadata=True)
        nulls = libgather.gather(source, pa.array([1, None]))
        assert nulls.to_pylist() == [{"a": None, "b": "y", "c": 2.5}, {"a": None, "b": None, "c": None}]
        assert libgather.gather(source, [7], bounds="null").to_pylist() == [{"a": None, "b": None, "c": None}]
        assert libgather.gather(source, [7], bounds="fill").to_pylist() == [{"a": 0, "b": "", "c": 0.0}]
        assert libgather.gather(source, []).num_rows == 0
        with pytest.raises(libgather.IndexError) as caught:
            libgather.gather(source, [0, 3])
        assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 3, 3)
        for indices in (1, [[1]]):
            with pytest.raises(libgather.RankError, match="a table takes indices of rank 1"):
                libgather.gather(source, indices)


def test_fields_that_get_nulls_become_nullable() -> None:
    fields = [pa.field("a", pa.int64(), nullable=False, metadata={"unit": "m"}), pa.field("b", pa.string(), False)]
    table = pa.table([[1, 2], ["x", "y"]], schema=pa.schema(fields, {"key": "value"}))
    for source in (table, table.to_batches()[0]):
        rows = libgather.gather(source, [1, 0])
        assert rows.schema.equals(table.schema, check_metadata=True)
        expected = pa.schema([field.with_nullable(True) for field in fields], {"key": "value"})
        for rows in (libgather.gather(source, [1, None]), libgather.gather(source, [1, 7], bounds="null")):
            rows.validate(full=True)
            assert rows.schema.equals(expected, check_metadata=True)
            assert rows.to_pylist() == [{"a": 2, "b": "y"}, {"a": None, "b": None}]
        filled = libgather.gather(source, [1, 7], bounds="fill")
        assert filled.schema.equals(table.schema, check_metadata=True)


def test_type_that_is_not_supported_is_named() -> None:
    odd = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array(["x", "y"])])
    table = pa.table({"good": [1, 2], "bad": odd, "nested": pa.StructArray.from_arrays([odd], ["inner"])})
    for params, message in (
        (table, r"params: the type '\+us:0' of 'bad' is not supported"),
        (table.select(["nested"]), r"params: the type '\+us:0' of 'nested' is not supported"),
        (odd, r"params: the type '\+us:0' is not supported"),
    ):
        with pytest.raises(libgather.DTypeError, match=message):
            libgather.gather(params, [0])
    assert libgather.gather(table.select(["good"]), [1]).to_pydict() == {"good": [2]}


def test_type_of_a_pandas_column_is_supported_in_tables_or_named() -> None:
    pd = library("pandas")
    stored = pd.arrays.ArrowExtensionArray
    views = pa.array(["a string of many bytes", None, "c", "d", "e", "f"], pa.string_view())
    for column in (ENCODED["runs"], ENCODED["chunks"], views):
        values = [pd.NA if value is None else value for value in column.to_pylist()]
        table = pd.DataFrame({"a": range(6), "b": pd.Series(stored(column))})
        for _ in range(2):  # the C code runs the second call
            rows = libgather.gather(table, [5, 0, 1])
            assert rows.index.tolist() == rows["a"].tolist() == [5, 0, 1]
            assert rows.dtypes.equals(table.dtypes) and rows["b"].tolist() == [values[5], values[0], values[1]]
    odd = pd.Series(stored(pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array(["x", "y"])])), name="odd")
    for _ in range(2):
        with pytest.raises(libgather.DTypeError, match="is not supported: column 'odd'") as caught:
            libgather.gather(odd, [0])
        assert caught.value.column == "odd"


def test_malformed_array_is_an_error() -> None:
    bad = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 9, 1], "i4")), pa.py_buffer(b"abc")])
    with pytest.raises(libgather.Error, match="in the row of position 1"):
        libgather.gather(pa.chunked_array([["a"], bad]), [0, 1])


# ---------------------------------------------------------------------------------------------------------- pandas


@pytest.mark.parametrize("name", PANDAS)
def test_rows_of_pandas_equal_those_of_pandas(name: str) -> None:
    column = pandas_column(name)
    pd = library("pandas")
    column.attrs["unit"] = "m"
    for ids in ([5, 0, 1, 1], [], [3]):
        for indices in (ids, np.array(ids, "i8"), pd.Series(ids, dtype="uint8"), pa.array(ids, pa.int8())):
            rows = libgather.gather(column, indices)
            pd.testing.assert_series_equal(rows, column.take(ids))
            assert rows.attrs == column.attrs
        pd.testing.assert_extension_array_equal(
            libgather.gather(column.array, ids), column.array.take(np.array(ids, int))
        )
        index = pd.Index(column.array, name="i")
        pd.testing.assert_index_equal(libgather.gather(index, ids), index.take(np.array(ids, int)))
    last = libgather.gather(column, 5)
    assert last == column.iloc[5] and type(last) is type(column.iloc[5])
    grid = libgather.gather(column, [[5, 0], [2, 3]])
    assert grid.shape == (2, 2) and grid[0, 0] == column.to_numpy()[5]
    with pytest.raises(libgather.IndexError, match="indices") as caught:
        libgather.gather(column, [0, 6])
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 6, 6)
    with pytest.raises(libgather.IndexError):
        libgather.gather(column, [-1])
    pd.testing.assert_series_equal(libgather.take(column, [-1]), column.take([5]))


def test_labels_of_pandas_do_not_share_memory_with_indices() -> None:
    pd = library("pandas")
    for column in (pd.Series([5, 6, 7]), pd.Series(["a", "b", "c"]), pd.DataFrame({"a": [1, 2, 3]}), pd.RangeIndex(3)):
        indices = np.array([1, 0])
        rows = libgather.gather(column, indices)
        indices[:] = 2
        assert getattr(rows, "index", rows).tolist() == [1, 0]


@pytest.mark.parametrize("name", PANDAS)
def test_null_rows_of_pandas(name: str) -> None:
    column = pandas_column(name)
    pd = library("pandas")
    calls = (
        lambda: libgather.gather(column, [9, 0, -1], bounds="null"),
        lambda: libgather.gather(column, [None, 0, None]),
        lambda: libgather.gather(column, pd.array([None, 0, None], "Int64")),
    )
    for call in calls:
        if name in ("int64", "bool", "interval", "sparse"):
            with pytest.raises(libgather.DTypeError, match="cannot represent null"):
                call()
            continue
        rows = call()
        assert rows.dtype == column.dtype and rows.name == "n" and rows.isna().tolist() == [True, False, True]
        assert rows.iloc[1] == column.iloc[0] and rows.index.tolist() == [0, 1, 2]


def test_tables_of_pandas() -> None:
    pd = library("pandas")
    table = pd.DataFrame({name: pandas_column(name) for name in PANDAS if "chunk" not in name})
    pd.testing.assert_frame_equal(libgather.gather(table, [5, 0, 0]), table.take([5, 0, 0]))
    table["text"] = pandas_column("chunks")
    table.columns = ["twice"] * table.shape[1]
    pd.testing.assert_frame_equal(libgather.gather(table, [5, 0, 0]), table.take([5, 0, 0]))
    nullable = table.iloc[:, [0, 3, 4, -1]]
    rows = libgather.gather(nullable, [0, 9], bounds="null")
    assert rows.dtypes.tolist() == nullable.dtypes.tolist() and rows.iloc[1].isna().all()
    with pytest.raises(libgather.RankError, match="a table takes indices of rank 1"):
        libgather.gather(table, 0)


def test_long_tables_of_pandas_do_not_join_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """DataFrame.take joins the chunks."""
    pd = library("pandas")
    words = pa.array(["a long string of many bytes"] * 60_000, pa.large_string())
    dtype = pd.array(["a"], "str").dtype
    column = type(pd.array(["a"], "str"))(pa.chunked_array([words, words]), dtype=dtype)
    table = pd.DataFrame({"text": column, "number": np.arange(120_000)})
    ids = [119_999, 0]
    expected = table.take(ids)
    monkeypatch.setattr(pd.DataFrame, "take", None)
    pd.testing.assert_frame_equal(libgather.gather(table, ids), expected)


def test_fill_values_of_pandas() -> None:
    library("pandas")
    for name, value in (("str", "zz"), ("python", "zz"), ("Int64", 7), ("boolean", True), ("category", "d")):
        column = pandas_column(name)
        assert libgather.gather(column, [9, 0], fill_value=value).tolist() == [value, column.iloc[0]]
        rows = libgather.gather(column, [9, None, 0], fill_value=value)
        assert rows.isna().tolist() == [False, True, False] and rows.iloc[0] == value
    with pytest.raises(libgather.DTypeError, match="fill_value 'x' is no Int64"):
        libgather.gather(pandas_column("Int64"), [9], fill_value="x")
    for name in ("time zone", "period", "interval"):
        with pytest.raises(libgather.DTypeError, match="has no zero"):
            libgather.gather(pandas_column(name), [9], bounds="fill")


def test_fill_values_of_tables_of_pandas() -> None:
    pd = library("pandas")
    table = pd.DataFrame({"a": [1.5, 2.5], "b": pd.array([1, 2]), "c": [3, 4], "d": ["x", "y"]})
    rows = libgather.gather(table, [9, 0], bounds="fill")
    pd.testing.assert_frame_equal(
        rows, pd.DataFrame([[0.0, 0, 0, ""], table.loc[0]], columns=list("abcd")).astype(table.dtypes)
    )
    rows = libgather.gather(table[["a", "c"]], [9, 1], fill_value=7)
    pd.testing.assert_frame_equal(rows, pd.DataFrame({"a": [7.0, 2.5], "c": [7, 4]}))
    with pytest.raises(libgather.DTypeError, match="'x'"):
        libgather.gather(table, [9], fill_value="x")


def test_names_of_columns_are_no_attributes() -> None:
    pd = library("pandas")
    names = ["dtype", "null_count", "columns", "array", "struct", "iloc"]
    table = pd.DataFrame(np.arange(12.0).reshape(2, 6), columns=names)
    assert libgather.gather(table, [1], 1, profile="torch").tolist() == [[1], [7]]
    pd.testing.assert_frame_equal(libgather.gather(table, [1, 0]), table.take([1, 0]))
    pd.testing.assert_series_equal(libgather.gather(table.loc[0], [5, 0]), table.loc[0].take([5, 0]))
    assert libgather.gather(table.loc[1], [5], profile="torch").tolist() == [11]


def test_nan_is_no_null() -> None:
    column = library("pandas").Series([1.5, np.nan])
    for values in (column, column.array):
        assert np.isnan(libgather.gather(values, [1], profile="torch")[0])


# ---------------------------------------------------------------------------------------------------------- polars


@pytest.mark.parametrize("name", POLARS)
def test_rows_of_polars_equal_those_of_polars(name: str) -> None:
    pl = library("polars")
    column = POLARS[name](pl).alias("n")
    for ids in ([2, 0, 1, 1], [], [2]):
        for indices in (ids, np.array(ids, "i8"), pl.Series(ids, dtype=pl.Int8), pa.array(ids, pa.int8())):
            rows = libgather.gather(column, indices)
            expected = column.gather(ids)
            assert rows.name == "n" and rows.dtype == column.dtype and rows.to_list() == expected.to_list()
    for nulls in ([None, 2, None], pl.Series([None, 2, None], dtype=pl.UInt8)):
        rows = libgather.gather(column, nulls)
        assert rows.dtype == column.dtype and rows.to_list() == [None, column.to_list()[2], None]
    assert libgather.gather(column, [9, 2, -1], bounds="null").to_list() == [None, column.to_list()[2], None]
    one = libgather.gather(column, 2)
    assert one.to_list() == column[2].to_list() if hasattr(one, "to_list") else one == column[2]
    with pytest.raises(libgather.IndexError, match="indices") as caught:
        libgather.gather(column, [0, 3])
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 3, 3)
    assert libgather.take(column, [-1]).to_list() == column[2:].to_list()


def test_subclasses_of_polars_are_kept() -> None:
    pl = library("polars")

    class Column(pl.Series):  # type: ignore[misc]
        pass

    class Table(pl.DataFrame):  # type: ignore[misc]
        pass

    lists = [[[1], None, [2, 3]], ["a", "b", None]]
    for values in lists:
        column = Column("n", values)
        for whole in (column, in_chunks(column)):
            for ids in ([2, 0], [2, None]):
                rows = libgather.gather(whole, ids)
                assert type(rows) is Column and rows.name == "n"
                assert rows.to_list() == [None if i is None else values[i] for i in ids]
    table = Table({"a": lists[0], "b": lists[1]})
    for whole in (table, Table(pl.concat([table, table], rechunk=False))):
        for ids in ([2, 0], [2, None]):
            rows = libgather.gather(whole, ids)
            assert type(rows) is Table and rows.rows() == [(None, None) if i is None else table.row(i) for i in ids]
    assert libgather.gather(np.arange(3.0), Column([2, 0])).tolist() == [2, 0]
    for values in ([1, None, 3], [[1], None, [3]]):
        for count in (1, 64):  # the long column is written in pieces
            written = libgather.scatter(Column("n", values * count), [1], values[:1])
            assert type(written) is Column and written.name == "n"
            assert written.to_list() == [values[0], values[0], values[2], *values * (count - 1)]


def random_polars(pl: Any, chance: random.Random) -> Any:
    """Returns a column of several chunks, some of which are slices."""
    makers: list[tuple[Any, Callable[[int], Any]]] = [
        (pl.List(pl.Int32), lambda i: [i, None, i + 1][: i % 4]),
        (pl.List(pl.String), lambda i: [f"text {i}" * (i % 3)] * (i % 3)),
        (pl.Array(pl.Float64, 2), lambda i: [i / 4, None]),
        (pl.Struct({"a": pl.Int64, "b": pl.List(pl.String)}), lambda i: {"a": i, "b": [str(i)] * (i % 2)}),
        (pl.List(pl.Categorical), lambda i: [f"c{i % 7}"]),
        (pl.String, lambda i: f"string {i}" * (i % 4)),
    ]
    dtype, make = chance.choice(makers)
    lengths = [chance.choice([1, 63, 64, 65, 500]) for _ in range(chance.randrange(1, 5))]
    parts = [pl.Series("n", some(make)(chance, length + 3), dtype)[chance.randrange(3) :] for length in lengths]
    return pl.concat(parts, rechunk=False)


def test_random_columns_of_polars_equal_lists() -> None:
    pl = library("polars")
    chance = random.Random(7)
    for _ in range(60):
        column = random_polars(pl, chance)
        values = column.to_list()
        ids = [chance.randrange(len(values)) for _ in range(chance.choice([0, 1, 63, 65, 1025, 4100]))]
        holes = [None if chance.random() < 0.2 else i for i in ids]
        for given in (np.array(ids, int), pl.Series(ids, dtype=pl.UInt32), pl.Series(ids, dtype=pl.Int64)):
            rows = libgather.gather(column, given)
            assert rows.dtype == column.dtype and rows.to_list() == [values[i] for i in ids]
        rows = libgather.gather(column, pl.Series(holes, dtype=pl.Int64))
        assert rows.dtype == column.dtype and rows.to_list() == [None if i is None else values[i] for i in holes]
        filled = libgather.gather(column, [*ids, -1], fill_value=values[0])
        assert filled.to_list() == [*(values[i] for i in ids), values[0]]
        table = pl.DataFrame({"a": column, "b": range(len(values))})
        assert libgather.gather(table, ids).to_dict(as_series=False) == {"a": [values[i] for i in ids], "b": ids}


def test_tables_and_fill_values_of_polars() -> None:
    pl = library("polars")
    table = pl.DataFrame([POLARS[name](pl).alias(name) for name in POLARS])
    rows = libgather.gather(table, [2, 0, 0])
    assert rows.schema == table.schema and rows.equals(table[[2, 0, 0]])
    nulls = libgather.gather(table, [0, 9], bounds="null")
    assert nulls.schema == table.schema and all(column[1] is None for column in nulls)
    for name, value in (("String", "zz"), ("Int64", 7), ("Enum", "b"), ("Duration", datetime.timedelta(9))):
        column = POLARS[name](pl)
        assert libgather.gather(column, [9, None, 0], fill_value=value).to_list() == [value, None, column[0]]
    assert libgather.gather(POLARS["String"](pl), [9], bounds="fill").to_list() == [""]
    assert libgather.gather(POLARS["Binary"](pl), [9], bounds="fill").to_list() == [b""]
    with pytest.raises(libgather.DTypeError, match="fill_value 'z' is no Enum"):
        libgather.gather(POLARS["Enum"](pl), [9], fill_value="z")
    with pytest.raises(libgather.DTypeError, match="has no zero"):
        libgather.gather(POLARS["Datetime"](pl), [9], bounds="fill")


# ----------------------------------------------------------------------------------------------------------- NumPy


@pytest.mark.parametrize("dtype", [object, np.dtypes.StringDType()], ids=["object", "StringDType"])
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_strings_of_numpy_equal_those_of_numpy(dtype: Any, axis: int) -> None:
    words = np.array([["a", "longer than sixteen bytes", ""], ["b", "c", "d"]], dtype)
    for indices in ([1, 0, 1], [[1], [0]], np.array([], int), 1):
        rows, expected = libgather.gather(words, indices, axis), np.take(words, indices, axis)
        assert rows.dtype == words.dtype and rows.shape == expected.shape and rows.tolist() == expected.tolist()
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather(words, [0, 7], axis)
    assert (caught.value.position, caught.value.value, caught.value.axis) == (1, 7, axis % 2)


SIZES = ["M8[us]", ">f8", ">c16", "U8", "S3", "V3", "V16", "i4,f8", "i8,f8", "g", "u1,(2,3)u1"]


@pytest.mark.parametrize("dtype", SIZES)
def test_elements_of_every_size_equal_those_of_numpy(dtype: str) -> None:
    chance = np.random.default_rng(5)
    kind = np.dtype(dtype)
    for shape in ((7,), (4, 7), (2, 4, 7), (0,), (5, 0)):
        raw = chance.integers(0, 100, (*shape, kind.itemsize), dtype="u1").tobytes()
        whole = np.ndarray(shape, kind, raw or b"\0" * 64)
        for view in (whole, whole[::-1], whole.T, np.asfortranarray(whole)):
            for axis in range(-view.ndim, view.ndim):
                ids = chance.integers(0, max(view.shape[axis], 1), 4 if view.shape[axis] else 0)
                for indices in (ids, ids.reshape(2, -1), ids.tolist()):
                    for rows in (libgather.gather(view, indices, axis), libgather.take(view, indices, axis)):
                        expected = np.take(view, np.asarray(indices, int), axis)
                        assert rows.dtype == kind and rows.shape == expected.shape
                        assert rows.tobytes() == expected.tobytes()
            if view.size:
                assert libgather.take(view, [view.size - 1]).tobytes() == np.take(view, [view.size - 1]).tobytes()
                one = libgather.gather(view, 0)
                assert type(one) is type(np.take(view, 0, 0)) and one.tobytes() == np.take(view, 0, 0).tobytes()
                with pytest.raises(libgather.IndexError) as caught:
                    libgather.gather(view, [0, 99])
                assert caught.value.position == 1


COST: dict[str, Callable[[int], Any]] = {
    "StringDType": lambda n: np.full(n, "some words", np.dtypes.StringDType()),
    "objects": lambda n: np.full(n, "some words", object),
    "pandas str": lambda n: library("pandas").Series(np.full(n, "ab", object), dtype="str"),
    "pandas category": lambda n: library("pandas").Series(["a", "b"] * (n // 2), dtype="category"),
    "pandas table": lambda n: library("pandas").DataFrame({"a": np.arange(n), "b": ["w"] * n}),
    "polars String": lambda n: library("polars").Series(["ab"] * n),
    "polars table": lambda n: library("polars").DataFrame({"a": np.arange(n), "b": ["w"] * n}),
}


@pytest.mark.parametrize("name", COST)
def test_rows_of_a_column_need_no_copy_of_it(name: str) -> None:
    column = COST[name](100_000)
    libgather.gather(column, [3, 1])  # completes late imports
    tracemalloc.start()
    try:
        libgather.gather(column, [3, 1])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000


# --------------------------------------------------------------------------------------------- tuples and elements


def columns_of_each_library() -> list[tuple[Any, list[Any]]]:
    """Returns columns, and their values. Some have nulls, and most have no number."""
    columns = [arrow_column(name, random.Random(name), 9) for name in ("string", "list", "dictionary", "timestamp")]
    columns += [pandas_column(name) for name in PANDAS]
    columns += [POLARS[name](library("polars")) for name in ("String", "Enum", "Decimal", "Int64", "Null")]
    columns += [np.array(["a", {}, None], object), np.array(["a", "b", "c"], np.dtypes.StringDType())]
    return [(column, column.to_pylist() if hasattr(column, "to_pylist") else list(column)) for column in columns]


def same_values(rows: Any, values: list[Any]) -> bool:
    found = rows.to_pylist() if hasattr(rows, "to_pylist") else list(rows)
    is_null = library("pandas").isna
    pairs = zip(found, values, strict=True)
    return all(a == b if isinstance(a, (list, dict)) else bool(is_null(a) if is_null(b) else a == b) for a, b in pairs)


def test_tuples_and_elements_select_rows_of_columns() -> None:
    for column, values in columns_of_each_library():
        for ids in ([2, 0, 1, 1], []):
            expected = [values[i] for i in ids]
            pairs = np.array(ids, "i8").reshape(-1, 1)
            calls = [libgather.gather_nd(column, pairs), libgather.gather_elements(column, ids)]
            calls += [libgather.take_along_axis(column, np.array(ids, int), 0)]
            for rows in calls:
                assert type(rows) is type(column) or type(rows) is type(libgather.gather(column, ids))
                assert rows.dtype == column.dtype if hasattr(column, "dtype") else rows.type == column.type
                assert same_values(rows, expected)
        assert same_values(libgather.gather_nd(column, [[2]]), [values[2]])
        for call in (
            lambda column=column: libgather.gather_nd(column, [[0], [99]]),
            lambda column=column: libgather.gather_elements(column, [0, 99]),
        ):
            with pytest.raises(libgather.IndexError) as caught:
                call()
            assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 99, len(values))
        with pytest.raises(libgather.IndexError) as caught:
            libgather.gather_nd(column, [[0], [99]])
        assert (caught.value.index, caught.value.component) == ((1, 0), 0)


def test_tuples_have_nulls_and_fill_values() -> None:
    words = pa.array(["a", None, "c"])
    assert libgather.gather_nd(words, [[9], [2]], fill_value=None).to_pylist() == [None, "c"]
    assert libgather.gather_elements(words, pa.array([None, 0]), fill_value="z").to_pylist() == [None, "a"]
    assert libgather.gather_elements(words, [7, 0], bounds="null").to_pylist() == [None, "a"]
    assert libgather.gather_nd(words, [[[0], [1]], [[2], [2]]]).to_pylist() == [["a", None], ["c", "c"]]


# -------------------------------------------------------------------------------------------------------- profiles


def columns_with_nulls() -> list[Any]:
    """Returns columns [1, null, 3] of each library."""
    numbers = [1, None, 3]
    return [
        pa.array(numbers),
        pa.chunked_array([numbers[:1], numbers[1:]]),
        library("pandas").Series(numbers, dtype="Int64"),
        library("polars").Series(numbers),
    ]


def listed(rows: Any) -> list[Any]:
    values = rows.to_pylist() if hasattr(rows, "to_pylist") else rows.to_list()
    return [value if isinstance(value, int) else None for value in values]


def test_profiles_of_all_types_keep_nulls() -> None:
    for column in columns_with_nulls():
        for profile in ("tensorflow", "onnx", "ort", "numpy_raise", "numpy_clip", "numpy_wrap"):
            assert listed(libgather.gather(column, [1, 2], profile=profile)) == [None, 3]
        for profile in ("onnx", "ort"):
            for opset in (1, 11, 13):
                assert listed(libgather.gather(column, [1, 2], profile=profile, opset=opset)) == [None, 3]
        assert listed(libgather.gather(column, [-1], profile="onnx", opset=11)) == [3]
        with pytest.raises(libgather.IndexError):
            libgather.gather(column, [-1], profile="onnx", opset=1)


def test_profiles_of_numbers_refuse_nulls() -> None:
    for column in columns_with_nulls():
        for profile in ("torch", "jax_fill", "jax_clip", "tensorflow_gpu"):
            with pytest.raises(libgather.DTypeError, match="params: it has nulls"):
                libgather.gather(column, [0, 2], profile=profile)
    for column in (pa.array([1, 3]), library("pandas").Series([1, 3]), library("polars").Series([1, 3])):
        assert listed(libgather.gather(column, [1, 1], profile="torch")) == [3, 3]


# ------------------------------------------------------------------------------------------------------------ null


def test_fill_value_of_none_is_null() -> None:
    pd, pl = library("pandas"), library("polars")
    columns = [*columns_with_nulls(), pa.array([DAY.date()] * 3), pa.array(["a", "b", "c"]), pl.Series(["a", "b", "c"])]
    columns += [pd.Series(["a", "b", "c"], dtype="category"), pd.Series([1.5, 2.5, 3.5])]
    for column in columns:
        for rows in (
            libgather.gather(column, [9, 2, -1], fill_value=None),
            libgather.gather(column, [9, 2, -1], bounds="fill", fill_value=None),
        ):
            values = rows.to_pylist() if hasattr(rows, "to_pylist") else rows.to_list()
            last = column[2].as_py() if hasattr(column[2], "as_py") else column[2]
            assert [bool(pd.isna(value)) for value in values] == [True, False, True] and values[1] == last
        with pytest.raises(libgather.IndexError):
            libgather.gather(column, [9], fill_value=None, bounds="error")
        with pytest.raises(libgather.IndexError):
            libgather.gather(column, [9])
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    assert libgather.gather(table, [7], fill_value=None).to_pylist() == [{"a": None, "b": None}]
    with pytest.raises(libgather.DTypeError, match="int64 cannot represent null"):
        libgather.gather(pd.Series([1, 2]), [9], fill_value=None)


def test_fill_value_of_none_is_no_value_of_an_array() -> None:
    for array in (np.arange(3), np.arange(3).astype(object), [1, 2, 3], np.array(["a", "b", "c"])):
        assert libgather.gather(array, [1], fill_value=None)[0] == array[1]
        with pytest.raises(libgather.IndexError):
            libgather.gather(array, [9], fill_value=None)
