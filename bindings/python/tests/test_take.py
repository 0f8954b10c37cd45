"""take_along_axis: NumPy's answers, for arrays of any kind."""

from __future__ import annotations

import array
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather

PARAMS = np.arange(60.0).reshape(3, 4, 5)[:, ::-1]
MATRIX = [[10, 30, 20], [60, 40, 50]]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u4", "i8", "u8"])
def test_it_is_numpys(axis: int, dtype: str) -> None:
    random = np.random.default_rng(7)
    extent = PARAMS.shape[axis]
    lowest = -extent if dtype[0] == "i" else 0
    for narrow in (None, 0, 1, 2):  # a dim of extent 1, which is repeated if it is not the axis
        shape = [1 if dim == narrow else n for dim, n in enumerate(PARAMS.shape)]
        shape[axis] = 7
        indices = random.integers(lowest, extent, shape).astype(dtype)
        expected = np.take_along_axis(PARAMS, indices, axis)
        result = libgather.take_along_axis(PARAMS, indices, axis=axis)
        assert type(result) is np.ndarray and result.dtype == expected.dtype and result.shape == expected.shape
        assert (result == expected).all()
        repeated = libgather.take_along_axis(PARAMS[:1, :1, :1], indices * 0, axis)
        assert (repeated == np.take_along_axis(PARAMS[:1, :1, :1], indices * 0, axis)).all()


def test_the_last_axis_is_the_default() -> None:
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
        with pytest.raises((IndexError, ValueError)):  # NumPy refuses it, too
            np.take_along_axis(np.array(MATRIX), np.array(indices), axis)
    with pytest.raises(libgather.DTypeError, match="gather_elements"):
        libgather.take_along_axis(np.zeros(3, "V5"), [0])
