"""partition on devices. test_devices.py runs this file with an emulated device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_partition import LAYOUTS, MISTAKES, ROWS, check

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
    Interface,
    Stream,
    TorchTensor,
    elements,
    table,
    tensor,
    type_of_result,
)
from libgather._base.request_fields import Request
from libgather._operations.partitions import bordered, partition_ids

pytest_plugins = "emulated_fixtures"

IDS = [7, 0, 7, 3]
#: The partition of IDS among two blocks of four rows: counts, local, order and place.
PARTS = [[2, 2], [0, 3, 3, 3], [1, 3, 0, 2], [2, 0, 3, 1]]
ONCE = [[2, 1], [0, 3, 3, 0], None, [2, 0, 2, 1]]


def lists_of(parts: Any) -> list[Any]:
    """Returns the elements of a partition after the work of all streams."""
    return [None if array is None else elements(array) for array in parts]


def of_host(parts: Any) -> libgather.Partition:
    """Returns a partition as arrays of NumPy, without the elements after the last slice."""
    counts, local, order, place = (
        None if array is None else np.array(elements(array), np.int64).reshape(array.shape) for array in parts
    )
    assert counts is not None and local is not None and place is not None
    size = counts.sum()
    return libgather.Partition(counts, local[:size], None if order is None else order[:size], place)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("once", [False, True])
def test_results_have_the_kind_of_ids(kind: Any, once: bool) -> None:
    parts = libgather.partition(kind(IDS), 8, shards=2, once=once)
    assert lists_of(parts) == (ONCE if once else PARTS)
    for array in parts:
        if array is not None:
            assert str(array.dtype) == "int64"
            assert type(array) is type_of_result(kind)
    if kind in (Array, TorchTensor):
        assert {id(array) for array in parts if array is not None} == {*map(id, emulated_arrays.allocated)}


def test_slices_wait_for_the_counts(current: Stream) -> None:
    parts = libgather.partition(tensor(IDS), 8, shards=2)
    assert parts.slices == [slice(0, 2), slice(2, 4)]


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1000,), (20, 30), (3, 0, 2)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_partition_equals_the_oracle(layout: str, shape: tuple[int, ...], once: bool) -> None:
    ids = np.random.default_rng(5).integers(0, ROWS, shape)
    for keywords, given, meant in (
        ({}, ids, ids),
        ({"negative": "wrap"}, ids - ROWS // 2, (ids - ROWS // 2) % ROWS),
        ({"bounds": "clamp"}, ids * 2 - 50, np.clip(ids * 2 - 50, 0, ROWS - 1)),
        ({"bounds": "modulo"}, ids * 3 - 90, (ids * 3 - 90) % ROWS),
        ({"bounds": "skip"}, ids * 2, np.where(ids * 2 < ROWS, ids * 2, -1)),
        ({"bounds": "fill"}, ids * 2, np.where(ids * 2 < ROWS, ids * 2, -1)),
        ({"profile": "numpy_wrap"}, ids * 3 - 90, (ids * 3 - 90) % ROWS),
        ({"profile": "tensorflow_gpu"}, ids * 2 - 50, np.where((ids >= 25) & (ids < 75), ids * 2 - 50, -1)),
    ):
        switches: Any = keywords
        parts = libgather.partition(Array(np.asarray(given)), ROWS, once=once, **LAYOUTS[layout][0], **switches)
        check(of_host(parts), np.asarray(meant), layout, once)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_dtypes(dtype: str) -> None:
    ids = np.random.default_rng(6).integers(0, ROWS, (12, 10)).astype(dtype)
    for once in (False, True):
        check(of_host(libgather.partition(Array(ids), ROWS, shards=7, once=once)), ids.astype(int), "blocks", once)


def test_ids_with_strides() -> None:
    ids = np.random.default_rng(6).integers(0, ROWS, (12, 10))
    columns = Interface(ids)
    columns.__cuda_array_interface__.update(shape=(10, 12), strides=(8, 80))
    check(of_host(libgather.partition(columns, ROWS, shards=7)), ids.T, "blocks", False)


@pytest.mark.parametrize("device", [(MANAGED, 0), (CUDA, 1)], ids=["managed", "second"])
def test_results_are_on_the_device_of_ids(device: tuple[int, int]) -> None:
    parts = libgather.partition(TorchTensor(IDS, device=device), 8, borders=[0, 4, 8])
    assert lists_of(parts) == PARTS
    assert all(array.device == (CUDA, device[1]) for array in parts)


def test_pinned_ids_are_on_the_device_of_the_context() -> None:
    ids = Bare(IDS, device=(CUDA_HOST, 0))
    assert type(libgather.partition(ids, 8, shards=2).place) is np.ndarray
    parts = libgather.partition(ids, 8, shards=2, context=libgather.Context("cuda:1"))
    assert parts.place.device == "cuda:1" and lists_of(parts) == PARTS


@pytest.mark.parametrize("once", [False, True])
def test_rows_of_a_partition_are_gathered(once: bool) -> None:
    values, ids = np.random.default_rng(8).random((ROWS, 3)), np.random.default_rng(9).integers(0, ROWS, (20, 30))
    parts = libgather.partition(Array(ids), ROWS, shards=7, once=once)
    counts, local, _, _ = of_host(parts)
    first = np.repeat(np.arange(0, 7 * 15, 15), counts)
    rows = Array(values[first + local])
    assert elements(libgather.gather(rows, parts.place)) == values[ids].tolist()
    with pytest.raises(libgather.UnsupportedError, match=r"indices: join\(\) is run on the CPU only"):
        parts.join([rows])


# ---------------------------------------------------------------------------------------------- streams


def test_call_uses_the_current_stream(current: Stream) -> None:
    parts = libgather.partition(Array(IDS), 8, shards=2)
    assert not any(np.any(array.get()) for array in parts)
    current.synchronize()
    assert [array.get() for array in parts] == PARTS
    again = libgather.partition(Array(IDS), 8, shards=2, sync=True)
    assert [array.get() for array in again] == PARTS


def test_chosen_streams() -> None:
    stream = Stream()
    for where in ({"stream": stream}, {"stream": stream.ptr}, {"context": libgather.Context("cuda", stream=stream)}):
        switches: Any = where
        ids = Bare(IDS)
        parts = libgather.partition(ids, 8, shards=2, **switches)
        assert ids.streams == [stream.ptr] and lists_of(parts) == PARTS


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_capture(kind: Any) -> None:
    emulated_arrays.cuda.stream = stream = Stream()
    ids = kind(IDS)
    emulated_arrays.kept.extend(reversed(libgather.partition(ids, 8, borders=[0, 4, 8])))
    stream.begin_capture()
    parts = libgather.partition(ids, 8, borders=[0, 4, 8])
    graph = stream.end_capture()
    for given, expected in ((IDS, PARTS), ([0, 1, 2, 3], [[4, 0], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]])):
        emulated_arrays.ctypes.memmove(ids.address, np.array(given).ctypes.data, 32)
        stream.launch(graph)
        assert [array.get() for array in parts] == expected


# --------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("once", [False, True])
def test_first_id_out_of_bounds_is_raised_by_sync(layout: str, once: bool) -> None:
    ids = np.zeros((3, 100), int)
    ids[2, 99], ids[1, 7], ids[2, 0] = -1, ROWS, 2**62
    parts = libgather.partition(Array(ids), ROWS, once=once, **LAYOUTS[layout][0])
    with pytest.raises(libgather.IndexError) as caught:
        libgather.sync()
    error = caught.value
    assert (error.operand, error.position, error.value, error.limit) == ("indices", 107, ROWS, ROWS)
    assert not any(np.any(array.get()) for array in parts if array is not None)
    with pytest.raises(libgather.IndexError):
        libgather.partition(Array(ids), ROWS, once=once, **LAYOUTS[layout][0], sync=True)


def test_no_rows() -> None:
    assert elements(libgather.partition(Array([], "i8"), 0, shards=3).counts) == [0, 0, 0]
    assert elements(libgather.partition(Array([], "i8"), 0, borders=[0, 0]).counts) == [0]
    for bounds in ("error", "clamp", "modulo"):
        with pytest.raises(libgather.IndexError):
            libgather.partition(Array([0]), 0, shards=3, bounds=bounds, sync=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ids", "rows", "keywords", "kind", "message"),
    [
        *MISTAKES,
        ([0], 8, {"shards": -1}, libgather.ShapeError, "count is -1"),
        ([0], 8, {"borders": Array([0, 8])}, libgather.DTypeError, "no sequence of integers"),
        ([0], 8, {"shards": 1, "sync": 1}, libgather.DTypeError, "sync is int, not a bool"),
        ([0], 8, {"shards": 1, "context": "cuda"}, libgather.DTypeError, "str is not a libgather.Context"),
    ],
)
def test_invalid_arguments_are_refused(ids: Any, rows: Any, keywords: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        libgather.partition(Array(ids), rows, **keywords)
    assert not emulated_arrays.allocated


def test_more_rows_than_32_bits_count_are_refused_for_unique_ids() -> None:
    assert elements(libgather.partition(Array([2**32]), 2**32 + 1, shards=1).local) == [2**32]
    with pytest.raises(libgather.UnsupportedError, match="at most 4294967294 rows of unique ids, not 4294967295"):
        libgather.partition(Array([0]), 2**32 - 1, shards=1, once=True)


def test_ids_on_another_device_are_refused() -> None:
    calls: tuple[tuple[Callable[[], Any], str], ...] = (
        (
            lambda: libgather.partition(Bare(IDS, device=(CUDA, 1)), 8, shards=2, context=libgather.Context("cuda:0")),
            "indices: it is on cuda:1, the context is on cuda:0",
        ),
        (
            lambda: libgather.partition(Array(IDS), 8, shards=2, context=libgather.Context("cpu")),
            "indices: it is on cuda:0, the context is on cpu",
        ),
        (
            lambda: libgather.partition(Bare(IDS, device=PLACES["rocm"]), 8, shards=2),
            "indices: DLPack's device 10:0 is no device of this library",
        ),
        (lambda: libgather.partition(np.array(IDS), 8, shards=2, stream=1), "a stream is for arrays on a device"),
        (lambda: libgather.partition(IDS, 8, shards=2, stream=1), "a stream is for arrays on a device"),
    )
    for call, message in calls:
        with pytest.raises(libgather.DeviceError, match=message):
            call()
    for ids in (IDS, np.array(IDS)):
        with pytest.raises(libgather.DeviceError, match="indices: "):
            libgather.partition(ids, 8, shards=2, context=libgather.Context("cuda"))
    with pytest.raises(libgather.OptionError, match="stream and context"):
        libgather.partition(Array(IDS), 8, shards=2, stream=1, context=libgather.Context("cuda"))


def test_host_arrays_beside_a_partition_are_refused() -> None:
    parts = libgather.partition(Array([1, 0]), 4, shards=2)
    with pytest.raises(libgather.DeviceError, match="params: it is on cpu, indices is on cuda:0"):
        libgather.gather(np.array(TABLE), parts.local)
    assert elements(libgather.gather(table(), parts.local)) == [TABLE[1], TABLE[0]]


def test_tables_of_processes_refuse_ids_on_a_device() -> None:
    for ids in (Array(IDS), Bare(IDS), Interface(IDS)):
        with pytest.raises(libgather.UnsupportedError) as caught:
            partition_ids(ids, bordered(8, [0, 8]), False, Request())
        assert str(caught.value) == "indices: they are on a device, and this table is on the CPU"
        assert caught.value.operand == "indices"


def test_failures_of_cuda_are_raised() -> None:
    libgather.partition(Array(IDS), 8, shards=2)
    emulated_arrays.emulation.gth_emulation_fail(1, 700)
    with pytest.raises(libgather.DeviceError) as caught:
        libgather.partition(Array(IDS), 8, shards=2)
    assert caught.value.status_name == "GTH_E_CUDA"
