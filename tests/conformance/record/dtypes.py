"""The dtypes of the case files: names, numbers, sizes, classes and NumPy counterparts."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class DType:
    name: str
    number: int  # DLPack code * 256 + bits; strings stand apart
    size: int  # bytes per element; 0 for strings
    kind: str  # the dtype class of the coverage matrix
    numpy: object  # None for strings


def _dtype(name, code, kind, numpy):
    size = np.dtype(numpy).itemsize
    return DType(name, code * 256 + size * 8, size, kind, np.dtype(numpy))


_FLOAT8_CODES = {
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}

ALL = {
    d.name: d
    for d in [
        _dtype("bool", 6, "bool", np.bool_),
        *(_dtype(f"int{b}", 0, "int", f"int{b}") for b in (8, 16, 32, 64)),
        *(_dtype(f"uint{b}", 1, "uint", f"uint{b}") for b in (8, 16, 32, 64)),
        _dtype("float16", 2, "float", np.float16),
        _dtype("bfloat16", 4, "bfloat16", ml_dtypes.bfloat16),
        _dtype("float32", 2, "float", np.float32),
        _dtype("float64", 2, "float", np.float64),
        _dtype("complex64", 5, "complex", np.complex64),
        _dtype("complex128", 5, "complex", np.complex128),
        DType("string", 65536, 0, "string", None),
        *(_dtype(n, c, "float8", getattr(ml_dtypes, n)) for n, c in _FLOAT8_CODES.items()),
    ]
}

CLASSES = ("bool", "int", "uint", "float", "bfloat16", "float8", "complex", "string")
INTEGERS = tuple(n for n, d in ALL.items() if d.kind in ("int", "uint"))
FLOAT8 = tuple(_FLOAT8_CODES)
NUMERIC = tuple(n for n in ALL if n != "string")


def of_class(kind):
    return [n for n, d in ALL.items() if d.kind == kind]


def by_numpy(numpy_dtype):
    return next(d.name for d in ALL.values() if d.numpy == numpy_dtype)


def _memory(name, value):
    return np.array(value, dtype=ALL[name].numpy).tobytes()


def _fill_memory(d):
    if d.kind == "bool":
        return b"\x01"
    if d.kind == "int":
        return _memory(d.name, np.iinfo(d.numpy).min)
    if d.kind == "uint":
        return _memory(d.name, np.iinfo(d.numpy).max)
    if d.name == "float8_e5m2":
        return b"\x7f"  # not the NaN of ml_dtypes, 0x7e
    return _memory(d.name, np.nan)


# The element that jax.numpy.take writes in its mode "fill". The grid of the profile jax_fill confirms it.
FILL_BY_DTYPE = {n: _fill_memory(ALL[n]) for n in NUMERIC}
