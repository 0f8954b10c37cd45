"""The primitive gather_nd."""

from __future__ import annotations

from ..._requests.operation_table import GATHER_ND
from .primitive import added, moved, places, registered, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import jax

    from ..._base.request_fields import Request


def add(shape: tuple[int, ...], indices: jax.Array, gradient: jax.Array, request: Request) -> jax.Array:
    """Adds rows to params as (batch, indexed dims, other dims). A tuple with an index out of bounds is ignored."""
    batch_dims, components = request.batch_dims, indices.shape[-1]
    where = places(shape[:batch_dims], indices.ndim - 1)
    for component in range(components):
        where.append(resolved(indices[..., component], shape[batch_dims + component], request))
    if not where:  # each tuple selects all of params
        total: jax.Array = gradient.sum(axis=tuple(range(indices.ndim - 1)))
        return total
    return added(shape, where, gradient)


def batched(
    bind: Callable[..., Any], params: Any, indices: Any, params_dim: Any, indices_dim: Any, request: Request
) -> tuple[Any, int]:
    """A single batch dim follows the batch dims or the indexed dims, so that no operand is repeated."""
    batch_dims = request.batch_dims
    if params_dim is None:
        return bind(params, moved(indices, indices_dim, batch_dims), request=request), batch_dims
    if indices_dim is None:
        behind = batch_dims + indices.shape[-1]
        return bind(moved(params, params_dim, behind), indices, request=request), indices.ndim - 1
    request = request._replace(batch_dims=batch_dims + 1)
    return bind(moved(params, params_dim, 0), moved(indices, indices_dim, 0), request=request), 0


operator = registered(GATHER_ND, add, batched)
