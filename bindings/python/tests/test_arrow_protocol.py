"""Objects of any library with the protocol of Arrow, as columns and as indices."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import libgather


class ArrayOnly:
    """An object that exports one array."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __len__(self) -> int:
        return len(self.source)

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.source.__arrow_c_array__(requested_schema)


class StreamOnly:
    """An object that exports a stream of arrays."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __len__(self) -> int:
        return len(self.source)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


class Named(StreamOnly):
    """An object of a library whose types have `from_arrow`."""

    @classmethod
    def from_arrow(cls, rows: Any) -> Named:
        return cls(pa.chunked_array([pa.array(rows)]))


class Reader:
    """A stream of arrays, which is consumed by an export, and has no length."""

    def __init__(self, source: Any) -> None:
        self.source: Any = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        source, self.source = self.source, None
        return source.__arrow_c_stream__(requested_schema)


NUMBERS = pa.array([5, None, 7, 8, 9], pa.int16())
COLUMNS = {
    "integers": NUMBERS,
    "strings": pa.array(["a", "bb", None, "dddd", ""]),
    "views": pa.array(["a", "a string of many bytes", None, "dddd", ""], pa.string_view()),
    "lists": pa.array([[1, 2], None, [], [None, 3], [4]]),
    "structs": pa.array([{"a": 1}, None, {"a": None}, {"a": 4}, {"a": 5}]),
    "dictionaries": pa.array(["x", None, "y", "x", "z"]).dictionary_encode(),
}


def objects_of(column: Any) -> list[Any]:
    chunked = pa.chunked_array([column[:2], column[2:]])
    return [ArrayOnly(column), StreamOnly(chunked), Named(chunked), ArrayOnly(column[1:])]


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_have_the_same_protocol(name: str) -> None:
    for source in objects_of(COLUMNS[name]):
        values = source.source.to_pylist()
        for ids in ([3, 0, 3], [], np.array([2, 1])):
            for _ in range(2):  # the C code runs the second call
                rows = libgather.gather(source, ids)
                found = rows.source if isinstance(rows, Named) else pa.array(rows)
                found.validate(full=True)
                assert isinstance(rows, Named) is isinstance(source, Named)
                assert found.type == source.source.type and found.to_pylist() == [values[i] for i in ids]
        nulls = libgather.gather(source, [None, 1, 99], bounds="null")
        found = nulls.source if isinstance(nulls, Named) else pa.array(nulls)
        assert found.to_pylist() == [None, values[1], None]
        with pytest.raises(libgather.IndexError) as caught:
            libgather.gather(source, [0, 9])
        assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 9, len(values))


def test_streams_are_exported_once() -> None:
    chunked = pa.chunked_array([["a", None], [], ["ccc"]])
    table = pa.table({"a": [1, 2, 3], "b": chunked})
    numbers = pa.chunked_array([[2, None], [0]], pa.uint8())
    for _ in range(3):
        assert pa.array(libgather.gather(Reader(chunked), [2, 1])).to_pylist() == ["ccc", None]
        assert pa.record_batch(libgather.gather(Reader(table), [2])).to_pylist() == [{"a": 3, "b": "ccc"}]
        assert pa.record_batch(libgather.gather(table.to_reader(), [2])).to_pylist() == [{"a": 3, "b": "ccc"}]
        assert libgather.gather(chunked, Reader(numbers)).to_pylist() == ["ccc", None, "a"]
        assert libgather.gather(np.arange(3.0), Reader(pa.chunked_array([[2], [1, 0]]))).tolist() == [2, 1, 0]
        for source, kind in ((Reader(chunked), "u"), (table.to_reader(), r"\+s")):
            with pytest.raises(libgather.DTypeError, match=f"indices: elements of the format '{kind}'"):
                libgather.gather(chunked, source)


def test_length_of_an_object_is_not_read() -> None:
    """DuckDB runs a query for it, which fails as long as a stream is open."""

    class Relation(StreamOnly):
        def __len__(self) -> int:
            raise ValueError("the connection has an open result")

    assert pa.array(libgather.gather(Relation(pa.chunked_array([[5, 6]])), [1])).to_pylist() == [6]
    assert libgather.gather(np.arange(3.0), Relation(pa.chunked_array([[2, 1]]))).tolist() == [2, 1]
    assert libgather.gather(NUMBERS, Relation(pa.chunked_array([[2], [None]]))).to_pylist() == [7, None]


def test_rows_are_exported_several_times() -> None:
    rows = libgather.gather(ArrayOnly(COLUMNS["strings"]), [3, 2])
    assert len(rows) == 2
    first, second = pa.array(rows), pa.array(rows)
    assert first.equals(second) and first.to_pylist() == ["dddd", None]
    assert pa.DataType._import_from_c_capsule(rows.__arrow_c_schema__()) == pa.string()


def test_null_rows_of_tables_are_null_in_each_column() -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    rows = pa.record_batch(libgather.gather(StreamOnly(table), [2, None, 0]))
    rows.validate(full=True)
    assert rows.to_pylist() == [{"a": 3, "b": "z"}, {"a": None, "b": None}, {"a": 1, "b": "x"}]


def test_fields_that_get_nulls_become_nullable() -> None:
    kinds = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string(), nullable=False)])
    table = StreamOnly(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}, schema=kinds))
    assert pa.record_batch(libgather.gather(table, [2, 0])).schema.equals(kinds)
    rows = pa.record_batch(libgather.gather(table, [2, None]))
    rows.validate(full=True)
    assert [field.nullable for field in rows.schema] == [True, True]
    assert rows.to_pylist() == [{"a": 3, "b": "z"}, {"a": None, "b": None}]


def test_fill_values_are_refused() -> None:
    with pytest.raises(
        libgather.UnsupportedError, match="objects of type ArrayOnly have no fill value: use bounds 'null'"
    ):
        libgather.gather(ArrayOnly(NUMBERS), [9], fill_value=3)


INTEGERS = (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers_are_indices(kind: Any) -> None:
    table, words = np.arange(7.0) * 3, pa.array([f"w{i}" for i in range(7)])
    ids = pa.array([6, 0, 3, 3], kind)
    for source in objects_of(ids):
        wanted = source.source.to_pylist()
        for _ in range(2):
            assert libgather.gather(table, source).tolist() == [3.0 * i for i in wanted]
            assert libgather.gather(words, source).to_pylist() == [f"w{i}" for i in wanted]
    holes = StreamOnly(pa.chunked_array([pa.array([None, 6], kind), pa.array([None, 0], kind)]))
    assert libgather.gather(words, holes).to_pylist() == [None, "w6", None, "w0"]


@pytest.mark.parametrize("bounds", [None, "null"])
def test_scalars_of_pyarrow_are_indices(bounds: Any) -> None:
    column, (two, none) = pa.array([10, None, 30]), pa.array([2, None])
    for rows in (column, pa.chunked_array([column[:1], column[1:]])):
        assert libgather.gather(rows, two, bounds=bounds).as_py() == 30
        assert libgather.gather(rows, none, bounds=bounds).as_py() is None
    with pytest.raises(libgather.IndexError, match=r"is 3, valid are \[0, 3\)"):
        libgather.gather(column, pa.scalar(3))
    with pytest.raises(libgather.DTypeError, match=r"params: it has nulls, .*: select rows by indices of one dim"):
        libgather.gather(ArrayOnly(column), 2)


def test_numbers_are_arrays_of_other_operations() -> None:
    weights = ArrayOnly(pa.array([0.5, 2.5, 4.5]))
    assert libgather.gather_nd(weights, [[[2], [0]]]).tolist() == [[4.5, 0.5]]
    for source, reason in (
        (ArrayOnly(pa.array([1.5, None])), "it has nulls"),
        (ArrayOnly(pa.array([[1]])), r"elements of the format '\+l'"),
    ):
        with pytest.raises(libgather.DTypeError, match=reason):
            libgather.gather_nd(source, [[[0], [0]]])


def test_strings_of_other_ranks_are_tensors() -> None:
    for values in (["a", "b"], [b"a", b"b"]):
        rows = libgather.gather(ArrayOnly(pa.array(values)), [[1, 1], [0, 1]])
        assert type(rows) is libgather.Tensor and rows.tolist() == [[values[1]] * 2, values]


def test_random_streams_equal_lists() -> None:
    chance = random.Random(5)
    for _ in range(60):
        values = [None if chance.random() < 0.2 else chance.randrange(10**6) for _ in range(chance.randrange(1, 5000))]
        cut = sorted(chance.randrange(len(values) + 1) for _ in range(chance.randrange(4)))
        bounds = list(zip([0, *cut], [*cut, len(values)], strict=True))
        source = StreamOnly(pa.chunked_array([pa.array(values[a:b], pa.int64()) for a, b in bounds]))
        ids = [chance.randrange(len(values)) for _ in range(chance.choice([1, 63, 64, 65, 1024, 1025, 4096, 25_000]))]
        rows = pa.array(libgather.gather(source, np.array(ids)))
        rows.validate(full=True)
        assert rows.to_pylist() == [values[i] for i in ids]
