"""Converts host memory to Python objects."""

from __future__ import annotations

import math
import struct

from .._base import constants as c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.memory import Memory


def list_of(memory: Memory) -> Any:
    """Returns the elements as nested lists. For rank 0 it returns the element itself."""
    return nested(unpacked(memory), memory.shape)


def unpacked(memory: Memory) -> list[Any]:
    """Returns the elements in row-major order."""
    if memory._dtype == c.DTYPE_STRING:
        return memory._words()
    view = memory.memory()
    data, format = view.tobytes(), view.format
    if format[0] == "Z":
        parts = struct.unpack(f"={2 * memory.size}{format[1]}", data)
        return [complex(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    return list(struct.unpack(f"={memory.size}{format}", data))


def nested(elements: list[Any], shape: tuple[int, ...]) -> Any:
    """Returns elements in row-major order as nested lists. For rank 0 it returns the element itself."""
    if not shape:
        return elements[0]
    if len(shape) == 1:
        return elements
    size = math.prod(shape[1:])
    return [nested(elements[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]
