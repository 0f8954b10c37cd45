"""Spec: the dtype, shape and strides of a future array."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._arrays.kinds import enter
from .._base import constants as c
from .._base.devices import HOST, Place, name_of, place_named
from .._base.dtypes import NAMES, number_of, size_of
from .._base.integers import integers
from .._memory.memory import Memory
from .._memory.packed_memory import PackedMemory


class Spec:
    """A dtype, a shape and strides, for plans and shape queries.

    Args:
        dtype: A name such as ``"float32"``, or a NumPy dtype. None means unknown, in shape queries only.
        shape: The size of each dim. One may be -1 or None, which leaves it open.
        strides: The strides in bytes. None means dense row-major.
        device: ``"cpu"``, ``"cuda:0"`` and so on. None means the device of the plan's context or other arrays.

    >>> import libgather
    >>> libgather.Spec("float32", (-1, 300))
    Spec('float32', (-1, 300))
    """

    __slots__ = ("__weakref__", "_dtype", "_place", "shape", "strides")

    def __init__(
        self,
        dtype: t.Any,
        shape: t.Sequence[int | None],
        strides: t.Sequence[int] | None = None,
        device: str | None = None,
    ) -> None:
        self._dtype = 0 if dtype is None else number_of(dtype)
        self.shape: tuple[int, ...] = integers("shape", shape)
        self.strides: tuple[int, ...] | None = None if strides is None else integers("strides", strides)
        if self.strides is not None and len(self.strides) != len(self.shape):
            raise errors.RankError("shape and strides of different rank", status=c.E_RANK)
        self._place = None if device is None else place_named(device)

    @property
    def dtype(self) -> str | None:
        """The name of the dtype, or None."""
        return NAMES.get(self._dtype)

    @property
    def _key(self) -> tuple[t.Any, ...]:
        return self._dtype, self.shape, self.strides, self._place

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[t.Any, ...]:
        return Spec, (self.dtype, self.shape, self.strides, self.device)

    def __repr__(self) -> str:
        strides = "" if self.strides is None else f", {self.strides}"
        device = "" if self.device in (None, "cpu") else f", device={self.device!r}"
        return f"Spec({self.dtype!r}, {self.shape}{strides}{device})"

    @property
    def device(self) -> str | None:
        """The name of the device, or None."""
        return None if self._place is None else name_of(self._place)

    def _operand(self, place: Place = HOST) -> tuple[t.Any, ...]:
        """Returns the description that the C code reads. `place` is used if the spec has no device."""
        offset = 0
        if self.strides is not None and 0 not in self.shape:
            offset = sum(-s * (n - 1) for s, n in zip(self.strides, self.shape, strict=True) if s < 0 < n)
        for number in (*self.shape, *(self.strides or ()), offset):
            if not -(2**63) <= number < 2**63:
                raise errors.ShapeError(f"{number} is beyond 64 bits", status=c.E_SIZE)
        return (self._dtype, *(self._place or place), 0, self.shape, self.strides, 0, offset, 0)

    @classmethod
    def of(cls, value: t.Any, operand: str) -> Spec:
        """Returns a spec unchanged, or the spec of an array."""
        if isinstance(value, Spec):
            return value
        return cls.of_tensor(enter(value, None, operand)[0])

    @classmethod
    def of_tensor(cls, tensor: Memory) -> Spec:
        if isinstance(tensor, PackedMemory):
            return PackedSpec(tensor)
        dense = is_dense(tensor)
        return cls(tensor.dtype, tensor.shape, None if dense else tensor.strides, tensor.device)

    @classmethod
    def of_shape_or_array(cls, value: t.Any, operand: str) -> Spec:
        """The same as `of`, but a tuple is a shape."""
        return cls(None, value) if isinstance(value, tuple) else cls.of(value, operand)


class PackedSpec(Spec):
    """The spec of a packed table. Its operand is the table itself."""

    __slots__ = ("_memory",)

    def __init__(self, memory: PackedMemory) -> None:
        super().__init__(memory.dtype, memory.shape)
        self._memory = memory

    @property
    def _key(self) -> tuple[t.Any, ...]:
        return *super()._key, id(self._memory)

    def __reduce__(self) -> t.Any:
        raise TypeError("a plan of a packed table is bound to its memory and cannot be pickled")

    def _operand(self, place: Place = HOST) -> tuple[t.Any, ...]:
        return self._memory._operand()


def is_dense(tensor: Memory) -> bool:
    if tensor._dtype == c.DTYPE_STRING or 0 in tensor.shape:
        return True
    stride = size_of(tensor._dtype)
    for extent, step in zip(tensor.shape[::-1], tensor.strides[::-1], strict=True):
        if extent != 1 and step != stride:
            return False
        stride *= extent
    return True
