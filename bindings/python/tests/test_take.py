"""take and take_along_axis: compares them with NumPy for arrays of each kind."""

from __future__ import annotations

import array
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather

PARAMS = np.arange(60.0).reshape(3, 4, 5)[:, ::-1]
MATRIX = [[10, 30, 20], [60, 40, 50]]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u4", "i8", "u8"])
def test_results_equal_numpy(axis: int, dtype: str) -> None:
    random = np.random.default_rng(7)
    extent = PARAMS.shape[axis]
    lowest = -extent if dtype[0] == "i" else 0
    for narrow in (None, 0, 1, 2):  # a dim of size 1, which is repeated beside the axis
        shape = [1 if dim == narrow else n for dim, n in enumerate(PARAMS.shape)]
        shape[axis] = 7
        indices = random.integers(lowest, extent, shape).astype(dtype)
        expected = np.take_along_axis(PARAMS, indices, axis)
        result = libgather.take_along_axis(PARAMS, indices, axis=axis)
        assert type(result) is np.ndarray and result.dtype == expected.dtype and result.shape == expected.shape
        assert (result == expected).all()
        repeated = libgather.take_along_axis(PARAMS[:1, :1, :1], indices * 0, axis)
        assert (repeated == np.take_along_axis(PARAMS[:1, :1, :1], indices * 0, axis)).all()


@pytest.mark.parametrize(
    "mode", [0, 1, 2, np.int64(0), np.uint8(1), np.array(1), None, "raise", "wrap", "clip"], ids=repr
)
def test_modes_are_names_and_numbers_of_numpy(mode: Any) -> None:
    for params in (np.arange(6).reshape(2, 3), np.array([3, None, 5])):
        for indices in ([1, -1, 7], [-8, 0], [0, -1]):
            try:
                expected = params.take(indices, mode=mode).tolist()
            except IndexError:
                with pytest.raises(IndexError):
                    libgather.take(params, indices, mode=mode)
            else:
                assert libgather.take(params, indices, mode=mode).tolist() == expected


@pytest.mark.parametrize("mode", [3, -1, True, False, np.bool_(True), 1.0, "RAISE", "r", 2**70], ids=repr)
def test_mode_that_numpy_refuses(mode: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        PARAMS.take([0], mode=mode)
    with pytest.raises((libgather.DTypeError, libgather.OptionError, libgather.RankError), match="mode"):
        libgather.take(PARAMS, [0], mode=mode)


def test_axis_of_take_is_no_bool() -> None:
    for params in (PARAMS, PARAMS.tolist(), np.array([[None, 1]])):
        for axis in (True, False, np.bool_(True)):
            with pytest.raises(TypeError, match="integer"):
                np.take(params, [0], axis=axis)
            with pytest.raises(libgather.DTypeError, match="integer"):
                libgather.take(params, [0], axis)
    with pytest.raises(libgather.DTypeError, match="integer"):  # NumPy takes it for a number here
        libgather.take_along_axis(PARAMS, np.argsort(PARAMS, 1), True)


def test_default_axis_of_take_along_axis_is_the_last() -> None:
    order = np.argsort(PARAMS[..., ::-1])
    assert (libgather.take_along_axis(PARAMS, order) == np.take_along_axis(PARAMS, order, -1)).all()
    empty = np.zeros((3, 4, 0), int)
    assert libgather.take_along_axis(PARAMS, empty).shape == (3, 4, 0)


@pytest.mark.parametrize("params", [PARAMS, PARAMS.T, np.arange(6)[::2], np.array(3.0), np.array([["a", "b"]])])
def test_no_axis(params: np.ndarray) -> None:
    indices = np.array([params.size - 1, -1, 0])
    assert (libgather.take_along_axis(params, indices, None) == np.take_along_axis(params, indices, None)).all()
    for wrong in (indices[None], 0):
        with pytest.raises(libgather.RankError):
            libgather.take_along_axis(params, wrong, None)


@pytest.mark.parametrize("dtype", ["?", "f2", "c16", ">i4", "M8[D]", "S2", "U3", object, ml_dtypes.bfloat16])
def test_dtypes(dtype: Any) -> None:
    params = np.array([[1, 0], [0, 1]]).astype("U1" if dtype is object else "i8").astype(dtype)
    indices = np.array([[1, 0, -1]])
    expected = np.take_along_axis(params, indices, 1)
    result = libgather.take_along_axis(params, indices, 1)
    assert result.dtype == expected.dtype and result.tolist() == expected.tolist()


def test_kinds() -> None:
    assert libgather.take_along_axis(array.array("i", [7, 8]), [1, 0, -1]) == array.array("i", [8, 7, 8])
    tensor = libgather.Tensor(np.array(MATRIX))
    taken = libgather.take_along_axis(tensor, [[2], [0]])
    assert type(taken) is libgather.Tensor and taken.tolist() == [[20], [60]]
    view = memoryview(bytearray(b"abcd"))
    assert bytes(libgather.take_along_axis(view, [3, 0], None)) == b"da"
    for rank2 in (tensor, view.cast("B", (2, 2))):
        with pytest.raises(libgather.Error, match="rank 2 has no reshape"):
            libgather.take_along_axis(rank2, [0], None)


@pytest.mark.parametrize("name", ["torch", "tensorflow", "jax.numpy"])
def test_other_libraries(name: str) -> None:
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    make = getattr(library, "asarray", None) or library.constant
    params, indices = make(MATRIX), np.array([[2, 0], [-1, 1]])
    for at, axis in ((indices, 1), (indices[0] * 2, None)):
        result = libgather.take_along_axis(params, at, axis)
        assert type(result) is type(params)
        assert np.asarray(result).tolist() == np.take_along_axis(np.array(MATRIX), at, axis).tolist()


def test_errors() -> None:
    with pytest.raises(libgather.IndexError) as caught:
        libgather.take_along_axis(MATRIX, [[0, 1], [2, -4]])
    assert (caught.value.position, caught.value.value, caught.value.limit) == (3, -4, 3)
    assert caught.value.wraps
    with pytest.raises(IndexError):
        np.take_along_axis(np.array(MATRIX), np.array([[0, 1], [2, -4]]), -1)
    for indices, axis, kind in (
        ([[0.0], [0.0]], 1, libgather.DTypeError),
        ([[True], [False]], 1, libgather.DTypeError),
        ([0], 1, libgather.RankError),
        ([[0], [0]], 2, libgather.RankError),
        ([[0], [0], [0]], 1, libgather.ShapeError),
    ):
        with pytest.raises(kind):
            libgather.take_along_axis(MATRIX, indices, axis)
        with pytest.raises((IndexError, ValueError)):  # NumPy rejects it too
            np.take_along_axis(np.array(MATRIX), np.array(indices), axis)


# ---------------------------------------------------------------------------------------------------------------- take


def answer_of(call: Any) -> Any:
    """Returns the result, or the base class of the raised error."""
    try:
        return call()
    except (IndexError, TypeError, ValueError) as error:
        return next(kind for kind in (ValueError, IndexError, TypeError) if isinstance(error, kind))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, 2, 3, -4])
@pytest.mark.parametrize(
    "params",
    [PARAMS, np.arange(6)[::2], np.array(3.0), np.zeros((0, 2, 3)), np.zeros((2, 0, 3)), np.array([["a", "bc"]])],
    ids=lambda params: str(params.shape),
)
def test_take_equals_numpy(params: np.ndarray, axis: int | None, mode: Any) -> None:
    for indices in (1, [0, 1], [[1, -1]], [5, -7], np.zeros((0,), int), np.zeros((2, 0), int), np.int8(0)):
        expected, result = (
            answer_of(partial(take, params, indices, axis, mode=mode)) for take in (np.take, libgather.take)
        )
        assert type(result) is type(expected)
        if isinstance(expected, type):
            assert result is expected
        else:
            assert result.dtype == expected.dtype and result.shape == expected.shape
            np.testing.assert_array_equal(result, expected)


def test_take_into_an_output() -> None:
    out = np.zeros(2)
    assert libgather.take(PARAMS, [59, 0], out=out) is out and out.tolist() == np.take(PARAMS, [59, 0]).tolist()
    for wrong in (np.zeros(3), np.zeros((2, 1))):
        with pytest.raises(ValueError, match="out"):
            libgather.take(PARAMS, [0, 1], out=wrong)
    for mode in ("raise", "clip"):
        ours, numpys = np.arange(6), np.arange(6)
        libgather.take(ours, [4, 3, 2], out=ours[1:4], mode=mode)  # type: ignore[call-overload]
        np.take(numpys.copy(), [4, 3, 2], out=numpys[1:4])
        assert ours.tolist() == numpys.tolist()


def test_take_of_objects_and_strings() -> None:
    params = np.array([None, {}, "a", 2**80], object)
    assert libgather.take(params, [3, 1]).tolist() == [2**80, {}]
    both = np.array([(1, "x"), (2, [])], [("a", int), ("b", object)])
    assert libgather.take(both, [1])["b"].tolist() == [[]]
    text = np.array(["a", "longer than sixteen bytes"], np.dtypes.StringDType())
    out = np.empty(1, np.dtypes.StringDType())
    assert libgather.take(text, [1], out=out) is out and out[0] == text[1]
    with pytest.raises(libgather.IndexError):
        libgather.take(params, [4])
    with pytest.raises(libgather.ShapeError):
        libgather.take(params, [[0]], out=np.empty(3, object))
    with pytest.raises(libgather.DTypeError):
        libgather.take(params, [1j])


def test_take_of_other_kinds() -> None:
    assert libgather.take([[10, 20], [30, 40]], [3, 0]).tolist() == [40, 10]
    assert libgather.take(b"abc", [-1, 0]) == b"ca"
    assert libgather.take(array.array("i", [5, 6]), 1) == 6
    with pytest.raises(libgather.OptionError, match="mode 'fill' is none of raise, wrap, clip"):
        libgather.take([1], [0], mode="fill")  # type: ignore[call-overload]
    with pytest.raises(libgather.DTypeError, match="nonzero"):
        libgather.take([1, 2], [True, False])
