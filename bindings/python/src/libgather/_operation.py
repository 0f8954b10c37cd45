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
    from .types import OperationName, ScatterName


class Operation:
    """An operation of the library.

    Attributes:
        name: as in the library's functions, ``gth_`` before it
        number: its row in native/operation.c, which has one table for gathers and one for scatters
        source: what its indices select in: ``"params"``, or ``"target"`` of a scatter
        has_axis: whether it has the attribute axis
        default_axis: what an axis of None stands for; None: what the library makes of no axis
        has_rows: whether what an index selects may have more dims, such as one of bytes
        run, run_into, shape, plan: the library's functions
        gradient: that of the gradient; None: it has none
    """

    __slots__ = (
        "default_axis",
        "gradient",
        "has_axis",
        "has_rows",
        "name",
        "number",
        "plan",
        "run",
        "run_into",
        "shape",
        "source",
    )

    def __init__(
        self,
        name: str,
        number: int,
        *,
        source: str = "params",
        has_axis: bool,
        has_rows: bool = True,
        default_axis: int | None = None,
    ) -> None:
        self.name: str = name
        self.number: int = number
        self.source: str = source
        self.has_axis: bool = has_axis
        self.has_rows: bool = has_rows
        self.default_axis: int | None = default_axis
        self.run: Any = getattr(lib, f"gth_{name}")
        self.run_into: Any = getattr(lib, f"gth_{name}_into")
        self.shape: Any = getattr(lib, f"gth_{name}_shape")
        self.plan: Any = getattr(lib, f"gth_{name}_plan")
        self.gradient: Any = getattr(lib, f"gth_{name}_gradient", None)

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

SCATTER = Operation("scatter", 0, source="target", has_axis=True)
SCATTER_ND = Operation("scatter_nd", 1, source="target", has_axis=False)
SCATTER_ELEMENTS = Operation("scatter_elements", 2, source="target", has_axis=True, has_rows=False, default_axis=-1)
SCATTERS = (SCATTER, SCATTER_ND, SCATTER_ELEMENTS)


def operation_named(op: OperationName | None, nd: bool) -> Operation:
    """The gather that a plan or a shape query asks for; `nd` is short for gather_nd, None is gather."""
    named = chosen(op, OPERATIONS)
    if not nd:
        return named
    if op is not None and named is not GATHER_ND:
        raise errors.OptionError(f"options: op is {op!r}, but nd is gather_nd", status=c.E_VERSION, operand="options")
    return GATHER_ND


def scatter_named(op: ScatterName | None) -> Operation:
    """The scatter that a plan or a shape query asks for; None is scatter."""
    return chosen(op, SCATTERS)


def chosen(op: str | None, operations: tuple[Operation, ...]) -> Operation:
    """The operation of a name, the first one for None."""
    return operations[choice("op", op, {operation.name: operation.number for operation in operations})]
