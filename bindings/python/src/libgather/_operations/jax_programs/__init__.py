"""Calls that JAX runs as its own compiled programs. This package is imported when there is an array of JAX."""

from __future__ import annotations

from functools import cache, partial

import jax

from ... import errors
from ..._base.constants import OP_GATHER, OP_GATHER_ELEMENTS, OP_GATHER_ND
from ..._requests.options_struct import check_options
from . import gather, gather_elements, gather_nd
from .primitive import fill_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..._base.request_fields import Request

#: The module of each operation that has programs, by the number of the operation.
PROGRAMS = {
    OP_GATHER: gather,
    OP_GATHER_ND: gather_nd,
    OP_GATHER_ELEMENTS: gather_elements,
}


def compiled(operator: Callable[..., Any], request: Request) -> Callable[..., Any]:
    """Returns the compiled function of the operands. A static argument would take longer than a small gather."""
    return program_for(operator, request, tuple(map(type, request)))


@cache
def program_for(operator: Callable[..., Any], request: Request, types: tuple[type, ...]) -> Callable[..., Any]:
    """Returns a new function. Requests that are equal have different types, for example 1 and True."""
    for option in ("axis", "batch_dims", "padding_index"):
        if isinstance(getattr(request, option), bool):
            raise errors.dtype_error("options", f"{option} is bool, not an integer")
    check_options(request._replace(bag_count=0))  # the number of bags may be symbolic
    program: Callable[..., Any] = jax.jit(partial(operator, request=request))
    return program


def program_of(number: int, params: Any, request: Request) -> Any:
    """Returns the JAX program of an operation, or None.

    JAX needs the fill_value before it reads the indices. The general path reports that of another dtype.
    """
    program = PROGRAMS.get(number)
    if program is None:
        return None
    try:
        if request.fill_value is not None:
            request = request._replace(fill_value=fill_of(request.fill_value, params))
        return compiled(program.operator, request)
    except (ValueError, TypeError):  # such as an argument that has no hash
        return None
