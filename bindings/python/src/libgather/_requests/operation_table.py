"""The operations: the number, the names of the operands and the attributes of each."""

from __future__ import annotations

from .. import errors
from .._base import constants as c
from .options_struct import choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.request_fields import Request
    from ..types import OperationName, ScatterName


class Operation:
    """An operation of the library.

    Attributes:
        name: The name of the library's function, without ``gth_``.
        number: The library's number, which never changes.
        kind: ``"gather"``, ``"scatter"``, ``"gradient"`` or ``"bags"``.
        form: ``"slices"``, ``"paired"`` or ``"bags"``.
        tuples: ``"one"``, or ``"last"``: Tuples are along the last dim of indices.
        roles: The names of its operands by role: the table that indices select in, the indices, and the rows.
        written: The place in `roles` of the operand that it writes.
        is_gradient: True if its table is a shape. The result is a new tensor of that shape.
        has_axis: True if it has the attribute axis.
        default_axis: The axis that None selects. None means the library's default.
        has_rows: True if an index may select several elements, such as a row of bytes.
    """

    __slots__ = (
        *("default_axis", "form", "has_axis", "has_rows", "is_gradient", "kind", "name", "number", "roles", "tuples"),
        "written",
    )

    def __init__(
        self, name: str, number: int, kind: str, form: str, tuples: str, roles: tuple[str, str, str], written: int
    ) -> None:
        self.name: str = name
        self.number: int = number
        self.kind: str = kind
        self.form: str = form
        self.tuples: str = tuples
        self.roles: tuple[str, str, str] = roles
        self.written: int = written
        self.is_gradient: bool = kind == "gradient"
        self.has_axis: bool = tuples == "one"
        self.has_rows: bool = form != "paired"
        self.default_axis: int | None = None if self.has_rows else -1

    def of_kind(self, kind: str) -> Operation:
        """Returns the first operation of a kind whose indices are those of this operation."""
        alike = (kind, self.form, self.tuples)
        return next(each for each in OPERATIONS.values() if (each.kind, each.form, each.tuples) == alike)

    def completed(self, request: Request) -> Request:
        """Returns the request with its default axis. Raises RankError if the operation has no axis."""
        if request.axis is None:
            return request._replace(axis=self.default_axis)
        if not self.has_axis:
            raise errors.RankError(f"options: {self.name} has no axis", status=c.E_AXIS, operand="options")
        return request


#: All operations by number.
OPERATIONS = {columns[0]: Operation(name, *columns) for name, columns in c.OPERATIONS.items()}
GATHERS, SCATTERS, GRADIENTS = (
    tuple(operation for operation in OPERATIONS.values() if operation.kind == kind)
    for kind in ("gather", "scatter", "gradient")
)
GATHER_BAGS = OPERATIONS[c.OP_GATHER_BAGS]
GATHER, GATHER_ND, GATHER_ELEMENTS = map(OPERATIONS.__getitem__, (c.OP_GATHER, c.OP_GATHER_ND, c.OP_GATHER_ELEMENTS))
SCATTER, SCATTER_ND, SCATTER_ELEMENTS = map(
    OPERATIONS.__getitem__, (c.OP_SCATTER, c.OP_SCATTER_ND, c.OP_SCATTER_ELEMENTS)
)


def of_name(name: str) -> Operation:
    return OPERATIONS[c.OPERATIONS[name][0]]


def operation_named(op: OperationName | None, nd: bool) -> Operation:
    """Returns the gather of a plan or a shape query. `nd` is short for gather_nd. None means gather."""
    named = chosen(op, GATHERS)
    if not nd:
        return named
    if op is not None and named is not GATHER_ND:
        raise errors.OptionError(f"options: op is {op!r}, but nd is gather_nd", status=c.E_VERSION, operand="options")
    return GATHER_ND


def scatter_named(op: ScatterName | None) -> Operation:
    """Returns the scatter of a plan or a shape query. None means scatter."""
    return chosen(op, SCATTERS)


def chosen(op: str | None, operations: tuple[Operation, ...]) -> Operation:
    """Returns the operation with a name. None means the first one."""
    number = choice("op", op, {operation.name: operation.number for operation in operations})
    return OPERATIONS[number] if number else operations[0]
