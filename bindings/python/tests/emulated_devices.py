"""Calls of arrays on devices. test_devices.py runs this file in a process with an emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import emulated_arrays
import libgather
from emulated_arrays import (
    CPU,
    CUDA,
    CUDA_HOST,
    MANAGED,
    TABLE,
    Array,
    Bare,
    Interface,
    Stream,
    TorchTensor,
    rows,
    table,
)

pytest_plugins = "emulated_fixtures"


def test_capabilities_have_two_emulated_devices() -> None:
    assert len(libgather.capabilities()["devices"]) == 2


# ---------------------------------------------------------------------------------------------------- results and kinds


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


# -------------------------------------------------------------------------------------------------------- refused calls


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


# ---------------------------------------------------------------------------------------------------------------- plans


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


# ----------------------------------------------------------------------------------------------------------- TensorFlow


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
