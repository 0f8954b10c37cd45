"""The fill of an index out of bounds: the bytes of one element of params' dtype."""

from __future__ import annotations

from .. import errors
from .._arrays.element_bytes import element_image
from .._arrays.kinds import carried_of
from .._base import constants as c
from .._base.dtypes import size_of
from .._base.integers import rules_of
from .options_struct import named_fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request
    from .options_struct import Fill


def check_output(params: Any, out: Any) -> None:
    """Validates the dtype of `out` if the elements of `out` or `params` have no dtype of the library."""
    came, needed = carried_of(out), carried_of(params)
    if came != needed:
        raise errors.dtype_error("out", f"dtype is {dtype_of(out, came)}, needed is {dtype_of(params, needed)}")


def dtype_of(value: Any, carried: Any) -> Any:
    return carried or getattr(value, "dtype", type(value).__name__)


def fill_of(request: Request, params: Any, dtype: int) -> Fill:
    """Returns the fill of a request. The elements of `params` may have no dtype of the library."""
    value = request.fill_value
    if value is None and request.profile is None:
        return 0, b""
    carried = carried_of(params)
    if carried is not None:
        return carried_fill(request, carried)
    return named_fill(value) or value_fill(value, dtype)


def carried_fill(request: Request, dtype: Any) -> Fill:
    from .._arrays import numpy_carried

    value = request.fill_value
    numpy_carried.check_profile(dtype, request.profile)
    if value is None and rules_of(request.profile)["fill"] == "by_dtype" and request.bounds in (None, "fill"):
        value = "by_dtype"
    if isinstance(value, str) and value == "by_dtype":
        return c.FILL_VALUE, numpy_carried.extreme_of(dtype)
    if isinstance(value, bytes):
        return c.FILL_VALUE, checked_image(value, dtype.itemsize)
    named = named_fill(value)
    if named is not None:
        return named
    return c.FILL_VALUE, numpy_carried.image_of(value, dtype)


def value_fill(value: Any, dtype: int) -> Fill:
    if dtype == c.DTYPE_STRING and isinstance(value, str) and value == "":
        return c.FILL_ZERO, b""
    if isinstance(value, bytes):  # the library rejects fill values of strings
        return c.FILL_VALUE, b"" if dtype == c.DTYPE_STRING else checked_image(value, size_of(dtype))
    return c.FILL_VALUE, element_image(value, dtype)


def checked_image(image: bytes, size: int) -> bytes:
    """Returns the bytes. Raises ShapeError if they are not exactly one element."""
    if len(image) != size:
        message = f"options: fill_value is {len(image)} bytes, an element is {size}"
        raise errors.ShapeError(message, status=c.E_SIZE, operand="options", value=len(image), limit=size)
    return image
