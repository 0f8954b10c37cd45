"""Properties that are compared with NumPy: all shapes, strides, axes and batch dims, in and out of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import libgather

DTYPES = ["bool", "int8", "uint16", "int32", "float16", "float32", "uint64", "complex64", "complex128"]
steps = st.sampled_from([1, -1, 2, -2])


def strided(draw: Any, array: np.ndarray) -> np.ndarray:
    """Returns a copy of an array with random strides.

    Each dim has any direction and may have gaps, and the axes have any order.
    """
    cut = [draw(steps) for _ in array.shape]
    order = draw(st.permutations(range(array.ndim)))
    memory = np.zeros([array.shape[d] * abs(cut[d]) for d in order], array.dtype)
    view = memory.transpose(np.argsort(order) if order else None)[(*(slice(None, None, step) for step in cut), ...)]
    view[...] = array
    return view


@st.composite
def gathers(draw: Any) -> tuple[np.ndarray, np.ndarray, int, int]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    batch = draw(st.integers(0, len(shape) - 1))
    axis = draw(st.integers(batch, len(shape) - 1))
    params = draw(hnp.arrays(draw(st.sampled_from(DTYPES)), shape))
    tail = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4))
    dtype = draw(st.sampled_from(["int8", "uint8", "int32", "int64", "uint64"]))
    indices = draw(hnp.arrays(dtype, shape[:batch] + tail, elements=st.integers(0, shape[axis] - 1)))
    return strided(draw, params), strided(draw, indices), axis, batch


def numpy_gather(params: np.ndarray, indices: np.ndarray, axis: int, batch: int) -> np.ndarray:
    if not batch:
        return np.take(params, indices.astype("i8"), axis)
    rows = [numpy_gather(p, i, axis - 1, batch - 1) for p, i in zip(params, indices, strict=True)]
    return np.stack(rows)


def same(a: Any, b: Any) -> bool:
    return np.shape(a) == np.shape(b) and np.asarray(a).tobytes() == np.asarray(b).tobytes()


@settings(deadline=None, max_examples=150)
@given(gathers())
def test_gather(case: tuple[np.ndarray, np.ndarray, int, int]) -> None:
    params, indices, axis, batch = case
    expected = numpy_gather(params, indices, axis, batch)
    assert same(libgather.gather(params, indices, axis, batch), expected)
    assert same(libgather.gather(params, indices, axis - params.ndim, batch), expected)
    assert libgather.output_shape(params, indices, axis, batch) == expected.shape
    out = np.full_like(expected, 1)
    assert same(libgather.gather(params, indices, axis, batch, out=out), expected)
    assert same(libgather.Plan(params, indices, axis, batch)(params, indices), expected)
    assert same(np.asarray(libgather.gather(libgather.Tensor(params), indices, axis, batch)), expected)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_gather_nd(data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    k = data.draw(st.integers(1, len(shape)))
    params = strided(data.draw, data.draw(hnp.arrays(data.draw(st.sampled_from(DTYPES)), shape)))
    count = data.draw(st.integers(0, 4))
    columns = [data.draw(hnp.arrays("int64", (count,), elements=st.integers(-n, n - 1))) for n in shape[:k]]
    indices = strided(data.draw, np.stack(columns, -1).reshape(count, k))
    expected = params[tuple(columns)]
    assert same(libgather.gather_nd(params, indices, negative="wrap"), expected)
    assert same(libgather.gather_nd(params, indices, profile="numpy_raise"), expected)


@settings(deadline=None, max_examples=150)
@given(hnp.arrays("int32", (3, 2)), hnp.arrays("int64", hnp.array_shapes(max_dims=2), elements=st.integers(-9, 9)))
def test_out_of_bounds(params: np.ndarray, indices: np.ndarray) -> None:
    assert same(libgather.gather(params, indices, profile="numpy_wrap"), np.take(params, indices, 0, mode="wrap"))
    assert same(libgather.gather(params, indices, profile="numpy_clip"), np.take(params, indices, 0, mode="clip"))
    bad = ~((indices >= -3) & (indices < 3)).reshape(-1)
    filled = np.where(bad.reshape(*indices.shape, 1), np.int32(5), params[np.where(np.abs(indices) > 2, 0, indices)])
    for i in np.ndindex(indices.shape):
        if indices[i] == -3:
            filled[i] = params[0]
    assert same(libgather.gather(params, indices, negative="wrap", bounds="fill", fill_value=5), filled)
    if bad.any():
        with pytest.raises(libgather.IndexError) as caught:
            libgather.gather(params, indices, profile="numpy_raise")
        first = int(np.argmax(bad))
        assert (caught.value.position, caught.value.value) == (first, indices.reshape(-1)[first])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(), min_size=1, max_size=5), st.lists(st.integers(0, 99), max_size=5))
def test_strings(words: list[str], numbers: list[int]) -> None:
    indices = np.array([n % len(words) for n in numbers], "i8")
    params = np.array(words, object)
    assert libgather.gather(params, indices).tolist() == params[indices].tolist()
