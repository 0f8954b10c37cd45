"""Arrays on devices. test_devices.py runs this file in a process with an emulated device."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import emulated_arrays
import libgather
from emulated_arrays import CPU, CUDA, CUDA_HOST, MANAGED, Array, Bare, Interface, Stream, TorchTensor
from libgather import _contexts

TABLE = [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]
emulated_arrays.install()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    emulated_arrays.cuda.stream = type(emulated_arrays.cuda).stream
    try:
        libgather.sync()
    finally:
        emulated_arrays.pool.clear()
        emulated_arrays.allocated.clear()


@pytest.fixture
def current() -> Stream:
    """Returns a held stream, and makes it the current one of the emulated array library."""
    emulated_arrays.cuda.stream = Stream().hold()
    return emulated_arrays.cuda.stream


def table(kind: Any = Array, **how: Any) -> Any:
    return kind(TABLE, "f4", **how)


def rows(*numbers: int) -> list[list[float]]:
    return [TABLE[number] for number in numbers]


def test_capabilities_have_two_emulated_devices() -> None:
    assert len(libgather.capabilities()["devices"]) == 2


# ------------------------------------------------------------------------------------------------- results and kinds


def test_result_has_the_kind_and_device_of_params() -> None:
    for device in ((CUDA, 0), (CUDA, 1)):
        result = libgather.gather(table(device=device), Array([2, 0], device=device))
        assert type(result) is Array and result.device == device and result.get() == rows(2, 0)


def test_gather_nd() -> None:
    assert libgather.gather_nd(table(), Array([[3, 1], [0, 0]])).get() == [3.5, 0.0]


def test_params_without_a_known_library_give_a_tensor() -> None:
    for kind in (Bare, Interface):
        result = libgather.gather(table(kind), kind([2, 0]))
        assert isinstance(result, libgather.Tensor) and result.device == "cuda:0" and result.tolist() == rows(2, 0)
        again = libgather.gather(result, kind([1]))
        assert again.tolist() == rows(0)


def test_every_switch() -> None:
    assert libgather.gather(table(), Array([-1]), negative="wrap").get() == rows(3)
    filled = libgather.gather(Array([1, 2], "i4"), Array([0, 9]), bounds="fill", fill_value=-7)
    assert filled.get() == [1, -7]
    assert libgather.gather(table(), Array([9]), profile="numpy_clip").get() == rows(3)
    assert libgather.gather(table(), Array([1, 1]), axis=1).get() == [[row[1]] * 2 for row in TABLE]


@pytest.mark.parametrize("kind", [Array, Bare])
def test_into_an_output(kind: Any) -> None:
    out = kind(np.zeros((2, 2)), "f4")
    assert libgather.gather(table(kind), kind([1, 3]), out=out) is out
    assert out.get() == rows(1, 3)
    scalar = kind([0.0], "f4")
    assert libgather.gather_nd(table(kind), kind([[2, 1]]), out=scalar) is scalar and scalar.get() == [2.5]


def test_managed_and_pinned_memory() -> None:
    for device in ((MANAGED, 0), (CUDA_HOST, 0)):
        assert libgather.gather(table(Bare, device=device), Bare([3])).tolist() == rows(3)
        assert libgather.gather(table(Bare), Bare([3], device=device)).tolist() == rows(3)
    both = libgather.gather(table(Bare, device=(MANAGED, 0)), Bare([3], device=(CUDA, 1)))
    assert both.device == "cuda:1"


def test_empty_indices_give_an_empty_result() -> None:
    assert libgather.gather(table(), Array([], "i8")).shape == (0, 2)


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_library_of_params_allocates_new_outputs(kind: Any) -> None:
    allocated = emulated_arrays.allocated
    for device in ((CUDA, 0), (CUDA, 1)):
        params, indices = table(kind, device=device), kind([2, 0], device=device)
        for call in (libgather.gather, libgather.Plan(params, indices)):
            result = call(params, indices)
            assert result is allocated[-1] and type(result) is kind
            assert result.device == device and result.dtype == params.dtype and result.get() == rows(2, 0)
    assert libgather.gather_nd(table(kind), kind([[3, 1]])) is allocated[-1]
    assert libgather.gather_elements(table(kind), kind([[1, 2]]), 0).get() == [[1.0, 2.5]]
    assert len(allocated) == 6
    assert libgather.gather(table(kind), kind([1, 3]), out=allocated[0]).get() == rows(1, 3)
    with pytest.raises(libgather.DTypeError, match="indices"):
        libgather.gather(table(kind), kind([1.0]))
    with pytest.raises(libgather.RankError, match="axis"):
        libgather.gather(table(kind), kind([1]), axis=2)
    assert len(allocated) == 6


def test_rows_that_are_not_written_are_zero_in_new_outputs() -> None:
    assert libgather.gather(table(), Array([1, 9]), bounds="skip").get() == [*rows(1), [0.0, 0.0]]
    result = libgather.gather(table(), Array([1, 9]))
    with pytest.raises(libgather.IndexError):
        libgather.sync()
    assert result is emulated_arrays.allocated[-1] and result.get() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("chosen", ["stream", "context"])
def test_current_stream_waits_for_a_new_output(current: Stream, chosen: str) -> None:
    """The output is memory of the current stream. If it is released early, its library uses it again on that stream."""
    other = Stream().hold()
    where = {"stream": other} if chosen == "stream" else {"context": libgather.Context("cuda", stream=other)}
    result = libgather.gather(table(), Array([3]), **where)
    assert result.streams == [other.ptr] and result.get() == [[0.0, 0.0]]
    current.synchronize()
    assert result.get() == rows(3)


# ---------------------------------------------------------------------------------------------------------- streams


def test_call_uses_the_current_stream(current: Stream) -> None:
    params, indices = table(), Array([2, 0])
    before = emulated_arrays.launches()
    result = libgather.gather(params, indices)
    assert emulated_arrays.launches() == before
    assert params.streams == indices.streams == [-1]  # the streams are the same and need no order
    current.synchronize()
    assert emulated_arrays.launches() > before and result.get() == rows(2, 0)


def test_call_uses_the_given_stream() -> None:
    stream = Stream().hold()
    for chosen in (stream, stream.ptr):
        params, out = table(), Array([[0.0, 0.0]], "f4")
        libgather.gather(params, Array([1]), out=out, stream=chosen)
        assert params.streams == [stream.ptr] and out.get() == [[0.0, 0.0]]
        stream.synchronize()
        assert out.get() == rows(1)


def test_other_producers_use_the_legacy_stream() -> None:
    params = table(Bare)
    libgather.gather(params, Bare([1]))
    libgather.gather(params, Bare([1]), stream=0)
    libgather.gather(params, Bare([1]), stream=2)
    assert params.streams == [1, 1, 2]


def test_streams_are_numbers_or_objects() -> None:
    own = Stream()

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, own.ptr

    class Torch:
        cuda_stream = 0

    for stream, number in ((Protocol(), own.ptr), (Torch(), 1), (2, 2), (None, 1), (0, 1)):
        assert libgather.Context("cuda", stream=stream).stream == number
    assert libgather.Context().stream is None
    for bad in ("1", 1.5, -1):
        with pytest.raises(libgather.DTypeError):
            libgather.gather(table(), Array([0]), stream=bad)


def test_call_waits_for_stream_of_interface() -> None:
    producing = Stream()
    indices = Interface([0, 0], "i8", stream=producing.ptr)
    target = libgather.Tensor(indices, context=libgather.Context("cuda", stream=producing.ptr))
    source = libgather.Tensor(Bare([3, 1], "i8"), context=target._context)
    producing.hold()
    source.copy_to(target, context=target._context)
    # The write of the indices is still queued in its stream. A call that does not wait for it returns row 0.
    assert libgather.gather(table(Bare), indices).tolist() == rows(3, 1)
    without = Interface([0, 0], "i8")
    assert libgather.gather(table(Bare), without).tolist() == rows(0, 0)


def test_export_orders_the_consumers_stream(current: Stream) -> None:
    tensor = libgather.gather(libgather.Tensor(table()), Array([2]))
    before = emulated_arrays.launches()
    tensor.__dlpack__(stream=-1)
    tensor.__dlpack__(stream=current.ptr)
    assert emulated_arrays.launches() == before
    tensor.__dlpack__(stream=Stream().ptr)  # the stream is not held, so it waits at once
    assert emulated_arrays.launches() > before
    assert tensor.__cuda_array_interface__["stream"] == current.ptr


def test_tensors_of_another_stream_are_waited_for() -> None:
    context = libgather.Context("cuda", stream=Stream().hold())
    indices = libgather.Tensor.zeros((2,), "int64", context=context)
    libgather.Tensor(Bare([3, 1], "i8"), context=context).copy_to(indices)
    before = emulated_arrays.launches()
    result = libgather.gather(table(Bare), indices, stream=Stream())
    assert emulated_arrays.launches() > before and result.tolist() == rows(3, 1)


def test_other_streams_wait_for_the_call(current: Stream) -> None:
    """The call uses the stream of params, and the stream of out waits for it."""
    other = Stream()
    out = libgather.Tensor.zeros((1, 2), context=libgather.Context("cuda", stream=other.ptr))
    libgather.gather(table(), Array([3]), out=out)
    assert out.tolist() == rows(3)


def test_stream_of_an_interface_waits_for_the_call(current: Stream) -> None:
    other = Stream()
    out = Interface([[0.0, 0.0]], "f4", stream=other.ptr)
    libgather.gather(table(), Array([3]), out=out)
    assert libgather.Tensor(out, context=libgather.Context("cuda", stream=other)).tolist() == rows(3)


def test_per_thread_stream_has_a_context_for_each_thread() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(_contexts.context_for((CUDA, 0), 2)))
    thread.start()
    thread.join()
    assert found[0] is not _contexts.context_for((CUDA, 0), 2)
    assert _contexts.context_for((CUDA, 0), 1) is _contexts.context_for((CUDA, 0), 1)


# ----------------------------------------------------------------------------------------------------------- errors


def test_errors_are_raised_by_sync() -> None:
    out = Array([[7.0, 7.0], [7.0, 7.0]], "f4")
    assert libgather.gather(table(), Array([1, 4]), out=out) is out
    made = libgather.gather(table(), Array([1, -1]))
    with pytest.raises(IndexError) as caught:
        libgather.sync()
    error = caught.value
    assert isinstance(error, libgather.IndexError)
    assert (error.operand, error.position, error.value, error.limit) == ("indices", 1, 4, 4)
    assert out.get() == [[7.0, 7.0]] * 2 and made.get() == [[0.0, 0.0]] * 2
    libgather.sync()  # the error is raised once


@pytest.mark.parametrize(
    "call",
    [
        lambda: libgather.gather(table(), Array([4])),
        lambda: libgather.gather_nd(table(), Array([[4]])),
        lambda: libgather.gather_elements(table(), Array([[4, 0]]), 0, extents="prefix"),
        lambda: libgather.Plan(table(), libgather.Spec("int64", (-1,)))(table(), Array([4])),
    ],
)
def test_call_does_not_wait(call: Callable[[], Any]) -> None:
    call()
    with pytest.raises(libgather.IndexError):
        libgather.sync()


def test_sync_does_not_use_the_idle_stream_of_a_number() -> None:
    """The caller may have destroyed it."""
    _contexts.release()
    libgather.gather(table(), Array([1]), stream=Stream().ptr)
    libgather.sync()
    emulated_arrays.emulation.gth_emulation_fail(0, 0)  # resets the count of calls
    libgather.sync()
    assert emulated_arrays.calls() == 0


def test_sync_skips_the_per_thread_stream_of_another_thread() -> None:
    """Its number is another stream in other threads."""
    caught: list[Exception] = []

    def work() -> None:
        libgather.gather(table(Bare), Bare([9]), stream=2)
        asked.set()
        answered.wait()
        try:
            libgather.sync()
        except libgather.IndexError as error:
            caught.append(error)

    asked, answered = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    asked.wait()
    try:
        libgather.sync()
    finally:
        answered.set()
        thread.join()
    assert len(caught) == 1


def test_tensor_of_another_thread_is_used_on_this_threads_stream() -> None:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(libgather.gather(table(Bare), Bare([1, 2]), stream=2)))
    thread.start()
    thread.join()
    result = libgather.gather(made[0], Bare([1]))
    assert result._context is not made[0]._context and result._context.stream == 2
    assert result.tolist() == rows(2)
    made[0].__dlpack__(stream=Stream().ptr)


def test_errors_are_raised_at_the_call() -> None:
    with pytest.raises(libgather.IndexError):
        libgather.gather(table(), Array([9]), sync=True)
    with pytest.raises(libgather.IndexError):
        libgather.gather_nd(table(), Array([[9]]), sync=True)
    libgather.sync()


def test_error_of_a_context_is_raised_by_this_context_only() -> None:
    with libgather.Context("cuda:0", stream=Stream()) as context:
        libgather.gather(table(), Array([9]), context=context)
        libgather.sync()
        for take in (context.sync, context.take_error):
            with pytest.raises(libgather.IndexError):
                take()
            take()
            libgather.gather(table(), Array([9]), context=context)
        with pytest.raises(libgather.IndexError):
            context.sync()


def test_sync_raises_one_error_for_each_stream() -> None:
    for stream in (Stream(), Stream()):
        libgather.gather(table(), Array([9]), stream=stream)
    for _ in range(2):
        with pytest.raises(libgather.IndexError):
            libgather.sync()
    libgather.sync()


def test_device_writes_the_error_record() -> None:
    """The first 8 bytes are the number of failed calls. The position, the value and the limit follow the sequence."""
    context = libgather.Context("cuda", stream=Stream())
    record = Bare([0] * 8, "i8", (CUDA_HOST, 0))
    libgather.gather(table(), Array([1, 9]), context=context)
    context.enqueue_take_error(record.address)
    context.sync()
    count, _, *place = record.get()[:5]
    assert (count, place) == (1, [1, 9, 4])


def test_copy_to_the_host_raises_the_error() -> None:
    result = libgather.gather(libgather.Tensor(table()), Array([9]))
    with pytest.raises(libgather.IndexError):
        result.tolist()
    assert result.tolist() == [[0.0, 0.0]]


def test_host_arrays_have_no_stream() -> None:
    for params in (np.ones(2), [1.0, 2.0], libgather.Tensor([1.0]), Bare([1.0], device=(CPU, 0))):
        with pytest.raises(libgather.DeviceError, match="a stream is for arrays on a device"):
            libgather.gather(params, [0], stream=1)
        libgather.gather(params, [0], sync=True)
    plan = libgather.Plan(np.ones(2), np.array([0]))
    with pytest.raises(libgather.DeviceError, match="a stream is for arrays on a device"):
        plan(np.ones(2), np.array([0]), np.ones(1), stream=1)


@pytest.mark.parametrize(
    ("params", "indices", "out", "context", "operand", "where"),
    [
        ("cuda:0", "cpu", None, None, "indices", "it is on cpu, params is on cuda:0"),
        ("cpu", "cuda:0", None, None, "params", "it is on cpu, indices is on cuda:0"),
        ("cuda:0", "cuda:1", None, None, "indices", "it is on cuda:1, params is on cuda:0"),
        ("cuda:0", "cuda:0", "cpu", None, "out", "it is on cpu, params is on cuda:0"),
        ("cpu", "cpu", "cuda:1", None, "params", "it is on cpu, out is on cuda:1"),
        ("cuda:1", "cuda:1", None, "cuda:0", "params", "it is on cuda:1, the context is on cuda:0"),
        ("cuda:0", "cuda:0", None, "cpu", "params", "it is on cuda:0, the context is on cpu"),
        ("rocm", "rocm", None, None, "params", "DLPack's device 10:0 is no device of this library"),
    ],
)
def test_arrays_on_different_devices_are_refused(
    params: str, indices: str, out: str | None, context: str | None, operand: str, where: str
) -> None:
    places = {"cpu": (CPU, 0), "cuda:0": (CUDA, 0), "cuda:1": (CUDA, 1), "rocm": (10, 0)}
    target = None if out is None else Bare([[0.0, 0.0]], "f4", device=places[out])
    there = None if context is None else libgather.Context(context)
    with pytest.raises(libgather.DeviceError) as caught:
        libgather.gather(
            Bare(TABLE, "f4", device=places[params]), Bare([0], device=places[indices]), out=target, context=there
        )
    assert str(caught.value) == f"{operand}: {where}" and caught.value.operand == operand
    assert caught.value.status_name == "GTH_E_DEVICE"


def test_list_beside_device_array_is_refused() -> None:
    with pytest.raises(libgather.DeviceError, match="indices: it is on cpu, params is on cuda:0"):
        libgather.gather(table(), [0])
    with pytest.raises(libgather.DeviceError):
        libgather.gather(np.ones(2), np.array([0]), context=libgather.Context("cuda"))


def test_stream_beside_context_is_refused() -> None:
    with pytest.raises(libgather.OptionError, match="stream and context"):
        libgather.gather(table(), Array([0]), stream=1, context=libgather.Context("cuda"))


def test_failures_of_cuda_are_raised() -> None:
    result = libgather.gather(table(), Array([0]))
    emulated_arrays.emulation.gth_emulation_fail(1, 700)
    with pytest.raises(libgather.DeviceError) as caught:
        libgather.gather(table(), Array([0]), out=result)
    assert caught.value.status_name == "GTH_E_CUDA"


# ------------------------------------------------------------------------------------------------------------ plans


def test_plans(current: Stream) -> None:
    plan = libgather.Plan(table(), libgather.Spec("int64", (-1,)))
    assert repr(plan).count("cuda:0") == 1
    result = plan(table(), Array([3, 0]))
    out = Array([[0.0, 0.0]], "f4")
    plan(table(), Array([1]), out)
    assert out.get() == [[0.0, 0.0]]
    current.synchronize()
    assert type(result) is Array and result.get() == rows(3, 0) and out.get() == rows(1)
    with pytest.raises(libgather.IndexError):
        plan(table(), Array([4]), out, sync=True)
    chosen = Stream().hold()
    plan(table(), Array([2]), out, stream=chosen)
    assert out.get() == rows(1)
    chosen.synchronize()
    assert out.get() == rows(2)


def test_check_of_a_plan_raises_the_error_of_the_device() -> None:
    plan = libgather.Plan(table(), libgather.Spec("int64", (-1,)))
    with pytest.raises(libgather.IndexError):
        plan.check(Array([1, 4]), sync=True)
    plan.check(Array([1, 3]), sync=True)
    plan.check(Array([4]))
    with pytest.raises(libgather.IndexError):
        libgather.sync()


def test_plans_of_specs() -> None:
    specs = libgather.Spec("float32", (4, 2), device="cuda:1"), libgather.Spec("int64", (-1,))
    there = {"device": (CUDA, 1)}
    assert libgather.Plan(*specs)(table(**there), Array([1], **there)).get() == rows(1)
    context = libgather.Context("cuda:0", stream=Stream())
    plan = libgather.Plan(libgather.Spec("float32", (4, 2)), libgather.Spec("int64", (-1,)), context=context)
    assert plan(table(Bare), Bare([1])).tolist() == rows(1)


def test_plans_are_for_one_device() -> None:
    plan = libgather.Plan(table(), Array([0]))
    there = {"device": (CUDA, 1)}
    out = np.zeros((1, 2), "f4")
    for arrays in ((table(**there), Array([0], **there)), (np.array(TABLE, "f4"), np.array([0])), (table(), [0])):
        with pytest.raises(libgather.DeviceError):
            plan(*arrays)
    with pytest.raises(libgather.DeviceError):
        plan(np.array(TABLE, "f4"), np.array([0]), out)
    with pytest.raises(libgather.DeviceError):
        libgather.Plan(table(), np.array([0]))


def test_bound_plans() -> None:
    params, indices, out = table(), Array([2], "i8"), Array([[0.0, 0.0]], "f4")
    stream = Stream()
    lookup = libgather.Plan(params, indices).bind(params, indices, out, stream=stream)
    stream.hold()
    assert lookup() is out and out.get() == [[0.0, 0.0]]
    stream.synchronize()
    assert out.get() == rows(2)
    emulated_arrays.ctypes.memset(indices.address, 0x7F, 8)
    lookup()
    with pytest.raises(libgather.IndexError):
        libgather.sync()
    assert out.get() == rows(2)


# ------------------------------------------------------------------------------------------------------- TensorFlow


def test_tensorflow_has_the_rules_of_its_gpu_kernels() -> None:
    assert libgather.tf.gather(table(), Array([3, 4, -1])).get() == [*rows(3), [0.0, 0.0], [0.0, 0.0]]
    assert libgather.tf.gather_nd(table(), Array([[3, 1], [3, 2]])).get() == [3.5, 0.0]
    assert libgather.tf.raw.GatherNd(table(), Array([[9]])).get() == [[0.0, 0.0]]
    assert libgather.tf.batch_gather(table(), Array([[1], [1], [0], [7]])).get() == [[0.5], [1.5], [2.0], [0.0]]
    assert libgather.tf.gather(libgather.Tensor(table()), Bare([9])).tolist() == [[0.0, 0.0]]
    assert libgather.tf.gather(table(Interface), Interface([9])).tolist() == [[0.0, 0.0]]
    libgather.sync()
    with pytest.raises(libgather.IndexError):
        libgather.tf.gather(np.array(TABLE), [4])
    with pytest.raises(libgather.Error):
        libgather.tf.gather_nd(table(), Array([[3]]), bad_indices_policy="ERROR")
    with pytest.raises(libgather.DTypeError):
        libgather.tf.gather(table(), Array([3], "u8"))


# --------------------------------------------------------------------------------------------------- memory and release


def test_borrowed_memory_is_held_until_the_stream_has_finished(current: Stream) -> None:
    before = emulated_arrays.exports()
    context = libgather.Context("cuda", stream=current)
    result = libgather.gather(table(Bare), Bare([1]), context=context)
    assert emulated_arrays.exports() == before + 2
    context.sync()
    assert emulated_arrays.exports() == before and result.tolist() == rows(1)
    del result
    context.sync()
    live = emulated_arrays.live_allocations()
    result = libgather.gather(table(Interface), Interface([1]), context=context)
    assert emulated_arrays.live_allocations() == live + 3
    context.sync()
    assert emulated_arrays.live_allocations() == live + 1 and result.tolist() == rows(1)
    # The library of the current stream orders the release itself.
    result = libgather.gather(table(), Array([1]), context=context)
    assert emulated_arrays.exports() == before
    current.synchronize()


def test_borrowed_pinned_memory_is_held_until_the_stream_has_finished(current: Stream) -> None:
    before = emulated_arrays.exports()
    context = libgather.Context("cuda", stream=current)
    result = libgather.gather(table(Bare, device=(CUDA_HOST, 0)), Bare([1], device=(CUDA_HOST, 0)), context=context)
    assert emulated_arrays.exports() == before + 2
    context.sync()
    assert emulated_arrays.exports() == before and result.tolist() == rows(1)


def test_tensors_outlive_their_context() -> None:
    with libgather.Context("cuda", stream=Stream()) as context:
        result = libgather.gather(table(Bare), Bare([1]), context=context)
    assert result.tolist() == rows(1)
    assert libgather.gather(result, Bare([0])).tolist() == rows(1)
    with pytest.raises(libgather.Error, match="closed"):
        libgather.gather(table(), Array([1]), context=context)


def test_number_of_contexts_is_limited_and_evicted_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    _contexts.release()
    monkeypatch.setattr(_contexts, "LIMIT", 8)
    libgather.gather(table(), Array([9]), stream=Stream())
    live = emulated_arrays.live_allocations()
    for _ in range(4 * _contexts.LIMIT):
        libgather.gather(table(Bare), Bare([1]), stream=Stream())
    assert len(_contexts._contexts) == _contexts.LIMIT
    # Each context has two allocations of its own. Arrays that wait for its stream have others.
    assert emulated_arrays.live_allocations() <= live + 4 * _contexts.LIMIT
    with pytest.raises(libgather.IndexError):
        libgather.sync()


def test_copies_between_host_and_device() -> None:
    host, tensor = np.zeros((4, 2), "f4"), libgather.Tensor(table())
    assert tensor.__dlpack_device__() == (CUDA, 0)
    tensor.copy_to(host)
    assert host.tolist() == TABLE
    libgather.Tensor(host + 1).copy_to(tensor)
    assert tensor.tolist() == (host + 1).tolist()
    with pytest.raises(BufferError, match="not the host's"):
        tensor.memory()
    zeros = libgather.Tensor.zeros((2,), "int8", context=libgather.Context("cuda:1"))
    assert zeros.device == "cuda:1" and zeros.tolist() == [0, 0]
    assert not hasattr(libgather.Tensor(host), "__cuda_array_interface__")


def test_interface_has_typestr_of_each_dtype() -> None:
    for name in ("bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex64", "complex128"):
        interface = libgather.Tensor(Interface(np.zeros((2, 3), name))).__cuda_array_interface__
        assert (interface["typestr"], interface["shape"]) == (np.dtype(name).str, (2, 3))


def test_capture() -> None:
    stream = Stream()
    context = libgather.Context("cuda", stream=stream)
    params, indices, out = table(), Array([1], "i8"), Array([[0.0, 0.0]], "f4")
    stream.begin_capture()
    with pytest.raises(libgather.DeviceError) as caught:
        libgather.gather(libgather.Tensor(params), indices, context=context)
    assert caught.value.status_name == "GTH_E_CAPTURE"
    libgather.gather(params, indices, out=out, context=context)
    graph = stream.end_capture()
    emulated_arrays.ctypes.memset(indices.address, 0, 8)
    stream.launch(graph)
    assert out.get() == rows(0)


@pytest.mark.parametrize("kind", [Array, TorchTensor])
def test_capture_of_a_new_output(kind: Any) -> None:
    emulated_arrays.cuda.stream = stream = Stream()
    params, indices = table(kind), kind([1], "i8")
    plan = libgather.Plan(params, indices)
    emulated_arrays.kept += [libgather.gather(params, indices), plan(params, indices)]
    stream.begin_capture()
    results = [libgather.gather(params, indices), plan(params, indices)]
    graph = stream.end_capture()
    assert [result.get() for result in results] == [[[0.0, 0.0]]] * 2
    for row in (3, 2):
        emulated_arrays.ctypes.memmove(indices.address, np.array([row]).ctypes.data, 8)
        stream.launch(graph)
        assert [result.get() for result in results] == [rows(row)] * 2


@pytest.mark.parametrize("explicit", [False, True], ids=["sync", "Context.sync"])
def test_sync_raises_the_error_of_each_replay(explicit: bool) -> None:
    """A replay is no call, so the context is idle after the first sync."""
    stream, out, indices = Stream(), Array([[0.0, 0.0]], "f4"), Array([1], "i8")
    context = libgather.Context("cuda", stream=stream)
    where = {"context": context} if explicit else {"stream": stream}
    sync = context.sync if explicit else libgather.sync
    libgather.gather(table(), indices, out=out, **where)  # type: ignore[call-overload]
    params = table()
    stream.begin_capture()
    libgather.gather(params, indices, out=out, **where)  # type: ignore[call-overload]
    graph = stream.end_capture()
    sync()
    for index in (3, 4, 0, -1):
        emulated_arrays.ctypes.memmove(indices.address, np.array([index]).ctypes.data, 8)
        stream.launch(graph)
        if 0 <= index < 4:
            sync()
            assert out.get() == rows(index)
        else:
            with pytest.raises(libgather.IndexError) as caught:
                sync()
            assert caught.value.value == index


@pytest.mark.parametrize("explicit", [False, True], ids=["sync", "Context.sync"])
def test_sync_waits_for_the_stream_of_a_replay(explicit: bool) -> None:
    stream, out, indices = Stream(), Array([[0.0, 0.0]], "f4"), Array([9], "i8")
    context, params = libgather.Context("cuda", stream=stream), table()
    where = {"context": context} if explicit else {"stream": stream}

    def sync(*waited: Any) -> None:
        if not explicit:
            return libgather.sync(*waited)
        for each in waited:
            context.wait(each)
        return context.sync()

    if not explicit:
        libgather.gather(params, Array([0], "i8"), out=out, **where)  # type: ignore[call-overload]
        sync()
    stream.begin_capture()
    libgather.gather(params, indices, out=out, **where)  # type: ignore[call-overload]
    graph = stream.end_capture()
    replays = Stream().hold()
    replays.launch(graph)
    sync()  # the replay has not run
    with pytest.raises(libgather.IndexError) as caught:
        sync(replays)
    assert caught.value.value == 9
    sync(replays.ptr)


def test_context_of_an_ended_thread_is_not_used_by_the_next_one() -> None:
    """A thread that starts after another one has ended often has its number."""
    found: list[tuple[int, Any, bool]] = []

    def work() -> None:
        context = _contexts.context_for((CUDA, 0), 2)
        found.append((threading.get_ident(), context, found[-1][1]._is_here if found else False))

    while len(found) < 2 or (found[-1][0] != found[-2][0] and len(found) < 100):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found[-1][0] == found[-2][0]  # the number was used again
    assert len({id(context) for _, context, _ in found}) == len(found)
    assert not any(is_here for *_, is_here in found)


def test_threads() -> None:
    failures = []

    def work(row: int) -> None:
        stream = Stream()
        for _ in range(50):
            if libgather.gather(table(), Array([row]), stream=stream, sync=True).get() != rows(row):
                failures.append(row)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_forked_child_gets_a_device_error() -> None:
    libgather.gather(table(), Array([1]))
    child = os.fork()
    if child == 0:
        try:
            libgather.gather(table(), Array([1]))
        except libgather.DeviceError as error:
            os._exit(0 if error.status_name == "GTH_E_FORK" else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_contexts_are_released_when_the_interpreter_ends() -> None:
    code = """
import atexit, os, sys
import emulated_arrays
def last():  # registered first, so it runs after the package's own callback
    sys.stdout.write(f"{before} {emulated_arrays.live_allocations()}")
atexit.register(last)
import libgather
before = emulated_arrays.live_allocations()
libgather.gather(emulated_arrays.Bare([1.0]), emulated_arrays.Bare([7]), stream=emulated_arrays.Stream())
assert emulated_arrays.live_allocations() > before
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    before, after = result.stdout.split()
    assert before == after


def test_interface_without_device_is_on_the_device_of_its_memory() -> None:
    second = libgather.Tensor.zeros((4, 2), "float32", context=libgather.Context("cuda:1"))

    class Nowhere:
        """An array like those of numba: its interface has an address and no device."""

        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            return {key: value for key, value in second.__cuda_array_interface__.items() if key != "stream"}

    assert libgather.Tensor(Nowhere()).device == "cuda:1"
    assert libgather.Tensor(emulated_arrays.Interface([1, 2])).device == "cuda:0"
    with pytest.raises(libgather.DeviceError, match="indices: it is on cuda:0, params is on cuda:1"):
        libgather.gather(Nowhere(), emulated_arrays.Interface([1, 2]))


def test_33_streams_have_a_context_each() -> None:
    """torch has 32 streams and a default one. No context is evicted, because a graph may refer to it."""
    _contexts.release()
    table, ids = emulated_arrays.Array(np.ones((4, 2), "f4")), emulated_arrays.Array([1, 0])
    streams = [emulated_arrays.Stream() for _ in range(33)]
    for _ in range(3):
        for stream in streams:
            libgather.gather(table, ids, stream=stream)
        kept = {id(context) for context in _contexts._contexts.values()}
        assert len(kept) == len(streams)
    assert kept == {id(_contexts.context_for((2, 0), stream.ptr)) for stream in streams}
    libgather.sync()


def test_ids_are_not_partitioned() -> None:
    for kind in (Array, Bare, Interface):
        with pytest.raises(libgather.UnsupportedError, match="indices: partition accepts only arrays in host memory"):
            libgather.partition(kind([1, 0]), 4, shards=2)


def test_scatters_are_refused() -> None:
    updates, indices = Array([[7.0, 8.0]], "f4"), Array([1])
    for kind in (Array, Bare, Interface):
        target = table(kind)
        for call in (
            lambda target=target: libgather.scatter(target, indices, updates),
            lambda target=target: libgather.scatter(target, indices, updates, inplace=True),
            lambda target=target: libgather.ScatterPlan(target, indices),
            lambda target=target: libgather.put_along_axis(target, Array([[1], [0], [0], [1]]), 5, 1),
        ):
            with pytest.raises(libgather.UnsupportedError, match="target: "):
                call()
        assert libgather.Tensor(target).tolist() == TABLE
    with pytest.raises(libgather.UnsupportedError, match="updates: scatters run on the CPU alone"):
        libgather.gather_gradient(updates, indices, (4, 2))
    with pytest.raises(libgather.DeviceError, match="target: it is on cpu, updates is on cuda:0"):
        libgather.scatter(np.zeros((4, 2), "f4"), [1], updates)
