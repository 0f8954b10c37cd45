"""Producers of ``__cuda_array_interface__`` that have no DLPack: numba, PyCUDA.

The interface does not say which device: it is that of the attribute ``device.id``, where there is one, else that which
CUDA says the memory is on.
"""

from __future__ import annotations

import sys

from .. import _constants as c
from .. import errors
from .._dtypes import NUMBERS
from .._memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._places import Place
    from .._site import Site
    from ..context import Context

#: The device of a description that is to be found out.
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
    """The interface and its dtype's number."""
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
        asked = borrowed(value, interface, dtype, (c.DEVICE_CUDA, _ASK), None)
        return asked._desc[1:3]  # type: ignore[no-any-return]
    return c.DEVICE_CUDA, number or 0


def enter_output(value: Any, site: Site | None, operand: str) -> Memory:
    return enter(value, site, operand)


def leave(tensor: Memory, like: Any) -> Any:
    """An array of numba's for one of numba's, else a tensor, which is a producer of both protocols."""
    if type(like).__module__.partition(".")[0] == "numba":
        return sys.modules["numba"].cuda.as_cuda_array(tensor)
    return tensor
