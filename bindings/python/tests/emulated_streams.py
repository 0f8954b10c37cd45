"""Streams, errors and captures of calls on devices. test_devices.py runs this file with an emulated device."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import emulated_arrays
import libgather
from emulated_arrays import CUDA, CUDA_HOST, Array, Bare, Interface, Stream, TorchTensor, rows, table
from libgather._memory import default_contexts

pytest_plugins = "emulated_fixtures"


@pytest.mark.parametrize("chosen", ["stream", "context"])
def test_current_stream_waits_for_a_new_output(current: Stream, chosen: str) -> None:
    """The output is memory of the current stream. If it is released early, its library uses it again on that stream."""
    other = Stream().hold()
    where = {"stream": other} if chosen == "stream" else {"context": libgather.Context("cuda", stream=other)}
    result = libgather.gather(table(), Array([3]), **where)
    assert result.streams == [other.ptr] and result.get() == [[0.0, 0.0]]
    current.synchronize()
    assert result.get() == rows(3)


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
    calls = emulated_arrays.calls()
    tensor.__dlpack__(stream=-1)
    tensor.__dlpack__(stream=current.ptr)
    assert (emulated_arrays.launches(), emulated_arrays.calls()) == (before, calls)
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
    thread = threading.Thread(target=lambda: found.append(default_contexts.context_for((CUDA, 0), 2)))
    thread.start()
    thread.join()
    assert found[0] is not default_contexts.context_for((CUDA, 0), 2)
    assert default_contexts.context_for((CUDA, 0), 1) is default_contexts.context_for((CUDA, 0), 1)


# --------------------------------------------------------------------------------------------------------------- errors


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
    default_contexts.release()
    libgather.gather(table(), Array([1]), stream=Stream().ptr)
    libgather.sync()
    emulated_arrays.emulation.gth_emulation_fail(0, 0)  # resets the count of calls
    libgather.sync()
    assert emulated_arrays.calls() == 0


def test_sync_skips_the_per_thread_stream_of_another_thread() -> None:
    """The number of the per-thread stream names a different stream in each thread."""
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
    default_contexts.release()
    monkeypatch.setattr(default_contexts, "LIMIT", 8)
    libgather.gather(table(), Array([9]), stream=Stream())
    live = emulated_arrays.live_allocations()
    for _ in range(4 * default_contexts.LIMIT):
        libgather.gather(table(Bare), Bare([1]), stream=Stream())
    assert len(default_contexts._contexts) == default_contexts.LIMIT
    # Each context has two allocations of its own. The arrays and the result of its last call wait for its next call.
    assert emulated_arrays.live_allocations() <= live + 5 * default_contexts.LIMIT
    with pytest.raises(libgather.IndexError):
        libgather.sync()


# ------------------------------------------------------------------------------------------------------------- captures


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
    """A replay does not count as a call, so the context is idle after the first sync."""
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


# ------------------------------------------------------------------------------------------------ threads and processes


def test_context_of_an_ended_thread_is_not_used_by_the_next_one() -> None:
    """A thread that starts after another one has ended often has its number."""
    found: list[tuple[int, Any, bool]] = []

    def work() -> None:
        context = default_contexts.context_for((CUDA, 0), 2)
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


def test_33_streams_have_a_context_each() -> None:
    """torch has 32 streams and a default one. No context is evicted, because a graph may refer to it."""
    default_contexts.release()
    table, ids = emulated_arrays.Array(np.ones((4, 2), "f4")), emulated_arrays.Array([1, 0])
    streams = [emulated_arrays.Stream() for _ in range(33)]
    for _ in range(3):
        for stream in streams:
            libgather.gather(table, ids, stream=stream)
        kept = {id(context) for context in default_contexts._contexts.values()}
        assert len(kept) == len(streams)
    assert kept == {id(default_contexts.context_for((2, 0), stream.ptr)) for stream in streams}
    libgather.sync()
