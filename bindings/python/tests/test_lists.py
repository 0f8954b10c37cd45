"""Nested lists with NumPy. lists_without_numpy.py runs the same calls without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lists_of_values import *  # noqa: F403 - its tests run here too

import libgather

ODD = 2**53 + 1


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("f8", ODD),
        (">f8", ODD),
        ("c16", ODD),
        ("f4", 2**24 + 1),
        ("f4", -(2**31) + 1),
        ("c8", 2**24 + 1),
        ("f2", 2049),
        ("bfloat16", 257),
        ("float8_e4m3fn", 17),
    ],
)
def test_integer_is_not_rounded(dtype: str, value: int) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    table = np.zeros(1, getattr(ml_dtypes, dtype, dtype))
    for given in (value, np.int64(value)):
        with pytest.raises(libgather.DTypeError, match=f"updates: .*{value}.* is no "):
            libgather.scatter(table, [0], [given])
        with pytest.raises(libgather.DTypeError, match=f"options: fill_value .*{value}.* is no "):
            libgather.gather(table, [9], fill_value=given)
        assert libgather.scatter(table, [0], [given - 1])[0] == value - 1
        assert libgather.gather(table, [9], fill_value=given - 1)[0] == value - 1
    assert libgather.scatter(table, [0], [0.3])[0] == np.asarray(0.3, table.dtype)


def test_put_along_axis_rounds_as_numpy() -> None:
    table, expected = np.zeros(1), np.zeros(1)
    libgather.put_along_axis(table, [0], ODD, 0)
    np.put_along_axis(expected, np.array([0]), ODD, 0)
    assert table == expected


def test_integers_of_numpy_in_a_list() -> None:
    values: list[Any] = [np.uint64(2**63 + 1), np.arange(2, dtype="u8") + np.uint64(2**63)]
    assert libgather.gather([values[0], 1], [0, 1]).tolist() == [2**63 + 1, 1]
    assert libgather.gather([values[1], [1, 2]], [0]).tolist() == [[2**63, 2**63 + 1]]
    assert libgather.scatter(np.zeros(2, "u8"), [0, 1], [values[0], 1]).tolist() == [2**63 + 1, 1]


def test_string_that_an_array_cannot_hold_is_no_update() -> None:
    table = np.array([b"ab", b"c"])
    with pytest.raises(libgather.DTypeError, match=r"updates: dtype is object, needed is \|S2"):
        libgather.scatter(table, [0], [b"x\0"])
    with pytest.raises(libgather.DTypeError, match="updates: a list of strings and int is not an array"):
        libgather.scatter(table, [0, 1], [b"x", 1])
