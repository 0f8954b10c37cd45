"""NumPy elements without a dtype of the library: times, long doubles, 4-bit numbers, the other byte order, and blocks.

The library moves their bytes as another dtype of the same size. Rules that depend on values are implemented here.
Blocks are records, strings of one size, and elements of other sizes. The C code moves each block as several numbers.
"""

from __future__ import annotations

import numpy as np

from .. import errors
from .._base.dtypes import NUMBERS
from .._base.integers import rules_of
from .._base.optional_packages import module
from . import numpy_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request


def check_profile(dtype: np.dtype[Any], profile: str | None, operand: str = "params") -> None:
    """Validates that a profile has the dtype."""
    if dtype.name in NUMBERS:  # the library has the dtype in native byte order
        return
    if rules_of(profile)["foreign"] not in (("all", "small") if is_small(dtype) else ("all",)):
        raise errors.dtype_error(operand, f"dtype {dtype} is none that the profile {profile} has")


def is_small(dtype: np.dtype[Any]) -> bool:
    return issubclass(dtype.type, np.generic) and dtype.type.__module__.startswith("ml_dtypes")


def image_of(value: Any, dtype: np.dtype[Any], operand: str = "options", label: str = "fill_value ") -> bytes:
    """Returns the bytes of one element as NumPy converts a value. Raises DTypeError if that changes the value."""
    try:
        element = np.asarray(value, dtype)
        exact = element.ndim == 0 and is_same(element, value)
    except (TypeError, ValueError, OverflowError) as error:
        raise errors.dtype_error(operand, f"{label}{value!r} is no {dtype}: {error}") from None
    if not exact:
        raise errors.dtype_error(operand, f"{label}{value!r} is no {dtype}, which would make it {element}")
    return element.tobytes()


def is_same(element: np.ndarray, value: Any) -> bool:
    """Returns whether a conversion has kept the value. Floats may be rounded, but not integers."""
    if element.dtype.kind in "mM":
        return isinstance(value, int) or is_same_time(element, value)
    if is_integer(element.dtype):
        return bool(int(element) == value)
    if element.dtype.kind == "V" and not is_small(element.dtype):
        return True
    if isinstance(value, (int, np.integer)):
        return bool(element.item() == int(value))
    return bool(np.isnan(element)) == bool(np.isnan(np.asarray(value, float)))


def is_same_time(element: np.ndarray, value: Any) -> bool:
    """Compares times in the unit of the given value."""
    kind = np.asarray(value).dtype.kind
    given = np.asarray(value, f"{element.dtype.kind}8")
    if kind in "mM" and kind != element.dtype.kind:
        return False
    return bool(np.isnat(element)) if np.isnat(given) else bool(element == given)


def is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" or (is_small(dtype) and dtype.name.startswith(("int", "uint")))


def extreme_of(dtype: np.dtype[Any]) -> bytes:
    """Returns the value of ``"by_dtype"``: NaT, NaN, or the smallest signed or the largest unsigned integer."""
    if dtype.kind in "mM":
        return image_of("NaT", dtype)
    if is_integer(dtype):
        limits = module("ml_dtypes").iinfo(dtype) if is_small(dtype) else np.iinfo(dtype)
        return image_of(limits.min if limits.min < 0 else limits.max, dtype)
    return image_of(np.nan, dtype)


# ------------------------------------------------------------------------------------------------- blocks of bytes


def only_moves(dtype: np.dtype[Any], request: Request) -> bool:
    """Returns whether a request only moves blocks. Other requests need the values of the elements."""
    is_text = dtype.kind in "US"
    rules = rules_of(request.profile)
    if rules["strings"] != "yes" or not (is_text or rules["foreign"] == "all"):
        return False
    fill = request.fill_value
    return fill is None or (isinstance(fill, str) and fill in (("zero", "") if is_text else ("zero",)))


def unknown(dtype: np.dtype[Any], what: str) -> str:
    return f"dtype {dtype} has no values that this {what}"


def check_unreduced(dtype: np.dtype[Any], request: Request) -> None:
    """Raises DTypeError if a scatter needs the values of the elements."""
    if request.reduction not in (None, "none"):
        message = f"dtype {dtype} is only moved, reduction {request.reduction!r} needs numbers of this library"
        raise errors.dtype_error("target", message)


def check_output(out: Any, dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        raise errors.dtype_error("out", f"needed is an array of dtype {dtype}")


def updates_of(updates: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Returns updates as an array of a dtype. Shorter strings are extended to the size of the target's strings."""
    array = numpy_.of_list(updates, "updates") if isinstance(updates, (list, tuple)) else np.asarray(updates)
    if dtype.kind in "US" and array.dtype.kind == dtype.kind and array.dtype.itemsize <= dtype.itemsize:
        array = array.astype(dtype, copy=False)
    if array.dtype != dtype:
        raise errors.dtype_error("updates", f"dtype is {array.dtype}, needed is {dtype}")
    return array


def single_bytes(array: np.ndarray) -> np.ndarray:
    """Returns an array of the same shape whose elements have one byte."""
    made = np.zeros(array.shape, np.uint8)
    made.flags.writeable = array.flags.writeable
    return made
