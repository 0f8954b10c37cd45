"""Devices of memory: the two numbers of DLPack, the name, and errors about a wrong device."""

from __future__ import annotations

from .. import errors
from . import constants as c
from .integers import integer

Place = tuple[int, int]

HOST = (c.DEVICE_CPU, 0)
_KINDS = {"cpu": c.DEVICE_CPU, "cuda": c.DEVICE_CUDA}


def is_host(place: Place) -> bool:
    """Returns whether the process itself can read the memory. This includes pinned memory."""
    return place[0] in (c.DEVICE_CPU, c.DEVICE_CUDA_HOST)


def name_of(place: Place) -> str:
    """Returns ``"cpu"``, ``"cuda:0"`` and so on. Other devices are named by the numbers of DLPack."""
    if is_host(place):
        return "cpu"
    if place[0] in (c.DEVICE_CUDA, c.DEVICE_CUDA_MANAGED):
        return f"cuda:{place[1]}"
    return f"DLPack's device {place[0]}:{place[1]}"


def place_named(device: object) -> Place:
    """Returns the numbers of ``"cpu"``, ``"cuda"`` or ``"cuda:1"``."""
    kind, _, number = str(device).partition(":")
    if kind not in _KINDS or (number and not number.isdecimal()):
        known = ", ".join(f"{kind!r}" for kind in _KINDS)
        message = f"options: device {device!r} is none of {known}, or one with its number as in 'cuda:0'"
        raise errors.DeviceError(message, status=c.E_DEVICE, operand="options")
    return _KINDS[kind], integer("device number", int(number or 0), 32)


def other_place(operand: str, place: Place, needed: Place, why: str) -> errors.DeviceError:
    """Returns the error for an operand on another device than the other operands."""
    part = 0 if place[0] != needed[0] else 1  # as in the library: two kinds of devices, or two devices of a kind
    return errors.DeviceError(
        f"{operand}: it is on {name_of(place)}, {why} is on {name_of(needed)}",
        status=c.E_DEVICE,
        operand=operand,
        value=place[part],
        limit=needed[part],
    )
