"""Tensors of this library."""

from __future__ import annotations

from .. import errors
from .._base.devices import HOST
from .._memory.memory import Memory
from .._memory.packed_memory import PackedRows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.devices import Place
    from .._memory.device_site import Site


def enter(value: object, site: Site | None, operand: str) -> Memory:
    if isinstance(value, PackedRows):
        return value._memory_for(operand)
    if not isinstance(value, Memory):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if value._handle is None:
        raise errors.closed(operand)
    if site is not None:
        site.follow(value._live_context)
    return value


def place_of(value: object, operand: str) -> Place:
    if not isinstance(value, Memory) or value._handle is None:
        return HOST  # enter() rejects the value
    return value._desc[1:3]  # type: ignore[no-any-return]


enter_output = enter


def leave(tensor: Memory, like: object) -> object:
    """Returns the tensor, or an array of the kind that results of a packed table have."""
    return like._leave(tensor) if isinstance(like, PackedRows) else tensor
