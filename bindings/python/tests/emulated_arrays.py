"""Arrays of a test library on the emulated CUDA devices of libgather_emulated.

The process must have been started with libgather_emulated preloaded. This module replaces CuPy and torch, and has two
kinds of arrays with their names. The arrays support DLPack. It has a current stream, and records the streams that
consumers request.
"""

from __future__ import annotations

import ctypes
import os
import sys
import types
from typing import Any

import numpy as np

import libgather

emulation = ctypes.CDLL(os.environ["GATHER_EMULATED"])
for _name in ("allocate_on", "allocate_host", "allocate_managed", "make_stream", "end_capture"):
    getattr(emulation, f"gth_emulation_{_name}").restype = ctypes.c_void_p
for _name in ("launches", "live_allocations", "calls"):
    getattr(emulation, f"gth_emulation_{_name}").restype = ctypes.c_int64

CPU, CUDA, CUDA_HOST, MANAGED = 1, 2, 3, 13


def launches() -> int:
    return int(emulation.gth_emulation_launches())


def calls() -> int:
    """Returns the number of calls of the CUDA runtime."""
    return int(emulation.gth_emulation_calls())


def live_allocations() -> int:
    return int(emulation.gth_emulation_live_allocations())


class Stream:
    """A stream. A held stream queues its work until it is waited for."""

    def __init__(self, device: int = 0) -> None:
        self.ptr = int(emulation.gth_emulation_make_stream(device))

    def hold(self) -> Stream:
        emulation.gth_emulation_hold(ctypes.c_void_p(self.ptr))
        return self

    def synchronize(self) -> None:
        emulation.gth_emulation_synchronize(ctypes.c_void_p(self.ptr))

    def begin_capture(self) -> None:
        emulation.gth_emulation_begin_capture(ctypes.c_void_p(self.ptr))

    def end_capture(self) -> Any:
        return ctypes.c_void_p(emulation.gth_emulation_end_capture(ctypes.c_void_p(self.ptr)))

    def launch(self, graph: Any) -> None:
        emulation.gth_emulation_launch(graph, ctypes.c_void_p(self.ptr))


class Memory:
    """Memory of a device that DLPack names. It is freed with this object."""

    address = 0  # until the allocation succeeds

    def __init__(self, values: np.ndarray, device: tuple[int, int] = (CUDA, 0)) -> None:
        kind, number = device
        size = ctypes.c_int64(values.nbytes)
        if kind == CUDA:
            self.address = int(emulation.gth_emulation_allocate_on(number, size))
        elif kind == MANAGED:
            self.address = int(emulation.gth_emulation_allocate_managed(size))
        else:
            self.address = int(emulation.gth_emulation_allocate_host(size))
        ctypes.memmove(self.address, values.ctypes.data, values.nbytes)

    def __del__(self) -> None:
        if self.address:
            emulation.gth_emulation_free(ctypes.c_void_p(self.address))


# ---------------------------------------------------------------------------------------------------- DLPack by hand


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


_CODES = {"i": 0, "u": 1, "f": 2, "V": 4, "c": 5, "b": 6}  # NumPy has no letter for bfloat16
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_exported: dict[int, Any] = {}  # the owners of exported memory, by the address of the export
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = (ctypes.py_object, ctypes.c_char_p)


@_Deleter
def _delete(managed: int) -> None:
    del _exported[managed]


def exports() -> int:
    """Returns the number of exports that consumers still hold."""
    return len(_exported)


def capsule_of(keep: Any, address: int, dtype: np.dtype[Any], shape: tuple[int, ...], device: tuple[int, int]) -> Any:
    extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    tensor = DLTensor(address, *device, len(shape), _CODES[dtype.kind], dtype.itemsize * 8, 1, extents, None, 0)
    managed = Managed(tensor, None, ctypes.cast(_delete, ctypes.c_void_p))
    _exported[ctypes.addressof(managed)] = (managed, extents, keep)
    return _new_capsule(ctypes.addressof(managed), b"dltensor", None)


# ------------------------------------------------------------------------------------------------------- the arrays


class Bare:
    """An array that only supports DLPack. Its current stream is unknown."""

    def __init__(self, values: Any, dtype: Any = None, device: tuple[int, int] = (CUDA, 0)) -> None:
        values = np.asarray(values, dtype, order="C")
        self.dtype, self.shape, self.device = values.dtype, values.shape, device
        self.memory: Any = Memory(values, device)
        self.address = self.memory.address
        self.streams: list[int | None] = []  # the streams that consumers have requested

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        self.streams.append(stream)
        return capsule_of(self.memory, self.address, self.dtype, self.shape, self.device)

    def get(self) -> Any:
        """Returns the current content of the memory, without waiting for a stream."""
        values = np.empty(self.shape, self.dtype)
        ctypes.memmove(values.ctypes.data, self.address, values.nbytes)
        return values.tolist()


class Interface:
    """An array that only supports __cuda_array_interface__."""

    def __init__(self, values: Any, dtype: Any = None, **entries: Any) -> None:
        values = np.ascontiguousarray(values, dtype)
        self.memory = Memory(values)
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (self.memory.address, False),
            "version": 3,
            **entries,
        }


class Array(Bare):
    """An array of the library that is imported as CuPy.

    As in CuPy, memory is released in stream order. Here it is released much later.
    """

    def __init__(self, values: Any, dtype: Any = None, device: tuple[int, int] = (CUDA, 0)) -> None:
        super().__init__(values, dtype, device)
        pool.append(self.memory)


pool: list[Memory] = []


Array.__module__ = "cupy"


class TorchTensor(Array):
    """As Array, for the library that is imported as torch."""

    requires_grad = False

    def is_conj(self) -> bool:
        return False

    is_neg = is_conj

    def detach(self) -> TorchTensor:
        return self


TorchTensor.__module__ = "torch"


class Taken:
    """Memory of a consumed capsule. The process can access it, as all emulated memory."""

    def __init__(self, capsule: Any, name: bytes) -> None:
        self.managed = Managed.from_address(_pointer_of(capsule, name))
        _rename(capsule, b"used_" + name)

    def __del__(self) -> None:
        _Deleter(self.managed.deleter)(ctypes.addressof(self.managed))


class _Current:
    stream: Any = types.SimpleNamespace(ptr=0)

    def get_current_stream(self, device: int) -> Any:
        return self.stream


def from_dlpack(tensor: Any) -> Array:
    stream = cuda.stream.ptr or 1
    taken = Taken(tensor.__dlpack__(stream=stream), b"dltensor")
    found = taken.managed.tensor
    array = Array.__new__(Array)
    kinds = {code: kind for kind, code in _CODES.items()}
    array.dtype = np.dtype(f"{kinds[found.code]}{found.bits // 8}")
    array.shape = tuple(found.shape[: found.ndim])
    array.device = (found.device_type, found.device_id)
    array.memory, array.address, array.streams = taken, (found.data or 0) + found.byte_offset, []
    return array


cuda = _Current()


class _Device:
    """The context manager cupy.cuda.Device."""

    current = 0

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        self.before, _Device.current = _Device.current, self.number

    def __exit__(self, *_: object) -> None:
        _Device.current = self.before


allocated: list[Any] = []  # the arrays that both libraries have allocated
kept: list[Any] = []  # arrays whose memory they use again, because CUDA allocates nothing during a capture


def new_array(kind: Any, values: np.ndarray, device: int) -> Any:
    if kept:
        array = kept.pop()
        ctypes.memmove(array.address, values.ctypes.data, values.nbytes)
    else:
        array = kind(values, device=(CUDA, device))
    allocated.append(array)
    return array


def garbage(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Returns the content of new memory."""
    values = np.empty(shape, dtype)
    ctypes.memset(values.ctypes.data, 0x5A, values.nbytes)
    return values


def install() -> None:
    """Makes ``import cupy`` and ``import torch`` return this library."""
    cupy: Any = types.ModuleType("cupy")
    cuda.Device = _Device  # type: ignore[attr-defined]
    cupy.cuda, cupy.from_dlpack, cupy.ndarray = cuda, from_dlpack, Array
    cupy.zeros = lambda shape, dtype: new_array(Array, np.zeros(shape, dtype), _Device.current)
    cupy.empty = lambda shape, dtype: new_array(Array, garbage(shape, dtype), _Device.current)
    sys.modules["cupy"] = cupy
    torch: Any = types.ModuleType("torch")
    torch.Tensor, torch._subclasses = TorchTensor, types.SimpleNamespace(FakeTensor=type("FakeTensor", (), {}))
    functorch = types.SimpleNamespace(is_functorch_wrapped_tensor=lambda value: False)
    torch._C = types.SimpleNamespace(_functorch=functorch)
    dual = types.SimpleNamespace(unpack_dual=lambda value: types.SimpleNamespace(tangent=None))
    graph = types.SimpleNamespace(increment_version=lambda value: None)
    torch.autograd = types.SimpleNamespace(forward_ad=dual, graph=graph)
    torch.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=cuda.stream.ptr))
    torch.device = lambda kind, number: (kind, number)
    torch.float32, torch.int64 = np.dtype("f4"), np.dtype("i8")
    torch.zeros = lambda shape, dtype, device: new_array(TorchTensor, np.zeros(shape, dtype), device[1])
    torch.empty = lambda shape, dtype, device: new_array(TorchTensor, garbage(shape, dtype), device[1])
    sys.modules["torch"] = torch


# --------------------------------------------------------------------------------------------------- parts of tests

PLACES = {"cpu": (CPU, 0), "cuda:0": (CUDA, 0), "cuda:1": (CUDA, 1), "rocm": (10, 0)}


def tensor(values: Any, dtype: Any = None) -> libgather.Tensor:
    """Returns a tensor of the library on the first device."""
    return libgather.Tensor(Bare(values, dtype))


KINDS = [Array, TorchTensor, Bare, Interface, tensor]


def type_of_result(kind: Any) -> type:
    """Returns the type of the results of calls on arrays of a kind."""
    return libgather.Tensor if kind in (Bare, Interface, tensor) else kind  # type: ignore[no-any-return]


def entered(arrays: dict[str, Any], kind: Any = Array) -> dict[str, Any]:
    """Returns keywords whose arrays are of a kind."""
    return {name: kind(value) if isinstance(value, np.ndarray) else value for name, value in arrays.items()}


def elements(array: Any) -> Any:
    """Returns the elements of an array after the work of all streams."""
    libgather.sync()
    return array.get() if isinstance(array, Bare) else libgather.Tensor(array).tolist()


TABLE = [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]
PAIR = [[7.0, 8.0]]


def table(kind: Any = Array, **how: Any) -> Any:
    return kind(TABLE, "f4", **how)


def rows(*numbers: int) -> list[list[float]]:
    return [TABLE[number] for number in numbers]
