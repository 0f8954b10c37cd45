"""The updates of a scatter: converts them to memory with the dtype of the target."""

from __future__ import annotations

from .. import errors
from .._arrays.element_bytes import element_image
from .._arrays.kinds import carried_of, enter, kind_of, native
from .._base import constants as c
from .._memory.memory import Memory
from .._objects import buffer_of
from .fill_values import dtype_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request
    from .._memory.device_site import Site


def check_target(target: Any, request: Request) -> None:
    """Validates a target whose elements have no dtype of the library. They can be moved, but not reduced."""
    dtype = carried_of(target)
    if dtype is None:
        return
    from .._arrays import numpy_carried

    numpy_carried.check_profile(dtype, request.profile, "target")
    numpy_carried.check_unreduced(dtype, request)


def enter_updates(updates: Any, target: Any, memory: Memory, site: Site | None) -> Memory:
    """Returns the Memory of updates for a target. Lists and Python numbers are converted to the target's dtype."""
    from .._arrays import lists

    if kind_of(updates) is lists and memory._dtype != c.DTYPE_STRING:
        return of_python(updates, memory._dtype, carried_of(target))
    rows = enter(as_carried(updates, target), site, "updates")[0]
    both_strings = rows._dtype == memory._dtype == c.DTYPE_STRING
    if both_strings and rows._text != memory._text and rows.size and memory.size:
        came, needed = ("text" if part._text else "bytes" for part in (rows, memory))
        raise errors.dtype_error("updates", f"they are {came}, needed is {needed}")
    return rows


def of_python(value: Any, dtype: int, carried: Any, operand: str = "updates") -> Memory:
    """Returns the Memory of a nested list or a scalar. Raises DTypeError if the dtype cannot represent an element."""
    elements, shape = parts_of(value, carried is not None, operand)
    if carried is None:
        images = [image_of(element, dtype, operand) for element in elements]
    else:
        from .._arrays import numpy_carried

        images = [numpy_carried.image_of(element, carried, operand, "") for element in elements]
    data = bytearray(b"".join(images))
    return Memory._borrow(data, buffer_of(data)[1], dtype, shape, None, False)


def image_of(element: Any, dtype: int, operand: str) -> bytes:
    if dtype == c.DTYPE_BOOL and not isinstance(element, bool):
        raise errors.dtype_error(operand, f"{element!r} is no bool")
    return element_image(element, dtype, operand, "")


def parts_of(value: Any, as_numpys: bool, operand: str) -> tuple[list[Any], tuple[int, ...]]:
    from .._arrays import lists

    numpy_ = lists.numpy_kind()
    if not numpy_:
        return lists.parts_of(value, operand)
    if as_numpys:
        array = numpy_.of_list(value, operand)
        return list(array.reshape(-1)), array.shape
    return numpy_.objects_of(value, operand)  # type: ignore[no-any-return]


def as_carried(updates: Any, target: Any) -> Any:
    """Returns updates whose bytes can be moved to the target. They have its NumPy dtype and its byte order."""
    came, needed = carried_of(updates), carried_of(target)
    if came == needed:
        return updates
    if needed is None:
        updates = native(updates, "updates")
        came = carried_of(updates)
    elif getattr(updates, "dtype", None) == needed.newbyteorder():
        updates = updates.astype(needed)
        came = needed
    if came != needed:
        message = f"dtype is {dtype_of(updates, came)}, needed is {dtype_of(target, needed)}"
        raise errors.dtype_error("updates", message)
    return updates


def repeated(rows: Memory, shape: tuple[int, ...]) -> Memory:
    """Returns the memory in a larger shape, as NumPy broadcasts: dims that are absent or have size 1 are repeated."""
    lead = len(shape) - rows.ndim
    pairs = zip(rows.shape, shape[lead:], strict=True) if lead >= 0 else ()
    if lead < 0 or any(extent not in (1, wanted) for extent, wanted in pairs):
        message = f"updates: shape {rows.shape} does not broadcast to {shape}"
        raise errors.ShapeError(message, status=c.E_SHAPE, operand="updates")
    if rows.shape == shape:
        return rows
    kept = (0 if extent == 1 else stride for extent, stride in zip(rows.shape, rows.strides, strict=True))
    dtype, *place, _, _, _, data, offset = rows._desc
    keep = (rows._handle, rows._keep)
    return Memory._borrow(keep, data + offset, dtype, shape, (*(0,) * lead, *kept), True, tuple(place))
