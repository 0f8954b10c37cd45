"""The C code and the Python code read switches with the same result."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest

import libgather
from libgather._arrays.element_bytes import element_image
from libgather._base.dtypes import NUMBERS

INDICES = np.array([1, 9])
NUMERIC = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
VALUES = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**31, -(2**31), 2**32 - 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1]
VALUES += [2**64, 2**1030]  # type: ignore[list-item]
FLOATS = [0.0, -0.0, 1.5, 1e38, 3.5e38, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("value", [*VALUES, *FLOATS, True, None, "x", 1j, np.float32(1.5), np.int8(3)], ids=repr)
def test_fill_values(dtype: str, value: Any) -> None:
    """Compares the result with the Python code's conversion of the value, or with its error."""
    params = np.array([1, 2, 3], dtype)
    if value is None:
        assert libgather.gather(params, INDICES, bounds="fill", fill_value=value).tolist() == [2, 0]
        return
    try:
        expected = element_image(value, NUMBERS[dtype])
    except libgather.DTypeError:
        with pytest.raises(libgather.DTypeError, match="fill_value"):
            libgather.gather(params, INDICES, fill_value=value)
        return
    assert libgather.gather(params, INDICES, fill_value=value)[1].tobytes() == expected
    assert libgather.gather(params, INDICES, bounds="fill", fill_value=value)[1].tobytes() == expected


def test_options_accept_objects_with_index_method() -> None:
    params = np.arange(6.0).reshape(2, 3)
    for axis in (1, -1, np.int8(1), np.uint64(1), np.array(1)):
        assert libgather.gather(params, [0], axis).tolist() == [[0], [3]]
    for axis in ("1", 1.0, 2**70, [1]):
        with pytest.raises((libgather.DTypeError, libgather.RankError)):
            libgather.gather(params, [0], axis)  # type: ignore[call-overload]
    for threads in (2**40, -(2**40), "2", 1.5):
        with pytest.raises((libgather.DTypeError, libgather.OptionError)):
            libgather.gather(params, [0], threads=threads)  # type: ignore[call-overload]
    assert libgather.gather(params, [0], threads=2, opset=None).shape == (1, 3)


def test_names() -> None:
    params = np.arange(3.0)
    assert libgather.gather(params, INDICES, bounds="clamp").tolist() == [1, 2]
    assert libgather.gather(params, [-1], negative="wrap", profile="torch").tolist() == [2]
    for name in ("negative", "bounds", "profile"):
        for wrong, kind in (("", libgather.OptionError), (1, libgather.DTypeError), (b"wrap", libgather.DTypeError)):
            with pytest.raises(kind, match=name):
                libgather.gather(params, INDICES, **{name: wrong})  # type: ignore[call-overload]
    with pytest.raises(libgather.OptionError, match="extents"):
        libgather.gather_elements(params, INDICES, extents="x")  # type: ignore[call-overload]


def test_machine_is_little_endian() -> None:
    assert struct.pack("=q", 1)[0] == 1
