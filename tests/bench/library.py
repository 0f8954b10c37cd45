"""The library through its C interface, so that what is measured is the library and not a binding."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

DTYPES = {"uint8": 264, "int32": 32, "int64": 64, "float32": 544}


class TensorDesc(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("dtype", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("reserved", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
        ("extent", ctypes.c_int64),
    ]


class Options(ctypes.Structure):
    """gth_options as far as the benchmark fills it."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("has_axis", ctypes.c_int32),
        ("axis", ctypes.c_int64),
        ("batch_dims", ctypes.c_int64),
        ("switches", ctypes.c_int32 * 6),
        ("extents", ctypes.c_int32),
        ("reduction", ctypes.c_int32),
        ("rest", ctypes.c_uint8 * 24),
    ]


def describe(array: np.ndarray) -> TensorDesc:
    """Of a dense array, which must outlive the description."""
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    size = ctypes.sizeof(TensorDesc)
    return TensorDesc(size, DTYPES[array.dtype.name], 0, 0, array.ndim, 0, array.ctypes.data, shape, None, None, 0, 0)


class Result:
    """A new tensor, released with this object: as with the results of others, when nobody times it."""

    __slots__ = ("_handle", "_library")

    def __init__(self, library: Library, handle: ctypes.c_void_p) -> None:
        self._library, self._handle = library, handle

    def __del__(self) -> None:
        self._library.functions.gth_tensor_release(self._handle)

    def __call__(self) -> np.ndarray:
        return self._library.read(self._handle)


class Library:
    def __init__(self, path: str) -> None:
        self.functions = ctypes.CDLL(path)
        self.functions.gth_status_name.restype = ctypes.c_char_p
        run = self.functions.gth_plan_run
        run.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_int64, ctypes.c_void_p]

    def call(self, name: str, *args: Any) -> None:
        status = getattr(self.functions, name)(*args)
        if status:
            raise RuntimeError(f"{name}: {self.functions.gth_status_name(status).decode()}")

    def allocating(self, name: str, given: ctypes.c_void_p, options: Any = None, result: type[Result] = Result) -> Any:
        """A function that takes the other operands into a new tensor, with as little around it as may be."""
        function, switches, null = getattr(self.functions, name), options and ctypes.byref(options), ctypes.c_void_p()

        def make(*others: ctypes.c_void_p) -> Result:
            new = ctypes.c_void_p()
            if function(null, given, *others, switches, ctypes.byref(new), null):
                raise RuntimeError(f"{name} failed")
            return result(self, new)

        return make

    def plan(self, params: np.ndarray, indices: np.ndarray, name: str, options: Any = None) -> ctypes.c_void_p:
        plan = ctypes.c_void_p()
        descs = (ctypes.byref(describe(params)), ctypes.byref(describe(indices)))
        self.call(name, *descs, options and ctypes.byref(options), None, ctypes.byref(plan), None)
        return plan

    def borrow(self, array: np.ndarray) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self.call("gth_tensor_borrow", ctypes.byref(describe(array)), ctypes.byref(handle), None)
        return handle

    def strings(self, offsets: np.ndarray, content: np.ndarray) -> ctypes.c_void_p:
        """A tensor over buffers that must outlive it."""
        handle, shape = ctypes.c_void_p(), (ctypes.c_int64 * 1)(offsets.size - 1)
        buffers = (ctypes.c_void_p(offsets.ctypes.data), ctypes.c_void_p(content.ctypes.data))
        extent = ctypes.c_int64(content.size)
        self.call(
            "gth_tensor_from_strings", None, 0, 1, shape, *buffers, extent, None, None, ctypes.byref(handle), None
        )
        return handle

    def read_strings(self, handle: ctypes.c_void_p) -> np.ndarray:
        """A copy of the bytes of a tensor of strings, one after the other."""
        desc = TensorDesc(size=ctypes.sizeof(TensorDesc))
        self.call("gth_tensor_describe", handle, ctypes.byref(desc), None)
        offsets, content = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_void_p()
        self.call("gth_tensor_strings", handle, ctypes.byref(offsets), ctypes.byref(content), None)
        first, last = offsets[0], offsets[desc.shape[0]]
        if first == last:
            return np.empty(0, np.uint8)
        return np.ctypeslib.as_array((ctypes.c_uint8 * (last - first)).from_address(content.value + first)).copy()

    def read(self, handle: ctypes.c_void_p) -> np.ndarray:
        """A copy of the bytes of a dense tensor."""
        desc = TensorDesc(size=ctypes.sizeof(TensorDesc))
        self.call("gth_tensor_describe", handle, ctypes.byref(desc), None)
        itemsize = (desc.dtype & 255) // 8
        count = int(np.prod(desc.shape[: desc.ndim])) * itemsize
        return np.ctypeslib.as_array((ctypes.c_uint8 * count).from_address(desc.data + desc.offset)).copy()
