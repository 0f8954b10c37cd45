"""Functions that the C code calls first behave as their Python functions, and run the usual calls in C."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
import weakref
from typing import Any

import numpy as np
import pytest

import libgather
from libgather._operations import numpy_take

NAMES = [
    "gather", "gather_nd", "gather_elements", "scatter", "scatter_nd", "scatter_elements",
    "gather_gradient", "gather_nd_gradient", "gather_elements_gradient",
    "take", "take_along_axis",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_function_has_attributes_of_python_function(name: str) -> None:
    function = getattr(libgather, name)
    python = function.__wrapped__
    assert inspect.isfunction(python) and inspect.isroutine(function) and callable(function)
    assert inspect.signature(function) == inspect.signature(python)
    assert typing.get_type_hints(function) == typing.get_type_hints(python)
    for attribute in ("__doc__", "__name__", "__qualname__", "__module__"):
        assert getattr(function, attribute) == getattr(python, attribute)
    assert function.__name__ == name and repr(function) == repr(python)


@pytest.mark.parametrize("name", NAMES)
def test_function_is_pickled_and_copied_by_name(name: str) -> None:
    function = getattr(libgather, name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.copy(function) is function and copy.deepcopy(function) is function
    assert weakref.ref(function)() is function


def test_function_as_class_attribute_is_no_method() -> None:
    class Table:
        look_up = libgather.gather

    assert Table().look_up(np.arange(3.0), [2]).tolist() == [2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("count", "named"),
    [(0, {}), (1, {}), (9, {}), (2, {"indices": [0]}), (3, {"lim": 1}), (3, {"out": None, "lim": 1}), (0, {"axis": 0})],
    ids=repr,
)
def test_wrong_arguments_raise_the_error_of_python(name: str, count: int, named: dict[str, Any]) -> None:
    function = getattr(libgather, name)
    args = [np.arange(3.0), np.array([0]), np.array([1.0]), *range(6)][:count]
    with pytest.raises((TypeError, libgather.Error)) as expected:
        function.__wrapped__(*args, **named)
    with pytest.raises(type(expected.value)) as raised:
        function(*args, **named)
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize(
    ("name", "arrays", "expected", "named"),
    [
        ("gather", ([[1, 2], [3, 4]], [[1], [0]], 1, 1), [[2], [3]], {}),
        ("gather", ([1, 2, 3], [9, -1]), [7, 3], {"negative": "wrap", "bounds": "fill", "fill_value": 7}),
        ("gather_nd", ([[1, 2], [3, 4]], [[1], [0]], 1), [2, 3], {}),
        ("gather_nd", ([1, 2, 3], [[9], [-1]]), [3, 3], {"negative": "wrap", "bounds": "clamp", "threads": 1}),
        ("gather_elements", ([[1, 2], [3, 4]], [[1, 0]], 0), [[3, 2]], {"extents": "prefix"}),
        ("gather_elements", ([[1, 2]], [[9, -1]]), [[7, 2]], {"profile": "jax_fill", "fill_value": 7}),
        ("scatter", ([[1, 2], [3, 4]], [[1], [0]], [[9], [8]], 1, 1), [[1, 9], [8, 4]], {}),
        (
            "scatter",
            ([1, 2, 3], [9, -1], [5, 5]),
            [1, 2, 8],
            {"negative": "wrap", "bounds": "skip", "reduction": "add"},
        ),
        ("scatter_nd", ([[1, 2], [3, 4]], [[1], [0]], [9, 8], 1), [[1, 9], [8, 4]], {}),
        ("scatter_nd", ([1, 2], [[1]], [5]), [1, 10], {"reduction": "mul", "accumulate": "dtype"}),
        ("scatter_elements", ([[1, 2], [3, 4]], [[1, 0]], [[9, 8]], 0), [[1, 8], [9, 4]], {"extents": "prefix"}),
        ("scatter_elements", ([[1, 2]], [[-1]], [[5]]), [[1, 5]], {"profile": "onnx", "opset": 18}),
    ],
)
def test_call_method_has_the_result_of_a_call(name: str, arrays: Any, expected: Any, named: Any) -> None:
    function = getattr(libgather, name)
    for call in (function, function.__call__):
        assert call(*arrays, **named).tolist() == expected
    if name.startswith("scatter"):
        target = np.array(arrays[0])
        assert function.__call__(target, *map(np.array, arrays[1:3]), *arrays[3:], **named, inplace=True) is target
        assert target.tolist() == expected


def test_keywords_that_are_not_interned_are_read() -> None:
    def fresh(**named: Any) -> dict[str, Any]:
        return {name.encode().decode(): value for name, value in named.items()}

    params, indices = np.arange(6.0).reshape(2, 3), np.array([1])
    assert libgather.gather(params, indices, **fresh(axis=1, bounds="clamp")).tolist() == [[1], [4]]
    assert libgather.take(params, **fresh(indices=indices, mode="wrap")).tolist() == [1]


# ------------------------------------------------------------------------------------------------- calls that C runs


TABLE = np.arange(24.0).reshape(4, 6)
ROWS = np.array([[1], [-1], [0], [5]])


@pytest.fixture
def no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the Python code of functions with NumPy's rules fail."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("Python runs the call")

    for name in ("is_numpys", "run", "flat"):
        monkeypatch.setattr(numpy_take, name, refuse)


@pytest.mark.usefixtures("no_python")
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("indices", [2, [1, -1], np.array([[0], [3]], "u1")], ids=repr)
def test_take_of_numpy_array_runs_in_c(mode: Any, axis: Any, indices: Any) -> None:
    expected = np.take(TABLE, indices, axis, mode=mode)
    found = libgather.take(TABLE, indices, axis, mode=mode)
    assert type(found) is type(expected) and found.tolist() == expected.tolist()
    if isinstance(expected, np.ndarray):
        out = np.empty_like(expected)
        assert libgather.take(TABLE, indices, axis, out, mode) is out
        assert out.tolist() == expected.tolist()


@pytest.mark.usefixtures("no_python")
def test_take_along_axis_of_numpy_array_runs_in_c() -> None:
    for indices, axis in ((ROWS, 1), (ROWS, -1), (ROWS[:1], 1), (np.array([23, -24]), None)):
        assert (libgather.take_along_axis(TABLE, indices, axis) == np.take_along_axis(TABLE, indices, axis)).all()
    with pytest.raises(libgather.IndexError) as error:
        libgather.take_along_axis(TABLE, np.array([0, 24]), None)
    assert (error.value.index, error.value.axis, error.value.limit) == ((1,), 0, 24)


@pytest.mark.parametrize("values", [7, 1.5, np.float32(2), np.arange(4).reshape(4, 1), np.array([3.0]), [[8], [9]] * 2])
@pytest.mark.parametrize("layout", [np.copy, lambda table: table.T.copy().T, lambda table: table.repeat(2, 0)[::-2]])
def test_put_along_axis_of_numpy_array(layout: Any, values: Any) -> None:
    found, expected = layout(TABLE), layout(TABLE)
    np.put_along_axis(expected, ROWS, values, 1)
    assert libgather.put_along_axis(found, ROWS, values, 1) is None
    assert (found == expected).all()


def test_put_along_axis_with_axis_none() -> None:
    found, expected = TABLE.copy(), TABLE.copy()
    np.put_along_axis(expected, np.array([23, 0]), [1.0, 2.0], None)
    libgather.put_along_axis(found, np.array([23, 0]), [1.0, 2.0], None)
    assert (found == expected).all()
    with pytest.raises(libgather.IndexError):
        libgather.put_along_axis(found, np.array([1, 24]), 5.0, None)
    assert (found == expected).all()


def test_conversion_that_changes_the_array_is_safe() -> None:
    """The conversion of the values runs code that gives the array another dtype and memory."""
    target = np.zeros(1000, "f8")

    class Values:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            target.dtype = np.dtype("i2")  # type: ignore[misc]
            target.resize(10, refcheck=False)
            return np.array([1, 2], "f8")

    with pytest.raises(libgather.Error):
        libgather.put_along_axis(target, np.array([0, 900]), Values(), 0)
    assert target.dtype == "i2" and target.tolist() == [0] * 10
