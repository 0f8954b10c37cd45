"""Scatters and gradients of gathers on devices. test_devices.py runs this file with an emulated device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import emulated_arrays
import libgather
from emulated_arrays import (
    CUDA,
    CUDA_HOST,
    KINDS,
    MANAGED,
    PAIR,
    PLACES,
    TABLE,
    Array,
    Bare,
    Interface,
    Stream,
    TorchTensor,
    elements,
    table,
    type_of_result,
)

pytest_plugins = "emulated_fixtures"

# ---------------------------------------------------------------------------------------------------- the oracle


def combined(reduction: str, include_self: bool, old: Any, updates: list[Any]) -> Any:
    """Returns the element that a scatter makes of an element and its updates, in their order."""
    if reduction == "none":
        return updates[-1]
    values = [old, *updates] if include_self else updates
    step = {"add": np.add, "mean": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    total = values[0]
    for value in values[1:]:
        total = step(total, value)
    if reduction != "mean":
        return total
    is_whole = np.issubdtype(total.dtype, np.integer)
    return total // total.dtype.type(len(values)) if is_whole else total / total.dtype.type(len(values))


def scattered(
    target: np.ndarray, places: list[Any], updates: Any, reduction: str = "none", include_self: bool = True
) -> np.ndarray:
    """Returns the result of a scatter. `places` are keys of NumPy, one for each update."""
    result, found = target.copy(), {}
    for place, update in zip(places, updates, strict=True):
        found.setdefault(place, []).append(update)
    for place, given in found.items():
        result[place] = combined(reduction, include_self, target[place], given)
    return result


def random_calls() -> list[Any]:
    """Returns calls of the three scatters and the places of their updates: (function, target, indices, places)."""
    rng = np.random.default_rng(7)
    target = rng.integers(1, 9, (5, 4)).astype("f4")
    single, tuples = rng.integers(0, 5, 9), rng.integers(0, 4, (9, 2))
    paired = rng.integers(0, 5, (6, 4))
    return [
        ("scatter", target, single, list(single)),
        ("scatter_nd", target, tuples, [tuple(pair) for pair in tuples]),
        ("scatter_elements", target, paired, [(row, column % 4) for column, row in enumerate(paired.reshape(-1))]),
    ]


def updates_of(name: str, target: np.ndarray, indices: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(8)
    shape = {
        "scatter": (*indices.shape, *target.shape[1:]),
        "scatter_nd": indices.shape[:-1],
        "scatter_elements": indices.shape,
    }[name]
    return rng.integers(1, 5, shape).astype(target.dtype)


def axis_of(name: str) -> dict[str, Any]:
    return {"axis": 0, "extents": "prefix"} if "elements" in name else {}


# ---------------------------------------------------------------------------------------------------- results and kinds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inplace", [False, True], ids=["new", "inplace"])
def test_scatter_has_the_kind_of_target(kind: Any, inplace: bool) -> None:
    target = table(kind)
    result = libgather.scatter(target, kind([2, 0]), kind([[7.0, 8.0], [5.0, 6.0]], "f4"), inplace=inplace)
    expected = [[5.0, 6.0], TABLE[1], [7.0, 8.0], TABLE[3]]
    assert elements(result) == expected and elements(target) == (expected if inplace else TABLE)
    assert (result is target) is inplace
    if not inplace:
        assert type(result) is type_of_result(kind)


@pytest.mark.parametrize("name", ["scatter", "scatter_nd", "scatter_elements"])
@pytest.mark.parametrize("inplace", [False, True], ids=["new", "inplace"])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min", "mean"])
@pytest.mark.parametrize("include_self", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_reductions_of_each_scatter(name: str, inplace: bool, reduction: Any, include_self: bool, dtype: str) -> None:
    _, target, indices, places = next(call for call in random_calls() if call[0] == name)
    target = target.astype(dtype)
    updates = updates_of(name, target, indices)
    given = updates.reshape(len(places), *updates.shape[indices.ndim - (name == "scatter_nd") :])
    expected = scattered(target, places, given, reduction, include_self)
    call = getattr(libgather, name)
    arrays = Array(target), Array(indices), Array(updates)
    rules = {"reduction": reduction, "include_self": include_self, "inplace": inplace}
    result = call(*arrays, **axis_of(name), **rules)
    assert elements(result) == expected.tolist()


def test_other_switches() -> None:
    updates = Array([[7.0, 8.0], [5.0, 6.0]], "f4")
    assert elements(libgather.scatter(table(), Array([-1, 9]), updates, negative="wrap", bounds="skip")) == [
        *TABLE[:3],
        [7.0, 8.0],
    ]
    assert elements(libgather.scatter(table(), Array([9, 0]), updates, padding_index=9)) == [[5.0, 6.0], *TABLE[1:]]
    assert elements(libgather.scatter(table(), Array([9, 0]), updates, bounds="clamp"))[3] == [7.0, 8.0]
    halves = Array(np.full(3000, 1.0), "f2")
    indices, zero = Array(np.zeros(3000), "i4"), np.zeros(1)
    added = libgather.scatter(Array(zero, "f2"), indices, halves, reduction="add")
    wide = libgather.scatter(Array(zero, "f2"), indices, halves, reduction="add", accumulate="float32")
    assert (elements(added), elements(wide)) == ([2048.0], [3000.0])  # float16 has no 2049
    whole = libgather.scatter(Array(zero, "i4"), indices, Array(np.ones(3000), "i4"), reduction="add", order="any")
    assert elements(whole) == [3000]
    along = libgather.scatter(table(), Array([1, 1]), Array(np.ones((4, 2)), "f4"), axis=1, reduction="add")
    assert elements(along) == [[first, second + 2] for first, second in TABLE]


def test_last_dims_of_updates_are_repeated() -> None:
    assert elements(libgather.scatter(table(), Array([3, 1]), Array([9.0, 8.0], "f4"))) == [
        TABLE[0],
        [9.0, 8.0],
        TABLE[2],
        [9.0, 8.0],
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_have_the_kind_of_the_gradient(kind: Any) -> None:
    gradient, indices = kind([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "f4"), kind([2, 0, 2])
    for shape in ((3, 2), [3, 2], np.empty((3, 2))):
        result = libgather.gather_gradient(gradient, indices, shape)
        assert elements(result) == [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
    assert type(result) is type_of_result(kind)


@pytest.mark.parametrize("kind", [Array, Bare])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_each_gradient(kind: Any, dtype: str) -> None:
    for name, target, indices, places in random_calls():
        updates = updates_of(name, target.astype(dtype), indices)
        gradient = getattr(libgather, f"{name.replace('scatter', 'gather')}_gradient")
        result = gradient(kind(updates), kind(indices), target.shape, **axis_of(name))
        given = updates.reshape(len(places), *updates.shape[indices.ndim - (name == "scatter_nd") :])
        assert elements(result) == scattered(np.zeros(target.shape, dtype), places, given, "add").tolist()


def test_switches_of_gradients() -> None:
    gradient, indices = Array([1.0, 2.0, 4.0], "f4"), Array([-1, 9, 0])
    assert elements(libgather.gather_gradient(gradient, indices, (2,), bounds="fill")) == [4.0, 0.0]
    assert elements(libgather.gather_gradient(gradient, indices, (2,), bounds="clamp")) == [5.0, 2.0]
    wrapped = libgather.gather_gradient(gradient, indices, (2,), negative="wrap", padding_index=9)
    assert elements(wrapped) == [4.0, 1.0]


@pytest.mark.parametrize("kind", KINDS)
def test_positions_of_maxima_have_the_kind_of_target(kind: Any) -> None:
    result = libgather.scatter_positions(table(kind), kind([1, 1]), kind([*PAIR, [0.0, 9.0]], "f4"), reduction="max")
    assert elements(result) == [[-1, -1], [0, 3], [-1, -1], [-1, -1]] and str(result.dtype) == "int64"
    assert type(result) is type_of_result(kind)


@pytest.mark.parametrize("reduction", ["max", "min"])
def test_positions_of_each_scatter(reduction: Any) -> None:
    for name, target, indices, _ in random_calls():
        given = target, indices, updates_of(name, target, indices)
        how = {"op": name, "reduction": reduction, **axis_of(name)}
        result = libgather.scatter_positions(*map(Array, given), **how)
        assert elements(result) == libgather.scatter_positions(*given, **how).tolist()


def test_arrays_without_elements() -> None:
    none = np.zeros((0, 2))
    assert elements(libgather.scatter(table(), Array([], "i8"), Array(none, "f4"))) == TABLE
    assert libgather.gather_gradient(Array(none, "f4"), Array([], "i8"), (2, 2)).get() == [[0.0, 0.0]] * 2
    assert libgather.gather_gradient(Array(none, "f4"), Array([], "i8"), (0, 2)).shape == (0, 2)


@pytest.mark.parametrize("device", [(MANAGED, 0), (CUDA_HOST, 0)], ids=["managed", "pinned"])
@pytest.mark.parametrize("operand", ["target", "indices", "updates"])
@pytest.mark.parametrize("inplace", [False, True], ids=["new", "inplace"])
def test_managed_and_pinned_memory(device: tuple[int, int], operand: str, inplace: bool) -> None:
    values = {"target": (TABLE, "f4"), "indices": ([3], "i8"), "updates": (PAIR, "f4")}
    there = {"device": device}
    operands: Any = {name: Bare(*value, **there if name == operand else {}) for name, value in values.items()}
    result = libgather.scatter(**operands, inplace=inplace)
    expected = [*TABLE[:3], PAIR[0]]
    assert elements(result) == expected and elements(operands["target"]) == (expected if inplace else TABLE)


def test_strided_target() -> None:
    """The target has every second column of its memory."""
    whole = Interface([[0.0, 9.0, 1.0, 9.0], [2.0, 9.0, 3.0, 9.0]], "f4")
    view = Interface([0.0], "f4")
    shape = {"shape": (2, 2), "strides": (16, 8), "data": whole.__cuda_array_interface__["data"]}
    view.__cuda_array_interface__ |= shape
    updates = Interface([[5.0, 6.0]], "f4")
    assert libgather.scatter(view, Interface([0]), updates).tolist() == [[5.0, 6.0], [2.0, 3.0]]
    libgather.scatter(view, Interface([1]), updates, inplace=True)
    assert elements(whole) == [[0.0, 9.0, 1.0, 9.0], [5.0, 9.0, 6.0, 9.0]]


# ---------------------------------------------------------------------------------------------------------- new outputs


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_library_of_target_allocates_new_outputs(kind: Any) -> None:
    allocated = emulated_arrays.allocated
    for device in ((CUDA, 0), (CUDA, 1)):
        target, indices = table(kind, device=device), kind([2], device=device)
        updates = kind([[7.0, 8.0]], "f4", device=device)
        result = libgather.scatter(target, indices, updates)
        assert result is allocated[-1] and type(result) is kind
        assert result.device == device and result.dtype == target.dtype
        assert result.get() == [*TABLE[:2], [7.0, 8.0], TABLE[3]]
        result = libgather.gather_gradient(updates, indices, (3, 2))
        assert result is allocated[-1] and result.device == device
        assert result.get() == [[0.0, 0.0], [0.0, 0.0], [7.0, 8.0]]
    assert len(allocated) == 4
    updates = kind([[7.0, 8.0]], "f4")
    for error, call in (
        (libgather.DTypeError, lambda: libgather.scatter(table(kind), kind([1.0]), updates)),
        (libgather.RankError, lambda: libgather.scatter(table(kind), kind([1]), updates, axis=2)),
        (libgather.DTypeError, lambda: libgather.gather_gradient(updates, kind([1.0]), (3, 2))),
        (libgather.ShapeError, lambda: libgather.gather_gradient(updates, kind([1]), (-3, 2))),
    ):
        with pytest.raises(error):
            call()
    assert len(allocated) == 4


def test_new_array_is_a_copy_in_the_order_of_the_call(current: Stream) -> None:
    """The target is written on the stream of the call, which the current stream does not wait for."""
    other = Stream().hold()
    target, indices = table(), Array([0])
    libgather.scatter(target, indices, Array([[7.0, 8.0]], "f4"), inplace=True, stream=other)
    result = libgather.scatter(target, Array([1]), Array([[5.0, 6.0]], "f4"), stream=other)
    assert result.streams[-1] == other.ptr
    current.synchronize()  # waits for the call
    assert result.get() == [[7.0, 8.0], [5.0, 6.0], *TABLE[2:]]


# -------------------------------------------------------------------------------------------------------------- streams


def test_call_uses_the_current_stream(current: Stream) -> None:
    arrays = table(), Array([2]), Array([[7.0, 8.0]], "f4")
    expected = [*TABLE[:2], [7.0, 8.0], TABLE[3]]
    result = libgather.scatter(*arrays)
    gradient = libgather.gather_gradient(arrays[2], arrays[1], (3, 2))
    assert libgather.scatter(*arrays, inplace=True).get() == TABLE
    assert [set(array.streams) for array in arrays] == [{-1}] * 3  # the streams are the same and need no order
    current.synchronize()
    assert result.get() == arrays[0].get() == expected and gradient.get() == [[0.0, 0.0]] * 2 + [[7.0, 8.0]]


def test_call_uses_the_given_stream() -> None:
    stream = Stream().hold()
    for where in ({"stream": stream}, {"stream": stream.ptr}, {"context": libgather.Context("cuda", stream=stream)}):
        target, updates = table(Bare), Bare([[7.0, 8.0]], "f4")
        libgather.scatter(target, Bare([1]), updates, inplace=True, **where)  # type: ignore[call-overload]
        gradient = libgather.gather_gradient(updates, Bare([0]), (1, 2), **where)  # type: ignore[arg-type]
        assert target.streams == [stream.ptr] and target.get() == TABLE
        stream.synchronize()
        assert target.get() == [TABLE[0], [7.0, 8.0], *TABLE[2:]] and gradient.tolist() == [[7.0, 8.0]]


def test_stream_of_an_interface_waits_for_the_call(current: Stream) -> None:
    other = Stream()
    target = Interface(TABLE, "f4", stream=other.ptr)
    libgather.scatter(target, Array([3]), Array([[7.0, 8.0]], "f4"), inplace=True)
    assert elements(target)[3] == [7.0, 8.0]


def test_tensors_of_another_stream_are_waited_for() -> None:
    context = libgather.Context("cuda", stream=Stream().hold())
    target = libgather.Tensor.zeros((2,), "int64", context=context)
    libgather.Tensor(Bare([3, 1], "i8"), context=context).copy_to(target)
    libgather.scatter(target, Bare([1]), Bare([9], "i8"), inplace=True, reduction="add", stream=Stream())
    assert target.tolist() == [3, 10]


def test_borrowed_memory_is_held_until_the_stream_has_finished(current: Stream) -> None:
    before = emulated_arrays.exports()
    context = libgather.Context("cuda", stream=current)
    target = table(Bare)
    libgather.scatter(target, Bare([1]), Bare([[7.0, 8.0]], "f4"), inplace=True, context=context)
    assert emulated_arrays.exports() == before + 3
    context.sync()
    assert emulated_arrays.exports() == before and target.get()[1] == [7.0, 8.0]


# --------------------------------------------------------------------------------------------------------------- errors


def test_errors_are_raised_by_sync() -> None:
    updates = Array([[7.0, 8.0], [5.0, 6.0]], "f4")
    target = table()
    assert libgather.scatter(target, Array([1, 4]), updates, inplace=True) is target
    made = libgather.scatter(table(), Array([1, -1]), updates, reduction="add")
    gradient = libgather.gather_gradient(updates, Array([1, 2]), (2, 2))
    with pytest.raises(IndexError) as caught:
        libgather.sync()
    error = caught.value
    assert isinstance(error, libgather.IndexError)
    assert (error.operand, error.position, error.value, error.limit) == ("indices", 1, 4, 4)
    assert target.get() == made.get() == TABLE and gradient.get() == [[0.0, 0.0]] * 2
    libgather.sync()  # the error is raised once


WRONG: list[Callable[..., Any]] = [
    lambda **how: libgather.scatter(table(), Array([4]), Array(PAIR, "f4"), **how),
    lambda **how: libgather.scatter(table(), Array([4]), Array(PAIR, "f4"), inplace=True, **how),
    lambda **how: libgather.scatter_nd(table(), Array([[4]]), Array(PAIR, "f4"), **how),
    lambda **how: libgather.scatter_elements(table(), Array([[4, 0]]), Array(PAIR, "f4"), 0, extents="prefix", **how),
    lambda **how: libgather.gather_gradient(Array(PAIR, "f4"), Array([4]), (4, 2), **how),
    lambda **how: libgather.gather_nd_gradient(Array(PAIR, "f4"), Array([[4]]), (4, 2), **how),
    lambda **how: libgather.gather_elements_gradient(
        Array(PAIR, "f4"), Array([[4, 0]]), (4, 2), 0, extents="prefix", **how
    ),
    lambda **how: libgather.scatter_positions(table(), Array([4]), Array(PAIR, "f4"), reduction="max", **how),
]


@pytest.mark.parametrize("call", WRONG)
def test_call_does_not_wait(call: Callable[..., Any]) -> None:
    call()
    with pytest.raises(libgather.IndexError):
        libgather.sync()


@pytest.mark.parametrize("call", WRONG)
def test_errors_are_raised_at_the_call(call: Callable[..., Any]) -> None:
    with pytest.raises(libgather.IndexError) as caught:
        call(sync=True)
    assert caught.value.value == 4
    libgather.sync()


@pytest.mark.parametrize("call", WRONG)
def test_error_of_a_context_is_raised_by_this_context_only(call: Callable[..., Any]) -> None:
    with libgather.Context("cuda:0", stream=Stream()) as context:
        call(context=context)
        libgather.sync()
        with pytest.raises(libgather.IndexError):
            context.sync()
        context.sync()


@pytest.mark.parametrize(
    ("target", "indices", "updates", "context", "operand", "where"),
    [
        ("cuda:0", "cpu", "cuda:0", None, "indices", "it is on cpu, target is on cuda:0"),
        ("cuda:0", "cuda:0", "cpu", None, "updates", "it is on cpu, target is on cuda:0"),
        ("cpu", "cpu", "cuda:1", None, "target", "it is on cpu, updates is on cuda:1"),
        ("cpu", "cuda:0", "cuda:0", None, "target", "it is on cpu, indices is on cuda:0"),
        ("cuda:0", "cuda:1", "cuda:0", None, "indices", "it is on cuda:1, target is on cuda:0"),
        ("cuda:1", "cuda:1", "cuda:1", "cuda:0", "target", "it is on cuda:1, the context is on cuda:0"),
        ("cuda:0", "cuda:0", "cuda:0", "cpu", "target", "it is on cuda:0, the context is on cpu"),
        ("cpu", "cpu", "cpu", "cuda:0", "target", "it is on cpu, the context is on cuda:0"),
        ("rocm", "rocm", "rocm", None, "target", "DLPack's device 10:0 is no device of this library"),
    ],
)
def test_arrays_on_different_devices_are_refused(
    target: str, indices: str, updates: str, context: str | None, operand: str, where: str
) -> None:
    there = None if context is None else libgather.Context(context)
    arrays = (
        Bare(TABLE, "f4", device=PLACES[target]),
        Bare([0], device=PLACES[indices]),
        Bare(PAIR, "f4", device=PLACES[updates]),
    )
    for inplace in (False, True):
        with pytest.raises(libgather.DeviceError) as caught:
            libgather.scatter(*arrays, inplace=inplace, context=there)
        assert str(caught.value) == f"{operand}: {where}" and caught.value.operand == operand
        assert caught.value.status_name == "GTH_E_DEVICE"


def test_gradient_of_arrays_on_different_devices_is_refused() -> None:
    for updates, indices, where in (
        ("cuda:0", "cpu", "indices: it is on cpu, updates is on cuda:0"),
        ("cpu", "cuda:1", "updates: it is on cpu, indices is on cuda:1"),
        ("cuda:1", "cuda:0", "indices: it is on cuda:0, updates is on cuda:1"),
    ):
        with pytest.raises(libgather.DeviceError) as caught:
            libgather.gather_gradient(
                Bare(PAIR, "f4", device=PLACES[updates]), Bare([0], device=PLACES[indices]), (4, 2)
            )
        assert str(caught.value) == where


def test_lists_and_numbers_beside_device_arrays_are_refused() -> None:
    for indices, updates, operand in (
        ([0], Array(PAIR, "f4"), "indices"),
        (Array([0]), PAIR, "updates"),
        (Array([0]), 1.0, "updates"),
    ):
        with pytest.raises(libgather.DeviceError, match=f"{operand}: it is on cpu, target is on cuda:0"):
            libgather.scatter(table(), indices, updates)


def test_host_arrays_have_no_stream() -> None:
    calls: tuple[Callable[..., Any], ...] = (
        lambda **how: libgather.scatter(np.ones(2), [0], [1.0], **how),
        lambda **how: libgather.scatter([1.0, 2.0], [0], [1.0], **how),
        lambda **how: libgather.scatter(np.ones(2, "S3"), [0], np.ones(1, "S3"), **how),
        lambda **how: libgather.gather_gradient(np.ones(2), [0, 1], (3,), **how),
        lambda **how: libgather.ScatterPlan(np.ones(2), np.array([0]))(np.ones(2), np.array([0]), np.ones(1), **how),
    )
    for call in calls:
        with pytest.raises(libgather.DeviceError, match="a stream is for arrays on a device"):
            call(stream=1)
        call(sync=True)
        with pytest.raises(libgather.DTypeError, match="sync is int, not a bool"):
            call(sync=1)


def test_stream_beside_context_is_refused() -> None:
    with pytest.raises(libgather.OptionError, match="stream and context"):
        libgather.scatter(table(), Array([0]), Array(PAIR, "f4"), stream=1, context=libgather.Context("cuda"))


def test_invalid_targets_and_updates_are_refused() -> None:
    with pytest.raises(libgather.DTypeError, match="updates"):
        libgather.scatter(table(), Array([0]), Array(PAIR, "f8"))
    for inplace in (False, True):
        with pytest.raises(libgather.ShapeError, match="updates"):
            libgather.scatter(table(), Array([0]), Array([[1.0, 2.0, 3.0]], "f4"), inplace=inplace)
    target = table(Bare)
    with pytest.raises(libgather.OutputError):
        libgather.scatter(target, Bare([0, 1, 2, 3]), target, inplace=True)
    constant = Interface(TABLE, "f4")
    constant.__cuda_array_interface__["data"] = (constant.memory.address, True)
    with pytest.raises(libgather.OutputError, match="target"):
        libgather.scatter(constant, Interface([0]), Interface(PAIR, "f4"), inplace=True)
    assert elements(target) == elements(constant) == TABLE


def test_failures_of_cuda_are_raised() -> None:
    arrays = table(), Array([0]), Array(PAIR, "f4")
    libgather.scatter(*arrays)
    for inplace in (False, True):
        emulated_arrays.emulation.gth_emulation_fail(1, 700)
        with pytest.raises(libgather.DeviceError) as caught:
            libgather.scatter(*arrays, inplace=inplace)
        assert caught.value.status_name == "GTH_E_CUDA"


# ---------------------------------------------------------------------------------------------------------------- plans


def test_plans(current: Stream) -> None:
    target, updates = table(), Array(PAIR, "f4")
    plan = libgather.ScatterPlan(target, libgather.Spec("int64", (-1,)), reduction="add")
    assert repr(plan).count("cuda:0") == 1
    assert plan(target, Array([3]), updates) is target and target.get() == TABLE
    current.synchronize()
    assert target.get() == [*TABLE[:3], [10.0, 11.5]]
    with pytest.raises(libgather.IndexError):
        plan(target, Array([4]), updates, sync=True)
    chosen = Stream().hold()
    plan(target, Array([0]), updates, stream=chosen)
    assert target.get()[0] == TABLE[0]
    chosen.synchronize()
    assert target.get()[0] == [7.0, 8.5]
    with pytest.raises(libgather.IndexError):
        plan.check(Array([1, 4]), sync=True)
    plan(target, Array([9]), updates)
    with pytest.raises(libgather.IndexError):
        libgather.sync()


def test_plans_of_specs() -> None:
    specs = libgather.Spec("float32", (4, 2), device="cuda:1"), libgather.Spec("int64", (-1,))
    there = {"device": (CUDA, 1)}
    target = table(**there)
    libgather.ScatterPlan(*specs)(target, Array([1], **there), Array(PAIR, "f4", **there))
    assert target.get()[1] == PAIR[0]


def test_plans_are_for_one_device() -> None:
    plan = libgather.ScatterPlan(table(), Array([0]))
    there = {"device": (CUDA, 1)}
    for arrays in (
        (table(**there), Array([0], **there), Array(PAIR, "f4", **there)),
        (np.array(TABLE, "f4"), np.array([0]), np.array(PAIR, "f4")),
        (table(), Array([0]), PAIR),
    ):
        with pytest.raises(libgather.DeviceError):
            plan(*arrays)


def test_bound_plans() -> None:
    target, indices, updates = table(), Array([2], "i8"), Array(PAIR, "f4")
    stream = Stream()
    add = libgather.ScatterPlan(target, indices, reduction="add").bind(target, indices, updates, stream=stream)
    stream.hold()
    assert add() is target and target.get() == TABLE
    add()
    stream.synchronize()
    assert target.get()[2] == [16.0, 18.5]
    emulated_arrays.ctypes.memset(indices.address, 0x7F, 8)
    add()
    with pytest.raises(libgather.IndexError):
        libgather.sync()
    assert target.get()[2] == [16.0, 18.5]


# ------------------------------------------------------------------------------------------------------------- captures


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_capture(kind: Any) -> None:
    emulated_arrays.cuda.stream = stream = Stream()
    target, indices, updates = table(kind), kind([1], "i8"), kind(PAIR, "f4")

    def calls() -> list[Any]:
        return [
            libgather.scatter(target, indices, updates),
            libgather.scatter(target, indices, updates, reduction="add", inplace=True),
            libgather.gather_gradient(updates, indices, (3, 2)),
        ]

    first = calls()
    emulated_arrays.kept += [first[2], first[0]]
    expected = np.array(target.get())
    stream.begin_capture()
    results = calls()
    graph = stream.end_capture()
    assert target.get() == expected.tolist()
    for row in (2, 0):
        emulated_arrays.ctypes.memmove(indices.address, np.array([row]).ctypes.data, 8)
        stream.launch(graph)
        copy, zero = expected.copy(), np.zeros((3, 2))
        copy[row] = zero[row] = PAIR[0]
        expected[row] += PAIR[0]
        assert [result.get() for result in results] == [copy.tolist(), expected.tolist(), zero.tolist()]


# ------------------------------------------------------------------------------------------------------ other functions


@pytest.mark.parametrize("kind", KINDS)
def test_put_along_axis(kind: Any) -> None:
    target = table(kind)
    libgather.put_along_axis(target, kind([[1], [-2], [0], [1]]), kind([[7.0], [8.0], [9.0], [6.0]], "f4"), 1)
    assert elements(target) == [[0.0, 7.0], [8.0, 1.5], [9.0, 2.5], [3.0, 6.0]]
    libgather.put_along_axis(target, kind([[1], [0], [0], [1]]), kind([5.0], "f4"), 1)
    assert elements(target) == [[0.0, 5.0], [5.0, 1.5], [5.0, 2.5], [3.0, 5.0]]
    libgather.put_along_axis(target, kind([0, -1]), kind([1.0, 2.0], "f4"), None)
    assert elements(target) == [[1.0, 5.0], [5.0, 1.5], [5.0, 2.5], [3.0, 2.0]]
    libgather.put_along_axis(target, kind([9]), kind([1.0], "f4"), None)
    with pytest.raises(libgather.IndexError):
        libgather.sync()
    with pytest.raises(libgather.DeviceError, match="updates: it is on cpu, target is on cuda:0"):
        libgather.put_along_axis(target, kind([[1], [0], [0], [1]]), 5, 1)


def test_put_along_axis_uses_the_current_stream(current: Stream) -> None:
    target = table()
    libgather.put_along_axis(target, Array([[1], [0], [0], [1]]), Array([5.0], "f4"), 1)
    assert target.get() == TABLE
    current.synchronize()
    assert target.get() == [[0.0, 5.0], [5.0, 1.5], [5.0, 2.5], [3.0, 5.0]]


def test_tensorflow_has_the_rules_of_its_gpu_kernels() -> None:
    """The GPU kernels ignore an index out of bounds."""
    indices, updates = Array([[0], [9]]), Array([[7.0, 8.0], [5.0, 6.0]], "f4")
    assert elements(libgather.tf.tensor_scatter_nd_update(table(), indices, updates)) == [[7.0, 8.0], *TABLE[1:]]
    assert elements(libgather.tf.tensor_scatter_nd_add(table(), indices, updates))[0] == [7.0, 8.5]
    assert elements(libgather.tf.tensor_scatter_nd_max(table(), indices, updates))[0] == [7.0, 8.0]
    assert elements(libgather.tf.tensor_scatter_nd_min(table(), indices, updates)) == TABLE
    assert elements(libgather.tf.scatter_nd(indices, updates, (2, 2))) == [[7.0, 8.0], [0.0, 0.0]]
    libgather.sync()
    with pytest.raises(libgather.Error):
        libgather.tf.tensor_scatter_nd_add(table(), indices, updates, bad_indices_policy="ERROR")
