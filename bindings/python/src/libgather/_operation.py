"""The operations, a row each: what the library's functions and the C half call them, and what their attributes are."""

from __future__ import annotations

from . import _constants as c
from . import errors
from ._library import lib
from ._options import choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._request import Request
    from .types import OperationName


class Operation:
    """An operation of the library.

    Attributes:
        name: as in the library's functions, ``gth_`` before it
        number: its row in native/gather.c
        has_axis: whether it has the attribute axis
        default_axis: what an axis of None stands for; None: what the library makes of no axis
        has_rows: whether what an index selects may have more dims, such as one of bytes
        run, run_into, shape, plan: the library's functions
    """

    __slots__ = ("default_axis", "has_axis", "has_rows", "name", "number", "plan", "run", "run_into", "shape")

    def __init__(
        self, name: str, number: int, *, has_axis: bool, has_rows: bool = True, default_axis: int | None = None
    ) -> None:
        self.name, self.number = name, number
        self.has_axis, self.has_rows, self.default_axis = has_axis, has_rows, default_axis
        self.run: Any = getattr(lib, f"gth_{name}")
        self.run_into: Any = getattr(lib, f"gth_{name}_into")
        self.shape: Any = getattr(lib, f"gth_{name}_shape")
        self.plan: Any = getattr(lib, f"gth_{name}_plan")

    def completed(self, request: Request) -> Request:
        """A request that says all; an attribute that the operation does not have is refused."""
        if request.axis is None:
            return request._replace(axis=self.default_axis)
        if not self.has_axis:
            raise errors.RankError(f"options: {self.name} has no axis", status=c.E_AXIS, operand="options")
        return request


GATHER = Operation("gather", 0, has_axis=True)
GATHER_ND = Operation("gather_nd", 1, has_axis=False)
GATHER_ELEMENTS = Operation("gather_elements", 2, has_axis=True, has_rows=False, default_axis=-1)
OPERATIONS = (GATHER, GATHER_ND, GATHER_ELEMENTS)
_NUMBERS = {operation.name: operation.number for operation in OPERATIONS}


def operation_named(op: OperationName | None, nd: bool) -> Operation:
    """The operation that a plan or a shape query asks for; `nd` is short for gather_nd, None is gather."""
    named = OPERATIONS[choice("op", op, _NUMBERS)]
    if not nd:
        return named
    if op is not None and named is not GATHER_ND:
        raise errors.OptionError(f"options: op is {op!r}, but nd is gather_nd", status=c.E_VERSION, operand="options")
    return GATHER_ND
