"""Finds the device and the stream of a call. Calls on the host have neither."""

from __future__ import annotations

from .. import errors
from .._arrays.kinds import call_library, kind_of, stream_of
from .._base import constants as c
from .._base.cuda_streams import LEGACY, stream_number
from .._base.devices import HOST, is_host, name_of, other_place
from .._memory.context import checked
from .._memory.default_contexts import context_for
from .._memory.device_site import Site
from .._memory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._memory.context import Context


_KNOWN = (c.DEVICE_CPU, c.DEVICE_CUDA, c.DEVICE_CUDA_HOST, c.DEVICE_CUDA_MANAGED)


def place_of(value: Any, operand: str) -> Place:
    """Returns the device of an array. A value that has no device is on the host."""
    find = getattr(kind_of(value), "place_of", None)
    return HOST if find is None else call_library(find, value, operand, operand)


def site_of(context: Context | None, stream: Any, *operands: tuple[str, Any]) -> Site | None:
    """Returns the site of a call with these operands, or None for a call on the host.

    Raises:
        DeviceError: Operands are on different devices, or a stream is given for arrays on the host.
    """
    places = [(operand, place_of(value, operand)) for operand, value in operands if value is not None]
    if not all(is_host(place) for _, place in places) or (context is not None and checked(context)._is_device):
        return device_site(context, stream, operands, places)
    if stream is not None:
        message = "options: a stream is for arrays on a device, these are on the cpu"
        raise errors.DeviceError(message, status=c.E_DEVICE, operand="options")
    return None


def site_of_copy(context: Context | None, source: Memory, destination: Any) -> tuple[Site | None, bool]:
    """Returns the site of a copy, and whether exactly one side of it is on the host."""
    places = [(value, place_of(value, operand)) for operand, value in (("params", source), ("out", destination))]
    remote = [("out" if value is destination else "params", value) for value, place in places if not is_host(place)]
    return site_of(context, None, *remote), len(remote) == 1


def device_site(
    context: Context | None, stream: Any, operands: tuple[tuple[str, Any], ...], places: list[tuple[str, Place]]
) -> Site:
    if context is not None:
        if stream is not None:
            message = "options: stream and context are both given, and a context has a stream"
            raise errors.OptionError(message, status=c.E_VERSION, operand="options")
        check_places(places, checked(context)._place, "the context")
        return Site(context, chosen=True)
    # Managed memory belongs to every device, so it decides only if all arrays are managed.
    remote = [named for named in places if not is_host(named[1])]
    first, needed = min(remote, key=lambda named: named[1][0] == c.DEVICE_CUDA_MANAGED)
    check_places(places, needed, first)
    if stream is not None:
        return Site(context_for(needed, stream_number(stream), stream), chosen=True)
    return Site(current_context(operands, needed), chosen=False)


def check_places(places: list[tuple[str, Place]], needed: Place, why: str) -> None:
    """Validates the devices of operands. Every device can access pinned and managed memory."""
    reached = (c.DEVICE_CPU, c.DEVICE_CUDA_HOST) if is_host(needed) else (c.DEVICE_CUDA_HOST, c.DEVICE_CUDA_MANAGED)
    for operand, place in places:
        if place[0] not in _KNOWN:
            message = f"{operand}: {name_of(place)} is no device of this library"
            raise errors.DeviceError(message, status=c.E_DEVICE, operand=operand, value=place[0])
        if place[0] not in reached and (is_host(place) or is_host(needed) or place[1] != needed[1]):
            raise other_place(operand, place, needed, why)


def current_context(operands: tuple[tuple[str, Any], ...], place: Place) -> Context:
    """Returns the context of the first operand that has a stream.

    This is the context that made the operand, or one for the current stream of the operand's library.
    """
    for _, value in operands:
        if isinstance(value, Memory):
            own = value._live_context
            if own is not None and own._place == place:
                return own if own._is_here else context_for(place, own._number)
        stream = stream_of(value, place)
        if stream is not None:
            return context_for(place, stream_number(stream), stream)
    return context_for(place, LEGACY)
