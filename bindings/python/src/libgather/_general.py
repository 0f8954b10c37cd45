"""Calls that the C half does not support: arrays that are not buffers, and invalid options."""

from __future__ import annotations

from . import _gradients, _operations, _scatters
from ._operation import GATHERS, GRADIENTS, OPERATIONS, SCATTERS
from ._request import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RUNNERS = {
    operation.number: runner
    for operations, runner in (
        (GATHERS, _operations.run_others),
        (SCATTERS, _scatters.run_others),
        (GRADIENTS, _gradients.run_others),
    )
    for operation in operations
}


def run_others(number: int, table: Any, indices: Any, rows: Any, *options: Any) -> Any:
    """Runs a call of the C half on the general path."""
    return _RUNNERS[number](OPERATIONS[number], table, indices, rows, Request._make(options))
