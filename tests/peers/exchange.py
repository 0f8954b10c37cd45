"""Hostile tensors of DLPack.

Element 0 is in the middle of a large array. So a read before or after the tensor returns wrong elements instead of
ending the process.
"""

import ctypes

import numpy as np
from inputs import Wrong, expect, given, index
from systems import Unable

CPU, FLOAT, INT = 1, 2, 0


class Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
kept = []  # for as long as the process runs


class Producer:
    """An array of the four float32 numbers 1 to 4, except if an argument changes it."""

    def __init__(self, shape=(4,), strides=None, ndim=None, versioned=False, name=None, major=1, flags=0, **fields):
        memory = np.zeros(8192, np.float32)
        memory = memory[-memory.ctypes.data % 64 // 4 :]  # some systems accept no other addresses
        memory[2048:2052] = (1, 2, 3, 4)
        numbers = (ctypes.c_int64 * 8)(*shape) if shape is not None else None
        steps = (ctypes.c_int64 * 8)(*strides) if strides is not None else None
        tensor = Tensor(
            data=fields.get("data", memory[2048:].ctypes.data),
            device=Device(*fields.get("device", (CPU, 0))),
            ndim=len(shape) if ndim is None else ndim,
            dtype=DataType(*fields.get("dtype", (FLOAT, 32, 1))),
            shape=numbers,
            strides=steps,
            byte_offset=fields.get("byte_offset", 0),
        )
        deleter = DELETER(lambda _: None)
        address = ctypes.cast(deleter, ctypes.c_void_p).value if fields.get("deleter", True) else None
        if versioned:
            self.managed = Versioned(major, 0, None, address, flags, tensor)
        else:
            self.managed = Managed(tensor, None, address)
        self.name = name or (b"dltensor_versioned" if versioned else b"dltensor")
        self.device = (tensor.device.type, tensor.device.id)
        self.capsule = None
        kept.append((self, memory, numbers, steps, deleter))

    def __dlpack__(self, **_):
        self.capsule = new_capsule(ctypes.addressof(self.managed), self.name, None)
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def first_rows(system, producer, *expected, indices=(0,)):
    """Gathers rows of an imported array and compares them with `expected`. Without `expected`, the call must fail."""
    array = system.imported(producer)
    rows = system.gather(array, system.array(index(*indices)))
    expect(
        expected and np.array_equal(np.asarray(rows).reshape(-1), expected),
        "a tensor" if not expected else "other rows",
    )


@given("F1")
def legacy_struct_in_versioned_capsule(system):
    first_rows(system, Producer(name=b"dltensor_versioned"))


@given("F2")
def unknown_major_version(system):
    first_rows(system, Producer(versioned=True, major=99))


@given("F3")
def null_strides(system):
    first_rows(system, Producer(shape=(2, 2)), 3, 4, indices=(1,))


@given("F4")
def null_shape(system):
    first_rows(system, Producer(shape=None, ndim=1))


@given("F5", (-1,), (65,), (2**31 - 1,))
def impossible_rank(system, ndim):
    first_rows(system, Producer(ndim=ndim))


@given("F6")
def byte_offset(system):
    first_rows(system, Producer(shape=(2,), byte_offset=8), 3)


@given("F7")
def byte_offset_beyond_int64(system):
    first_rows(system, Producer(byte_offset=2**64 - 8))


@given("F9")
def negative_strides(system):
    first_rows(system, Producer(strides=(-1,)), 0, indices=(1,))


@given("F10")
def strides_beyond_int64(system):
    first_rows(system, Producer(shape=(2, 2), strides=(-(2**63), 1)), indices=(1,))


@given("F11", (0,), (4,))
def lanes(system, lanes):
    first_rows(system, Producer(dtype=(FLOAT, 32, lanes)))


@given("F12", (FLOAT, 0), (FLOAT, 1), (FLOAT, 6), (FLOAT, 12), (FLOAT, 255), (3, 64), (200, 32))
def no_dtype(system, code, bits):
    first_rows(system, Producer(dtype=(code, bits, 1)))


@given("F13")
def null_data(system):
    first_rows(system, Producer(data=None))


@given("F14")
def negative_dim(system):
    first_rows(system, Producer(shape=(-5,)))


@given("F15")
def size_beyond_int64(system):
    first_rows(system, Producer(shape=(2**62, 2**62)))


@given("F16")
def strides_that_reach_nothing(system):
    first_rows(system, Producer(shape=(1, 2), strides=(2**63 - 1, 1)), 1, 2)


@given("F17", (0, 0), (99, 0), (4, 0), (2, 1000))
def devices(system, kind, number):
    first_rows(system, Producer(device=(kind, number)))


@given("F19")
def consumed_twice(system):
    if system.profile == "tensorflow":
        take = system.tf.experimental.dlpack.from_dlpack
    elif system.profile == "torch":
        take = system.torch.utils.dlpack.from_dlpack
    else:
        raise Unable("takes no capsules")
    capsule = Producer().__dlpack__()
    take(capsule)
    take(capsule)
    raise Wrong("two tensors of one")


@given("F20", (None,), (7,))
def no_tensor(system, thing):
    system.imported(thing)
    raise Wrong("a tensor")


@given("F21")
def no_deleter(system):
    first_rows(system, Producer(deleter=False), 1)


@given("F22")
def read_only_output(system):
    out = system.imported(Producer(versioned=True, flags=1))
    system.into(system.array(np.arange(8, dtype=np.float32)), system.array(index(3, 1, 2, 0)), out)
    raise Wrong("read-only memory was written")
