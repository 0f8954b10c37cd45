"""Gathers from Arrow's bit-packed arrays and chunked arrays.

The library validates the indices, and Arrow's take copies the elements without decoding the array.
"""

from __future__ import annotations

from .. import _objects
from .._base.optional_packages import module
from .arrow_strings import fitted, large_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request

#: The rules of profiles for a negative index and for an index out of bounds, if they are not reject and error.
_PROFILES = {
    "onnx": ("wrap", "error"),
    "ort": ("wrap", "error"),
    "numpy_raise": ("wrap", "error"),
    "numpy_wrap": ("reject", "modulo"),
    "numpy_clip": ("reject", "clamp"),
    "jax_clip": ("reject", "clamp"),
    "tensorflow_gpu": ("reject", "fill"),
}
_NOTHING = b"\0"


def quick(run: Any, params: Any, index: Any, count: int, request: Request) -> Any:
    """Gathers a result of one dim. Returns NotImplemented if the general path is needed."""
    pa = module("pyarrow")
    is_one = request.axis in (None, 0, -1) and request.batch_dims == 0
    fill = fill_of(pa, params.type, request)
    if not count or not is_one or fill is NotImplemented or not len(params) or params.null_count:
        return NotImplemented
    marks = bytearray(count)
    # A view with the length of params. All elements are the same byte.
    elements = _objects.view(_NOTHING, _objects.buffer_of(_NOTHING)[1], "B", 1, (len(params),), (0,), True)
    validated = run(elements, index, marks, request._replace(fill_value=None if fill is None else 1))
    if validated is NotImplemented:
        return NotImplemented
    try:
        at = index.cast(pa.int64()) if isinstance(index, pa.Array) else pa.array(index, pa.int64())
    except (pa.ArrowException, TypeError):  # an index is beyond int64, or index is not a sequence
        return NotImplemented
    places, large = resolved(at, len(params), marks, *policy(request)), large_of(pa, params.type)
    try:
        return taken(params, places, fill)
    except pa.ArrowInvalid:  # the joined chunks or the result are too large for 32-bit offsets
        if large is None:
            raise
    strings = taken(params.cast(large), places, None if fill is None else fill.cast(large))
    return fitted(pa, strings, params.type)


def taken(params: Any, places: Any, fill: Any) -> Any:
    elements = params.take(places)
    return elements if fill is None else elements.fill_null(fill)


def policy(request: Request) -> tuple[str, str]:
    negative, bounds = _PROFILES.get(request.profile or "", ("reject", "error"))
    return request.negative or negative, "fill" if request.fill_value is not None else request.bounds or bounds


def resolved(at: Any, extent: int, marks: bytearray, negative: str, bounds: str) -> Any:
    """Returns validated indices as numbers in [0, extent), and null where the element is filled."""
    compute = module("pyarrow.compute")
    if bounds == "modulo":
        at = compute.subtract(at, compute.multiply(compute.divide(at, extent), extent))
        negative = "wrap"
    if negative == "wrap":
        at = compute.if_else(compute.less(at, 0), compute.add(at, extent), at)
    if bounds == "clamp":
        at = compute.min_element_wise(compute.max_element_wise(at, 0), extent - 1)
    if bounds == "fill":
        pa = module("pyarrow")
        is_filled = pa.Array.from_buffers(pa.uint8(), len(marks), [None, pa.py_buffer(marks)]).cast(pa.bool_())
        at = compute.if_else(is_filled, pa.scalar(None, pa.int64()), at)
    return at


def fill_of(pa: Any, kind: Any, request: Request) -> Any:
    """Returns the fill as a scalar. Returns None if nothing is filled, and NotImplemented for the general path."""
    zeros = (("boolean", bool, False), ("integer", int, 0), ("floating", (int, float), 0.0))
    numbers = next((row for row in zeros if getattr(pa.types, f"is_{row[0]}")(kind)), None)
    texts = (pa.string(), pa.large_string())
    if (numbers is None and (kind not in texts or request.profile is not None)) or request.profile == "jax_fill":
        return NotImplemented
    _, python, zero = numbers or ("", str, "")
    value = request.fill_value
    if policy(request)[1] != "fill":
        return None
    if value is None or (isinstance(value, str) and value == "zero"):
        return pa.scalar(zero, kind)
    if not isinstance(value, python) or isinstance(value, bool) is not (python is bool) or value == "by_dtype":
        return NotImplemented
    try:
        return pa.scalar(value, kind)
    except (pa.ArrowException, OverflowError):
        return NotImplemented
