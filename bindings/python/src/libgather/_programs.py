"""Calls that JAX runs as its own compiled programs."""

from __future__ import annotations

from ._modules import module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._operation import Operation
    from ._request import Request


def run_program(operation: Operation, params: Any, indices: Any, request: Request) -> Any:
    """Runs the JAX program of an operation.

    Returns NotImplemented if there is none, or if it fails. The general path then runs the call again. JAX reports an
    error only as text, refuses arrays on several devices, and needs the fill_value before it reads the indices.
    """
    from .jax import PROGRAMS
    from .jax._common import fill_of

    program = PROGRAMS.get(operation.number)
    if program is None:
        return NotImplemented
    try:
        request = request._replace(fill_value=fill_of(request.fill_value, params))
        return program(params, indices, request=request).block_until_ready()
    except (module("jax").errors.JaxRuntimeError, ValueError, TypeError):
        return NotImplemented
