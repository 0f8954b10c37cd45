"""Gradients and positions of bags on devices. test_devices.py runs this file with an emulated device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sample_bags import EXTREME, FORMATS, IDS, POOLS, numbers, weights_for
from test_bag_gradients import oracle

import emulated_arrays
import libgather
from emulated_arrays import (
    CUDA,
    KINDS,
    PAIR,
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

#: The calls on the bag of rows 1 and 3 of TABLE, whose gradient is PAIR, and their results.
CALLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "gradient": (
        lambda kind, ids=(1, 3), **how: libgather.gather_bags_gradient(kind(PAIR, "f4"), kind([ids]), (4, 2), **how),
        [[0.0, 0.0], PAIR[0], [0.0, 0.0], PAIR[0]],
    ),
    "weights": (
        lambda kind, ids=(1, 3), **how: libgather.gather_bags_weight_gradient(
            kind(PAIR, "f4"), kind([ids]), table(kind), **how
        ),
        [[19.0, 49.0]],
    ),
    "positions": (
        lambda kind, ids=(1, 3), **how: libgather.gather_bags_positions(table(kind), kind([ids]), pool="max", **how),
        [[1, 1]],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_result_has_the_kind_of_the_array(name: str, kind: Any) -> None:
    call, expected = CALLS[name]
    result = call(kind)
    assert elements(result) == expected and str(result.dtype) == ("int64" if name == "positions" else "float32")
    assert type(result) is type_of_result(kind)
    if kind in (Array, TorchTensor):
        assert result is emulated_arrays.allocated[-1]


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("padding", [None, 4])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_results_have_the_bytes_of_the_cpu(pool: Any, form: str, padding: int | None, dtype: str) -> None:
    params, given = numbers((8, 3), dtype), numbers((4, 3), dtype, 7)
    for full in weights_for(pool):
        weights = None if full is None else full.astype(dtype)
        switches: dict[str, Any] = {**FORMATS[form], "pool": pool, "padding_index": padding, "weights": weights}
        there = entered(switches)
        result = libgather.gather_bags_gradient(Array(given), Array(IDS), Array(params), **there)
        assert elements(result) == libgather.gather_bags_gradient(given, IDS, params, **switches).tolist()
        factors = np.ones(len(IDS)) if weights is None else weights.astype("f8")
        expected = oracle(given.astype("f8"), params.astype("f8"), factors, pool, padding)
        bits = np.finfo(dtype).nmant
        np.testing.assert_allclose(elements(result), expected, rtol=2.0 ** (2 - bits), atol=2.0 ** (4 - bits))
        if pool in EXTREME:
            positions = libgather.gather_bags_positions(Array(params), Array(IDS), **there)
            assert elements(positions) == libgather.gather_bags_positions(params, IDS, **switches).tolist()
        else:
            result = libgather.gather_bags_weight_gradient(Array(given), Array(IDS), Array(params), **there)
            assert elements(result) == libgather.gather_bags_weight_gradient(given, IDS, params, **switches).tolist()
            from_shape = libgather.gather_bags_gradient(Array(given), Array(IDS), params.shape, **there)
            assert elements(from_shape) == libgather.gather_bags_gradient(given, IDS, params, **switches).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_gradients_have_as_many_rows_as_were_read(kind: Any) -> None:
    ids = [7, 3, 7, 7]
    given = [[1.0], [2.0]]
    rows, sums = libgather.gather_bags_sparse_gradient(kind(given, "f4"), kind([ids[:2], ids[2:]]), (1000, 1))
    assert elements(rows) == [3, 7] and elements(sums) == [[1.0], [5.0]]
    assert str(rows.dtype) == "int64" and type(rows) is type(sums)
    assert type(sums) is type_of_result(kind)
    none, sums = libgather.gather_bags_sparse_gradient(kind(given, "f4"), kind([[5], [5]]), (9, 1), padding_index=5)
    assert elements(none) == [] and tuple(sums.shape) == (0, 1)
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather_bags_sparse_gradient(kind(given, "f4"), kind([[1], [9]]), (9, 1))
    assert (caught.value.operand, caught.value.position, caught.value.value) == ("indices", 1, 9)


def test_order() -> None:
    given, ids = Array(np.ones((1, 1)), "i4"), Array(np.zeros((1, 3000)), "i4")
    assert elements(libgather.gather_bags_gradient(given, ids, (1, 1), order="any")) == [[3000]]


@pytest.mark.parametrize("name", CALLS)
def test_calls_run_in_stream_order(name: str, current: Stream) -> None:
    call, expected = CALLS[name]
    result = call(Array)
    assert not np.array(result.get()).any()
    current.synchronize()
    assert result.get() == expected and call(Array, sync=True).get() == expected
    for where in ({"stream": Stream()}, {"context": libgather.Context("cuda", stream=Stream())}):
        assert elements(call(Bare, **where)) == expected


def test_capture() -> None:
    emulated_arrays.cuda.stream = stream = Stream()
    given, ids, params = Array(PAIR, "f4"), Array([[1, 3]], "i8"), table()
    calls: tuple[Callable[[], Any], ...] = (
        lambda: libgather.gather_bags_gradient(given, ids, (4, 2)),
        lambda: libgather.gather_bags_weight_gradient(given, ids, params),
        lambda: libgather.gather_bags_positions(params, ids, pool="max"),
    )
    for call, (_, expected) in zip(calls, CALLS.values(), strict=True):
        emulated_arrays.kept.append(call())
        stream.begin_capture()
        result = call()
        graph = stream.end_capture()
        stream.launch(graph)
        assert result.get() == expected


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_raised_by_sync(name: str) -> None:
    call = CALLS[name][0]
    result = call(Array, (1, 4))
    with pytest.raises(libgather.IndexError) as caught:
        libgather.sync()
    assert (caught.value.operand, caught.value.position, caught.value.value, caught.value.limit) == ("indices", 1, 4, 4)
    assert not np.array(result.get()).any()
    with pytest.raises(libgather.IndexError):
        call(Array, (1, 4), sync=True)
    with pytest.raises(libgather.OffsetsError):
        libgather.gather_bags_gradient(Array(PAIR, "f4"), Array([1, 2]), (4, 2), offsets=Array([1, 2]), sync=True)


@pytest.mark.parametrize(
    ("operand", "places", "where"),
    [
        ("indices", {"indices": "cpu"}, "it is on cpu, updates is on cuda:0"),
        ("params", {"params": "cpu"}, "it is on cpu, updates is on cuda:0"),
        ("weights", {"weights": "cuda:1"}, "it is on cuda:1, updates is on cuda:0"),
        ("updates", {"gradient": "cpu"}, "it is on cpu, indices is on cuda:0"),
        ("bags", {"lengths": "cpu"}, "it is on cpu, updates is on cuda:0"),
    ],
)
def test_arrays_on_different_devices_are_refused(operand: str, places: dict[str, str], where: str) -> None:
    values: dict[str, tuple[Any, str]] = {
        "gradient": (PAIR, "f4"),
        "indices": ([1, 3], "i8"),
        "params": (TABLE, "f4"),
        "lengths": ([2], "i8"),
        "weights": ([1.0, 2.0], "f4"),
    }
    arrays: Any = {name: Bare(*value, device=PLACES[places.get(name, "cuda:0")]) for name, value in values.items()}
    for call in (libgather.gather_bags_gradient, libgather.gather_bags_weight_gradient):
        with pytest.raises(libgather.DeviceError) as caught:
            call(**arrays)
        assert str(caught.value) == f"{operand}: {where}" and caught.value.operand == operand
    with pytest.raises(libgather.DeviceError, match="it is on cpu, params is on cuda:0"):
        libgather.gather_bags_positions(table(), [[1, 3]], pool="max")
    with pytest.raises(libgather.DeviceError, match="it is on cuda:1, the context is on cuda:0"):
        CALLS["gradient"][0](lambda *given: Array(*given, device=(CUDA, 1)), context=libgather.Context("cuda:0"))
