"""Tensors, contexts, and the capabilities of the library."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import libgather
from libgather._base.constants import OP_GATHER, OP_GATHER_GRADIENT, OP_SCATTER
from libgather._base.request_fields import Request
from libgather._objects import run_arrays, run_buffers


def test_any_array_is_a_tensor_without_a_copy() -> None:
    array = np.arange(6.0).reshape(2, 3)
    tensor = libgather.Tensor(array[:, ::-1])
    assert (tensor.shape, tensor.dtype, tensor.strides, tensor.device) == ((2, 3), "float64", (24, -8), "cpu")
    array[0, 2] = 9
    assert tensor.tolist()[0][0] == 9 and len(tensor) == tensor.ndim == 2 and tensor.size == 6
    assert (np.asarray(tensor) == array[:, ::-1]).all()
    assert libgather.Tensor(tensor).tolist() == tensor.tolist()
    with pytest.raises(TypeError):
        len(libgather.Tensor(3))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "complex64", "complex128", "bfloat16"])
def test_tolist(dtype: str) -> None:
    from libgather._arrays.numpy_ import dtype_named

    array = np.array([[1, 0], [1, 1]]).astype(dtype_named(dtype))
    expected = array.view(np.uint16) if dtype == "bfloat16" else array
    assert libgather.Tensor(array).tolist() == expected.tolist()


def test_exports() -> None:
    owned = libgather.gather(libgather.Tensor(np.arange(4.0)), [3, 1])
    for version in (None, (1, 0)):
        capsule = owned.__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) is (version is not None)
    array = np.from_dlpack(owned)
    assert array.tolist() == [3, 1]
    view = owned.memory()
    view[0] = 7
    assert array[0] == 7 and np.asarray(owned)[0] == 7
    owned.close()
    assert array.tolist() == [7, 1] and view.tolist() == [7, 1]
    with pytest.raises(BufferError):
        libgather.Tensor(["a"]).__dlpack__()
    with pytest.raises(BufferError):
        libgather.Tensor(["a"]).memory()
    with pytest.raises(BufferError):
        libgather.Tensor(np.zeros(2)).__dlpack__(copy=False)
    with pytest.raises(BufferError):
        libgather.Tensor(b"ab").__dlpack__(dl_device=(2, 0))
    assert np.asarray(libgather.Tensor(b"ab")).flags.writeable is False
    assert libgather.Tensor(b"ab").__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_dlpack_copy_shares_no_memory(version: Any) -> None:
    """This holds for memory of the library. Borrowed memory is always copied."""

    class Producer:
        def __init__(self, copy: bool | None) -> None:
            self.copy = copy

        def __dlpack_device__(self) -> tuple[int, int]:
            return owned.__dlpack_device__()

        def __dlpack__(self, **_: Any) -> Any:
            return owned.__dlpack__(max_version=version, copy=self.copy)

    owned = libgather.gather(libgather.Tensor(np.arange(6.0).reshape(3, 2)), [2, 0])
    memory = np.asarray(owned.memory())
    copied, shared, same = (np.from_dlpack(Producer(copy)) for copy in (True, None, False))
    assert copied.tolist() == memory.tolist() == [[4, 5], [0, 1]]
    assert np.shares_memory(shared, memory) and np.shares_memory(same, memory)
    assert not np.shares_memory(copied, memory)
    memory += 100
    assert copied.tolist() == [[4, 5], [0, 1]] and shared.tolist() == same.tolist() == [[104, 105], [100, 101]]


def test_array_method() -> None:
    tensor = libgather.Tensor(np.arange(3))
    assert np.asarray(tensor, dtype="f").dtype == np.float32
    assert np.array(tensor, copy=True).base is None
    with pytest.raises(ValueError, match="copy"):
        np.asarray(tensor, dtype="f", copy=False)
    assert np.asarray(libgather.Tensor(["a"])).tolist() == ["a"]


def test_copies() -> None:
    target = np.zeros((2, 3)).T
    libgather.Tensor(np.arange(6.0).reshape(3, 2)).copy_to(target)
    assert target.tolist() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(libgather.ShapeError):
        libgather.Tensor(np.arange(6.0)).copy_to(np.zeros(5))


@pytest.mark.parametrize("operand", ["bags", "weights"])
@pytest.mark.parametrize("table", [np.arange(3.0), ["a", "b"]], ids=["C code", "general path"])
def test_operand_that_the_operation_does_not_have_is_rejected(table: Any, operand: str) -> None:
    for given in (np.array([0, 1]), libgather.Tensor(np.array([0, 1])), [0, 1]):
        with pytest.raises(libgather.OptionError, match="the operation has no such operand") as raised:
            run_arrays(OP_GATHER, table, np.array([0]), None, *Request(**{operand: given}))
        assert raised.value.operand == operand


def test_handles_beside_arrays() -> None:
    params, rows = np.arange(12.0).reshape(4, 3), np.full((2, 3), 7.0)
    indices, out = np.array([2, 0]), np.empty((2, 3))
    table, places, given = (libgather.Tensor(array) for array in (params, indices, rows))
    options = Request()
    for handles in ((table, indices, out), (table, places, out), (params, places, out)):
        assert run_buffers(OP_GATHER, *handles, *options) is out
        assert out.tolist() == params[indices].tolist()
    written = params.copy()
    written[indices] = rows
    for handles in ((params, indices, given), (params, places, given), (params, places, rows)):
        assert run_buffers(OP_SCATTER, *handles, *options).tolist() == written.tolist()
    total = run_buffers(OP_GATHER_GRADIENT, (4, 3), places, rows, *options)
    assert total.tolist() == [[7] * 3, [0] * 3, [7] * 3, [0] * 3]
    with pytest.raises(libgather.IndexError, match=r"tuple 1 is 9, valid are \[0, 4\): indices\[1\], axis 0"):
        libgather.gather(table, libgather.Tensor(np.array([0, 9])), out=out)
    places.close()
    with pytest.raises(libgather.ClosedError, match="indices: it has been closed"):
        libgather.gather(params, places)


def test_tensor_is_closed_at_the_end_of_a_with_statement() -> None:
    tensor = libgather.Tensor([1, 2])
    with tensor as entered:
        assert entered is tensor and tensor.tolist() == [1, 2]
    with pytest.raises(libgather.Error, match="closed"):
        tensor.tolist()


def test_memory_is_released() -> None:
    array = np.zeros(3)
    gone = weakref.ref(array)
    result = libgather.gather(libgather.Tensor(array), [0])
    del array
    gc.collect()
    assert gone() is None and result.tolist() == [0]


@pytest.mark.parametrize("form", ["Tensor", "plan"])
def test_owner_of_an_array_cannot_move_while_its_memory_is_held(form: str) -> None:
    owner = bytearray(24)
    array = np.ndarray((3,), buffer=owner)  # NumPy keeps no export of this buffer
    ids = np.array([2])
    held: Any = libgather.Tensor(array)
    if form == "plan":
        held = libgather.Plan(array, ids).bind(array, ids, np.zeros(1))
    with pytest.raises(BufferError):
        owner.clear()
    del held, array
    gc.collect()
    owner.clear()


def test_contexts() -> None:
    with libgather.Context(threads=2) as context:
        params = np.arange(2_000_000.0).reshape(-1, 20)
        indices = np.arange(len(params))[::-1].copy()
        assert (libgather.gather(params, indices, context=context) == params[::-1]).all()
        assert (libgather.gather(params, indices, threads=1) == params[::-1]).all()
        context.sync()
        context.take_error()
        with pytest.raises(libgather.DeviceError):
            context.wait(1)
        with pytest.raises(libgather.DeviceError):
            context.signal(1)
    libgather.shutdown()
    assert (libgather.gather(params, indices) == params[::-1]).all()


def test_capabilities() -> None:
    found = libgather.capabilities()
    assert found["version"] == libgather.version() == libgather.__version__
    assert found["cpu_threads"] >= 1 and found["cpu_tier"] in found["cpu_tiers_usable"]
    assert set(found["cpu_tiers_usable"]) <= set(found["cpu_tiers_built"])
