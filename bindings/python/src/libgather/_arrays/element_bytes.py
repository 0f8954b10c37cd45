"""Converts Python values to elements of a dtype."""

from __future__ import annotations

import struct
from math import isfinite

from .. import errors
from .._base import constants as c
from .._base.dtypes import NAMES, format_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def element_image(value: Any, dtype: int, operand: str = "options", label: str = "fill_value ") -> bytes:
    """Returns the bytes of one element. Raises DTypeError if the dtype cannot represent the value."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    name = NAMES.get(dtype, "?")
    if dtype == c.DTYPE_STRING:
        raise errors.dtype_error(operand, f"{label}{value!r} cannot fill strings, only text can")
    try:
        return packed(value, dtype, name)
    except ImportError:
        message = f"{label}of {name} needs NumPy and ml_dtypes, which round to it; bytes are taken as they are"
        raise errors.unsupported(operand, message) from None
    except (struct.error, TypeError, ValueError, OverflowError):
        raise errors.dtype_error(operand, f"{label}{value!r} is no {name}: needed is {needed(dtype, name)}") from None
    except ArithmeticError:
        raise errors.dtype_error(operand, f"{label}{value!r} is no {name}, which would round it") from None


def packed(value: Any, dtype: int, name: str) -> bytes:
    """Returns the bytes of one element. Raises the exceptions of Python's conversions, which the caller replaces."""
    format = format_of(dtype)
    if isinstance(value, (str, bytes)):
        raise TypeError("text is no number")
    if format[0] == "Z":
        number = complex(value)
        return exact(value, struct.pack(f"=2{format[1]}", number.real, number.imag), format[1])
    if name.startswith(("bfloat", "float8")):
        return rounded_image(value, name)
    if format == "?" and not (isinstance(value, (bool, int, float)) and value in (0, 1)):
        raise TypeError("Python finds every value true or false")
    return exact(value, struct.pack(f"={format}", value), format)


def exact(value: Any, image: bytes, format: str) -> bytes:
    """Returns the bytes of a number. Raises ArithmeticError if they represent another integer. Floats are rounded."""
    if isinstance(value, int) and struct.unpack_from(f"={format}", image)[0] != value:
        raise ArithmeticError("rounded to another integer")
    return image


def needed(dtype: int, name: str) -> str:
    """Returns a description of the values that a dtype accepts."""
    if dtype == c.DTYPE_BOOL:
        return "True or False"
    bits = dtype & 0xFF
    if name.startswith("int"):
        return f"an integer in [{-(2 ** (bits - 1))}, {2 ** (bits - 1)})"
    if name.startswith("uint"):
        return f"an integer in [0, {2**bits})"
    return "a number within its range" if name.startswith("complex") else "a real number within its range"


def rounded_image(value: Any, name: str) -> bytes:
    """Returns one element of a dtype that the struct module does not have. NumPy and ml_dtypes round the value."""
    from . import numpy_

    element = numpy_.array_named(value, name)
    if element.ndim:
        raise TypeError("several elements")
    if isfinite(value) and not isfinite(element):
        raise OverflowError("rounded to no number")
    if isinstance(value, int) and float(element) != value:
        raise ArithmeticError("rounded to another integer")
    return element.tobytes()
