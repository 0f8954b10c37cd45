"""Positions of the maxima and minima of scatters: compares them with loops in NumPy, and tests kinds of arrays."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import libgather


def naive(target: Any, places: list[Any], updates: Any, reduction: str, include_self: bool) -> Any:
    """Returns the positions of a loop over all updates. `places` has the place of each one in the target, or None."""
    positions = np.full(target.shape, -1)
    best = {place: target[place] for place in np.ndindex(target.shape)} if include_self else {}
    for position, (place, update) in enumerate(zip(places, updates.reshape(-1), strict=True)):
        if place is None:
            continue
        held = best.get(place)
        wins = held is None or (not np.isnan(held) and (update > held if reduction == "max" else update < held))
        if wins or (held is not None and np.isnan(update) and not np.isnan(held)):
            best[place], positions[place] = update, position
    return positions


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Returns numbers with equal ones, and with NaN if the dtype has it."""
    values = np.random.default_rng(seed).integers(0, 7, shape).astype(dtype)
    if values.dtype.kind == "f":
        values.reshape(-1)[::9] = np.nan
    return values


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduction", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64", "bool"])
def test_values(dtype: str, reduction: Any, include_self: bool) -> None:
    target, ids = numbers((3, 5, 4), dtype, 1), np.array([4, 0, 2, 0, 4, 4, 9])
    rows = numbers((3, 7, 4), dtype, 2)
    if dtype == "bool":
        ids = ids[:6]
        rows = rows[:, :6]
    options: Any = {"reduction": reduction, "include_self": include_self, "bounds": "skip"}
    at = [None if ids[k] == 9 else (i, ids[k], j) for i, k, j in np.ndindex(rows.shape)]
    before = target.copy()
    found = libgather.scatter_positions(target, ids, rows, 1, **options)
    assert found.dtype == np.int64
    assert (found == naive(target, at, rows, reduction, include_self)).all()
    assert target.tobytes() == before.tobytes()

    tuples = np.array([[2, 4], [0, 1], [2, 4], [1, 0], [0, 1]])
    rows = numbers((5, 4), dtype, 3)
    at = [(*tuples[k], j) for k, j in np.ndindex(rows.shape)]
    found = libgather.scatter_positions(target, tuples, rows, op="scatter_nd", **options)
    assert (found == naive(target, at, rows, reduction, include_self)).all()

    elements = np.random.default_rng(4).integers(0, 4, (3, 5, 11))
    rows = numbers((3, 5, 11), dtype, 5)
    at = [(i, j, elements[i, j, k]) for i, j, k in np.ndindex(rows.shape)]
    found = libgather.scatter_positions(target, elements, rows, op="scatter_elements", **options)
    assert (found == naive(target, at, rows, reduction, include_self)).all()


def test_axis_of_elements_and_coordinates_of_torch_scatter() -> None:
    # The arguments and the second result of torch_scatter.scatter_max in its README. A group without elements has
    # the number of elements there.
    updates = np.array([[2, 0, 1, 4, 3], [0, 2, 1, 3, 4]])
    ids = np.array([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    found = libgather.scatter_positions(
        np.zeros((2, 6), int), ids, updates, -1, op="scatter_elements", reduction="max", include_self=False
    )
    coordinates = np.where(found < 0, 5, found % 5)
    assert coordinates.tolist() == [[5, 5, 3, 4, 0, 1], [1, 4, 3, 5, 5, 5]]


def test_any_layout_and_kind() -> None:
    target, rows = np.asfortranarray(numbers((9, 6), "float32", 6))[::-2, ::2], numbers((8, 6), "float32", 7)[::2, ::2]
    ids = np.array([3, 0, 3, 1, 0, 9, 9, 9])[:4]
    dense = libgather.scatter_positions(target.copy(), ids, rows.copy(), reduction="max")
    assert (libgather.scatter_positions(target, ids, rows, reduction="max") == dense).all()
    found = libgather.scatter_positions(array.array("d", [1, 5]), [1, 0, 1], [4.0, 2.0, 7.0], reduction="max")
    assert found.tolist() == [1, 2]
    assert libgather.scatter_positions([1, 5], [1, 1], 6, reduction="max").tolist() == [-1, 0]
    skipped = libgather.scatter_positions(np.zeros(2), [1, 7, 1], [3, 9, 4], reduction="max", padding_index=7)
    assert skipped.tolist() == [-1, 2]
    assert libgather.scatter_positions(np.zeros((0, 2)), [], np.zeros((0, 2)), reduction="min").shape == (0, 2)


def test_errors() -> None:
    target, ids, rows = numbers((4, 3), "float32", 8), np.array([0, 3, 3]), numbers((3, 3), "float32", 9)
    find = libgather.scatter_positions
    for reduction in ("none", "add", "mul", "mean"):
        with pytest.raises(libgather.OptionError, match="reduction must be max or min"):
            find(target, ids, rows, reduction=reduction)  # type: ignore[arg-type]
    with pytest.raises(libgather.IndexError) as index:
        find(target, [0, 1, 4], rows, reduction="max")
    assert (index.value.position, index.value.index, index.value.value) == (2, (2,), 4)
    with pytest.raises(libgather.IndexError) as index:
        find(target, [[0, 1], [3, 3]], rows[0, :2], op="scatter_nd", reduction="max")
    assert (index.value.position, index.value.component, index.value.axis) == (1, 1, 1)
    with pytest.raises(libgather.ShapeError, match="updates"):
        find(target, ids, rows[:2], reduction="max")
    with pytest.raises(libgather.DTypeError, match="updates"):
        find(target, ids, rows.astype("float64"), reduction="max")
    with pytest.raises(libgather.DTypeError, match="target"):
        find(target.astype("complex64"), ids, rows.astype("complex64"), reduction="max")
    with pytest.raises(libgather.RankError):
        find(target, ids, rows, 2, reduction="max")
