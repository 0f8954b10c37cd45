"""Exceptions with fields that programs can read."""

from __future__ import annotations

import builtins
import functools

from . import types as t
from ._base import constants as c
from ._base.library import ffi, lib, text

_OPERANDS = {
    value: name.removeprefix("OPERAND_").lower()
    for name, value in vars(c).items()
    if name.startswith("OPERAND_") and value != c.OPERAND_NONE
}


class Error(Exception):
    """A call that failed. A number that does not apply is -1 (component, position, item) or 0.

    Attributes:
        status: The number of the library's status, which never changes. ``status_name`` is its name.
        operand: ``"params"``, ``"indices"``, ``"out"``, ``"target"``, ``"updates"``, ``"options"``, ``"context"``,
            ``"plan"``, ``"tensor"``, ``"request"``, ``"bags"``, ``"weights"``, ``"codec"``, ``"scales"``, ``"zeros"``,
            ``"data"``, ``"file"`` or None.
        component: The component of a tuple, or the dim.
        position: The number of the first invalid tuple. Batch dims are included.
        index: The position as a multi-index into `indices`, or None.
        axis: The dim of `params` or `target` that the invalid index selects in, or None.
        value: The given number.
        limit: The bound, or the required number.
        item: The number of the request in a call that has several.
        native: The errno of a file, or the number of a failed CUDA call.
        column: The name of the column whose dtype or value is the reason, or None.
        wraps: True if negative indices count from the end. The valid range is then [-limit, limit).

    >>> import libgather
    >>> try:
    ...     libgather.gather([10, 11, 12], [0, 3])
    ... except libgather.Error as error:
    ...     error.operand, error.position, error.value, error.limit, error.status_name
    ('indices', 1, 3, 3, 'GTH_E_INDEX')
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = c.E_INTERNAL,
        operand: str | None = None,
        component: int = -1,
        position: int = -1,
        value: int = 0,
        limit: int = 0,
        item: int = -1,
        native: int = 0,
        wraps: bool = False,
    ) -> None:
        super().__init__(message)
        self.status: int = status
        self.operand: str | None = operand
        self.component: int = component
        self.position: int = position
        self.value: int = value
        self.limit: int = limit
        self.item: int = item
        self.native: int = native
        self.wraps: bool = wraps
        self.index: tuple[int, ...] | None = None
        self.axis: int | None = None
        self.column: t.Any = None

    def place(self, index: tuple[int, ...], axis: int) -> None:
        """Adds the multi-index of the invalid index and the dim that it selects in to the error and its message."""
        self.index, self.axis = index, axis
        hint = "; negative='wrap' counts from the end" if -self.limit <= self.value < 0 and not self.wraps else ""
        self.args: tuple[t.Any, ...] = (f"{self}: indices[{', '.join(map(str, index)) or '()'}], axis {axis}{hint}",)

    def of_column(self, name: t.Any) -> None:
        """Adds the name of a column to the error and its message. Columns without a name have none."""
        if self.column is None and name is not None and not (isinstance(name, str) and name == ""):
            self.column, self.args = name, (f"{self}: column {name!r}",)

    def rename(self, operand: str) -> None:
        """Names the argument, if the library found an error in the tensor that was made of it."""
        if self.operand == "tensor":
            self.operand, self.args = operand, (str(self).replace("tensor:", f"{operand}:", 1),)

    def name_dtypes(self, module: str) -> None:
        """Names the dtypes in the message as users of a module write them, for example ``torch.float32``.

        In an error of the options, "bool" and "string" are types of Python.
        """
        import re

        words = r"(?:q?u?int|bfloat|b?complex|float|bits)\d\w*" + ("" if self.operand == "options" else "|bool|string")
        self.args = (re.sub(rf"(?<![\w.'])(?:<dtype: ')?\b({words})\b(?:'>)?", rf"{module}.\1", str(self)),)

    @property
    def status_name(self) -> str:
        """The name of the status, such as ``"GTH_E_INDEX"``."""
        return text(lib.gth_status_name(self.status))

    def __reduce__(self) -> tuple[t.Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


def _rebuild(kind: type[Error], message: str, fields: dict[str, t.Any]) -> Error:
    error = kind(message)
    error.__dict__.update(fields)
    return error


class IndexError(Error, builtins.IndexError):
    """An index is out of bounds, or selects in an empty dim.

    The output, or the target, is unchanged, unless `bounds` is ``"error_partial"``.
    """


class ShapeError(Error, ValueError):
    """Sizes of dims, batch dims, memory sizes or strides do not fit."""


class RankError(Error, ValueError):
    """A rank differs from the required one or is out of range, or an axis is out of range."""


class DTypeError(Error, TypeError):
    """A dtype is unknown, not allowed or not the required one, or an argument is not an array."""


class OptionError(Error, ValueError):
    """The library does not support a profile, switch, opset or number."""


class OutOfMemoryError(Error, MemoryError):
    """Memory could not be allocated."""


class DeviceError(Error, RuntimeError):
    """A device is unknown or absent, arrays are on different devices, or a CUDA call failed."""


class OutputError(Error, ValueError):
    """An output or a target cannot be written, because it is read-only or shares memory with an input."""


class ClosedError(Error, ValueError):
    """A plan, context or tensor has been closed."""


class UnsupportedError(Error, NotImplementedError):
    """The call is valid, but this kind of array does not support it."""


class ExchangeError(Error, ValueError):
    """A struct of DLPack or Arrow is malformed, or offsets of strings decrease."""


class OffsetsError(Error, ValueError):
    """Offsets, lengths or segments of bags are invalid."""


class FileError(Error, OSError):
    """A file could not be opened or read, or is malformed.

    Attributes:
        component: The segment of the table.
        value, limit: The byte in the file, and the number of bytes that are wanted from there on.
        errno: The number of the system's error. None if the file is too short or malformed.
    """

    @property
    def errno(self) -> int | None:  # type: ignore[override]
        return self.native or None


class RaceError(Error, RuntimeError):
    """Another thread has changed indices during a call.

    Each row of the output is gathered or zero. Each row of a target is updated or unchanged.
    """


_CLASSES: dict[int, type[Error]] = {
    c.E_INDEX: IndexError,
    c.E_SHAPE: ShapeError,
    c.E_BATCH: ShapeError,
    c.E_SIZE: ShapeError,
    c.E_STRIDE: ShapeError,
    c.E_RANK: RankError,
    c.E_AXIS: RankError,
    c.E_DTYPE: DTypeError,
    c.E_VERSION: OptionError,
    c.E_NOMEM: OutOfMemoryError,
    c.E_DEVICE: DeviceError,
    c.E_CUDA: DeviceError,
    c.E_FORK: DeviceError,
    c.E_CAPTURE: DeviceError,
    c.E_READONLY: OutputError,
    c.E_ALIAS: OutputError,
    c.E_HANDLE: ClosedError,
    c.E_UNSUPPORTED: UnsupportedError,
    c.E_DLPACK: ExchangeError,
    c.E_ARROW: ExchangeError,
    c.E_OFFSETS: OffsetsError,
    c.E_IO: FileError,
    c.E_RACE: RaceError,
}
_A_MASK = "nonzero() of a mask has the indices"


def of_fields(fields: tuple[int, int, int, int, int, int, int, int, str, int]) -> Error:
    """Returns the exception for the fields of a gth_error."""
    status, operand, component, flags, position, value, limit, item, message, native = fields
    if status == c.E_HANDLE:
        return closed(_OPERANDS.get(operand, "handle"))
    if status == c.E_DTYPE:
        message = named_dtype(message, value, operand)
    return _CLASSES.get(status, Error)(
        message,
        status=status,
        operand=_OPERANDS.get(operand),
        component=component,
        position=position,
        value=value % 2**64 if flags & c.ERROR_UNSIGNED else value,
        limit=limit,
        item=item,
        native=native,
        wraps=bool(flags & c.ERROR_WRAP),
    )


def named_dtype(message: str, dtype: int, operand: int) -> str:
    """Returns the library's message without the number that follows the name of a dtype."""
    named = message.replace(f" ({dtype})", "", 1)
    return f"{named}: {_A_MASK}" if (dtype, operand) == (c.DTYPE_BOOL, c.OPERAND_INDICES) else named


def of_struct(error: t.Any) -> Error:
    message = ffi.string(error.message).decode("utf-8", "replace")
    place = error.operand, error.component, error.flags, error.position
    return of_fields((error.status, *place, error.value, error.limit, error.item, message, error.native))


def dtype_error(operand: str | None, message: str) -> DTypeError:
    """Returns the error for an argument that this package cannot read."""
    return DTypeError(f"{operand}: {message}" if operand else message, status=c.E_DTYPE, operand=operand)


def of_library(error: Exception, value: object, operand: str) -> DTypeError:
    """Returns the error for an exception of a value's own library.

    The message keeps only the first line, because a stack dump may follow.
    """
    line = str(error).partition("\n")[0]
    return dtype_error(operand, f"{type(value).__name__}: {line}")


def naming(module: str, function: t.Any) -> t.Any:
    """Returns a function whose errors name the dtypes as users of a module write them."""

    def call(*arguments: t.Any, **keywords: t.Any) -> t.Any:
        try:
            return function(*arguments, **keywords)
        except DTypeError as error:
            error.name_dtypes(module)
            raise

    return functools.update_wrapper(call, function)


def closed(operand: str) -> ClosedError:
    """Returns the error for an invalid handle. Only this package creates handles, so it has been closed."""
    return ClosedError(f"{operand}: it has been closed", status=c.E_HANDLE, operand=operand)


def read_only(operand: str, message: str) -> OutputError:
    return OutputError(f"{operand}: {message}", status=c.E_READONLY, operand=operand)


def not_writable(operand: str, value: object) -> OutputError:
    return read_only(operand, f"{type(value).__name__} cannot be written in place")


def unsupported(operand: str, message: str) -> UnsupportedError:
    return UnsupportedError(f"{operand}: {message}", status=c.E_UNSUPPORTED, operand=operand)
