"""Producers of ``__cuda_array_interface__`` that have no DLPack: numba, PyCUDA."""

from __future__ import annotations

from .. import _constants as c
from .. import errors
from .._dtypes import NUMBERS
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context

_LETTERS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def enter(value: Any, context: Context | None, operand: str) -> Tensor:
    try:
        interface = value.__cuda_array_interface__
        shape, typestr, (address, readonly) = interface["shape"], interface["typestr"], interface["data"]
        name = _LETTERS.get(typestr[1], "")
        name = name if name == "bool" else f"{name}{int(typestr[2:]) * 8}"
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise errors.dtype_error(operand, f"a malformed __cuda_array_interface__: {error}") from error
    if name not in NUMBERS or typestr[0] == ">" or interface.get("mask") is not None:
        raise errors.dtype_error(operand, f"elements of type {typestr} are no dtype of this library")
    strides = interface.get("strides")
    if context is not None and interface.get("stream"):
        context.wait(interface["stream"])
    device = (c.DEVICE_CUDA, getattr(getattr(value, "device", None), "id", 0))
    return Tensor._borrow(
        value, address or 0, NUMBERS[name], tuple(shape), None if strides is None else tuple(strides), readonly, device
    )


def enter_output(value: Any, context: Context | None) -> Tensor:
    return enter(value, context, "out")


def leave(tensor: Tensor, like: Any) -> Tensor:
    """A tensor, which these libraries take through DLPack."""
    return tensor
