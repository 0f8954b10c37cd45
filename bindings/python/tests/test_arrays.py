"""Each kind of array as params gives a result of the same kind. The expected values are those of NumPy."""

from __future__ import annotations

import array
import ctypes
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather

NUMBERS = [*"?bBhHiIlLqQefdFD", "datetime64[D]", "timedelta64[s]", "longdouble", "V8"]
SMALL = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"]
SMALL += ["float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
INDICES = np.array([[2, 0], [1, 2]])


def table(dtype: Any) -> np.ndarray:
    return np.arange(12, dtype="u1").astype("i8").astype(dtype if dtype != "V8" else "i8").reshape(3, 4).view(dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("layout", ["dense", "reversed", "columns", "fortran"])
def test_numpy_numbers(dtype: str, layout: str) -> None:
    params = table(dtype)
    params = {"dense": params, "reversed": params[::-1], "columns": params[:, ::2], "fortran": params.copy("F")}[layout]
    for axis in (0, -1):
        indices = INDICES if axis == 0 else INDICES % 2
        result = libgather.gather(params, indices, axis)
        expected = np.take(params, indices, axis)
        assert type(result) is np.ndarray and result.dtype == params.dtype
        assert result.tobytes() == expected.tobytes() and result.shape == expected.shape
    out = np.zeros_like(np.take(params, INDICES, 0))
    assert libgather.gather(params, INDICES, out=out) is out
    assert out.tobytes() == np.take(params, INDICES, 0).tobytes()


@pytest.mark.parametrize("name", SMALL)
def test_ml_dtypes(name: str) -> None:
    params = np.arange(1, 13).astype(getattr(ml_dtypes, name)).reshape(3, 4)
    result = libgather.gather(params[:, ::-1], INDICES)
    assert result.dtype == params.dtype
    assert result.tobytes() == params[:, ::-1][INDICES].tobytes()
    filled = libgather.gather(params, [7], bounds="fill", fill_value=2)
    assert (filled == np.full((1, 4), 2, params.dtype)).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u2"])
def test_every_index_dtype(dtype: str) -> None:
    params = table("f")
    assert (libgather.gather(params, INDICES.astype(dtype)) == params[INDICES]).all()
    assert (libgather.gather_nd(params, INDICES.astype(dtype)) == params[INDICES[:, 0], INDICES[:, 1]]).all()


def test_result_has_the_byte_order_of_params() -> None:
    params = table(">f4")
    result = libgather.gather(params, INDICES)
    assert result.dtype == params.dtype and (result == params[INDICES]).all()
    filled = libgather.gather(params, [9], profile="jax_fill")
    assert np.isnan(filled).all()


@pytest.mark.parametrize("dtype", [object, "U", "S", np.dtypes.StringDType()], ids=["object", "U", "S", "StringDType"])
def test_strings(dtype: Any) -> None:
    words = ["", "one", "two\0three", "\u00e4\U0001f600", "lone \udc80"]
    if isinstance(dtype, np.dtypes.StringDType):
        words[-1] = "none"  # StringDType alone rejects a lone surrogate
    values: list[Any] = [word.encode("utf-8", "surrogatepass") for word in words] if dtype == "S" else words
    params = np.array(values, dtype=dtype)
    result = libgather.gather(params, INDICES)
    assert result.dtype == params.dtype and (result == params[INDICES]).all()
    scalar = libgather.gather(params, 3)
    assert scalar == params[3] and type(scalar) is type(params[3])
    out = np.empty_like(result)
    assert libgather.gather(params, INDICES, out=out) is out and (out == result).all()


def test_object_arrays_of_bytes() -> None:
    params = np.array([b"a\0", b"", b"\xff"], object)
    assert libgather.gather(params, [2, 0]).tolist() == [b"\xff", b"a\0"]


@pytest.mark.parametrize("value", [[None, "a"], [1, "a"], [b"a", "a"], [{}, "a"]])
def test_other_objects_are_moved_and_not_converted(value: list[Any]) -> None:
    params = np.array(value, object)
    assert libgather.gather(params, [1, 0, 0]).tolist() == [value[1], value[0], value[0]]
    with pytest.raises(libgather.DTypeError, match="tensor"):
        libgather.Tensor(params)
    assert libgather.gather_nd(params, [[1], [0]]).tolist() == value[::-1]
    with pytest.raises(libgather.DTypeError, match="params"):
        libgather.gather_nd(params.reshape(1, 2), [[0, 0]])


def test_masked_arrays_and_records_of_objects_are_refused() -> None:
    for values in ([1, 2], np.array([b"a", b"b"]), np.zeros(2, "V5")):
        with pytest.raises(libgather.DTypeError, match="params: a masked array"):
            libgather.gather(np.ma.masked_array(values, [True, False]), [0])
    records = np.zeros(1, [("a", object)])
    for arguments in ({"params": records}, {"params": [1.5], "out": records}):
        with pytest.raises(libgather.DTypeError, match="are no dtype of this library"):
            libgather.gather(**arguments, indices=[0])


@pytest.mark.parametrize("dtype", [[("a", "i4"), ("b", "f8")], "V5", "U3"])
def test_elements_of_any_size(dtype: Any) -> None:
    params = np.zeros((3, 2), dtype)
    if params.dtype.names:
        params["a"] = np.arange(6).reshape(3, 2)
    for axis in (0, 1, -1):
        result = libgather.gather(params, [1, 0], axis)
        assert result.dtype == params.dtype and result.tobytes() == np.take(params, [1, 0], axis).tobytes()
    assert libgather.gather_nd(params, [[2, 1]])[0] == params[2, 1]
    out = np.zeros((2, 2), dtype)
    if params.dtype.kind == "V":
        assert libgather.gather(params, [2, 1], out=out) is out and out.tobytes() == params[[2, 1]].tobytes()
    if params.dtype.kind == "V":
        with pytest.raises(libgather.ShapeError):
            libgather.gather_nd(params, [[2, 1, 0]])


def test_subclasses_and_readonly() -> None:
    params = table("d").view(type("Sub", (np.ndarray,), {}))
    assert (libgather.gather(params, INDICES) == np.asarray(params)[INDICES]).all()
    params.setflags(write=False)
    assert (libgather.gather(np.asarray(params), INDICES) == np.asarray(params)[INDICES]).all()
    with pytest.raises(libgather.Error, match="out"):
        libgather.gather(table("d"), [0, 1, 2], out=np.asarray(params))


def test_rank_0_is_a_scalar_as_in_numpy() -> None:
    params = np.arange(3.0)
    assert type(libgather.gather(params, 1)) is type(np.take(params, 1)) is np.float64
    assert type(libgather.gather(params, np.int64(1))) is np.float64
    assert type(libgather.gather_nd(params, [1])) is np.float64
    out = np.zeros(())
    assert libgather.gather(params, 2, out=out) is out and out == 2


def test_result_outlives_its_tensor() -> None:
    result = libgather.gather(table("f").astype(ml_dtypes.bfloat16), INDICES)
    copy = result.copy()
    junk = [libgather.gather(table("f").astype(ml_dtypes.bfloat16), INDICES) for _ in range(100)]
    assert junk and (result == copy).all() and result.flags.writeable


# ------------------------------------------------------------------------------------------------ buffers and lists


def test_buffers_give_the_same_type() -> None:
    assert libgather.gather(b"abc", [2, 0]) == b"ca"
    assert libgather.gather(bytearray(b"abc"), [2, 0]) == bytearray(b"ca")
    for code in "bBhHiIlLqQfd":
        result = libgather.gather(array.array(code, [5, 6, 7]), array.array("h", [2, 1]))
        assert result == array.array(code, [7, 6]) and result.typecode == code
    view = memoryview(bytearray(b"abcdef")).cast("B", (3, 2))
    result = libgather.gather(view, [2, 0])
    assert isinstance(result, memoryview) and result.tolist() == [[101, 102], [97, 98]]
    assert libgather.gather(b"abc", 1) == 98
    backwards = memoryview(b"abcdef")[::-2]
    assert libgather.gather(backwards, [0, 1]).tobytes() == bytes([backwards[0], backwards[1]])


def test_ctypes_and_empty_buffers() -> None:
    params = ((ctypes.c_float * 2) * 3)((0, 1), (2, 3), (4, 5))
    assert libgather.gather(params, [1]).tolist() == [[2, 3]]
    assert libgather.gather(((ctypes.c_float * 2) * 0)(), array.array("i")).shape == (0, 2)
    assert libgather.gather(b"", b"") == b""


def test_buffers_without_a_dtype_of_the_library_are_refused() -> None:
    class Record(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int),)

    for bad in (array.array("u", "ab"), (Record * 2)()):
        with pytest.raises(libgather.DTypeError, match=r"params: elements of format .* are no dtype of this library"):
            libgather.gather(bad, [0])


def test_buffers_of_pointers_are_refused() -> None:
    testing = pytest.importorskip("_testbuffer", reason="this Python has no module for tests of buffers")
    params = testing.ndarray([*range(6)], shape=[2, 3], format="B", flags=testing.ND_PIL)
    with pytest.raises(libgather.DTypeError, match="params: a buffer of pointers is not one block of memory"):
        libgather.gather(params, [0])


def test_out_into_buffers() -> None:
    out = bytearray(2)
    assert libgather.gather(b"abc", b"\2\0", out=out) is out and out == b"ca"
    numbers = array.array("d", [0, 0])
    libgather.gather([1.5, 2.5], [1, 1], out=numbers)
    assert numbers.tolist() == [2.5, 2.5]
    with pytest.raises(libgather.Error) as caught:
        libgather.gather(b"abc", [0], out=b"x")
    assert caught.value.status_name == "GTH_E_READONLY" and caught.value.operand == "out"


def test_lists_and_scalars_as_in_numpy() -> None:
    assert libgather.gather([[1, 2], [3, 4]], [1]).tolist() == [[3, 4]]
    assert libgather.gather([1.5, 2], (1, 0)).tolist() == [2.0, 1.5]
    assert libgather.gather(["a", "bc"], [[1]]).tolist() == [["bc"]]
    assert libgather.gather([b"a", b"bc"], [1]).dtype.kind == "S"
    assert libgather.gather([True, False], [1]).dtype == bool
    assert libgather.gather([2**63], [0]).dtype == np.uint64
    assert libgather.gather([1, 2], []).shape == (0,) and libgather.gather([1, 2], [[]]).shape == (1, 0)
    with pytest.raises(libgather.ShapeError):
        libgather.gather([[1], [1, 2]], [0])
    with pytest.raises(libgather.DTypeError, match="params: "):
        libgather.gather([10**400, 1.5], [0])
    with pytest.raises(libgather.RankError):
        libgather.gather(5, [0])


@pytest.mark.parametrize("count", [0, 1, 8, 9, 100])
@pytest.mark.parametrize("kind", [list, tuple])
def test_integers_of_python_as_indices(kind: Any, count: int) -> None:
    params = np.arange(24.0).reshape(6, 4)
    numbers = [i * 5 % 6 for i in range(count)]
    expected = params[np.array(numbers, "i8")]
    assert (libgather.gather(params, kind(numbers)) == expected).all()
    out = np.zeros_like(expected)
    assert libgather.gather(params, kind(numbers), out=out) is out and (out == expected).all()
    plan = libgather.Plan(params, libgather.Spec("int64", (-1,)))
    assert (plan(params, kind(numbers)) == expected).all()
    assert (libgather.gather_nd(params.T, kind([1, 2])) == params.T[1, 2]).all()


def test_lists_with_other_elements_than_integers_are_refused() -> None:
    params = np.arange(6.0)
    for bad in ([True], [0, True, 1.5], [None], ["0"], True, [0, 2**64], 2**64):
        with pytest.raises(TypeError):
            libgather.gather(params, bad)
    for outside in ([2**63], 2**63, [-1], -1, [*range(9), 6]):
        with pytest.raises(libgather.IndexError) as caught:
            libgather.gather(params, outside)
        assert caught.value.value in (2**63, -1, 6)
    assert libgather.gather(params, [np.int32(2), 3]).tolist() == [2, 3]
    assert libgather.gather(params, -1, negative="wrap") == 5
    assert type(libgather.gather(params, 1)) is np.float64


def test_foreign_objects_with_an_array_method() -> None:
    class Frame:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([1, 2, 3])

    assert libgather.gather(Frame(), [2]).tolist() == [3]


# --------------------------------------------------------------------------------------------- devices without a GPU


class Cuda:
    """An object with __cuda_array_interface__."""

    def __init__(self, **changes: Any) -> None:
        interface = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3, "strides": None}
        self.__cuda_array_interface__ = {**interface, **changes}


@pytest.mark.skipif(bool(libgather.capabilities()["cuda_runtime"]), reason="the library has CUDA")
def test_device_arrays_are_refused_where_there_is_no_device() -> None:
    for params, indices in ((Cuda(), [0]), ([1, 2], Cuda(typestr="<i4")), (Cuda(), Cuda(typestr="<i8"))):
        with pytest.raises(libgather.DeviceError) as caught:
            libgather.gather(params, indices)
        assert caught.value.status_name == "GTH_E_DEVICE"
    with pytest.raises(libgather.DeviceError):
        libgather.Context("cuda:0", stream=1)
    with pytest.raises(libgather.DeviceError):
        libgather.Context("gpu")
    with pytest.raises(libgather.DeviceError):
        libgather.tf.gather(Cuda(), [0])


@pytest.mark.parametrize("change", [{"typestr": ">f4"}, {"typestr": "|O8"}, {"typestr": ""}, {"data": None}])
def test_malformed_cuda_arrays_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(libgather.DTypeError):
        libgather.gather(Cuda(**change), [0])


class Dataset:
    """A dataset in a file. Each conversion reads it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.reads = array, 0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        self.reads += 1
        return np.array(self.array, dtype)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: libgather.gather(data, [1, 0]),
        lambda data: libgather.gather(data, [1, 9], fill_value=0, profile="numpy_raise"),
        lambda data: libgather.gather(data, [1, 0], out=np.zeros((2, 3), np.int64)),
        lambda data: libgather.gather(np.ones(9), data),
        lambda data: libgather.take(data, [1, 0], 0),
        lambda data: libgather.take(data, [1, 0]),
        lambda data: libgather.take_along_axis(data, [[1], [0]]),
        lambda data: libgather.take_along_axis(data, [1, 0], None),
        lambda data: libgather.scatter(data, [1], np.ones((1, 3), np.int64)),
        lambda data: libgather.scatter(np.ones((2, 3), np.int64), [1, 0], data),
        libgather.Tensor,
    ],
)
def test_dataset_is_read_once(call: Any) -> None:
    array = np.arange(6).reshape(2, 3)
    data = Dataset(array)
    assert np.asarray(call(data)).tolist() == np.asarray(call(array)).tolist()
    assert data.reads == 1


def test_numpy_of_unknown_layout_is_read_by_the_buffer_protocol() -> None:
    """The C code does not read the arrays of a NumPy release with another ABI."""
    code = """
import datetime, sys, types
import numpy as np
umath = sys.modules["numpy._core._multiarray_umath"]
sys.modules[umath.__name__] = types.SimpleNamespace(_ARRAY_API=datetime.datetime_CAPI)
import libgather
from libgather._arrays import numpy_
assert not numpy_.C_HALF_READS_ARRAYS
table, ids = np.arange(6.0).reshape(3, 2), np.array([2, 0, 2])
assert libgather.gather(table, ids).tolist() == table[ids].tolist()
assert libgather.scatter(table, [1], table[:1]).tolist() == [[0, 1], [0, 1], [4, 5]]
plan = libgather.Plan(table, ids)
assert plan(table, ids).tolist() == plan.bind(table, ids, np.empty((3, 2)))().tolist() == table[ids].tolist()
parts = libgather.partition(ids, 3, shards=2)
assert [part.tolist() for part in parts] == [[1, 2], [0, 0, 0], [1, 0, 2], [1, 0, 2]]
assert parts.join([table[:1], table[[2, 2]]]).tolist() == table[ids].tolist()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
