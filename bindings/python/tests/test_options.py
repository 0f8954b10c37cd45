"""padding_index, means, reductions without the target, sums in float64, and updates that are repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import libgather

IDS = np.array([2, -1, 0, -1])


def taken(table: np.ndarray, ids: np.ndarray, fill: float = 0) -> np.ndarray:
    """Returns the rows of ids. The row of an id of -1 is filled."""
    return np.stack([np.full(table.shape[1:], fill, table.dtype) if i == -1 else table[i] for i in ids])


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "bool"])
def test_padding_is_zero_or_the_fill_value(dtype: str) -> None:
    table = np.arange(1, 13).reshape(4, 3).astype(dtype)
    assert np.array_equal(libgather.gather(table, IDS, padding_index=-1), taken(table, IDS))
    filled = libgather.gather(table, IDS, padding_index=-1, fill_value=1)
    assert np.array_equal(filled, taken(table, IDS, 1))
    assert np.array_equal(libgather.gather_nd(table, IDS[:, None], padding_index=-1), taken(table, IDS))
    columns = libgather.gather_elements(table, np.tile(IDS[:, None], 3), 0, padding_index=-1)
    assert np.array_equal(columns, taken(table, IDS))
    plan = libgather.Plan(table, IDS, padding_index=-1, fill_value=1)
    assert np.array_equal(plan(table, IDS), taken(table, IDS, 1))


def test_other_invalid_indices_stay_errors() -> None:
    table, out = np.ones((4, 2)), np.full((2, 2), 7.0)
    for fill_value in (None, 5.0):
        with pytest.raises(libgather.IndexError, match="-2") as caught:
            libgather.gather(table, [-1, -2], padding_index=-1, fill_value=fill_value, out=out)
        assert caught.value.position == 1
    assert (out == 7).all()


def test_padding_of_extended_dtypes_is_filled() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    table = np.arange(1, 5).astype(ml_dtypes.bfloat16)
    assert libgather.gather(table, IDS, padding_index=-1, fill_value=9).tolist() == [3, 9, 1, 9]
    assert libgather.gather(table, IDS, padding_index=-1).tolist() == [3, 0, 1, 0]
    records = np.array([(1, 2.0), (3, 4.0)], "i4,f8")
    expected = np.array([(3, 4.0), (0, 0.0)], records.dtype)
    assert np.array_equal(libgather.gather(records, [1, -1], padding_index=-1), expected)


def test_columns_of_values_have_padding() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for array in (pyarrow.array([1, 2]), pyarrow.chunked_array([[1], [2]]), pyarrow.array(["", "x"])):
        empty = "" if array[1].as_py() == "x" else 0
        assert libgather.gather(array, [1, -1], padding_index=-1).to_pylist() == [array[1].as_py(), empty]
    table = pyarrow.table({"x": [1, 2]})
    assert libgather.gather(table, [1, -1], padding_index=-1).to_pylist() == [{"x": 2}, {"x": 0}]


def test_columns_of_any_type_have_padding() -> None:
    pyarrow, pandas, polars = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    for column in (pyarrow.array([1, None]), pandas.Series([1, None], dtype="Int64"), polars.Series([1, None])):
        rows = libgather.gather(column, [1, -1, 0], padding_index=-1)
        assert pandas.isna(pandas.array(rows.to_pandas() if hasattr(rows, "to_pandas") else rows)).tolist() == [
            True,
            False,
            False,
        ]
        for value, expected in ((7, [1, 7]), (None, [1, None])):
            rows = libgather.gather(column, [0, 9], padding_index=9, fill_value=value)
            assert [None if pandas.isna(row) else row for row in pyarrow.array(rows).to_pylist()] == expected
        with pytest.raises(libgather.IndexError):
            libgather.gather(column, [5, 9], padding_index=9, fill_value=7)
        assert pyarrow.array(libgather.scatter(column, [9, 1], [5, 6], padding_index=9)).to_pylist() == [1, 6]
    words = pyarrow.array([["a"], ["b", "c"]])
    assert libgather.gather(words, [1, 2, 0], padding_index=2, fill_value=None).to_pylist() == [["b", "c"], None, ["a"]]
    assert libgather.gather(words, [1, 3, 2], padding_index=2, bounds="null").to_pylist() == [["b", "c"], None, None]


def test_updates_of_padding_are_ignored() -> None:
    target, updates = np.zeros((4, 2)), np.arange(8.0).reshape(4, 2)
    expected = target.copy()
    for i, row in zip(IDS, updates, strict=True):
        if i != -1:
            expected[i] += row
    for ids in (IDS, IDS.tolist()):
        result = libgather.scatter(target, ids, updates, reduction="add", padding_index=-1)
        assert np.array_equal(result, expected)
    plan = libgather.ScatterPlan(target, IDS, reduction="add", padding_index=-1)
    assert np.array_equal(plan(target.copy(), IDS, updates), expected)
    assert np.array_equal(libgather.gather_gradient(updates, IDS, (4, 2), padding_index=-1), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("include_self", [True, False])
def test_means_equal_numpy(dtype: str, include_self: bool) -> None:
    target, ids = np.array([200, 3, 77]).astype(dtype), [0, 2, 0, 0]
    updates = np.array([1, 5, 20, 30]).astype(dtype)
    expected = target.copy()
    for row in (0, 2):
        found = updates[np.array(ids) == row]
        numbers = np.append(target[row : row + 1], found) if include_self else found
        total = numbers.sum(dtype=dtype)
        expected[row] = (
            total // len(numbers) if total.dtype.kind in "iu" else total / np.dtype(dtype).type(len(numbers))
        )
    result = libgather.scatter(target, ids, updates, reduction="mean", include_self=include_self)
    assert np.array_equal(result, expected)
    plan = libgather.ScatterPlan(target, np.array(ids), reduction="mean", include_self=include_self)
    assert np.array_equal(plan(target.copy(), np.array(ids), updates), expected)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_reductions_without_the_target_begin_with_the_updates(reduction: str) -> None:
    functions: dict[str, Any] = {"add": np.sum, "mul": np.prod, "max": np.max, "min": np.min}
    target, updates = np.full((3, 2), 50.0), np.arange(1.0, 9).reshape(4, 2)
    result = libgather.scatter(target, [2, 0, 2, 2], updates, reduction=reduction, include_self=False)
    expected = target.copy()
    expected[0], expected[2] = updates[1], functions[reduction](updates[[0, 2, 3]], axis=0)
    assert np.array_equal(result, expected)


def test_sums_of_float32_in_float64_are_rounded_once() -> None:
    updates = np.full(1000, 0.1, np.float32)
    expected = np.float32(updates.sum(dtype=np.float64))
    result = libgather.scatter(
        np.zeros(1, np.float32), np.zeros(1000, int), updates, reduction="add", accumulate="float64"
    )
    assert result[0] == expected and expected != np.add.reduce(updates.tolist(), dtype=np.float32)
    assert libgather.gather_gradient(updates, np.zeros(1000, int), (1,), accumulate="float64")[0] == expected
    with pytest.raises(libgather.OptionError, match="float64"):
        libgather.gather_bags(updates, [[0]], accumulate="float64")


@pytest.mark.parametrize("order", [None, "updates", "any"])
def test_sums_have_the_order_of_updates_on_the_cpu(order: Any) -> None:
    updates, ids = np.array([1e8, 1, -1e8], np.float32), np.array([1, 1, 1])  # (1e8 + 1) - 1e8 is 0
    target = np.array([4, 0], np.float32)
    result = libgather.scatter(target, ids, updates, reduction="add", order=order)
    assert result.tolist() == [4, 0]
    assert libgather.scatter_nd(target, ids[:, None], updates, reduction="add", order=order).tolist() == [4, 0]
    assert libgather.scatter_elements(target, ids, updates, reduction="add", order=order).tolist() == [4, 0]
    plan = libgather.ScatterPlan(target, ids, reduction="add", order=order)
    assert plan(target.copy(), ids, updates).tolist() == [4, 0]
    assert libgather.gather_gradient(updates, ids, (2,), order=order).tolist() == [0, 0]
    assert libgather.gather_bags_gradient(updates, ids, (2,), starts=[0, 1, 2], order=order).tolist() == [0, 0]


def test_one_row_and_one_number_are_repeated() -> None:
    target, ids = np.zeros((4, 3), np.float32), [2, 0]
    for updates in (np.array([1, 2, 3], np.float32), [1.0, 2.0, 3.0], np.float32(7), 7.0):
        expected = target.copy()
        expected[ids] = updates
        assert np.array_equal(libgather.scatter(target, ids, updates), expected)
        assert np.array_equal(libgather.scatter_nd(target, np.array(ids)[:, None], updates), expected)
    expected = target.copy()
    np.put_along_axis(expected, np.array([[1], [0], [2], [1]]), 7, 1)
    assert np.array_equal(libgather.scatter_elements(target, [[1], [0], [2], [1]], 7), expected)
    with pytest.raises(libgather.RankError):
        libgather.scatter(target, ids, np.float32(7), profile="torch")
    with pytest.raises(libgather.RankError):
        libgather.scatter(target, ids, np.ones(2, np.float32))


def test_wrong_options_are_rejected() -> None:
    with pytest.raises(libgather.DTypeError, match="include_self"):
        libgather.scatter([1], [0], [1], reduction="add", include_self=None)  # type: ignore[arg-type]
    with pytest.raises(libgather.DTypeError, match="padding_index"):
        libgather.gather([1], [0], padding_index="0")  # type: ignore[call-overload]
    with pytest.raises(libgather.DTypeError):
        libgather.scatter([True], [0], [True], reduction="mean")
    with pytest.raises(libgather.OptionError, match="order 'sorted' is none of updates, any"):
        libgather.scatter([1], [0], [1], reduction="add", order="sorted")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="order"):
        libgather.gather([1], [0], order="any")  # type: ignore[call-overload]


@pytest.mark.parametrize("flag", [True, False, np.True_, np.array(True)], ids=repr)
def test_bool_is_no_number_of_an_option(flag: Any) -> None:
    """Python would take True for 1, so a forgotten name of an argument would stay unnoticed."""
    table, ids = np.arange(6.0).reshape(2, 3), np.array([0, 1])
    square = np.zeros((2, 2), np.int64)
    calls: list[tuple[str, Any]] = [
        ("axis", lambda: libgather.gather(table, ids, flag)),
        ("axis", lambda: libgather.gather([[1, 2], [3, 4]], [0], axis=flag)),
        ("batch_dims", lambda: libgather.gather(table, square, 1, flag)),
        ("batch_dims", lambda: libgather.gather_nd(table, square, flag)),
        ("axis", lambda: libgather.gather_elements(table, square, flag)),
        ("axis", lambda: libgather.scatter(table, ids, table, flag)),
        ("batch_dims", lambda: libgather.scatter_nd(table, square, table, flag)),
        ("axis", lambda: libgather.scatter_elements(table, square, table[:, :2], flag)),
        ("axis", lambda: libgather.gather_gradient(table, ids, (2, 3), flag)),
        ("axis", lambda: libgather.gather_elements_gradient(table[:, :2], square, (2, 3), flag)),
        ("axis", lambda: libgather.take(table, ids, flag)),
        ("axis", lambda: libgather.take_along_axis(table, square, flag)),
        ("axis", lambda: libgather.put_along_axis(table.copy(), square, table[:, :2], flag)),
        ("axis", lambda: libgather.output_shape((2, 3), (2,), flag)),
        ("axis", lambda: libgather.Plan(table, ids, flag)),
        ("axis", lambda: libgather.ScatterPlan(table, ids, flag)),
        ("padding_index", lambda: libgather.gather(table, ids, padding_index=flag)),
        ("count", lambda: libgather.gather_bags(table, ids, segments=ids, count=flag)),
    ]
    for name, call in calls:
        with pytest.raises(libgather.DTypeError, match=f"{name} is (bool|ndarray), not an integer"):
            call()


@pytest.mark.parametrize("value", [True, 1, np.array(["wrap"]), np.array([True, False]), ["wrap"], b"wrap"], ids=repr)
def test_option_that_is_no_name_is_refused_by_name(value: Any) -> None:
    """The truth value of a comparison with an array is ambiguous."""
    table, ids = np.arange(6.0).reshape(2, 3), np.array([0, 1])
    calls: dict[str, list[Any]] = {
        "gather": [table, ids],
        "gather_elements": [table, np.zeros((2, 3), np.int64)],
        "scatter": [table, ids, table],
        "gather_bags": [table, ids[None]],
        "Plan": [table, ids],
        "ScatterPlan": [table, ids],
    }
    options = ("bounds", "negative", "profile")
    more = {
        "gather_elements": ["extents"],
        "scatter": ["reduction", "accumulate", "order"],
        "gather_bags": ["pool", "empty", "order"],
    }
    for name, operands in calls.items():
        for option in (*options, *more.get(name, [])):
            with pytest.raises(
                libgather.DTypeError, match=f"^options: {option} is {type(value).__name__}, not a string$"
            ):
                getattr(libgather, name)(*operands, **{option: value})
