"""Packed rows: the handle of a table whose memory has codes of numbers, not the numbers."""

from __future__ import annotations

from itertools import count
from weakref import WeakValueDictionary

from .. import errors
from .. import types as t
from .memory import Memory


class PackedMemory(Memory):
    """The handle of a packed table. Its memory is not exported, because it does not have the dtype and the shape."""

    __slots__ = ()
    _reason = "packed rows are no numbers: dequantize() has them"

    def _described_operand(self) -> tuple[t.Any, ...]:
        return self._operand()

    def memory(self) -> memoryview:
        raise BufferError(self._reason)

    def _viewed(self, dtype: int, shape: tuple[int, ...]) -> Memory:
        raise errors.unsupported("params", self._reason)


class PackedRows:
    """The base of :class:`libgather.Packed` and :class:`libgather.Table`, for modules that do not depend on them."""

    # _like: an empty array of the kind and dtype of results. None means that results are tensors.
    # _host_handle: as for Memory, the array that results are like, and the memory of the rows.
    # _number: the number of the table in compiled programs of torch, and _dims its shape.
    __slots__ = ("__weakref__", "_dims", "_host_handle", "_like", "_memory", "_number")

    _memory: PackedMemory
    _host_handle: t.Any
    _like: t.Any
    _number: int
    _dims: tuple[int, ...]

    def _register(self, memory: PackedMemory, like: t.Any) -> None:
        self._memory, self._dims = memory, memory.shape
        self._resemble(like)
        self._number = next(_numbers)
        TABLES[self._number] = self

    def _resemble(self, like: t.Any) -> None:
        """Sets the array that results are like."""
        handle = self._memory._host_handle
        self._like, self._host_handle = like, None if handle is None else (*handle, like, self._memory._keep)

    def _memory_for(self, operand: str) -> PackedMemory:
        """Returns the table. Raises UnsupportedError if it is another operand than `params`."""
        if operand != "params":
            raise errors.unsupported(operand, "packed rows are params of gathers alone: dequantize() has the numbers")
        return self._memory

    def _leave(self, tensor: Memory) -> t.Any:
        """Returns an array of the kind that results have."""
        raise NotImplementedError

    def _with_like(self, like: t.Any) -> PackedRows:
        """Returns the same table with results like another array."""
        made = PackedRows.__new__(type(self))
        for name in (*PackedRows.__slots__[1:], *type(self).__slots__):
            setattr(made, name, getattr(self, name))
        made._resemble(like)
        return made

    def __array__(self, *_: object, **__: object) -> t.Any:
        """Raises TypeError, because NumPy would otherwise create an array of one object."""
        raise TypeError("packed rows are no array: dequantize() has the numbers")

    @classmethod
    def __torch_function__(cls, function: t.Any, types: t.Any, args: t.Any = (), kwargs: t.Any = None) -> t.Any:
        """Runs a function of torch or of :mod:`libgather.torch` on a packed table."""
        run = TORCH_FUNCTIONS.get(function)
        return NotImplemented if run is None else run(*args, **(kwargs or {}))


#: The tables by number, for compiled programs.
TABLES: WeakValueDictionary[int, PackedRows] = WeakValueDictionary()
_numbers = count()
#: The functions of libgather.torch for packed rows, by those that they replace. libgather.torch adds them.
TORCH_FUNCTIONS: dict[t.Any, t.Callable[..., t.Any]] = {}
