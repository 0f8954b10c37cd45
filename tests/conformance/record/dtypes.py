"""The dtypes of the case files: names, numbers, sizes, classes and NumPy counterparts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DType:
    name: str
    number: int  # DLPack code * 256 + bits; strings have a number of their own
    size: int  # bytes per element; 0 for strings
    kind: str  # the class of the dtype in the grids

    @property
    def numpy(self):
        """The dtype of NumPy or ml_dtypes, or None for strings. Only the recorders of other systems use it."""
        import ml_dtypes
        import numpy as np

        return None if self.name == "string" else np.dtype(getattr(ml_dtypes, self.name, self.name))


def _dtype(name, code, kind, size):
    return DType(name, code * 256 + size * 8, size, kind)


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
        _dtype("bool", 6, "bool", 1),
        *(_dtype(f"int{b}", 0, "int", b // 8) for b in (8, 16, 32, 64)),
        *(_dtype(f"uint{b}", 1, "uint", b // 8) for b in (8, 16, 32, 64)),
        _dtype("float16", 2, "float", 2),
        _dtype("bfloat16", 4, "bfloat16", 2),
        _dtype("float32", 2, "float", 4),
        _dtype("float64", 2, "float", 8),
        _dtype("complex64", 5, "complex", 8),
        _dtype("complex128", 5, "complex", 16),
        DType("string", 65536, 0, "string"),
        *(_dtype(n, c, "float8", 1) for n, c in _FLOAT8_CODES.items()),
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
