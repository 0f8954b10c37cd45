"""Results equal those of ``np.take``: the dtype, scalars, subclasses, and columns of pandas and polars."""

from __future__ import annotations

import array
import operator
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libgather


class Labelled(np.ndarray):
    """A subclass with an attribute that new arrays copy."""

    label: Any = None

    def __array_finalize__(self, obj: Any) -> None:
        self.label = getattr(obj, "label", None)


def labelled() -> np.ndarray:
    params = np.arange(6.0).reshape(3, 2).view(Labelled)
    params.label = "here"
    return params


RECORDS = [("a", "i4"), ("b", "f8"), ("c", "S3")]
SUBCLASSES = {
    "subclass": labelled,
    "matrix": lambda: np.matrix([[1, 2], [3, 4], [5, 6]]),
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], fill_value=7.0),
    "records": lambda: np.rec.array([(1, 2.0), (3, 4.0), (5, 6.0)], names="a,b"),
    "characters": lambda: np.char.array(["a", "bc", "d"]),
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("dtype", "exact", "lost"),
    [
        ("int64", [2**53, -(2**53), 2**62, -(2**63)], [2**53 + 1, -(2**53) - 1, 2**63 - 1]),
        ("uint64", [2**53, 2**63], [2**53 + 1, 2**64 - 1]),
        ("int32", [2**31 - 1, -(2**31)], []),
    ],
)
def test_tables_of_integers_and_floats(library: str, dtype: str, exact: list[int], lost: list[int]) -> None:
    """A gather of rows keeps all values. Other functions use float64, and reject integers that it cannot represent."""
    module = pytest.importorskip(library, reason=f"{library} is not installed")

    def table(value: int) -> Any:
        return module.DataFrame({"id": np.array([0, value], dtype), "weight": np.array([0.5, 1.5])})

    for value in exact:
        assert libgather.take(table(value), [2])[0] == value
    for value in (*exact, *lost):
        rows = libgather.gather(table(value), [1])
        assert type(rows) is module.DataFrame and rows["id"].to_list() == [value]
    for value in lost:
        for function in (
            lambda of: libgather.take(of, [2]),
            libgather.Tensor,
            lambda of: libgather.scatter(np.zeros((2, 2)), [0, 1], of),
        ):
            with pytest.raises(libgather.DTypeError, match=r"column 'id' of .*nt64 has integers that float64"):
                function(table(value))
        assert int(libgather.take(table(value)[["id"]], [1])[0]) == value
    if library == "polars" and lost:
        with pytest.raises(libgather.DTypeError, match="column 'id'"):
            libgather.Tensor(table(lost[0]).to_struct("both"))


@pytest.mark.parametrize("name", SUBCLASSES)
@pytest.mark.parametrize("indices", [[2, 0], np.array([1, 1, 1])], ids=["list", "array"])
def test_subclasses(name: str, indices: Any) -> None:
    params = SUBCLASSES[name]()
    expected, result = np.take(params, indices, 0), libgather.gather(params, indices)
    assert type(result) is type(expected) and result.dtype == expected.dtype and result.shape == expected.shape
    assert result.tolist() == expected.tolist()
    assert getattr(result, "label", None) == getattr(expected, "label", None)
    assert type(libgather.take(params, indices, 0)) is type(expected)


def test_masked_arrays() -> None:
    result = libgather.gather(SUBCLASSES["masked"](), [1])
    assert not np.ma.is_masked(result) and result.fill_value == 7
    with pytest.raises(libgather.DTypeError, match="mask"):
        libgather.gather(np.ma.masked_array([1, 2], [True, False]), [1])


def test_masked_array_is_no_output() -> None:
    for bad in (np.ma.masked_array([0.0]), [0.0]):
        with pytest.raises(libgather.OutputError, match=f"out: {type(bad).__name__} cannot be written in place"):
            libgather.gather(np.arange(3.0), [1], out=bad)


def test_result_of_matrix_has_two_dims() -> None:
    with pytest.raises(libgather.ShapeError, match="matrix"):
        libgather.gather(SUBCLASSES["matrix"](), [[0, 1], [1, 0]])


@pytest.mark.parametrize("dtype", ["f4", RECORDS], ids=["numbers", "records"])
def test_maps_of_files(tmp_path: Path, dtype: Any) -> None:
    np.ones(4, dtype).tofile(tmp_path / "table")
    params = np.memmap(tmp_path / "table", dtype, "r")
    result = libgather.gather(params, [2, 0])
    assert type(result) is np.memmap and result.tobytes() == params[[2, 0]].tobytes()


def test_map_of_a_file_takes_the_path_of_an_array(tmp_path: Path) -> None:
    np.arange(4.0).tofile(tmp_path / "table")
    params, ids = np.memmap(tmp_path / "table", "f8", "r+"), np.array([2, 0])
    calls: dict[str, Callable[[], Any]] = {
        "gather": lambda: libgather.gather(params, ids),
        "out": lambda: libgather.gather(params, ids, out=np.zeros(2)),
        "take": lambda: libgather.take(params, ids),
        "scatter": lambda: libgather.scatter(params, ids, np.zeros(2), inplace=True),
    }
    modules: list[str] = []
    for name, call in calls.items():
        call()
        sys.setprofile(lambda frame, event, _: modules.append(str(frame.f_globals.get("__name__"))))
        try:
            call()
        finally:
            sys.setprofile(None)
        assert not [module for module in modules if module.startswith("libgather")], name


def test_int64_has_the_type_of_numpy() -> None:
    """NumPy has two types of 64 bits. np.int64 is the type long."""
    tensor = libgather.Tensor([1, 0])
    for result in (
        libgather.gather([1, 2], [0]),
        libgather.gather(np.array([1, 2]), [0], bounds="skip"),
        libgather.gather(np.array([1, 2]), tensor),
        np.asarray(tensor),
        libgather.gather([[1, 2]], 0),
    ):
        assert result.dtype.char == "l"
    for scalar in (libgather.gather([1, 2], 0), libgather.gather(np.arange(3), libgather.Tensor(1))):
        assert type(scalar) is np.int64
    assert libgather.gather(np.zeros(2, "q"), [0]).dtype.char == "q"


def test_numbers_of_buffers() -> None:
    assert type(libgather.gather(b"abc", 1)) is int and libgather.gather(b"abc", 1) == 98
    assert type(libgather.gather(array.array("d", [1, 2]), 1)) is float
    assert libgather.gather_nd(memoryview(b"ab"), [1]) == 98
    plan = libgather.Plan(b"abc", libgather.Spec("int64", ()))
    assert plan(b"abc", 2) == 99


class Two:
    def __index__(self) -> int:
        return 2


def test_objects_with_index_method() -> None:
    params = np.arange(5)
    assert libgather.gather(params, range(1, 4)).tolist() == [1, 2, 3]
    assert libgather.gather(params, Two()) == 2
    assert libgather.gather(params, [Two(), 1, np.int8(3)]).tolist() == [2, 1, 3]
    assert libgather.gather_nd(params, [[Two()]]).tolist() == [2]
    assert libgather.gather(range(10, 15), [1, 0]).tolist() == [11, 10]
    with pytest.raises(libgather.DTypeError):
        libgather.gather(params, [Two(), "1"])
    with pytest.raises(libgather.DTypeError):
        libgather.gather(params, int)


# ----------------------------------------------------------------------------------------------- the other byte order


@pytest.mark.parametrize("dtype", [">i2", ">i8", ">u4", ">f4", ">f8", ">c8", ">c16", ">M8[D]", ">f2"])
def test_result_of_other_byte_order_has_its_dtype(dtype: str) -> None:
    params = np.arange(12, dtype="i8").reshape(4, 3).astype(dtype[1:]).astype(dtype)
    result = libgather.gather(params[::-1, ::2], [2, 0])
    assert result.dtype == params.dtype and (result == params[::-1, ::2][[2, 0]]).all()
    value = params[1, 2]
    filled = libgather.gather(params, [9, 1], fill_value=value)
    assert filled.dtype == params.dtype and (filled == [[value] * 3, params[1]]).all()
    missing = libgather.gather(params, [9], fill_value="by_dtype")
    native = libgather.gather(params.astype(dtype[1:]), [9], fill_value="by_dtype")
    np.testing.assert_array_equal(missing, native)
    out = np.zeros((1, 3), dtype[1:])
    if "M" not in dtype:
        assert libgather.gather(params, [2], out=out) is out and (out == params[[2]]).all()
    plan = libgather.Plan(params, libgather.Spec("int64", (-1,)), fill_value=value)
    assert (plan(params, np.array([9, 1])) == filled).all()
    with pytest.raises(libgather.DTypeError, match="planned"):
        plan(params.astype(dtype[1:]), [9])


def test_invalid_fill_value_for_other_byte_order_is_refused() -> None:
    for value in (1.5, 2**40, "x", 1j):
        with pytest.raises(libgather.DTypeError, match="fill_value"):
            libgather.gather(np.zeros(2, ">i4"), [9], fill_value=value)


# ----------------------------------------------------------------------------------------------------- blocks of bytes

BLOCKS: list[Any] = [RECORDS, "U3", "S5", "S1", "V7", "clongdouble"]


def table_of(dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    table = np.zeros(shape, dtype)
    table.view(np.uint8).reshape(-1)[:] = np.arange(table.nbytes) % 5 * (1 if dtype != "U3" else 0)
    if table.dtype.kind == "U":
        table[...] = np.array([f"\u00e4{i % 7}" for i in range(table.size)]).reshape(shape)
    return table


@pytest.mark.parametrize("dtype", BLOCKS, ids=str)
def test_blocks(dtype: Any) -> None:
    table = table_of(dtype, (4, 6))
    for params in (table, table[::-2, 1::2], table.T, table[1:2]):
        for axis in (0, 1, -1):
            indices = np.array([[params.shape[axis] - 1, 0]])
            expected = np.take(params, indices, axis)
            result = libgather.gather(params, indices, axis)
            assert result.dtype == expected.dtype and result.shape == expected.shape
            assert result.tobytes() == expected.tobytes()
        each = np.zeros(params.shape, int)
        along = libgather.gather_elements(params, each, 1)
        assert along.tobytes() == np.take_along_axis(params, each, 1).tobytes()
        narrow = each[:, :1]
        along = libgather.take_along_axis(params, narrow, 0)
        assert along.tobytes() == np.take_along_axis(params, narrow, 0).tobytes()
        pair = libgather.gather_nd(params, [[0, 1]])
        assert pair.tobytes() == params[[0], [1]].tobytes()


@pytest.mark.parametrize("dtype", BLOCKS, ids=str)
def test_errors_of_blocks(dtype: Any) -> None:
    params = table_of(dtype, (2, 3))
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather_elements(params, [[0, 2], [1, 3]])
    assert (caught.value.position, caught.value.index, caught.value.axis) == (3, (1, 1), 1)
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather(params, [[0, 7]], axis=-1)
    assert (caught.value.position, caught.value.index, caught.value.axis) == (1, (0, 1), 1)
    with pytest.raises(libgather.ShapeError):
        libgather.gather_nd(params, [[0, 0, 0]])
    for axis in (2, -3):  # the dim of the parts of an element is not an axis
        with pytest.raises(libgather.RankError, match=rf"axis is {axis}, valid are \[-2, 2\)"):
            libgather.gather(params, [[0]], axis)
    assert libgather.gather(params, [9], bounds="fill").tobytes() == bytes(3 * params.itemsize)
    if params.dtype.kind == "V":
        assert_outputs_are_checked(params)
    message = "has no values that this profile" if params.dtype.kind not in "US" else "dtype string is not allowed here"
    with pytest.raises(libgather.DTypeError, match=message):
        libgather.gather(params, [0], profile="torch")


def assert_outputs_are_checked(params: np.ndarray) -> None:
    out = np.zeros((1, 3), params.dtype)
    assert libgather.gather(params, [1], out=out) is out and out.tobytes() == params[1:].tobytes()
    with pytest.raises(libgather.DTypeError, match="out: needed is an array of dtype"):
        libgather.gather(params, [0], out=np.zeros((1, 3), "V200"))
    with pytest.raises(libgather.DTypeError, match="out: needed is an array of dtype"):
        libgather.gather(params, [0], out=[[b""] * 3])
    with pytest.raises(libgather.ShapeError, match="out: dim 0 is 1, needed is 2") as caught:
        libgather.gather(params, [0, 1], out=out)
    assert caught.value.operand == "out"
    out.flags.writeable = False
    with pytest.raises(libgather.OutputError, match=r"out: .*read-only"):
        libgather.gather(params, [0], out=out)
    with pytest.raises(libgather.DTypeError, match=r"target: dtype .* has no values that this profile knows"):
        libgather.scatter(params, [0], out, profile="torch")


def test_strings_of_one_size_under_profiles() -> None:
    params = np.array(["a", "bc", "d"])
    for profile in ("onnx", "ort", "tensorflow", "numpy_clip"):
        assert libgather.gather(params, np.array([2, 1]), profile=profile).tolist() == ["d", "bc"]
    assert libgather.gather(params, [7, 1], fill_value="").tolist() == ["", "bc"]
    out = params[:2].copy()
    assert libgather.gather(params, [7, 1], bounds="skip", out=out).tolist() == ["a", "bc"]
    assert libgather.gather(params, [2, 1], profile="onnx", out=out).tolist() == ["d", "bc"]
    with pytest.raises(libgather.DTypeError):
        libgather.gather(params, np.array([1], "u1"), profile="onnx")


# ------------------------------------------------------------------------------------------------- pandas and polars


def test_pandas() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for values, dtype in (([1.5, 2.5], "float64"), ([1, 2], "Int64"), (["a", "b"], "category"), (["a", "b"], "str")):
        series = pd.Series(values, name="n", dtype=dtype, index=["x", "y"])
        result = libgather.gather(series, [1, 1, 0])
        assert type(result) is pd.Series and result.name == "n" and result.dtype == series.dtype
        assert result.tolist() == [values[1], values[1], values[0]] and result.index.tolist() == ["y", "y", "x"]
        assert libgather.gather(series, 1) == values[1]
    assert type(libgather.gather(pd.Index([1, 2]), [1])) is pd.Index
    nulls = pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})
    with pytest.raises(libgather.DTypeError, match="nulls"):
        libgather.gather_elements(nulls, nulls)
    assert libgather.gather(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), [1], 1).tolist() == [[3], [4]]
    assert libgather.gather(np.arange(3), pd.Series([2, 0])).tolist() == [2, 0]


def test_polars() -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    for values in ([1.5, 2.5], [1, 2], ["a", "b"], [True, False]):
        series = pl.Series("n", values)
        result = libgather.gather(series, [1, 0])
        assert type(result) is pl.Series and result.name == "n" and result.dtype == series.dtype
        assert result.to_list() == values[::-1]
    with pytest.raises(libgather.DTypeError, match="nulls"):
        libgather.gather_nd(pl.DataFrame({"a": [1, None]}), [[0]])


# ---------------------------------------------------------------------------------------------------------------- cost

COST: dict[str, Any] = {
    "numbers": lambda n: np.zeros((n, 8)),
    "the other byte order": lambda n: np.zeros((n, 8), ">f8"),
    "U": lambda n: np.zeros((n, 2), "U8"),
    "S": lambda n: np.zeros((n, 2), "S32"),
    "records": lambda n: np.zeros((n, 2), [("a", "S24"), ("b", "f8")]),
    "columns of records": lambda n: np.zeros((n, 4), [("a", "S9"), ("b", "f8")])[:, ::2],
    "times": lambda n: np.zeros((n, 8), "M8[s]"),
}


@pytest.mark.parametrize("name", COST)
@pytest.mark.parametrize("function", ["gather", "gather_elements", "take_along_axis"])
def test_lookup_does_not_copy_the_table(name: str, function: str) -> None:
    """The call makes no copy of the table, for each kind of element."""
    import tracemalloc

    params = COST[name](20_000)
    indices = [3, 1] if function == "gather" else np.zeros((1, params.shape[1]), int)
    arguments = (params, indices, 0)
    call = operator.attrgetter(function)(libgather)
    if function == "gather_elements":
        call = lambda *given: libgather.gather_elements(*given, extents="prefix")  # noqa: E731
    call(*arguments)  # completes late imports
    tracemalloc.start()
    try:
        call(*arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30_000 < params.nbytes // 20


ARROW: dict[str, Any] = {
    "booleans": lambda pa, n: pa.array([True, False, False] * (n // 3)),
    "booleans from the middle": lambda pa, n: pa.array([True, False, False] * (n // 3))[5:],
    "chunks": lambda pa, n: pa.chunked_array([list(range(n // 2)), [], list(range(n // 2, n))]),
    "chunks of booleans": lambda pa, n: pa.chunked_array([[True] * (n // 2), [False] * (n // 2)]),
    "chunks of strings": lambda pa, n: pa.chunked_array([["a", "bc"] * (n // 4), ["d"] * (n // 2)]),
    "chunks of floats": lambda pa, n: pa.chunked_array([[1.5] * (n // 2), [float("nan")] * (n // 2)], pa.float32()),
}
REQUESTS: list[dict[str, Any]] = [
    {},
    {"negative": "wrap"},
    {"bounds": "clamp"},
    {"bounds": "clamp", "negative": "wrap"},
    {"bounds": "modulo"},
    {"bounds": "fill"},
    {"bounds": "fill", "negative": "wrap"},
    *({"fill_value": value} for value in ("zero", "by_dtype", 7, -1, 1.5, True, 2**70)),
    *({"profile": profile} for profile in typing.get_args(libgather.types.Profile)),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
@pytest.mark.parametrize("name", ARROW)
def test_packed_arrow_arrays_equal_numpy(name: str, request_: dict[str, Any]) -> None:
    """The results equal those of a NumPy array of the same elements."""
    pa = pytest.importorskip("pyarrow")
    params = ARROW[name](pa, 60)
    whole = params.to_pylist()
    numbers = np.array(whole, object if isinstance(whole[0], str) else params.type.to_pandas_dtype())
    for indices in ([3, 0, 59 - 5], [-1, 2], [60, 1], [-61, 1000], [2**40, -(2**40)], pa.array([3, 1]), np.array([7])):
        outcomes = []
        for source in (params, numbers):
            try:
                outcome = libgather.gather(source, indices, **request_)
                outcomes.append(outcome.to_pylist() if source is params else outcome.tolist())
                assert source is numbers or (type(outcome) is type(params) and outcome.type == params.type)
            except libgather.Error as error:
                outcomes.append((type(error), str(error)))
        assert str(outcomes[0]) == str(outcomes[1])


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ARROW)
def test_lookup_does_not_copy_an_arrow_array(name: str, axis: int | None) -> None:
    pa = pytest.importorskip("pyarrow")
    params = ARROW[name](pa, 600_000)
    libgather.gather(params, [3, 1], axis)
    pool = pa.default_memory_pool()
    held = pool.bytes_allocated()
    before = pa.total_allocated_bytes()
    result = libgather.gather(params, [3, 1], axis)
    assert len(result) == 2 and pool.bytes_allocated() - held < 4096 and pa.total_allocated_bytes() - before < 4096
