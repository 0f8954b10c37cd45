"""Dtypes: the numbers and names of the library, and the formats of Python's struct module."""

from __future__ import annotations

from .. import errors
from . import constants as c

NAMES = {value: name.removeprefix("DTYPE_").lower() for name, value in vars(c).items() if name.startswith("DTYPE_")}
NUMBERS = {name: number for number, name in NAMES.items()}

_FORMATS = {
    c.DTYPE_BOOL: "?",
    c.DTYPE_INT8: "b",
    c.DTYPE_INT16: "h",
    c.DTYPE_INT32: "i",
    c.DTYPE_INT64: "q",
    c.DTYPE_UINT8: "B",
    c.DTYPE_UINT16: "H",
    c.DTYPE_UINT32: "I",
    c.DTYPE_UINT64: "Q",
    c.DTYPE_FLOAT16: "e",
    c.DTYPE_FLOAT32: "f",
    c.DTYPE_FLOAT64: "d",
    c.DTYPE_COMPLEX64: "Zf",
    c.DTYPE_COMPLEX128: "Zd",
    c.DTYPE_BFLOAT16: "H",
}


def size_of(dtype: int) -> int:
    """Returns the bytes of an element, or 0 for strings. The lowest byte of a dtype is its number of bits."""
    return (dtype & 0xFF) // 8


def format_of(dtype: int) -> str:
    """Returns the buffer format of a dtype. If Python has no letter for it, that is an unsigned integer of its size."""
    return _FORMATS.get(dtype, "B")


def typestr_of(dtype: int) -> str:
    """Returns the format of a dtype in NumPy's array interface, such as ``"<f4"``."""
    letters = format_of(dtype)
    kind = {"?": "b", "e": "f", "f": "f", "d": "f"}.get(letters, "c" if letters[0] == "Z" else "iu"[letters.isupper()])
    size = size_of(dtype)
    return f"{'<' if size > 1 else '|'}{kind}{size}"


def number_of(dtype: object) -> int:
    """Returns the dtype of a name, of a NumPy dtype or scalar type, or of an object with a name."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    number: int | None = NUMBERS.get(str(name))
    if number is None:
        raise errors.dtype_error(None, f"{dtype!r} is not a dtype of this library")
    return number
