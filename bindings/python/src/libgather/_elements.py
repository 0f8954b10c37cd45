"""Values of Python's as elements of a dtype."""

from __future__ import annotations

import struct

from . import errors
from ._dtypes import NAMES, format_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def element_image(value: Any, dtype: int, operand: str = "options", label: str = "fill_value ") -> bytes:
    """The memory of one element of a dtype; a value that it cannot have is refused, as a part of the operand."""
    format, name = format_of(dtype), NAMES.get(dtype, "?")
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    try:
        if format[0] == "Z":
            number = complex(value)
            return struct.pack(f"=2{format[1]}", number.real, number.imag)
        if name.startswith(("bfloat", "float8")):
            return rounded_image(value, name)
        return struct.pack(f"={format}", value)
    except (struct.error, TypeError, ValueError, OverflowError) as error:
        raise errors.dtype_error(operand, f"{label}{value!r} is no {name}: {error}") from None


def rounded_image(value: Any, name: str) -> bytes:
    """Of the dtypes that Python's struct module does not know; NumPy and ml_dtypes round."""
    try:
        from ._kinds import numpy_
    except ImportError:
        raise TypeError("NumPy and ml_dtypes are needed to round to it; bytes are taken as they are") from None
    return numpy_.image_of(value, name)
