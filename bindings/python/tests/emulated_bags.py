"""gather_bags on devices. test_devices.py runs this file with an emulated device."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from sample_bags import EXTREME, FORMATS, IDS, POOLS, numbers, weights_for
from test_bags import oracle

import emulated_arrays
import libgather
from emulated_arrays import (
    CUDA,
    CUDA_HOST,
    KINDS,
    MANAGED,
    PLACES,
    TABLE,
    Array,
    Bare,
    Stream,
    TorchTensor,
    elements,
    entered,
    table,
    type_of_result,
)

pytest_plugins = "emulated_fixtures"

SUMS = [[2.0, 3.0], [3.0, 3.5]]  # the result of two_bags()
IDS_OF_BAGS = [0, 2, 3]


def two_bags(kind: Any = Array) -> tuple[Any, Any, dict[str, Any]]:
    """Returns a table, ids and the bags of a call whose result is SUMS."""
    return table(kind), kind(IDS_OF_BAGS), {"offsets": kind([0, 2, 3])}


# ---------------------------------------------------------------------------------------------------- results and kinds


@pytest.mark.parametrize("kind", KINDS)
def test_result_has_the_kind_of_params(kind: Any) -> None:
    params, ids, bags = two_bags(kind)
    result = libgather.gather_bags(params, ids, **bags)
    assert elements(result) == SUMS
    assert type(result) is type_of_result(kind)
    out = kind(np.ones((2, 2)), "f4")
    assert libgather.gather_bags(params, ids, **bags, out=out) is out and elements(out) == SUMS


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("padding", [None, 4])
def test_formats_pools_weights_and_padding(pool: Any, form: str, padding: int | None) -> None:
    params, switches = numbers((8, 3), "f8"), {"pool": pool, "padding_index": padding}
    for weights in weights_for(pool):
        given = {**FORMATS[form], "weights": weights, **switches}
        result = libgather.gather_bags(Array(params), Array(IDS), **entered(given))
        expected = oracle(params, np.ones(len(IDS)) if weights is None else weights, pool, padding)
        np.testing.assert_allclose(elements(result), expected, rtol=1e-14)
        assert elements(result) == libgather.gather_bags(params, IDS, **given).tolist()


def valid_calls() -> list[Any]:
    """Returns the dtypes, pools and weights that gather_bags supports together."""
    whole = (["sum", *EXTREME], [None, "own"])
    supported = {"i4": whole, "u1": whole, "c8": (["sum", "mean"], [None])}
    return [
        pytest.param(dtype, pool, weights, id=f"{np.dtype(dtype)}-{pool}-{weights}")
        for dtype in ("f4", "f2", ml_dtypes.bfloat16, "i4", "u1", "c8")
        for pool, weights in product(*supported.get(dtype, (POOLS, [None, "own", "f4"])))
        if not (weights and pool in EXTREME)
    ]


@pytest.mark.parametrize(("dtype", "pool", "weights"), valid_calls())
def test_dtypes_have_the_bytes_of_the_cpu(dtype: Any, pool: Any, weights: str | None) -> None:
    """The numbers have many digits, so that sums in another order have other bytes."""
    rng = np.random.default_rng(4)
    params, ids = (rng.random((20, 5)) * 9).astype(dtype), rng.integers(0, 20, (6, 17))
    given = (rng.random(ids.shape) * 4).astype(dtype if weights == "own" else "f4")
    expected = libgather.gather_bags(params, ids, pool=pool, weights=given if weights else None)
    result = libgather.gather_bags(Array(params), Array(ids), pool=pool, weights=Array(given) if weights else None)
    assert result.dtype == params.dtype and elements(result) == expected.tolist()


def test_other_switches() -> None:
    params, ids = table(), Array([[-1, 9], [0, 1], [9, 9]])
    assert elements(libgather.gather_bags(params, ids, negative="wrap", bounds="skip")) == [
        TABLE[3],
        [1.0, 2.0],
        [0.0, 0.0],
    ]
    assert elements(libgather.gather_bags(params, ids, bounds="clamp", pool="max"))[0] == TABLE[3]
    filled = libgather.gather_bags(params, ids, bounds="fill", fill_value=0.25, pool="min")
    assert elements(filled) == [[0.25, 0.25], TABLE[0], [0.25, 0.25]]
    empty = libgather.gather_bags(params, Array([1]), lengths=Array([0, 1]), empty="fill", fill_value=-7.0)
    assert elements(empty) == [[-7.0, -7.0], TABLE[1]]
    starts = libgather.gather_bags(params, Array([0, 1, 2]), offsets=Array([0, 2]), profile="torch")
    assert elements(starts) == [[1.0, 2.0]]
    halves, ones = Array(np.ones((1, 1)), "f2"), Array(np.zeros((1, 3000)), "i4")
    assert elements(libgather.gather_bags(halves, ones)) == [[3000.0]]
    assert elements(libgather.gather_bags(halves, ones, accumulate="dtype")) == [[2048.0]]  # float16 has no 2049


@pytest.mark.parametrize("kind", [Array, TorchTensor, Bare])
def test_float32_results_of_half(kind: Any) -> None:
    params = (1 + np.arange(24).reshape(8, 3) / 1024).astype("f2")  # a sum of three needs more bits
    ids = np.array([[4, 1, 1], [7, 0, 3]])
    result = libgather.gather_bags(kind(params), kind(ids), out_dtype="float32")
    expected = libgather.gather_bags(params, ids, out_dtype="float32")
    assert str(result.dtype) == "float32" and elements(result) == expected.tolist()
    assert not np.array_equal(expected, expected.astype("f2"))


def test_arrays_without_elements() -> None:
    none = Array([], "i8")
    assert libgather.gather_bags(table(), none, lengths=Array([0, 0])).get() == [[0.0, 0.0]] * 2
    assert libgather.gather_bags(table(), none, offsets=Array([0])).shape == (0, 2)
    assert libgather.gather_bags(table(), Array(np.zeros((2, 0)), "i8")).get() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("device", [(MANAGED, 0), (CUDA_HOST, 0)], ids=["managed", "pinned"])
@pytest.mark.parametrize("operand", ["params", "indices", "offsets", "weights", "out"])
def test_managed_and_pinned_memory(device: tuple[int, int], operand: str) -> None:
    values: dict[str, tuple[Any, str]] = {
        "params": (TABLE, "f4"),
        "indices": (IDS_OF_BAGS, "i8"),
        "offsets": ([0, 2, 3], "i8"),
        "weights": ([1.0, 2.0, 1.0], "f4"),
        "out": (np.zeros((2, 2)), "f4"),
    }
    there: dict[str, Any] = {operand: {"device": device}}
    operands: Any = {name: Bare(*value, **there.get(name, {})) for name, value in values.items()}
    assert elements(libgather.gather_bags(**operands)) == [[4.0, 5.5], TABLE[3]]


# ---------------------------------------------------------------------------------------------- outputs and streams


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_library_of_params_allocates_new_outputs(kind: Any) -> None:
    allocated = emulated_arrays.allocated
    for device in ((CUDA, 0), (CUDA, 1)):
        there = {"device": device}
        params, ids, lengths = table(kind, **there), kind(IDS_OF_BAGS, **there), kind([2, 1], **there)
        result = libgather.gather_bags(params, ids, lengths=lengths)
        assert result is allocated[-1] and type(result) is kind
        assert result.device == device and result.dtype == params.dtype and result.get() == SUMS
    assert len(allocated) == 2
    for error, call in (
        (libgather.DTypeError, lambda: libgather.gather_bags(table(kind), kind([[1.0]]))),
        (libgather.RankError, lambda: libgather.gather_bags(table(kind), kind([[1]]), lengths=kind([1]))),
        (
            libgather.ShapeError,
            lambda: libgather.gather_bags(table(kind), kind([[1]]), weights=kind([[1.0, 2.0]], "f4")),
        ),
    ):
        with pytest.raises(error):
            call()
    assert len(allocated) == 2


def test_call_uses_the_current_stream(current: Stream) -> None:
    params, ids, bags = two_bags()
    result = libgather.gather_bags(params, ids, **bags)
    assert result.get() == [[0.0, 0.0]] * 2
    current.synchronize()
    assert result.get() == SUMS
    again = libgather.gather_bags(params, ids, **bags, sync=True)
    assert again.get() == SUMS


def test_chosen_streams() -> None:
    stream = Stream()
    for where in ({"stream": stream}, {"stream": stream.ptr}, {"context": libgather.Context("cuda", stream=stream)}):
        stream.hold()
        params, ids, bags = two_bags(Bare)
        weights, out = Bare([1.0, 1.0, 1.0], "f4"), Bare(np.zeros((2, 2)), "f4")
        libgather.gather_bags(params, ids, **bags, weights=weights, out=out, **where)  # type: ignore[call-overload]
        assert all(array.streams == [stream.ptr] for array in (params, ids, weights, out, *bags.values()))
        assert out.get() == [[0.0, 0.0]] * 2
        stream.synchronize()
        assert out.get() == SUMS


def test_bags_and_weights_of_another_stream_are_waited_for() -> None:
    context = libgather.Context("cuda", stream=Stream().hold())
    bags, weights = (libgather.Tensor.zeros((3,), dtype, context=context) for dtype in ("int64", "float32"))
    libgather.Tensor(Bare([0, 2, 3], "i8"), context=context).copy_to(bags)
    libgather.Tensor(Bare([1.0, 1.0, 1.0], "f4"), context=context).copy_to(weights)
    arrays = table(Bare), Bare(IDS_OF_BAGS)
    result = libgather.gather_bags(*arrays, offsets=bags, weights=weights, stream=Stream())
    assert result.tolist() == SUMS


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_capture(kind: Any) -> None:
    emulated_arrays.cuda.stream = stream = Stream()
    params, ids, bags = two_bags(kind)
    emulated_arrays.kept.append(libgather.gather_bags(params, ids, **bags))
    stream.begin_capture()
    result = libgather.gather_bags(params, ids, **bags)
    graph = stream.end_capture()
    for row in (1, 3):
        emulated_arrays.ctypes.memmove(ids.address, np.array([row]).ctypes.data, 8)
        stream.launch(graph)
        assert result.get() == [[TABLE[row][0] + 2.0, TABLE[row][1] + 2.5], TABLE[3]]


# --------------------------------------------------------------------------------------------------------------- errors

WRONG: dict[str, tuple[list[int], dict[str, Any]]] = {
    "index": ([1, 4], {"lengths": [2, 0]}),
    "offset": ([1, 0], {"offsets": [0, 3, 2]}),
    "empty": ([1], {"lengths": [1, 0], "empty": "error"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_raised_by_sync(name: str) -> None:
    kind = libgather.IndexError if name == "index" else libgather.OffsetsError
    ids, given = WRONG[name]
    with pytest.raises(kind) as expected:
        libgather.gather_bags(TABLE, ids, **given)

    def call(**how: Any) -> Any:
        bags = {key: Array(value) if isinstance(value, list) else value for key, value in given.items()}
        return libgather.gather_bags(table(), Array(ids), **bags, **how)

    out = Array(np.full((2, 2), 5.0), "f4")
    result = call()
    with pytest.raises(kind) as caught:
        libgather.sync()
    for field in ("operand", "position", "value", "limit"):
        assert getattr(caught.value, field) == getattr(expected.value, field)
    assert not np.array(result.get()).any()
    with pytest.raises(kind):
        call(sync=True, out=out)
    assert out.get() == [[5.0, 5.0]] * 2
    with libgather.Context("cuda:0", stream=Stream()) as context:
        call(context=context)
        libgather.sync()  # has no error of this context
        with pytest.raises(kind):
            context.sync()


@pytest.mark.parametrize(
    ("operand", "places", "where"),
    [
        ("indices", {"indices": "cpu"}, "it is on cpu, params is on cuda:0"),
        ("bags", {"offsets": "cpu"}, "it is on cpu, params is on cuda:0"),
        ("weights", {"weights": "cpu"}, "it is on cpu, params is on cuda:0"),
        ("out", {"out": "cpu"}, "it is on cpu, params is on cuda:0"),
        ("weights", {"weights": "cuda:1"}, "it is on cuda:1, params is on cuda:0"),
        ("bags", {"offsets": "cuda:1"}, "it is on cuda:1, params is on cuda:0"),
        ("params", {"params": "cpu"}, "it is on cpu, indices is on cuda:0"),
        (
            "params",
            {"params": "cpu", "indices": "cpu", "out": "cpu", "weights": "cpu"},
            "it is on cpu, bags is on cuda:0",
        ),
        ("params", {"params": "rocm"}, "DLPack's device 10:0 is no device of this library"),
    ],
)
def test_arrays_on_different_devices_are_refused(operand: str, places: dict[str, str], where: str) -> None:
    values: dict[str, tuple[Any, str]] = {
        "params": (TABLE, "f4"),
        "indices": (IDS_OF_BAGS, "i8"),
        "offsets": ([0, 2, 3], "i8"),
        "weights": ([1.0, 2.0, 1.0], "f4"),
        "out": (np.zeros((2, 2)), "f4"),
    }
    arrays: Any = {name: Bare(*value, device=PLACES[places.get(name, "cuda:0")]) for name, value in values.items()}
    with pytest.raises(libgather.DeviceError) as caught:
        libgather.gather_bags(**arrays)
    assert str(caught.value) == f"{operand}: {where}" and caught.value.operand == operand
    assert caught.value.status_name == "GTH_E_DEVICE"
    assert arrays["out"].get() == [[0.0, 0.0]] * 2


def test_lists_beside_device_arrays_are_refused() -> None:
    params, ids, bags = two_bags()
    for operand, call in (
        ("indices", lambda: libgather.gather_bags(params, [[0]])),
        ("bags", lambda: libgather.gather_bags(params, ids, offsets=[0, 3])),
        ("weights", lambda: libgather.gather_bags(params, ids, **bags, weights=[1.0, 2.0, 3.0])),
    ):
        with pytest.raises(libgather.DeviceError, match=f"{operand}: it is on cpu, params is on cuda:0"):
            call()


def test_wrong_streams_are_refused() -> None:
    params, ids, bags = two_bags()
    with pytest.raises(libgather.OptionError, match="stream and context"):
        libgather.gather_bags(params, ids, **bags, stream=1, context=libgather.Context("cuda"))
    with pytest.raises(libgather.DeviceError, match="params: it is on cuda:0, the context is on cpu"):
        libgather.gather_bags(params, ids, **bags, context=libgather.Context("cpu"))
    calls: tuple[Callable[..., Any], ...] = (
        lambda **how: libgather.gather_bags(np.ones((2, 1)), [[0]], **how),
        lambda **how: libgather.gather_bags([[1.0], [2.0]], [[0]], **how),
        lambda **how: libgather.gather_bags_gradient(np.ones((1, 1)), [[0]], (2, 1), **how),
        lambda **how: libgather.gather_bags_positions(np.ones((2, 1)), [[0]], pool="max", **how),
        lambda **how: libgather.scatter_positions(np.ones(2), [0], np.ones(1), reduction="max", **how),
    )
    for call in calls:
        with pytest.raises(libgather.DeviceError, match="a stream is for arrays on a device"):
            call(stream=1)
        call(sync=True)
        with pytest.raises(libgather.DTypeError, match="sync is int, not a bool"):
            call(sync=1)


def test_failures_of_cuda_are_raised() -> None:
    params, ids, bags = two_bags()
    libgather.gather_bags(params, ids, **bags)
    emulated_arrays.emulation.gth_emulation_fail(1, 700)
    with pytest.raises(libgather.DeviceError) as caught:
        libgather.gather_bags(params, ids, **bags)
    assert caught.value.status_name == "GTH_E_CUDA"


# ------------------------------------------------------------------------------------------------------ other functions


def test_packed_rows_need_the_cpu() -> None:
    packed = libgather.Packed(None, np.ones((3, 4), "i1"))
    with pytest.raises(libgather.DeviceError, match="params: it is on cpu, indices is on cuda:0"):
        libgather.gather_bags(packed, Array([[0]]))
