"""What the C code does with the objects of types that have the protocol of Arrow."""

from __future__ import annotations

from .. import _objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: The entry of each type, which native/arrow.h describes.
ENTRIES: dict[type, Any] = {}
_objects.configure_arrow(ENTRIES, "_export_to_c", None)


def add(kind: type, *functions: Callable[..., Any]) -> None:
    """Adds a type of another library than pyarrow. The C code then reads its integers as indices.

    With two functions it also takes rows. The first one returns the export of an object: a capsule of a stream, or
    capsules of a type and an array. The second one returns the result for an object and the capsules of its rows.
    """
    ENTRIES[kind] = functions


class Capsules:
    """The capsules of an array, for one import by another library."""

    __slots__ = ("_capsules",)

    def __init__(self, capsules: tuple[Any, Any]) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._capsules
