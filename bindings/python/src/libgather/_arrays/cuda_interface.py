"""Objects with ``__cuda_array_interface__`` and without DLPack: arrays of numba and PyCUDA.

The interface does not name the device. The attribute ``device.id`` names it if it exists. Otherwise CUDA returns the
device of the memory.
"""

from __future__ import annotations

import sys

from .. import errors
from .._base import constants as c
from .._base.dtypes import NUMBERS
from .._memory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._memory.context import Context
    from .._memory.device_site import Site

#: The device number with which the library queries CUDA for the device.
_ASK = -1
_LETTERS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    interface, dtype = read(value, operand)
    if site is not None and interface.get("stream") is not None:
        site.join(interface["stream"])
    context = None if site is None else site.context
    return borrowed(value, interface, dtype, place_of(value, operand), context)


def borrowed(value: Any, interface: dict[str, Any], dtype: int, place: Place, context: Context | None) -> Memory:
    address, readonly = interface["data"]
    strides = None if interface.get("strides") is None else tuple(interface["strides"])
    return Memory._borrow(value, address or 0, dtype, tuple(interface["shape"]), strides, readonly, place, context)


def read(value: Any, operand: str) -> tuple[dict[str, Any], int]:
    """Returns the interface, and the number of its dtype."""
    try:
        interface = value.__cuda_array_interface__
        _, typestr, (_, _) = interface["shape"], interface["typestr"], interface["data"]
        name = _LETTERS.get(typestr[1], "")
        name = name if name == "bool" else f"{name}{int(typestr[2:]) * 8}"
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise errors.dtype_error(operand, f"a malformed __cuda_array_interface__: {error}") from error
    if name not in NUMBERS or typestr[0] == ">" or interface.get("mask") is not None:
        raise errors.dtype_error(operand, f"elements of type {typestr} are no dtype of this library")
    return interface, NUMBERS[name]


def place_of(value: Any, operand: str) -> Place:
    interface, dtype = read(value, operand)
    number = getattr(getattr(value, "device", None), "id", None)
    if number is None and interface["data"][0]:
        tensor = borrowed(value, interface, dtype, (c.DEVICE_CUDA, _ASK), None)
        return tensor._desc[1:3]  # type: ignore[no-any-return]
    return c.DEVICE_CUDA, number or 0


enter_output = enter


def leave(tensor: Memory, like: Any) -> Any:
    """Returns a numba array if `like` is one. Otherwise returns a tensor, which supports both protocols."""
    if type(like).__module__.partition(".")[0] == "numba":
        return sys.modules["numba"].cuda.as_cuda_array(tensor)
    return tensor
