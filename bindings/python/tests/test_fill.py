"""Fill values of each dtype: the result has NumPy's conversion of the value, or the value is rejected."""

from __future__ import annotations

import datetime
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather

FILLS: list[tuple[Any, Any]] = [
    ("longdouble", np.longdouble(1) / 3),
    ("longdouble", 1.5),
    ("longdouble", -2),
    ("M8[D]", np.datetime64("2020-02-03")),
    ("M8[D]", np.datetime64("2020-02-03T00:00", "m")),
    ("M8[ns]", np.datetime64("2020-02-03")),
    ("M8[s]", "2020-02-03T04:05:06"),
    ("M8[D]", datetime.date(2020, 2, 3)),
    ("M8[us]", datetime.datetime(2020, 2, 3, 4, 5)),
    ("M8[D]", "NaT"),
    ("M8[D]", np.datetime64("NaT")),
    ("M8[D]", 7),
    (">M8[D]", np.datetime64("2020-02-03")),
    ("m8[s]", np.timedelta64(90, "m")),
    ("m8[ns]", datetime.timedelta(seconds=2)),
    ("m8[h]", np.timedelta64("NaT")),
    ("m8[h]", -3),
    (ml_dtypes.int4, -8),
    (ml_dtypes.int4, 7),
    (ml_dtypes.uint4, 15),
    (ml_dtypes.int2, -1),
    (ml_dtypes.float4_e2m1fn, 1.5),
    (ml_dtypes.float6_e2m3fn, -0.5),
    (ml_dtypes.float6_e3m2fn, 2),
    ([("a", "i4"), ("b", "f4")], (1, 2.5)),
    ("V8", np.void(b"12345678")),
    (">f4", 1.5),
    (">i8", -7),
    ("f2", 0.5),
    ("c8", 1 + 2j),
    *(("?", value) for value in (True, False, 0, 1, 1.0, np.bool_(True), np.array(True))),
    ("u8", 2**64 - 1),
    (ml_dtypes.bfloat16, 1.5),
]


@pytest.mark.parametrize(("dtype", "value"), FILLS, ids=repr)
def test_values(dtype: Any, value: Any) -> None:
    params = np.zeros((3, 2), dtype)
    expected = np.zeros((2, 2), dtype)
    expected[0] = value
    indices = np.array([9, 0])
    plan = libgather.Plan(params, libgather.Spec("int64", (-1,)), fill_value=value)
    results = [
        libgather.gather(params, [9, 0], bounds="fill", fill_value=value),
        libgather.gather(params, indices, fill_value=value),
        libgather.gather(params, [9, 0], fill_value=value, profile="numpy_raise"),
        libgather.gather_nd(params, [[9], [0]], fill_value=value),
        plan(params, indices),
    ]
    if params.dtype.isnative:
        results.append(libgather.gather(params, indices, fill_value=value, out=np.ones((2, 2), params.dtype)))
    for result in results:
        assert result.dtype == params.dtype
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("M8[D]", np.datetime64("2020-02-03T04", "h")),
        ("M8[D]", "2020-02-03T04"),
        ("M8[D]", np.timedelta64(90, "m")),
        ("M8[D]", 1.5),
        ("M8[D]", "x"),
        ("m8[h]", np.timedelta64(90, "m")),
        ("m8[h]", np.timedelta64(1, "Y")),
        ("m8[h]", np.datetime64("2020-02-03")),
        (ml_dtypes.int4, 8),
        (ml_dtypes.uint4, -1),
        (ml_dtypes.int4, 1.5),
        (ml_dtypes.float4_e2m1fn, float("nan")),
        ("longdouble", 1j),
        ("longdouble", "x"),
        ("longdouble", [1.0]),
        ("V8", 5),
        ("i4", 1.5),
        ("i4", 2**31),
        ("u1", -1),
    ],
    ids=repr,
)
def test_values_that_the_dtype_cannot_represent_are_refused(dtype: Any, value: Any) -> None:
    for operand in (np.zeros(3, dtype), np.zeros((3, 2), dtype)):
        with pytest.raises(libgather.DTypeError, match="fill_value"):
            libgather.gather(operand, [0, 9], bounds="fill", fill_value=value)
        if isinstance(value, (int, float)):  # an unused number need not fit
            rows = libgather.gather(operand, [1, -3], fill_value=value, negative="wrap")
            assert rows.tobytes() == operand[:2].tobytes()
        else:
            with pytest.raises(libgather.DTypeError, match="fill_value"):
                libgather.gather(operand, [0], bounds="fill", fill_value=value)
        with pytest.raises(libgather.DTypeError, match="fill_value"):
            libgather.Plan(operand, np.array([0]), fill_value=value)


#: Values that Python's conversions would accept, or reject with their own message, and the values that a dtype accepts.
NEEDED = {
    "?": (["unknown", 2, 1.5, {}, [1], object(), b""], "True or False"),
    "i2": (["unknown", 1.5, [1], 1j, 2**15, np.arange(2)], r"an integer in \[-32768, 32768\)"),
    "u4": (["7", -1, None.__class__], r"an integer in \[0, 4294967296\)"),
    "f4": (["1.5", [1.0], 1j, 1e300, np.zeros(2)], "a real number within its range"),
    "c8": (["1j", [1.0], {}, 1e300], "a number within its range"),
    ml_dtypes.bfloat16: (["1.5", [1], [1, 2], 1j, 1e300], "a real number within its range"),
    ml_dtypes.float8_e4m3fn: (["1", [1, 2, 3], 1e3], "a real number within its range"),
    object: ([1, True, [""], {}, np.array(["", ""])], "cannot fill strings, only text can"),
}


@pytest.mark.parametrize("dtype", NEEDED, ids=str)
def test_error_of_an_invalid_fill_value_names_valid_values(dtype: Any) -> None:
    params, indices = np.full(2, "a", object) if dtype is object else np.zeros(2, dtype), np.array([7])
    values, needed = NEEDED[dtype]
    for value in values:
        kind = libgather.ShapeError if isinstance(value, bytes) else libgather.DTypeError
        words = "fill_value is 0 bytes, an element is 1" if isinstance(value, bytes) else f"fill_value .* {needed}$"
        with pytest.raises(kind, match=f"(?s)^options: {words}"):
            libgather.gather(params, indices, fill_value=value)
    assert libgather.gather(params, indices, fill_value="zero").tolist() == ["" if dtype is object else 0]


TEXTS: dict[str, tuple[Any, Any]] = {
    "str": ("U3", "añ"),
    "other byte order": (">U3", "xyz"),
    "bytes": ("S3", b"x\0z"),
    "objects": (object, "longer than the others"),
    "objects of bytes": ("bytes", b"xy"),
    "StringDType": (np.dtypes.StringDType(), "longer than the others"),
}
#: The function, its arguments, and the expected texts, of which None is the fill.
TEXT_CALLS: list[tuple[str, list[Any], dict[str, Any], list[Any]]] = [
    ("gather", [[2, 9, 0]], {}, [["e", "f"], [None, None], ["a", "b"]]),
    ("gather", [[1, 9, -1], 1], {"negative": "wrap"}, [["b", None, "b"], ["d", None, "d"], ["f", None, "f"]]),
    ("gather", [[[1], [7], [0]]], {"batch_dims": 1}, [["b"], [None], ["e"]]),
    ("gather", [[1, 1]], {"padding_index": 1}, [[None, None]] * 2),
    ("gather", [[]], {}, []),
    ("gather", [[2]], {"profile": "numpy_wrap"}, [["e", "f"]]),
    ("gather_nd", [[[2, 1], [0, 2], [3, 0]]], {}, ["f", None, None]),
    ("gather_elements", [[[0, 5], [2, 1]], 0], {}, [["a", None], ["e", "d"]]),
]


@pytest.mark.parametrize(("call", "arguments", "keywords", "expected"), TEXT_CALLS, ids=str)
@pytest.mark.parametrize("name", TEXTS)
def test_text_fills_text(name: str, call: str, arguments: list[Any], keywords: dict[str, Any], expected: Any) -> None:
    dtype, fill = TEXTS[name]
    words = np.array([["a", "b"], ["c", "d"], ["e", "f"]])
    table = words.astype("S1").astype(object) if dtype == "bytes" else words.astype(dtype)
    result = getattr(libgather, call)(table, *arguments, fill_value=fill, **keywords)

    def converted(value: Any) -> Any:
        if isinstance(value, list):
            return [converted(each) for each in value]
        return fill if value is None else value.encode() if isinstance(fill, bytes) else value

    assert result.dtype == table.dtype and result.tolist() == converted(expected)


@pytest.mark.parametrize("count", [63, 200, 5000])
@pytest.mark.parametrize("name", TEXTS)
def test_text_fills_many_rows(name: str, count: int) -> None:
    dtype, fill = TEXTS[name]
    numbers = np.arange(90).astype("S2")
    table = numbers.astype(object) if dtype == "bytes" else numbers.astype("U2").astype(dtype)
    ids = np.random.default_rng(count).integers(-20, 110, count)
    expected = [table[i] if 0 <= i < 90 else fill for i in ids]
    assert libgather.gather(table, ids, fill_value=fill).tolist() == expected


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        *(("U2", fill) for fill in ("abc", b"a", "a\0")),
        *(("S2", fill) for fill in (b"abc", "a", b"a\0")),
        *((np.dtypes.StringDType(), fill) for fill in (b"a",)),
        (object, b"a"),
    ],
    ids=repr,
)
def test_text_that_is_no_element_is_refused(dtype: Any, fill: Any) -> None:
    """NumPy would cut it, or would decode bytes."""
    with pytest.raises(libgather.DTypeError, match=r"^options: fill_value .* is no element of dtype"):
        libgather.gather(np.array(["a", "b"]).astype(dtype), [0, 9], fill_value=fill)


def test_text_fills_outputs_scalars_and_lists() -> None:
    table, out = np.array(["ab", "c"]), np.array(["xy", "zw"])
    assert libgather.gather(table, [9, 1], fill_value="?", out=out) is out and out.tolist() == ["?", "c"]
    assert [libgather.gather(table.astype(kind), 9, fill_value="?") for kind in ("U2", object, "T")] == ["?"] * 3
    assert libgather.gather(["ab", "c"], [9, 0], fill_value="?").tolist() == ["?", "ab"]
    with pytest.raises(libgather.OptionError, match="fill_value is for bounds 'fill'"):
        libgather.gather(table, [9, 1], fill_value="?", bounds="clamp")
    with pytest.raises(IndexError):
        libgather.gather(table, [9, 1], fill_value="?", padding_index=1)


@pytest.mark.parametrize("dtype", ["?", "u1", "f4", "c16", ml_dtypes.bfloat16, "g", "M8[s]"], ids=str)
def test_fill_bytes_must_have_the_size_of_one_element(dtype: Any) -> None:
    params = np.zeros(2, dtype)
    image = np.ones(1, dtype).tobytes()
    assert libgather.gather(params, [7], fill_value=image).tobytes() == image
    for wrong in (b"", image[:-1], image + b"\0"):
        with pytest.raises(libgather.ShapeError, match=f"fill_value is {len(wrong)} bytes, an element is {len(image)}"):
            libgather.gather(params, [7], fill_value=wrong)


@pytest.mark.parametrize("profile", [None, "numpy_wrap"])
def test_by_dtype(profile: Any) -> None:
    for dtype in ("M8[D]", "m8[s]", ">M8[us]"):
        assert np.isnat(libgather.gather(np.zeros(2, dtype), [5], fill_value="by_dtype", profile=profile)).all()
    assert np.isnan(libgather.gather(np.zeros(2, "g"), [5], fill_value="by_dtype", profile=profile)).all()
    assert libgather.gather(np.zeros(2, ml_dtypes.int4), [5], fill_value="by_dtype", profile=profile).tolist() == [-8]
    assert libgather.gather(np.zeros(2, ml_dtypes.uint4), [5], fill_value="by_dtype", profile=profile).tolist() == [15]
    for dtype in (ml_dtypes.float4_e2m1fn, "V8"):
        with pytest.raises(libgather.DTypeError, match="fill_value"):
            libgather.gather(np.zeros(2, dtype), [5], fill_value="by_dtype", profile=profile)


def test_jaxs_fill_is_by_dtype() -> None:
    assert libgather.gather(np.zeros(2, ml_dtypes.int4), [5], profile="jax_fill").tolist() == [-8]
    with pytest.raises(libgather.DTypeError, match="profile jax_fill"):
        libgather.gather(np.zeros(2, "M8[D]"), [5], profile="jax_fill")
    assert libgather.gather(np.zeros(2, ml_dtypes.int4), [5], profile="jax_clip").tolist() == [0]


def test_fill_value_implies_bounds_fill() -> None:
    params, indices = np.arange(3.0), np.array([1, 7])
    assert libgather.gather(params, indices, fill_value=-1).tolist() == [1, -1]
    assert libgather.gather(params, indices, fill_value="zero").tolist() == [1, 0]
    assert libgather.gather(params, indices, fill_value=-1, profile="torch").tolist() == [1, -1]
    for bounds in ("error", "clamp", "modulo", "skip"):
        with pytest.raises(libgather.OptionError, match=f"fill_value is for bounds 'fill', which is '{bounds}'"):
            libgather.gather(params, indices, bounds=bounds, fill_value=-1)
        with pytest.raises(libgather.OptionError, match="fill_value"):
            libgather.Plan(params, indices, bounds=bounds, fill_value="zero")


def test_output_of_another_dtype_is_refused() -> None:
    """Elements of equal size and different dtype are not interchangeable."""
    for params, out in (
        (np.zeros(3, "M8[s]"), np.zeros(1, "M8[D]")),
        (np.zeros(3, "M8[s]"), np.zeros(1, "u8")),
        (np.zeros(3, "u8"), np.zeros(1, "M8[s]")),
        (np.zeros(3, "g"), np.zeros(1, "c16")),
        (np.zeros(3, ml_dtypes.int4), np.zeros(1, ml_dtypes.uint4)),
    ):
        with pytest.raises(libgather.DTypeError, match="out: dtype is"):
            libgather.gather(params, [0], out=out)


def test_skipped_rows_of_a_new_result_are_zeros() -> None:
    """The memory of the result may have been that of another array."""
    params, indices = np.arange(1, 13, dtype=np.float32).reshape(3, 4), np.array([5, 1, -1])
    expected = [[0] * 4, [5, 6, 7, 8], [0] * 4]
    plan = libgather.Plan(params, libgather.Spec(np.int64, (None,)), bounds="skip")
    for _ in range(10):
        np.full((3, 4), -7, np.float32)  # the next array of this size reuses its memory
        assert libgather.gather(params, indices, bounds="skip").tolist() == expected
        np.full((3, 4), -7, np.float32)
        assert plan(params, indices).tolist() == expected
        np.full((3, 4), -7, np.float32)
        assert libgather.gather_nd(params, indices[:, None], bounds="skip").tolist() == expected
    assert libgather.gather(params, np.zeros((0, 2), np.int64), bounds="skip").shape == (0, 2, 4)
