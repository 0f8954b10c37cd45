"""Calls that JAX runs as its own compiled programs. This package is imported when there is an array of JAX."""

from __future__ import annotations

import jax

from ..._base.constants import OP_GATHER, OP_GATHER_ELEMENTS, OP_GATHER_ND
from . import gather, gather_elements, gather_nd
from .primitive import fill_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..._base.request_fields import Request
    from ..._requests.operation_table import Operation

#: The compiled function of each operation, by the number of the operation.
PROGRAMS = {
    OP_GATHER: gather.operator,
    OP_GATHER_ND: gather_nd.operator,
    OP_GATHER_ELEMENTS: gather_elements.operator,
}


def run_program(operation: Operation, params: Any, indices: Any, request: Request) -> Any:
    """Runs the JAX program of an operation.

    Returns NotImplemented if there is none, or if it fails. The general path then runs the call again. JAX reports an
    error only as text, refuses arrays on several devices, and needs the fill_value before it reads the indices.
    """
    program = PROGRAMS.get(operation.number)
    if program is None:
        return NotImplemented
    try:
        request = request._replace(fill_value=fill_of(request.fill_value, params))
        return program(params, indices, request=request).block_until_ready()
    except (jax.errors.JaxRuntimeError, ValueError, TypeError):
        return NotImplemented
