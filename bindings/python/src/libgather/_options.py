"""The switches of an operation, by their names, as the library's struct."""

from __future__ import annotations

import operator
import struct

from . import _constants as c
from . import errors
from ._call import new
from ._dtypes import NAMES, format_of
from ._library import ffi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _named(prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix).lower(): value for name, value in vars(c).items() if name.startswith(prefix)}


PROFILES = _named("PROFILE_")
NEGATIVE = _named("NEGATIVE_")
BOUNDS = _named("BOUNDS_")
FILLS = {"zero": c.FILL_ZERO, "by_dtype": c.FILL_BY_DTYPE}


def options_of(
    axis: object = None,
    batch_dims: object = 0,
    *,
    negative: str | None = None,
    bounds: str | None = None,
    fill_value: object = None,
    profile: str | None = None,
    opset: int | None = None,
    threads: int | None = None,
    dtype: int = 0,
) -> Any:
    """A gth_options; `dtype` is what a fill value is an element of. A fill value means ``bounds="fill"``."""
    if fill_value is not None:
        bounds = filling(bounds)
    options = new("gth_options")
    if axis is not None:
        options.has_axis, options.axis = 1, integer("axis", axis)
    options.batch_dims = integer("batch_dims", batch_dims)
    options.profile = choice("profile", profile, PROFILES)
    options.negative = choice("negative", negative, NEGATIVE)
    options.bounds = choice("bounds", bounds, BOUNDS)
    options.opset = 0 if opset is None else integer("opset", opset, 32)
    options.threads = 0 if threads is None else integer("threads", threads, 32)
    if isinstance(fill_value, str) and fill_value in FILLS:
        options.fill = FILLS[fill_value]
    elif fill_value is not None:
        set_fill_value(options, fill_value, dtype)
    return options


def filling(bounds: str | None) -> str:
    if bounds not in (None, "fill"):
        raise errors.OptionError(
            f"options: a fill_value is for bounds 'fill', which is {bounds!r}", status=c.E_VERSION, operand="options"
        )
    return "fill"


def choice(name: str, value: object, choices: dict[str, int]) -> int:
    if value is None:
        return 0
    if not isinstance(value, str):
        raise errors.dtype_error("options", f"{name} is {type(value).__name__}, not a string")
    if value not in choices:
        raise errors.OptionError(
            f"options: {name} {value!r} is none of {', '.join(choices)}", status=c.E_VERSION, operand="options"
        )
    return choices[value]


def integer(name: str, value: Any, bits: int = 64) -> int:
    """Any integer that Python takes for an index; floats are none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.dtype_error("options", f"{name} is {type(value).__name__}, not an integer") from None
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        kind = errors.RankError if bits == 64 else errors.OptionError
        status = c.E_AXIS if bits == 64 else c.E_VERSION
        raise kind(f"options: {name} {number} is out of range", status=status, operand="options")
    return number


def integers(name: str, values: Any) -> tuple[int, ...]:
    """A shape or strides; None is an extent that is left open."""
    try:
        return tuple(c.OPEN if value is None else value.__index__() for value in values)
    except (TypeError, AttributeError):
        raise errors.dtype_error(None, f"{name} {values!r} is no sequence of integers") from None


def set_fill_value(options: Any, value: object, dtype: int) -> None:
    if dtype == c.DTYPE_STRING and value == "":
        options.fill = c.FILL_ZERO
        return
    options.fill = c.FILL_VALUE
    image = value if isinstance(value, bytes) else element_image(value, dtype)
    if len(image) > 16:
        raise errors.ShapeError("options: fill_value is more than one element", status=c.E_SIZE, operand="options")
    ffi.memmove(options.fill_value, image, len(image))


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
