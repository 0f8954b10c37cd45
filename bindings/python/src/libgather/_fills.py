"""What an index out of bounds is filled with: the memory of an element of params' dtype."""

from __future__ import annotations

import struct

from . import _constants as c
from . import errors
from ._arrays import carried_of
from ._dtypes import NAMES, format_of
from ._options import named_fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._options import Fill
    from ._request import Request


def check_output(params: Any, out: Any) -> None:
    """Elements that travel as the bytes of another dtype go only into an output of their own."""
    came, needed = carried_of(out), carried_of(params)
    if came != needed:
        raise errors.dtype_error("out", f"dtype is {dtype_of(out, came)}, needed is {dtype_of(params, needed)}")


def dtype_of(value: Any, carried: Any) -> Any:
    return carried or getattr(value, "dtype", type(value).__name__)


def fill_of(request: Request, params: Any, dtype: int) -> Fill:
    """The fill of a request on params, whose elements have a dtype of the library or are carried by it."""
    value = request.fill_value
    if value is None and request.profile is None:
        return 0, b""
    carried = carried_of(params)
    if carried is not None:
        return carried_fill(request, carried)
    return named_fill(value) or value_fill(value, dtype)


def carried_fill(request: Request, dtype: Any) -> Fill:
    from ._kinds import carried

    value = request.fill_value
    carried.check_profile(dtype, request.profile)
    if value is None and request.profile == "jax_fill" and request.bounds in (None, "fill"):
        value = "by_dtype"
    if isinstance(value, str) and value == "by_dtype":
        return c.FILL_VALUE, carried.extreme_of(dtype)
    if value is None or isinstance(value, bytes) or (isinstance(value, str) and value == "zero"):
        return named_fill(value) or value_fill(value, 0)
    return c.FILL_VALUE, carried.image_of(value, dtype)


def value_fill(value: Any, dtype: int) -> Fill:
    if dtype == c.DTYPE_STRING and value == "":
        return c.FILL_ZERO, b""
    image = value if isinstance(value, bytes) else element_image(value, dtype)
    if len(image) > 16:
        raise errors.ShapeError("options: fill_value is more than one element", status=c.E_SIZE, operand="options")
    return c.FILL_VALUE, image


def element_image(value: Any, dtype: int) -> bytes:
    """The memory of one element of a dtype; a value that it cannot have is refused."""
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
        raise errors.dtype_error("options", f"fill_value {value!r} is no {name}: {error}") from None


def rounded_image(value: Any, name: str) -> bytes:
    """Of the dtypes that Python's struct module does not know; NumPy and ml_dtypes round."""
    try:
        from ._kinds import numpy_
    except ImportError:
        raise TypeError("NumPy and ml_dtypes are needed to round to it; bytes are taken as they are") from None
    return numpy_.image_of(value, name)
