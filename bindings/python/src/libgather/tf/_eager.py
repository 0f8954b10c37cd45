"""Eager tensors on the CPU as NumPy arrays of the same memory, which takes less time than an exchange by DLPack."""

from __future__ import annotations

import sys
from math import prod

from .._arrays.tensorflow_ import place_of
from .._base.devices import is_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: TensorFlow's kernels need memory of this alignment.
_ALIGNMENT = 64
_DTYPES = frozenset(f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)) - {"float8"}


def views_of(*operands: Any) -> Any:
    """Returns read-only views of the operands, or None if one is not an eager tensor of numbers on the CPU.

    The first operand has elements, and the second one is indices.
    """
    tf = sys.modules.get("tensorflow")
    if tf is None or not all(isinstance(each, tf.Tensor) and hasattr(each, "numpy") for each in operands):
        return None
    names = [each.dtype.name for each in operands]
    if names[1] not in ("int32", "int64") or not _DTYPES.issuperset(names):
        return None
    if not all(is_host(place_of(each, "params")) for each in operands):
        return None
    np = sys.modules["numpy"]
    views = [np.asarray(memoryview(each)) for each in operands]
    return views if views[0].size else None


def empty(shape: Sequence[int], dtype: Any) -> Any:
    """Returns a new array of memory that TensorFlow can use."""
    np = sys.modules["numpy"]
    size = prod(shape) * dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    start = -memory.__array_interface__["data"][0] % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def tensor_of(array: Any) -> Any:
    """Returns a tensor of the memory of an array."""
    return sys.modules["tensorflow"].experimental.dlpack.from_dlpack(array.__dlpack__())
