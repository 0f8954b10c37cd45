"""Tests a library with CUDA on a machine without a driver.

Usage: without_driver.py LIBRARY

The library must load, report its CUDA runtime and no device, and gather on the CPU. With a driver the test is skipped.
"""

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from c_structs import fields_of

E_DEVICE = -11


class Capabilities(ctypes.Structure):
    _fields_ = fields_of("gth_capability_info")


class ContextOptions(ctypes.Structure):
    _fields_ = fields_of("gth_context_options")


class Desc(ctypes.Structure):
    _fields_ = fields_of("gth_tensor_desc")


def dense(dtype, values, shape):
    extents = (ctypes.c_int64 * len(shape))(*shape)
    desc = Desc(size=ctypes.sizeof(Desc), dtype=dtype, ndim=len(shape))
    desc.data = ctypes.cast(values, ctypes.c_void_p)
    desc.shape = ctypes.cast(extents, ctypes.c_void_p)
    desc.keep = (values, extents)
    return desc


def main():
    library = ctypes.CDLL(sys.argv[1])
    found = Capabilities(size=ctypes.sizeof(Capabilities))
    assert library.gth_capabilities(ctypes.byref(found), None) == 0
    assert found.cuda_runtime >= 12080, found.cuda_runtime
    if found.cuda_driver:
        print("skipped: there is a CUDA driver here")
        return 77
    assert found.device_count == 0

    options = ContextOptions(size=ctypes.sizeof(ContextOptions), device=2)
    context = ctypes.c_void_p()
    assert library.gth_context_create(ctypes.byref(options), ctypes.byref(context), None) == E_DEVICE
    assert not context

    params = dense(32, (ctypes.c_int32 * 4)(10, 11, 12, 13), [4])
    indices = dense(64, (ctypes.c_int64 * 3)(3, 0, 3), [3])
    result = (ctypes.c_int32 * 3)()
    out = dense(32, result, [3])
    call = [ctypes.byref(each) for each in (params, indices, out)]
    assert library.gth_gather(None, *call, None, None) == 0
    assert list(result) == [13, 10, 13], list(result)
    params.device = 2
    assert library.gth_gather(None, *call, None, None) == E_DEVICE
    return 0


sys.exit(main())
