"""The primitive gather_elements."""

from __future__ import annotations

from ..._requests.operation_table import GATHER_ELEMENTS
from .primitive import added, moved, places, registered, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import jax

    from ..._base.request_fields import Request


def add(shape: tuple[int, ...], indices: jax.Array, gradient: jax.Array, request: Request) -> jax.Array:
    """The gradient of an element that is repeated along a dim is added at place 0 of that dim."""
    axis = request.axis or 0
    where = places(gradient.shape, gradient.ndim)
    where = [place * (extent != 1) for place, extent in zip(where, shape, strict=True)]
    where[axis] = resolved(indices, shape[axis], request)
    return added(shape, where, gradient)


def batched(
    bind: Callable[..., Any], params: Any, indices: Any, params_dim: Any, indices_dim: Any, request: Request
) -> tuple[Any, int]:
    """An operand without a batch dim gets one of size 1, which is repeated."""
    operands = (
        array[None] if dim is None else moved(array, dim, 0)
        for array, dim in ((params, params_dim), (indices, indices_dim))
    )
    return bind(*operands, request=request._replace(axis=(request.axis or 0) + 1)), 0


operator = registered(GATHER_ELEMENTS, add, batched)
