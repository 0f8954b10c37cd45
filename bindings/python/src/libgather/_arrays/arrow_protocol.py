"""Objects of other libraries that have the protocol of Arrow: arrays, chunked arrays and tables.

The library takes their rows. Results are objects of the same type if it has `from_arrow`, which other libraries use for
this purpose. Other results are `Rows`. As an array, such an object must not have nulls.
"""

from __future__ import annotations

from .. import _objects, errors
from .._base.dtypes import NUMBERS
from .._base.integers import integer
from .._base.library import NULL, ffi
from .._memory.memory import Memory
from . import arrow, arrow_types
from .selection import NO_NULLS, Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.device_site import Site

_NAMES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]
#: The dtypes of the formats of numbers.
_DTYPES = {letter: NUMBERS[name] for letter, name in zip("cCsSiIlLefg", _NAMES, strict=True)}
#: The formats of strings and binary that tensors have.
_STRINGS = ("u", "U", "z", "Z")


class Rows:
    """Rows of an object with the protocol of Arrow.

    `__arrow_c_array__` and `__arrow_c_schema__` return them by the same protocol, to any library of Arrow.
    """

    __slots__ = ("_column", "_length")

    def __init__(self, capsules: tuple[Any, Any]) -> None:
        self._column, self._length = _objects.rows_kept(capsules)

    def __len__(self) -> int:
        return self._length

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return _objects.rows_exported(self._column, self._length)

    def __arrow_c_schema__(self) -> Any:
        return self.__arrow_c_array__()[0]


def register(kind: type) -> None:
    """Tells the C code how it takes rows of objects of a type, unless an object can be exported only once."""
    if not is_stream(kind):
        arrow_types.add(kind, exported, finished)


def is_stream(value: Any) -> bool:
    """Returns whether a type or an object of it is a stream, whose arrays are consumed by an export."""
    return not hasattr(value, "__len__")


def exported(value: Any) -> Any:
    return value.__arrow_c_stream__() if hasattr(value, "__arrow_c_stream__") else value.__arrow_c_array__()


def finished(like: Any, capsules: tuple[Any, Any]) -> Any:
    make = getattr(type(like), "from_arrow", None)
    return Rows(capsules) if make is None else make(arrow_types.Capsules(capsules))


def row_axis(value: Any, axis: int | None) -> int | None:
    return 0 if axis is None or integer("axis", axis) == 0 else None


def gather_rows(params: Any, selection: Selection) -> Any:
    if len(selection.shape) != 1:
        return NotImplemented
    if selection.fills:
        name = type(params).__name__
        raise errors.unsupported("options", f"objects of type {name} have no fill value: use bounds 'null'")
    return selection.taken(params, exported(params), finished, None)


def split_nulls(value: Any) -> tuple[Any, tuple[Any, int]]:
    """Returns indices in one array without nulls, and their validity bits."""
    if len(getattr(value, "shape", "1")) > 1:
        return value, NO_NULLS
    array = OneArray(value)
    if array.dtype is None and not is_stream(value):
        return value, NO_NULLS  # the general path reports it
    indices = array.tensor("indices").memory()
    bits = _objects.view(array, array.buffer(0), "B", 1, ((array.length + 7) // 8,), (1,), True)
    return indices, (bits, 0) if array.null_count else NO_NULLS


class OneArray:
    """The rows of an object as one array without an offset, which is a copy."""

    def __init__(self, value: Any) -> None:
        self.capsules = _objects.rows_exported(*_objects.rows_kept(exported(value)))
        schema, array = self.capsules
        formats = ffi.cast("char **", _objects.capsule_address(schema, "arrow_schema"))
        fields = ffi.cast("int64_t *", _objects.capsule_address(array, "arrow_array"))
        self.format: str = ffi.string(formats[0]).decode()
        self.dtype: int | None = None if ffi.cast("void **", formats)[6] != NULL else _DTYPES.get(self.format)
        self.length: int = fields[0]
        self.null_count: int = fields[1]
        self._buffers = ffi.cast("intptr_t *", fields[5])

    def buffer(self, number: int) -> int:
        return int(self._buffers[number])

    def tensor(self, operand: str) -> Memory:
        """Precondition: nulls have been excluded."""
        if self.dtype is None:
            raise errors.dtype_error(operand, f"elements of the format {self.format!r} are no dtype of this library")
        return Memory._borrow(self, self.buffer(1), self.dtype, (self.length,), None, True)


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    array = OneArray(value)
    if array.null_count:
        advice = "select rows by indices of one dim" if operand == "params" else "fill them first"
        raise errors.dtype_error(operand, f"it has nulls, which an element cannot be: {advice}")
    if array.format in _STRINGS:
        return arrow.of_capsules(array.capsules, operand)
    return array.tensor(operand)


def leave(tensor: Memory, like: Any) -> Any:
    return tensor
