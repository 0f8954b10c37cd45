"""Calls that JAX runs as its own compiled programs."""

from __future__ import annotations

from functools import cache

from ._modules import module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._operation import Operation
    from ._request import Request


def run_program(operation: Operation, params: Any, indices: Any, request: Request) -> Any:
    """Runs the JAX program of an operation.

    Returns NotImplemented if there is none, or if it fails. JAX reports an error only as text, so the general path runs
    the call again and raises the error.
    """
    program = programs().get(operation.number)
    if program is None:
        return NotImplemented
    try:
        return program(params, indices, request=request).block_until_ready()
    except module("jax").errors.JaxRuntimeError:
        return NotImplemented


@cache
def programs() -> Any:
    from .jax import PROGRAMS

    return PROGRAMS
