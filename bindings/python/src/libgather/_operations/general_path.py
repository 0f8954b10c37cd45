"""Calls that the C half does not support: arrays that are not buffers, and invalid options."""

from __future__ import annotations

from .._base.constants import OP_GATHER
from .._base.request_fields import Request
from .._requests.operation_table import GATHER_BAGS, GATHERS, GRADIENTS, OPERATIONS, SCATTERS
from . import bags, gathers, gradients, scatters
from .columns import gather_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RUNNERS = {
    operation.number: runner
    for operations, runner in (
        (GATHERS, gathers.run_others),
        (SCATTERS, scatters.run_others),
        (GRADIENTS, gradients.run_others),
        ((GATHER_BAGS,), bags.run_others),
    )
    for operation in operations
}


def run_others(number: int, table: Any, indices: Any, rows: Any, *options: Any) -> Any:
    """Runs a call of the C half on the general path."""
    if number == OP_GATHER and rows is None:
        taken = gather_rows(table, indices, options)
        if taken is not NotImplemented:
            return taken
    return _RUNNERS[number](OPERATIONS[number], table, indices, rows, Request._make(options))
