"""The library through its C interface, so that no binding is measured with it."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from c_structs import fields_of

DTYPES = {"uint8": 264, "int32": 32, "int64": 64, "float32": 544}
GATHER, GATHER_ND, GATHER_ELEMENTS, SCATTER, SCATTER_ND, SCATTER_ELEMENTS = range(1, 7)
GATHER_BAGS = 10
POOLS = {"sum": 1, "mean": 2, "sqrtn": 3, "max": 4, "min": 5}


class TensorDesc(ctypes.Structure):
    _fields_ = fields_of("gth_tensor_desc", **dict.fromkeys(("shape", "strides"), ctypes.POINTER(ctypes.c_int64)))


class Options(ctypes.Structure):
    _fields_ = fields_of("gth_options")


class Request(ctypes.Structure):
    _fields_ = fields_of(
        "gth_request",
        **dict.fromkeys(("table", "indices", "rows", "bags", "weights"), ctypes.POINTER(TensorDesc)),
        options=ctypes.POINTER(Options),
    )


def describe(array: np.ndarray) -> TensorDesc:
    """Describes an array, which must outlive the description."""
    strides = None if array.flags.c_contiguous else (ctypes.c_int64 * array.ndim)(*array.strides)
    return TensorDesc(
        size=ctypes.sizeof(TensorDesc),
        dtype=DTYPES[array.dtype.name],
        ndim=array.ndim,
        data=array.ctypes.data,
        shape=(ctypes.c_int64 * array.ndim)(*array.shape),
        strides=strides,
    )


def operand(handle: ctypes.c_void_p) -> TensorDesc:
    return TensorDesc(size=ctypes.sizeof(TensorDesc), tensor=handle)


def request(
    op: int,
    table: TensorDesc,
    indices: TensorDesc,
    rows: TensorDesc | None = None,
    options: Options | None = None,
    **others: TensorDesc | None,
) -> Request:
    """The request keeps the structs that it points to. `others` are bags and weights."""
    operands = {"table": table, "indices": indices, "rows": rows, "options": options, **others}
    pointers = {name: ctypes.pointer(each) for name, each in operands.items() if each}
    return Request(size=ctypes.sizeof(Request), op=op, **pointers)


class Result:
    """A new tensor. It is released with this object, outside of the measured time, like the results of peers."""

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
        run.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_int64] + [ctypes.c_void_p] * 4

    def call(self, name: str, *args: Any) -> None:
        status = getattr(self.functions, name)(*args)
        if status:
            raise RuntimeError(f"{name}: {self.functions.gth_status_name(status).decode()}")

    def allocating(self, requests: list[Request], result: type[Result] = Result) -> Any:
        """Returns a function that runs request k with a new tensor as result.

        It does as little other work as possible.
        """
        function, null = self.functions.gth_make, ctypes.c_void_p()
        references = [ctypes.byref(each) for each in requests]

        def make(k: int) -> Result:
            new = ctypes.c_void_p()
            if function(null, references[k], ctypes.byref(new), null):
                raise RuntimeError("gth_make failed")
            return result(self, new)

        return make

    def plan(self, op: int, table: np.ndarray, indices: np.ndarray, options: Options | None = None) -> ctypes.c_void_p:
        plan, planned = ctypes.c_void_p(), request(op, describe(table), describe(indices), None, options)
        self.call("gth_plan_create", ctypes.byref(planned), ctypes.byref(plan), None)
        return plan

    def borrow(self, array: np.ndarray) -> TensorDesc:
        handle = ctypes.c_void_p()
        self.call("gth_tensor_borrow", ctypes.byref(describe(array)), ctypes.byref(handle), None)
        return operand(handle)

    def strings(self, offsets: np.ndarray, content: np.ndarray) -> TensorDesc:
        """Creates a tensor over buffers that must outlive it."""
        handle, shape = ctypes.c_void_p(), (ctypes.c_int64 * 1)(offsets.size - 1)
        buffers = (ctypes.c_void_p(offsets.ctypes.data), ctypes.c_void_p(content.ctypes.data))
        extent = ctypes.c_int64(content.size)
        self.call(
            "gth_tensor_from_strings", None, 0, 1, shape, *buffers, extent, None, None, ctypes.byref(handle), None
        )
        return operand(handle)

    def read_strings(self, handle: ctypes.c_void_p) -> np.ndarray:
        """Returns a copy of the bytes of a string tensor."""
        desc = TensorDesc(size=ctypes.sizeof(TensorDesc))
        self.call("gth_tensor_describe", handle, ctypes.byref(desc), None)
        offsets, content = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_void_p()
        self.call("gth_tensor_strings", handle, ctypes.byref(offsets), ctypes.byref(content), None)
        first, last = offsets[0], offsets[desc.shape[0]]
        if first == last:
            return np.empty(0, np.uint8)
        return np.ctypeslib.as_array((ctypes.c_uint8 * (last - first)).from_address(content.value + first)).copy()

    def read(self, handle: ctypes.c_void_p) -> np.ndarray:
        """Returns a copy of the bytes of a dense tensor."""
        desc = TensorDesc(size=ctypes.sizeof(TensorDesc))
        self.call("gth_tensor_describe", handle, ctypes.byref(desc), None)
        itemsize = (desc.dtype & 255) // 8
        count = int(np.prod(desc.shape[: desc.ndim])) * itemsize
        return np.ctypeslib.as_array((ctypes.c_uint8 * count).from_address(desc.data + desc.offset)).copy()
