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
    """Runs the program. Returns NotImplemented if the run fails: JAX only gives a text, and the general path the
    error."""
    try:
        return programs()[operation.number](params, indices, request=request).block_until_ready()
    except module("jax").errors.JaxRuntimeError:
        return NotImplemented


@cache
def programs() -> Any:
    from .jax import PROGRAMS

    return PROGRAMS
