"""scatter, scatter_nd and scatter_elements: compares them with NumPy's ufunc.at, and tests all kinds and errors."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_properties import same, strided

import libgather

UFUNCS: dict[Any, Any] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
NUMBERS = ["int8", "uint16", "int32", "uint64", "float32", "float64"]


def oracle(target: np.ndarray, places: Any, updates: np.ndarray, reduction: Any) -> np.ndarray:
    """Returns the result of NumPy, position by position. `places` is an index of the target."""
    result = target.copy()
    if reduction == "none":
        # NumPy does not define the order of its own assignment to duplicates.
        flat = np.arange(target.size).reshape(target.shape)[places].reshape(-1)
        for place, value in zip(flat, updates.reshape(-1), strict=True):
            result.reshape(-1)[place] = value
    else:
        with np.errstate(all="ignore"):
            UFUNCS[reduction].at(result, places, updates)
    return result


@st.composite
def scatters(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, str]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    axis = draw(st.integers(0, len(shape) - 1))
    dtype = draw(st.sampled_from(NUMBERS))
    values = st.integers(0, 9) if dtype.startswith("uint") else st.integers(-9, 9)
    tail = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4))
    target = draw(hnp.arrays(dtype, shape, elements=values))
    indices = draw(hnp.arrays("int64", tail, elements=st.integers(-shape[axis], shape[axis] - 1)))
    updates = draw(hnp.arrays(dtype, shape[:axis] + tail + shape[axis + 1 :], elements=values))
    reduction = draw(st.sampled_from(["none", *UFUNCS]))
    return strided(draw, target), strided(draw, indices), strided(draw, updates), axis, reduction


@settings(deadline=None, max_examples=200)
@given(scatters(), st.sampled_from([1, 2, 7]))
def test_scatter(case: tuple[np.ndarray, np.ndarray, np.ndarray, int, Any], threads: int) -> None:
    target, indices, updates, axis, reduction = case
    expected = oracle(target, (slice(None),) * axis + (indices,), updates, reduction)
    switches: Any = {"reduction": reduction, "negative": "wrap", "threads": threads}
    before = target.copy()
    assert same(libgather.scatter(target, indices, updates, axis, **switches), expected)
    assert same(libgather.scatter(target, indices, updates, axis - target.ndim, **switches), expected)
    assert same(target, before)
    assert libgather.updates_shape(target, indices, axis) == updates.shape
    tensor = libgather.scatter(libgather.Tensor(target), indices, libgather.Tensor(updates), axis, **switches)
    assert same(np.asarray(tensor), expected)
    plan = libgather.ScatterPlan(target, indices, axis, updates=updates, **switches)
    planned = np.lib.stride_tricks.as_strided(*copied(target))
    assert plan(planned, indices, updates) is planned and same(planned, expected)
    assert libgather.scatter(target, indices, updates, axis, inplace=True, **switches) is target
    assert same(target, expected)


def copied(view: np.ndarray) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Returns a copy of a view with the same strides, as arguments of as_strided()."""
    low = sum(step * (n - 1) for n, step in zip(view.shape, view.strides, strict=True) if step < 0)
    span = sum(abs(step) * (n - 1) for n, step in zip(view.shape, view.strides, strict=True)) + view.itemsize
    memory = np.zeros(span, "u1")
    start = memory[-low:][: (span + low) // view.itemsize * view.itemsize].view(view.dtype)
    np.lib.stride_tricks.as_strided(start, view.shape, view.strides)[...] = view
    return start, view.shape, view.strides


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_scatter_nd(data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    k, count = data.draw(st.integers(1, len(shape))), data.draw(st.integers(0, 5))
    columns = [data.draw(hnp.arrays("int64", (count,), elements=st.integers(0, n - 1))) for n in shape[:k]]
    target = data.draw(hnp.arrays("int32", shape))
    updates = data.draw(hnp.arrays("int32", (count, *shape[k:])))
    reduction = data.draw(st.sampled_from(["none", *UFUNCS]))
    indices = strided(data.draw, np.stack(columns, -1).reshape(count, k))
    expected = oracle(target, tuple(columns), updates, reduction)
    assert same(libgather.scatter_nd(target, indices, updates, reduction=reduction), expected)
    assert libgather.updates_shape(target, indices, op="scatter_nd") == updates.shape
    plan = libgather.ScatterPlan(target, libgather.Spec("int64", (-1, k)), op="scatter_nd", reduction=reduction)
    assert plan.updates_shape(count) == updates.shape
    assert same(plan(target, np.ascontiguousarray(indices), updates), expected)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_scatter_elements(data: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    axis = data.draw(st.integers(0, len(shape) - 1))
    chosen = (*shape[:axis], data.draw(st.integers(0, 4)), *shape[axis + 1 :])
    target = data.draw(hnp.arrays("int32", shape))
    indices = data.draw(hnp.arrays("int64", chosen, elements=st.integers(0, shape[axis] - 1)))
    updates = data.draw(hnp.arrays("int32", chosen))
    places = list(np.indices(chosen))
    places[axis] = indices
    reduction = data.draw(st.sampled_from(["none", *UFUNCS]))
    expected = oracle(target, tuple(places), updates, reduction)
    assert same(libgather.scatter_elements(target, indices, updates, axis, reduction=reduction), expected)
    assert libgather.updates_shape(target, indices, axis, op="scatter_elements") == chosen
    plan = libgather.ScatterPlan(target, indices, axis, op="scatter_elements", reduction=reduction)
    assert same(plan(target, indices, updates), expected)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_last_duplicate_wins(threads: int) -> None:
    rng = np.random.default_rng(7)
    indices, updates = rng.integers(0, 100, 50_000), np.arange(100_000, dtype="f4").reshape(50_000, 2)
    result = libgather.scatter(np.zeros((100, 2), "f4"), indices, updates, threads=threads)
    last = np.array([np.flatnonzero(indices == i)[-1] for i in range(100)])
    assert (result == updates[last]).all()


def test_accumulation() -> None:
    ones, indices = np.ones(4096, "f2"), np.zeros(4096, "i8")
    for accumulate, total in ((None, 2048), ("dtype", 2048), ("float32", 4096)):
        keywords: Any = {"reduction": "add", "accumulate": accumulate}
        assert libgather.scatter(np.zeros(1, "f2"), indices, ones, **keywords).tolist() == [total]
        assert libgather.scatter(libgather.Tensor(np.zeros(1, "f2")), indices, ones, **keywords).tolist() == [total]
        plan = libgather.ScatterPlan(ones[:1], indices, **keywords)
        assert plan(np.zeros(1, "f2"), indices, ones).tolist() == [total]
    with pytest.raises(libgather.OptionError, match="accumulate 'double' is none of dtype, float32"):
        libgather.scatter(np.zeros(1, "f2"), indices, ones, accumulate="double")  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, "f2", "c8", "?"])
def test_numbers_of_other_kinds(dtype: Any) -> None:
    target, updates = np.array([0, 1, 1], dtype), np.array([1, 0, 1], dtype)
    total = libgather.scatter(target, [0, 2, 0], updates, reduction="add")
    expected = np.array([1, 1, 1] if dtype == "?" else [2, 1, 1], dtype)
    assert total.dtype == target.dtype and (total == expected).all()


# ------------------------------------------------------------------------------------------------- kinds of arrays


def torch_of(values: Any) -> Any:
    return pytest.importorskip("torch", reason="torch is not installed").tensor(values)


def jax_of(values: Any) -> Any:
    return pytest.importorskip("jax.numpy", reason="JAX is not installed").asarray(values)


def tensorflow_of(values: Any) -> Any:
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed").constant(values)


def pandas_of(values: Any) -> Any:
    return pytest.importorskip("pandas", reason="pandas is not installed").Series(values, name="n")


def polars_of(values: Any) -> Any:
    return pytest.importorskip("polars", reason="polars is not installed").Series("n", values)


def listed(value: Any) -> Any:
    for name in ("tolist", "to_pylist", "numpy"):
        if hasattr(value, name):
            return listed(getattr(value, name)())
    return list(value)


#: The function that creates an array of each kind, and whether the array can be written.
KINDS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "numpy": (np.array, True),
    "list": (list, False),
    "bytearray": (bytearray, True),
    "bytes": (bytes, False),
    "array": (lambda values: array.array("l", values), True),
    "memoryview": (lambda values: memoryview(bytearray(values)), True),
    "Tensor": (lambda values: libgather.Tensor(np.array(values)), True),
    "pyarrow": (pa.array, False),
    "torch": (torch_of, True),
    "jax": (jax_of, False),
    "tensorflow": (tensorflow_of, False),
    "pandas": (pandas_of, True),
    "polars": (polars_of, False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str) -> None:
    make, writable = KINDS[kind]
    target, updates = make([1, 2, 3, 4]), make([7, 8])
    for given_updates in (updates, [7, 8]):
        result = libgather.scatter(target, [3, 0], given_updates)
        assert listed(result) == [8, 2, 3, 7] and listed(target) == [1, 2, 3, 4]
        kinds = {"list": np.ndarray}
        assert type(result) is kinds.get(kind, type(target))
    assert listed(libgather.scatter_nd(target, [[1], [1]], updates, reduction="add")) == [1, 17, 3, 4]
    assert listed(libgather.scatter_elements(target, [2, 1], updates, reduction="max")) == [1, 8, 7, 4]
    if writable:
        assert libgather.scatter(target, [3, 0], updates, inplace=True) is target
        assert listed(target) == [8, 2, 3, 7]
        write = libgather.scatter if kind == "pandas" else libgather.scatter_elements
        assert write(target, [3], [1], inplace=True) is target
        assert listed(target) == [8, 2, 3, 1]
    else:
        with pytest.raises(libgather.OutputError, match=r"^target: ") as caught:
            libgather.scatter(target, [3, 0], updates, inplace=True)
        assert caught.value.operand == "target" and listed(target) == [1, 2, 3, 4]
    with pytest.raises(libgather.IndexError) as error:
        libgather.scatter(target, [0, 4], updates)
    assert (error.value.position, error.value.index, error.value.axis) == (1, (1,), 0)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing(kind: str) -> None:
    make, writable = KINDS[kind]
    target = make([1, 2, 3])
    updates: Any = libgather.gather(target, np.zeros(0, "i8"))
    for empty in (updates, []):
        assert listed(libgather.scatter(target, [], empty)) == [1, 2, 3]
        assert listed(libgather.scatter_elements(target, [], empty)) == [1, 2, 3]
        assert listed(libgather.scatter_nd(target, np.zeros((0, 1), "i8"), empty)) == [1, 2, 3]
        assert listed(libgather.scatter(updates, [], empty)) == []
    if writable:
        assert libgather.scatter(target, [], updates, inplace=True) is target
    with pytest.raises(libgather.IndexError):
        libgather.scatter(updates, [0], libgather.gather(target, [0]))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 3)])
def test_targets_of_no_elements(shape: tuple[int, ...]) -> None:
    target = np.zeros(shape)
    updates = np.zeros((0, *shape[1:]))
    assert libgather.scatter(target, np.zeros(0, "i8"), updates).shape == shape
    assert libgather.scatter(target, np.zeros(0, "i8"), updates, inplace=True) is target
    plan = libgather.ScatterPlan(target, libgather.Spec("int64", (-1,)))
    assert plan(target, np.zeros(0, "i8"), updates) is target


def test_strings() -> None:
    objects = np.array(["a", "bb", "ccc"], object)
    for target in (objects, objects.astype(np.dtypes.StringDType())):
        result = libgather.scatter(target, [2, 0], target[:2])
        assert result.dtype == target.dtype and result.tolist() == ["bb", "bb", "a"]
        assert libgather.scatter_elements(target, [1], ["a longer one"])[1] == "a longer one"
        written = target.copy()
        assert libgather.scatter_elements(written, [2, 0], target[:2], inplace=True) is written
        assert written.tolist() == ["bb", "bb", "a"]
        grid = target.reshape(1, 3)
        with pytest.raises(libgather.UnsupportedError, match="target: strings"):
            libgather.scatter_elements(grid, [[2, 0]], grid[:, :2], extents="prefix", inplace=True)
        with pytest.raises(libgather.DTypeError):
            libgather.scatter(target, [0], target[:1], reduction="add")
        with pytest.raises(libgather.DTypeError, match="updates: they are bytes, needed is text"):
            libgather.scatter_elements(grid, [[0]], [[b"x"]], extents="prefix")
    assert libgather.scatter(["a", "bb"], [0], ["longest"]).tolist() == ["longest", "bb"]
    column = pa.array(["a", "bb"])
    assert libgather.scatter(column, [0], pa.array(["c"])) == pa.array(["c", "bb"])
    words = libgather.Tensor(["a", "b"])
    with pytest.raises(libgather.UnsupportedError):
        libgather.scatter(words, [0], ["c"], inplace=True)


@pytest.mark.parametrize("dtype", ["U3", "S3", "i4,i1,f2", "V3", [("xyz", "f4", 3)]])
def test_blocks_of_bytes(dtype: Any) -> None:
    memory = np.arange(6 * np.dtype(dtype).itemsize, dtype="u1") % 128
    target = (np.array(list("abcdef")) if dtype == "U3" else memory.view(dtype)).astype(dtype).reshape(3, 2)
    updates = target[::-1][:2, ::-1].copy()
    expected = target.copy()
    expected[[2, 0]] = updates
    assert same(libgather.scatter(target, [2, 0], updates), expected)
    assert same(libgather.scatter(target.T, [2, 0], updates.T, -1), expected.T)
    assert same(libgather.scatter_nd(target, [[2, 1], [0, 0]], updates[0]), pairs(target, updates))
    indices = np.array([[1, 1], [0, -1]])
    np.put_along_axis(expected, indices, updates, 0)
    inplace = target.copy()
    libgather.scatter(inplace, [2, 0], updates, inplace=True)
    assert libgather.scatter_elements(inplace, indices, updates, 0, negative="wrap", inplace=True) is inplace
    assert same(inplace, expected)
    with pytest.raises(libgather.IndexError) as caught:
        libgather.scatter_elements(target, [[0, 1], [2, 3]], updates, 0, inplace=True)
    assert (caught.value.position, caught.value.index) == (3, (1, 1))
    with pytest.raises(libgather.ShapeError, match="updates: dim 0 is 1, needed is 2"):
        libgather.scatter(target, [2, 0], updates[:1])
    with pytest.raises(libgather.DTypeError, match="updates: dtype is"):
        libgather.scatter(target, [2, 0], np.zeros((2, 2)))
    with pytest.raises(libgather.DTypeError, match=r"target: dtype .* is only moved, reduction 'add'"):
        libgather.scatter(target, [2, 0], updates, reduction="add")
    inplace.setflags(write=False)
    with pytest.raises(libgather.OutputError, match="target"):
        libgather.scatter(inplace, [2, 0], updates, inplace=True)


def pairs(target: np.ndarray, updates: np.ndarray) -> np.ndarray:
    result = target.copy()
    result[[2, 0], [1, 0]] = updates[0]
    return result


def test_longer_strings_are_refused() -> None:
    with pytest.raises(libgather.DTypeError, match="updates: dtype is <U4, needed is <U2"):
        libgather.scatter(np.array(["ab", "cd"]), [1], np.array(["long"]))
    assert libgather.scatter(np.array(["ab", "cd"]), [1], np.array(["e"])).tolist() == ["ab", "e"]


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[D]", ">f4", ">i8", "longdouble", "V8", ml_dtypes.int4])
def test_dtypes_that_are_only_moved(dtype: Any) -> None:
    target = np.arange(3).astype("i8" if dtype == "V8" else dtype).astype(dtype)
    updates = target[::-1][:2].copy()
    expected = target.copy()
    expected[[2, 0]] = updates
    assert same(libgather.scatter(target, [2, 0], updates), expected)
    with pytest.raises(libgather.DTypeError, match=r"target: dtype .* is only moved, reduction 'max'"):
        libgather.scatter(target, [2, 0], updates, reduction="max", inplace=True)
    with pytest.raises(libgather.DTypeError, match=r"target: dtype .* is only moved"):
        libgather.ScatterPlan(target, [2, 0], reduction="max")
    with pytest.raises(libgather.DTypeError, match="updates: dtype is"):
        libgather.scatter(target, [2, 0], np.zeros(2, "u1"))
    assert libgather.ScatterPlan(target, [2, 0])(target, [2, 0], updates) is target
    assert same(target, expected)


def test_updates_of_the_other_byte_order() -> None:
    target = np.arange(3, dtype="f4")
    assert libgather.scatter(target, [1], np.array([9], ">f4"), reduction="add").tolist() == [0, 10, 2]
    swapped = libgather.scatter(target.astype(">f4"), [1], np.array([9], "<f4"))
    assert swapped.dtype == ">f4" and swapped.tolist() == [0, 9, 2]


def test_updates_of_python_take_the_dtype_of_the_target() -> None:
    for dtype in ("i1", "u8", "f2", "f4", "c8", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        result = libgather.scatter(np.zeros(3, dtype), [2, 0], (1, 2))
        assert result.dtype == dtype and result.astype("c16").tolist() == [2, 0, 1]
    assert libgather.scatter_elements(np.zeros((2, 2), "f4"), 1 + np.zeros((2, 1), "i8"), [[1], [2.5]])[1, 1] == 2.5
    assert libgather.scatter(np.zeros(2, "M8[D]"), [1], ["2020-02-03"])[1] == np.datetime64("2020-02-03")
    assert libgather.scatter(np.zeros(2, "M8[ns]"), [1], [np.datetime64(7, "ns")])[1] == np.datetime64(7, "ns")
    assert libgather.scatter(np.zeros(2, "?"), [1], [True]).tolist() == [False, True]
    assert libgather.scatter(np.zeros((2, 2)), [1, 0], [np.arange(2), np.ones(2)]).tolist() == [[1, 1], [0, 1]]
    assert libgather.scatter(np.zeros(2, "i4"), 1, 5).tolist() == [0, 5]
    for dtype, value in (("i1", 128), ("u8", -1), ("i4", 1.5), ("?", 1), ("i4", "1"), ("f4", 1j), ("f2", 1e6)):
        with pytest.raises(libgather.DTypeError, match="updates: ") as caught:
            libgather.scatter(np.zeros(2, dtype), [1], [value])
        assert caught.value.operand == "updates"


# ------------------------------------------------------------------------------------------------ what is refused

FLOAT8 = ml_dtypes.float8_e5m2
TARGET = np.arange(12.0).reshape(4, 3)
UPDATES = np.ones((2, 3))


def scatter(target: Any = TARGET, indices: Any = (1, 2), updates: Any = UPDATES, **keywords: Any) -> Any:
    return lambda: libgather.scatter(target, indices, updates, **keywords)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (scatter(target=None), TypeError, "target: NoneType is not an array"),
        (scatter(target=np.array(3.0)), ValueError, "target: rank is 0, needed is at least 1"),
        (scatter(target=np.ma.masked_array([1, 2], [0, 1])), TypeError, "target: a masked array"),
        (scatter(target=[[1, 2], [3]]), ValueError, "target: .*inhomogeneous"),
        (scatter(indices=1.5), TypeError, "indices: dtype float64 is no integer type$"),
        (scatter(indices=[True, False]), TypeError, "indices: .* nonzero"),
        (scatter(indices=[1, 4]), IndexError, r"component 0 of tuple 1 is 4, valid are \[0, 4\): indices\[1\], axis 0"),
        (scatter(indices=[1, -1]), IndexError, "negative='wrap' counts from the end"),
        (scatter(indices=[-5, 0], negative="wrap"), IndexError, r"is -5, valid are \[-4, 4\)"),
        (scatter(updates=None), TypeError, "updates: NoneType is not an array"),
        (scatter(updates={}), TypeError, "updates: dict is not an array"),
        (scatter(updates=UPDATES.astype("f4")), TypeError, "updates: dtype"),
        (scatter(updates=UPDATES[:1]), ValueError, "updates: dim 0 is 1, needed is 2"),
        (scatter(updates=UPDATES[0, :1]), ValueError, "updates: rank is 1, needed is 2"),
        (scatter(axis=2), ValueError, r"options: axis is 2, valid are \[-2, 2\)"),
        (scatter(axis=1.0), TypeError, "options: axis is float, not an integer"),
        (scatter(bounds="fill"), ValueError, "options: bounds"),
        (scatter(bounds="drop"), ValueError, "options: bounds 'drop' is none of"),
        (scatter(reduction="sum"), ValueError, "options: reduction 'sum' is none of none, add, mul, max, min"),
        (scatter(reduction=1), TypeError, "options: reduction is int, not a string"),
        (scatter(inplace="yes"), TypeError, "options: inplace is str, not a bool"),
        (scatter(context="cpu"), TypeError, "context: str is not a libgather.Context"),
        (scatter(threads=-1), ValueError, "options: threads"),
        (scatter(out=TARGET), TypeError, r"scatter\(\) got an unexpected keyword argument 'out': inplace=True"),
        (scatter(dim=1), TypeError, "the dim is axis="),
        (scatter(reduce="sum"), TypeError, "it is called reduction="),
        (scatter(target=TARGET + 0j, updates=UPDATES + 0j, reduction="max"), TypeError, "target: "),
        (scatter(target=TARGET.astype(FLOAT8), updates=UPDATES.astype(FLOAT8), reduction="add"), TypeError, "target: "),
        (lambda: libgather.scatter_nd(TARGET, [[0, 1, 2]], [1.0]), ValueError, "indices: "),
        (lambda: libgather.scatter_elements(TARGET, [0], [1.0]), ValueError, "indices: rank is 1, needed is that of"),
        (lambda: libgather.updates_shape((4, 3), (2,), op="gather"), ValueError, "op 'gather' is none of scatter, "),  # type: ignore[arg-type]
        (lambda: libgather.updates_shape((4, 3), (2,), 1, op="scatter_nd"), ValueError, "scatter_nd has no axis"),
    ],
)
def test_messages(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    before = TARGET.tobytes()
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, libgather.Error) and TARGET.tobytes() == before


@pytest.mark.parametrize("reduction", ["none", *UFUNCS])
@pytest.mark.parametrize("bad", [0, 499, 999])
def test_bad_index_leaves_the_target_unchanged(reduction: Any, bad: int) -> None:
    target, indices = np.full((50, 3), 7.0), np.arange(1000) % 50
    indices[bad] = 50
    updates = np.arange(3000.0).reshape(1000, 3)
    plan = libgather.ScatterPlan(target, indices, reduction=reduction)
    bound = plan.bind(target, indices, updates)
    tensor = libgather.Tensor(target)
    keywords: Any = {"reduction": reduction, "inplace": True, "threads": 2}
    for call in (
        lambda: libgather.scatter(target, indices, updates, **keywords),
        lambda: libgather.scatter(tensor, indices, updates, **keywords),
        lambda: libgather.scatter_nd(target, indices[:, None], updates, **keywords),
        lambda: plan(target, indices, updates),
        lambda: plan.check(indices),
        bound,
    ):
        with pytest.raises(libgather.IndexError) as caught:
            call()
        error = caught.value
        assert (error.operand, error.position, error.value, error.limit) == ("indices", bad, 50, 50)
        assert target.tobytes() == np.full((50, 3), 7.0).tobytes()


def test_bounds() -> None:
    cases: dict[Any, list[int]] = {"skip": [0, 10, 0], "clamp": [20, 10, 40], "modulo": [30, 10, 40]}
    for bounds, expected in cases.items():
        for updates in ([10, 20, 30, 40], np.array([10, 20, 30, 40])):
            assert libgather.scatter([0, 0, 0], [1, -9, 9, 8], updates, bounds=bounds).tolist() == expected
    assert libgather.scatter([0, 0, 0], [1, 9], [1, 2], profile="jax_fill").tolist() == [0, 1, 0]


def test_overlaps() -> None:
    memory = np.arange(12.0)
    before = memory.copy()
    target = memory.reshape(4, 3)
    numbers = np.arange(4)
    for call in (
        lambda: libgather.scatter(target, [1, 0], target[:2], inplace=True),
        lambda: libgather.scatter(target, [1, 0], target[2:4, ::-1], inplace=True),
        lambda: libgather.ScatterPlan(target, [1, 0])(target, [1, 0], target[:2]),
        lambda: libgather.scatter(numbers, numbers, np.zeros(4, "i8"), inplace=True),
    ):
        with pytest.raises(libgather.OutputError) as caught:
            call()
        assert caught.value.status_name == "GTH_E_ALIAS" and caught.value.operand == "target"
        assert (memory == before).all() and numbers.tolist() == [0, 1, 2, 3]
    assert (libgather.scatter(target, [1, 0], target[:2]) == before.reshape(4, 3)[[1, 0, 2, 3]]).all()
    assert libgather.scatter(numbers, numbers, numbers[::-1]).tolist() == [3, 2, 1, 0]
    for overlapping in (np.broadcast_to(np.zeros(3), (4, 3)), np.lib.stride_tricks.as_strided(memory, (4, 3), (8, 8))):
        with pytest.raises(libgather.Error) as caught:
            libgather.scatter(overlapping, [0, 1], UPDATES, inplace=True)
        assert caught.value.operand == "target"
        assert libgather.scatter(overlapping, [0, 1], UPDATES)[:2].tolist() == UPDATES.tolist()


def test_updates_may_be_repeated() -> None:
    one = np.broadcast_to(np.array(2.0), (2, 3))
    assert (libgather.scatter(np.ones((4, 3)), [1, 1], one, reduction="mul")[1] == 4).all()


def test_read_only() -> None:
    target = np.zeros(3)
    target.setflags(write=False)
    for make in (lambda: target, lambda: libgather.Tensor(target), lambda: memoryview(bytes(24)).cast("d")):
        for updates in (np.ones(1), [1.0]):
            with pytest.raises(libgather.OutputError) as caught:
                libgather.scatter(make(), [1], updates, inplace=True)
            assert (caught.value.operand, caught.value.status_name) == ("target", "GTH_E_READONLY")
        assert listed(libgather.scatter(make(), [1], np.ones(1))) == [0, 1, 0]
    with pytest.raises(libgather.OutputError, match="target: it is read-only"):
        libgather.ScatterPlan(target, [1])(target, [1], np.ones(1))


def test_closed_handles() -> None:
    closed = libgather.Tensor(np.zeros(3))
    closed.close()
    context = libgather.Context()
    context.close()
    for arguments in ((closed, [1], [1.0]), (TARGET[0], closed, [1.0]), (TARGET[0], [1], closed)):
        with pytest.raises(libgather.ClosedError):
            libgather.scatter(*arguments)
    for updates in (np.ones(1), [1.0]):
        with pytest.raises(libgather.ClosedError, match="context"):
            libgather.scatter(TARGET[0], [1], updates, context=context)


def test_contexts() -> None:
    with libgather.Context(threads=1) as context:
        for updates in (UPDATES, UPDATES.tolist()):
            assert (libgather.scatter(TARGET, [0, 1], updates, context=context)[:2] == 1).all()


def test_subclasses() -> None:
    class Mine(np.ndarray):
        pass

    target = np.zeros(3).view(Mine)
    assert type(libgather.scatter(target, [1], np.ones(1))) is Mine
    assert libgather.scatter(target, [1], np.ones(1), inplace=True) is target and target[1] == 1


def test_out_of_memory() -> None:
    huge = np.broadcast_to(np.zeros(1), (2**40,))
    with pytest.raises(libgather.OutOfMemoryError):
        libgather.scatter(huge, [0], np.ones(1))


def test_large() -> None:
    rng = np.random.default_rng(3)
    target, indices = rng.integers(0, 100, (3000, 17)), rng.integers(-3000, 3000, 20_000)
    updates = rng.integers(0, 100, (20_000, 17))
    reductions: tuple[Any, ...] = ("none", "add")
    for reduction in reductions:
        expected = oracle(target, (indices,), updates, reduction)
        for threads in (1, 2, 3):
            switches: Any = {"reduction": reduction, "profile": "numpy_raise", "threads": threads}
            assert (libgather.scatter(target, indices, updates, **switches) == expected).all()


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.int16, torch.bool, torch.float8_e4m3fn):
        target = torch.zeros(3, 2).to(dtype)
        updates, indices = torch.ones(1, 2).to(dtype), torch.tensor([1])
        result = libgather.scatter(target, indices, updates)
        assert result.dtype == dtype and result.to(torch.complex64).real.tolist() == [[0, 0], [1, 1], [0, 0]]
        version = target._version
        plan = libgather.ScatterPlan(target, indices)
        assert libgather.scatter(target, indices, updates, inplace=True) is target and target._version == version + 1
        assert plan(target, indices, updates) is target and target._version == version + 2
        assert plan.bind(target, indices, updates)() is target and target._version == version + 3
        assert torch.equal(target.to(torch.complex64), result.to(torch.complex64))
    turned = torch.zeros(2, 3).T
    assert libgather.scatter(turned, [0], torch.ones(1, 2), inplace=True) is turned and turned[0].tolist() == [1, 1]


def test_gradients_are_not_lost() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    weight, updates = torch.nn.Parameter(torch.zeros(3)), torch.ones(1)
    for arguments in ((weight, [1], updates), (torch.zeros(3), [1], torch.ones(1, requires_grad=True))):
        for inplace in (False, True):
            with pytest.raises(libgather.DTypeError, match="it requires a gradient, which would be lost"):
                libgather.scatter(*arguments, inplace=inplace)
    with torch.no_grad():
        assert libgather.scatter(weight, [1], updates, inplace=True) is weight
    assert weight.tolist() == [0, 1, 0]


def test_tracer_is_refused() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with pytest.raises(libgather.DTypeError, match=r"target: .* no value while JAX traces: call .*jax.pure_callback"):
        jax.jit(lambda x: libgather.scatter(x, [0], x[:1]))(jax.numpy.zeros(3))
