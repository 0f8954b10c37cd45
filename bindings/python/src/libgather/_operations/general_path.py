"""Calls that the C code does not support: arrays that are not buffers, and invalid options."""

from __future__ import annotations

from .._arrays.kinds import kind_of
from .._base.request_fields import Request
from .._objects import NULL_FILL, configure_programs
from .._requests.operation_table import GATHER_BAGS, GATHERS, GRADIENTS, OPERATIONS, SCATTERS
from .._requests.options_struct import check_names, require_flag
from . import bags, gathers, gradients, scatters
from .columns import gather_rows, scatter_rows

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
    """Runs a call of the C code on the general path."""
    operation = OPERATIONS[number]
    request = given = Request._make(options)
    check_names(request)
    require_flag("sync", request.sync)
    require_flag("inplace", request.inplace)
    if request.fill_value is NULL_FILL:  # Only columns have nulls.
        request = request._replace(fill_value=None)
    result = run_program(number, table, indices, request) if rows is None else NotImplemented
    if result is NotImplemented and operation in GATHERS:
        result = gather_rows(operation, table, indices, rows, given)
    if operation in SCATTERS:
        result = scatter_rows(operation, table, indices, rows, given)
    if result is not NotImplemented:
        return result
    return _RUNNERS[number](operation, table, indices, rows, request)


def run_program(number: int, table: Any, indices: Any, request: Request) -> Any:
    """Runs a compiled program of the library of the table. Returns NotImplemented if there is none or it fails.

    JAX reports an error only as text, and rejects arrays on several devices.
    """
    program = program_of(number, table, indices, request)
    if program is None:
        return NotImplemented
    try:
        return program(table, indices).block_until_ready()
    except (RuntimeError, ValueError, TypeError):
        return NotImplemented


def program_of(number: int, table: Any, indices: Any, request: Request) -> Any:
    """Returns a compiled program of the library of the table, or None if there is none for the call."""
    is_program = getattr(kind_of(table), "is_program", None)
    if is_program is None or not is_program(table, indices, request):
        return None
    from . import jax_programs

    configure_programs(type(table), find_program)
    return jax_programs.program_of(number, table, request)


def find_program(number: int, table: Any, indices: Any, rows: Any, *options: Any) -> Any:
    """Returns the program of a call, for the C code. It then runs equal calls without this module."""
    return program_of(number, table, indices, Request._make(options))
