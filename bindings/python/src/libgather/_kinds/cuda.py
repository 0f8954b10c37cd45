"""Producers of ``__cuda_array_interface__`` that have no DLPack: numba, PyCUDA.

The interface does not say which device: it is that of the attribute ``device.id``, where there is one, else the first.
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

_LETTERS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    interface, dtype = read(value, operand)
    address, readonly = interface["data"]
    strides = interface.get("strides")
    if site is not None and interface.get("stream") is not None:
        site.join(interface["stream"])
    return Memory._borrow(
        value,
        address or 0,
        dtype,
        tuple(interface["shape"]),
        None if strides is None else tuple(strides),
        readonly,
        place_of(value, operand),
        None if site is None else site.context,
    )


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
    read(value, operand)
    return c.DEVICE_CUDA, getattr(getattr(value, "device", None), "id", 0)


def enter_output(value: Any, site: Site | None) -> Memory:
    return enter(value, site, "out")


def leave(tensor: Memory, like: Any) -> Any:
    """An array of numba's for one of numba's, else a tensor, which is a producer of both protocols."""
    if type(like).__module__.partition(".")[0] == "numba":
        return sys.modules["numba"].cuda.as_cuda_array(tensor)
    return tensor
