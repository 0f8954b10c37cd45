"""The operations, a row each: what the library's functions and the C half call them, and what their attributes are."""

from __future__ import annotations

from . import _constants as c
from . import errors
from ._library import lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._request import Request


class Operation:
    """An operation of the library.

    Attributes:
        name: as in the library's functions, ``gth_`` before it
        number: its row in native/gather.c
        has_axis: whether it has the attribute axis
        has_rows: whether what an index selects may have more dims, such as one of bytes
        run, run_into, shape, plan: the library's functions
    """

    __slots__ = ("has_axis", "has_rows", "name", "number", "plan", "run", "run_into", "shape")

    def __init__(self, name: str, number: int, *, has_axis: bool, has_rows: bool = True) -> None:
        self.name, self.number, self.has_axis, self.has_rows = name, number, has_axis, has_rows
        self.run: Any = getattr(lib, f"gth_{name}")
        self.run_into: Any = getattr(lib, f"gth_{name}_into")
        self.shape: Any = getattr(lib, f"gth_{name}_shape")
        self.plan: Any = getattr(lib, f"gth_{name}_plan")

    def check(self, request: Request) -> None:
        """Refuses an attribute that the operation does not have."""
        if request.axis is not None and not self.has_axis:
            raise errors.RankError(f"options: {self.name} has no axis", status=c.E_AXIS, operand="options")


GATHER = Operation("gather", 0, has_axis=True)
GATHER_ND = Operation("gather_nd", 1, has_axis=False)
GATHER_ELEMENTS = Operation("gather_elements", 2, has_axis=True, has_rows=False)
