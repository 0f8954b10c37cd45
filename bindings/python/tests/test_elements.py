"""gather_elements: compares it with numpy.take_along_axis, and tests its own rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import libgather

PARAMS = np.arange(60.0).reshape(3, 4, 5)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_every_axis(axis: int) -> None:
    shape = list(PARAMS.shape)
    shape[axis] = 2
    indices = np.random.default_rng(5).integers(0, PARAMS.shape[axis], shape)
    expected = np.take_along_axis(PARAMS, indices, axis)
    assert (libgather.gather_elements(PARAMS, indices, axis) == expected).all()
    assert (
        libgather.gather_elements(PARAMS[::-1], indices, axis, profile="numpy_raise")
        == np.take_along_axis(PARAMS[::-1], indices, axis)
    ).all()
    out = np.zeros_like(expected)
    assert libgather.gather_elements(PARAMS, indices, axis, out=out) is out and (out == expected).all()


def test_extents() -> None:
    indices = np.array([[[1, 0, 3, 2, 1]]])
    with pytest.raises(libgather.ShapeError):
        libgather.gather_elements(PARAMS, indices, 1)
    prefix = libgather.gather_elements(PARAMS, indices, 1, extents="prefix")
    assert (prefix == np.take_along_axis(PARAMS[:1], indices, 1)).all()
    broadcast = libgather.gather_elements(PARAMS, indices, 1, extents="broadcast")
    assert (broadcast == np.take_along_axis(PARAMS, indices, 1)).all()
    with pytest.raises(libgather.OptionError, match="extents 'same' is none of equal, prefix, broadcast"):
        libgather.gather_elements(PARAMS, indices, extents="same")  # type: ignore[arg-type]


def test_kinds_and_errors() -> None:
    words = np.array([["a", "b"], ["c", "d"]])
    assert libgather.gather_elements(words, [[1, 0], [0, 0]]).tolist() == [["b", "a"], ["c", "c"]]
    assert libgather.gather_elements(pa.array([1, 2, 3]), [2, 0]).to_pylist() == [3, 1]
    assert libgather.gather_elements([1, 2], [5, 1], fill_value=-1).tolist() == [-1, 2]
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather_elements(PARAMS[0], [[0, 0], [0, 9], [0, 0], [7, 0]], 1)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (3, 9, 5)
    with pytest.raises(libgather.RankError):
        libgather.gather_elements(PARAMS, [0])
