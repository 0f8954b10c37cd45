"""What can go wrong, as exceptions with fields that programs can read."""

from __future__ import annotations

import builtins

from . import _constants as c
from ._library import ffi, lib, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPERANDS = {
    c.OPERAND_PARAMS: "params",
    c.OPERAND_INDICES: "indices",
    c.OPERAND_OUT: "out",
    c.OPERAND_OPTIONS: "options",
    c.OPERAND_CONTEXT: "context",
    c.OPERAND_PLAN: "plan",
    c.OPERAND_TENSOR: "tensor",
}


class Error(Exception):
    """A call that failed. The numbers are -1 (component, position) or 0 where they say nothing.

    Attributes:
        status: the number of the library's status, negative for ever (``status_name`` has its name)
        operand: ``"params"``, ``"indices"``, ``"out"``, ``"options"``, ``"context"``, ``"plan"``, ``"tensor"`` or None
        component: which component of a tuple, or which dim
        position: the number of the first bad tuple, batch dims included
        value: what came
        limit: what it was held against
        wraps: negative indices count from the end: the valid range is [-limit, limit)

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
        wraps: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.operand = operand
        self.component = component
        self.position = position
        self.value = value
        self.limit = limit
        self.wraps = wraps

    @property
    def status_name(self) -> str:
        """The name of the status, such as ``"GTH_E_INDEX"``."""
        return text(lib.gth_status_name(self.status))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), str(self), self.__dict__)


def _rebuild(kind: type[Error], message: str, fields: dict[str, Any]) -> Error:
    error = kind(message)
    error.__dict__.update(fields)
    return error


class IndexError(Error, builtins.IndexError):
    """An index out of bounds, or a row asked from an empty dim. The output is unchanged."""


class ShapeError(Error, ValueError):
    """Extents, batch dims, sizes or strides that do not fit."""


class RankError(Error, ValueError):
    """A rank that is too small, too large or another one than needed; an axis out of range."""


class DTypeError(Error, TypeError):
    """A dtype that is unknown, not allowed here or another one than needed; an argument that is no array."""


class OptionError(Error, ValueError):
    """A profile, switch, opset or number that the library does not know."""


class OutOfMemoryError(Error, MemoryError):
    """Memory could not be had."""


class DeviceError(Error, RuntimeError):
    """An unknown or absent device, arrays on different devices, or a failed call of CUDA."""


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
}


def of_fields(fields: tuple[int, int, int, int, int, int, int, str]) -> Error:
    """The exception for the fields of a gth_error."""
    status, operand, component, flags, position, value, limit, message = fields
    if status == c.E_HANDLE:
        return closed(_OPERANDS.get(operand, "handle"))
    return _CLASSES.get(status, Error)(
        message,
        status=status,
        operand=_OPERANDS.get(operand),
        component=component,
        position=position,
        value=value % 2**64 if flags & c.ERROR_UNSIGNED else value,
        limit=limit,
        wraps=bool(flags & c.ERROR_WRAP),
    )


def of_struct(error: Any) -> Error:
    message = ffi.string(error.message).decode("utf-8", "replace")
    return of_fields(
        (error.status, error.operand, error.component, error.flags, error.position, error.value, error.limit, message)
    )


def dtype_error(operand: str | None, message: str) -> DTypeError:
    """An argument that this package itself cannot read."""
    return DTypeError(f"{operand}: {message}" if operand else message, status=c.E_DTYPE, operand=operand)


def closed(operand: str) -> Error:
    """Handles are made by this package alone, so that one which is not alive has been closed."""
    return Error(f"{operand}: it has been closed", status=c.E_HANDLE, operand=operand)


def read_only(operand: str, message: str) -> Error:
    return Error(f"{operand}: {message}", status=c.E_READONLY, operand=operand)


def unsupported(operand: str, message: str) -> Error:
    return Error(f"{operand}: {message}", status=c.E_UNSUPPORTED, operand=operand)
