"""put_along_axis: compares it with NumPy's function, and tests other kinds of arrays."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_properties import same, strided

import libgather


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_as_numpy(data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    size = int(np.prod(shape)) if axis is None else shape[axis]
    count = data.draw(st.integers(0, size))
    # There are no duplicates, because NumPy does not define their order.
    order = data.draw(st.permutations(range(-size // 2, size - size // 2)))[:count]
    if axis is None:
        indices = np.array(order, "i8")
    else:
        along = np.array(order, "i8").reshape([count if dim == axis % len(shape) else 1 for dim in range(len(shape))])
        indices = np.broadcast_to(along, [count if dim == axis % len(shape) else n for dim, n in enumerate(shape)])
        indices = along if data.draw(st.booleans()) else indices
    target = data.draw(hnp.arrays("float32", shape, elements=st.integers(0, 9)))
    wanted = target.copy()
    full = np.take_along_axis(target, indices, axis).shape
    values = data.draw(st.sampled_from([np.array(7), np.arange(np.prod(full, dtype=int)).reshape(full), [1.5], 3]))
    if np.shape(values) == (1,) and full[-1:] == (0,):
        values = 2
    found = strided(data.draw, target)
    np.put_along_axis(wanted, indices, values, axis)
    assert libgather.put_along_axis(found, indices, values, axis) is None
    assert same(found, wanted)


@pytest.mark.parametrize("dtype", ["i1", "f2", "M8[s]", ">i4", "U3", "S2", "i4,f4", object])
def test_dtypes(dtype: Any) -> None:
    arr = np.zeros((2, 3), dtype)
    values = np.array([["abc"], ["de"]]) if dtype in ("U3", "S2") else np.array([[1], [2]]).astype(arr.dtype)
    wanted = arr.copy()
    np.put_along_axis(wanted, np.array([[2], [0]]), values, 1)
    libgather.put_along_axis(arr, np.array([[2], [0]]), values, 1)
    assert (arr == wanted).all() and arr.dtype == wanted.dtype


def test_values_are_converted_as_numpy_assigns() -> None:
    arr = np.zeros(4, "i4")
    libgather.put_along_axis(arr, np.array([1, 2]), np.array([1.9, -1.9]), 0)
    assert arr.tolist() == [0, 1, -1, 0]
    libgather.put_along_axis(arr, [0], [True], None)
    assert arr.tolist() == [1, 1, -1, 0]


def test_overlaps() -> None:
    arr = np.arange(6)
    wanted = arr.copy()
    np.put_along_axis(wanted, np.arange(6), wanted[::-1].copy(), 0)
    libgather.put_along_axis(arr, arr.copy(), arr[::-1], 0)
    assert (arr == wanted).all()
    places = np.array([2, 0, 1])
    libgather.put_along_axis(places, places, np.array([7, 8, 9]), 0)
    assert places.tolist() == [8, 9, 7]


def test_other_kinds() -> None:
    row = array.array("i", [1, 2, 3])
    libgather.put_along_axis(row, [0, -1], 9, 0)
    libgather.put_along_axis(row, [1], [8], None)
    assert row.tolist() == [9, 8, 9]
    tensor = libgather.Tensor.zeros((2, 3), "int32")
    libgather.put_along_axis(tensor, [[2], [-3]], np.array([[5]], "i4"), 1)
    assert tensor.tolist() == [[0, 0, 5], [5, 0, 0]]
    libgather.put_along_axis(tensor, [1, 3], [6, 7], None)
    assert tensor.tolist() == [[0, 6, 5], [7, 0, 0]]
    libgather.put_along_axis(tensor, [[2]], [[8], [9]], 1)
    assert tensor.tolist() == [[0, 6, 8], [7, 0, 9]]
    libgather.put_along_axis(tensor, [[1]], 3, -2)
    assert tensor.tolist() == [[0, 6, 8], [3, 3, 3]]
    libgather.put_along_axis(tensor, [[1, 0, 1]], [[4, 5, 7]], 0)
    assert tensor.tolist() == [[0, 5, 8], [4, 3, 7]]


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("kind", [bytes, lambda data: memoryview(data), lambda data: memoryview(data).cast("B", (3,))])
def test_read_only_memory_is_refused(kind: Any, axis: int | None) -> None:
    data = bytes([1, 2, 3])
    with pytest.raises(libgather.OutputError, match="target: ") as caught:
        libgather.put_along_axis(kind(data), [0, 2], [8, 9], axis)
    assert (caught.value.operand, caught.value.status_name) == ("target", "GTH_E_READONLY")
    assert list(data) == [1, 2, 3]


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.zeros(2, 3)
    version = tensor._version
    libgather.put_along_axis(tensor, torch.tensor([[2], [0]]), 1.5, 1)
    assert tensor.tolist() == [[0, 0, 1.5], [1.5, 0, 0]] and tensor._version > version
    with pytest.raises(libgather.UnsupportedError, match="target: an axis of None"):
        libgather.put_along_axis(tensor.T, [0], 1.5, None)


def test_errors() -> None:
    arr = np.arange(6).reshape(2, 3)
    before, row, square = arr.copy(), array.array("i", [1, 2]), memoryview(bytearray(9)).cast("B", (3, 3))
    fixed = arr.copy()
    fixed.setflags(write=False)
    for arguments, kind, message in (
        ((arr, [[0], [3]], 1, 1), IndexError, r"is 3, valid are \[-3, 3\): indices\[1, 0\], axis 1"),
        ((arr, [0, -7], 1, None), IndexError, r"valid are \[-6, 6\)"),
        ((arr, [0], 1, 1), ValueError, "indices: rank is 1, needed is that of target, 2"),
        ((arr, [[0]], 1, None), ValueError, "indices: rank is 2"),
        ((arr, [[0]], 1, 2), ValueError, "options: axis is 2"),
        ((arr, [[0.5]], 1, 1), TypeError, "indices: "),
        ((arr, [[0], [1]], [1, 2, 3], 1), ValueError, "updates: "),
        ((arr, [[0], [1]], ["x"], 1), TypeError, "updates: "),
        ((arr, [[0], [1]], None, 1), TypeError, "updates: "),
        ((fixed, [[0], [1]], 1, 1), ValueError, "target: "),
        (([1, 2], [0], 1, 0), ValueError, "target: list cannot be written in place"),
        ((b"ab", [0], 1, 0), ValueError, "target: "),
        ((np.ma.masked_array([1, 2]), [0], 1, 0), ValueError, "target: a masked array"),
        ((row, [0, 1], [1, 2, 3], 0), ValueError, r"updates: shape \(3,\) does not broadcast to \(2,\)"),
        ((row, [0], [[1]], 0), ValueError, "updates: shape"),
        ((row, [0], 1.5, 0), TypeError, r"updates: 1\.5 is no int32"),
        ((square, [[0], [1]], [[1, 2], [3, 4]], 2), ValueError, "options: axis is 2"),
        ((row, [0], 1, "0"), TypeError, "options: axis "),
        ((memoryview(bytearray(6))[::2], [0], 1, None), libgather.UnsupportedError, "target: an axis of None is for"),
    ):
        with pytest.raises(kind, match=message) as caught:
            libgather.put_along_axis(*arguments)
        assert isinstance(caught.value, libgather.Error) and (arr == before).all() and (fixed == before).all()
