"""Gathers of columns into an array of the caller: they cost what their rows cost, and columns that cannot be written
are refused."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from column_kinds import PANDAS, library, pandas_column

import libgather

IDS = [2, 0]
OBJECTS = [object, np.dtypes.StringDType()]
BLOCKS = ["M8[us]", ">f8", ">i4", "g", "U3", "S3", "S8", "V3", "V16", "i4,f8", "i8,f8"]


@pytest.mark.parametrize("dtype", [*OBJECTS, *BLOCKS], ids=str)
def test_output_of_a_kind_of_numpy_equals_that_of_numpy(dtype: Any) -> None:
    params = np.array([["1", "22", ""], ["3", "4", "5"]] if dtype in OBJECTS else [[1, 2, 3], [4, 5, 6]]).astype(dtype)
    for indices in ([1, 0, 1], [[1], [0]], [], 1):
        for axis in (0, 1, -1):
            expected = np.take(params, np.array(indices, int), axis)
            whole = np.zeros((*expected.shape, 2), dtype)
            for out in (np.zeros(expected.shape, dtype), whole[..., 1]):
                assert libgather.gather(params, indices, axis, out=out) is out
                assert out.tolist() == expected.tolist()
    one = np.zeros((), dtype)
    assert libgather.gather(params[0], 1, out=one)[()] == params[0, 1]
    out = params[:1].copy()
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather(params, [7], out=out)
    assert caught.value.position == 0 and out.tolist() == params[:1].tolist()
    for other in (np.zeros((1, 3), "V200"), [["", "", ""]]):
        with pytest.raises((libgather.DTypeError, libgather.OutputError), match="out: "):
            libgather.gather(params, [0], out=other)
    with pytest.raises(libgather.ShapeError, match="out: ") as shape:
        libgather.gather(params, [0, 1], out=out)
    assert shape.value.operand == "out"
    out.flags.writeable = False
    with pytest.raises(libgather.OutputError, match=r"out: .*read-only"):
        libgather.gather(params, [0], out=out)


def test_output_in_a_mapped_file(tmp_path: Any) -> None:
    for dtype in ("f8", "M8[s]", "i4,f8"):
        params = np.memmap(tmp_path / "params", dtype, "w+", shape=3)
        params[:] = np.array([1, 2, 3]).astype(dtype)
        out = np.memmap(tmp_path / "out", dtype, "w+", shape=2)
        assert libgather.gather(params, IDS, out=out) is out
        assert out.tolist() == [params[2].item(), params[0].item()]


@pytest.mark.parametrize("name", PANDAS)
def test_output_of_pandas_has_the_rows_of_pandas(name: str) -> None:
    pd, column = library("pandas"), pandas_column(name)
    expected = column.array.take(IDS)
    for out in (pd.Series(column.array.take([1, 1]), ["a", "b"]), column.array.take([1, 1])):
        if name == "sparse":  # pandas has no assignment to it
            with pytest.raises(libgather.DTypeError, match=r"out: .* does not support item assignment"):
                libgather.gather(column, IDS, out=out)
            continue
        assert libgather.gather(column, IDS, out=out) is out
        pd.testing.assert_extension_array_equal(getattr(out, "array", out), expected)
        assert libgather.gather_nd(column.array, [[0], [2]], out=out) is out
        pd.testing.assert_extension_array_equal(getattr(out, "array", out), expected[::-1])
        with pytest.raises(libgather.IndexError):
            libgather.gather(column, [1, 9], out=out)
        with pytest.raises(libgather.ShapeError, match=r"out: shape \(2,\), needed is \(1,\)"):
            libgather.gather(column, [1], out=out)
        pd.testing.assert_extension_array_equal(getattr(out, "array", out), expected[::-1])
    other = pd.Series(pd.array([1, 2], "UInt16"), ["a", "b"])
    with pytest.raises(libgather.DTypeError, match="out: dtype is UInt16, needed is "):
        libgather.gather(column, IDS, out=other)
    index = pd.Index(expected)
    with pytest.raises(libgather.OutputError, match=r"out: .*Index cannot be written in place"):
        libgather.gather(column, IDS, out=index)


def test_output_of_pandas_has_nulls_and_fill_values() -> None:
    pd = library("pandas")
    for dtype in ("Int64", "float64"):
        out, column = pd.Series([7, 7], dtype=dtype), pd.Series([1, 2, 3], dtype=dtype)
        assert libgather.gather(column, [9, 2], fill_value=5, out=out).tolist() == [5, 3]
        rows = libgather.gather(column, [None, 2], out=out)
        assert rows is out and rows.isna().tolist() == [True, False]
        assert libgather.gather(column, [1, 9], bounds="fill", out=out).tolist() == [2, 0]


def immutable() -> list[tuple[Any, Any]]:
    """Returns columns, and outputs of the same type."""
    arrow = (
        pa.array([1, None, 3]),
        pa.array(["a", "b", "c"]),
        pa.array([{"a": 1}] * 3),
        pa.array([1, 2, 3], pa.date32()),
    )
    polars = library("polars")
    tables = pa.table({"a": [1, 2, 3]}), library("pandas").DataFrame({"a": [1, 2, 3]}), polars.DataFrame({"a": [1, 2]})
    columns = [
        polars.Series([1, None, 3]),
        polars.Series(["a", "b", "c"]),
        pa.chunked_array([arrow[0]]),
        *arrow,
        *tables,
    ]
    return [(column, column[:2]) for column in columns]


def test_immutable_output_is_an_error() -> None:
    for column, out in immutable():
        with pytest.raises(libgather.OutputError, match=f"out: {type(out).__name__} cannot be written in place"):
            libgather.gather(column, [1, 0], out=out)


@pytest.mark.parametrize("dtype", ["i8", "f4", "M8[ns]", "m8[s]", object], ids=str)
def test_read_only_output_of_pandas_is_an_error(dtype: Any) -> None:
    pd, memory = library("pandas"), np.array([1, 2]).astype(dtype)
    column, before = pd.Series(memory.copy(), dtype=dtype), memory.tolist()
    memory.flags.writeable = False
    out = pd.Series(memory, dtype=dtype, copy=False)
    with pytest.raises(libgather.OutputError, match=r"out: .*read-only"):
        libgather.gather(column, [1, 0], out=out)
    with pytest.raises(libgather.OutputError, match=r"target: .*read-only"):
        libgather.scatter(out, [0, 1], column[::-1], inplace=True)
    assert memory.tolist() == before


def test_error_of_the_caller_is_no_read_only_output() -> None:
    pd = library("pandas")
    numbers = pd.array([1, 2], "Int64")
    try:
        raise ValueError("read-only memory")
    except ValueError:
        with pytest.raises(libgather.DTypeError, match="updates: "):
            libgather.scatter(numbers, [0], [object()], inplace=True)


def test_output_of_pandas_has_no_rows_of_other_libraries_and_no_tables() -> None:
    pd, pl = library("pandas"), library("polars")
    numbers = pd.array([1, 2, 3], "Int64")
    for rows, kind in (
        (pd.DataFrame({"array": numbers, "b": numbers}), "DataFrame"),
        (pd.DataFrame({"dtype": numbers}), "DataFrame"),
        (pl.Series([1, 2, 3]), "Series"),
        (np.array(["a", None, 3], object), "ndarray"),
    ):
        out = pd.Series(numbers[:2])
        with pytest.raises(libgather.DTypeError, match=f"out: dtype is Int64, needed is {kind}"):
            libgather.gather(rows, IDS, out=out)
        assert out.tolist() == [1, 2]


def numbers_of(n: int) -> dict[str, Any]:
    """Returns columns [0, 1, 2 ..]. Most of them have no array of NumPy."""
    pd, pl, numbers = library("pandas"), library("polars"), np.arange(n)
    half = pa.array(numbers[: n // 2]), pa.array(numbers[n // 2 :])
    return {
        "pandas": pd.Series(numbers),
        "pandas Int64": pd.Series(pd.array(numbers, "Int64")),
        "pandas with nulls": pd.Series(pd.array([*numbers[:-1], None], "Int64")),
        "polars": pl.Series(numbers),
        "polars chunks": pl.concat([pl.Series(half[0]), pl.Series(half[1])], rechunk=False),
        "polars with nulls": pl.Series([*numbers[:-1].tolist(), None]),
        "pyarrow": half[0],
        "pyarrow chunks": pa.chunked_array(half),
        "pyarrow with nulls": pa.array([*numbers[:-1], None]),
        "dictionary": half[0].dictionary_encode(),
    }


def test_output_of_numbers_costs_what_the_rows_cost() -> None:
    """Nulls that are not selected cause no error."""
    for name, column in numbers_of(100_000).items():
        for shape, ids in (((2,), IDS), ((2, 1), [[2], [0]]), ((), 2)):
            out = np.zeros(shape, "i8")
            libgather.gather(column, ids, out=out)  # completes late imports
            tracemalloc.start()
            assert libgather.gather(column, ids, out=out) is out and out.tolist() == ids
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 50_000, name
        if "nulls" in name:
            with pytest.raises(libgather.DTypeError, match="params: it has nulls, which an element cannot be"):
                libgather.gather(column, [len(column) - 1], out=np.zeros(1, "i8"))
        with pytest.raises(libgather.DTypeError, match="out: dtype is float32, needed is int64"):
            libgather.gather(column, [1], out=np.zeros(1, "f4"))


def test_output_of_booleans_and_tables() -> None:
    pd, pl = library("pandas"), library("polars")
    out = np.zeros(2, "?")
    for column in (pd.Series([True, False, None], dtype="boolean"), pl.Series([True, False, None])):
        assert libgather.gather(column, [1, 0], out=out).tolist() == [False, True]
    assert libgather.gather(pa.array([True, False, None]), [0, 1], out=out).tolist() == [True, False]
    whole = np.zeros((2, 2))
    for table in (
        pd.DataFrame({"a": [1, 2, 3], "dtype": [0.5, 1.5, 2.5]}),
        pl.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}),
    ):
        assert libgather.gather(table, [1, 0], out=whole).tolist() == [[2, 1.5], [1, 0.5]]


@pytest.mark.parametrize("make", ["pandas", "pandas Int64", "polars chunks", "pyarrow chunks"])
def test_skipped_rows_of_an_output_are_kept(make: Callable[[int], Any]) -> None:
    out = np.array([7, 7])
    assert libgather.gather(numbers_of(10)[make], [99, 4], bounds="skip", out=out).tolist() == [7, 4]
