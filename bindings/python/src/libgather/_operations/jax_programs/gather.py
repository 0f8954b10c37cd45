"""The primitive gather."""

from __future__ import annotations

from ..._requests.operation_table import GATHER
from .primitive import added, moved, places, registered, resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import jax

    from ..._base.request_fields import Request


def add(shape: tuple[int, ...], indices: jax.Array, gradient: jax.Array, request: Request) -> jax.Array:
    """Adds rows to params as (batch, axis, other dims). The other dims are those before and after the axis."""
    axis, batch_dims = request.axis or 0, request.batch_dims
    taken = indices.ndim - batch_dims
    rows = gradient
    for dim in range(taken):  # from (batch, between, taken, after) to (batch, taken, between, after)
        rows = moved(rows, axis + dim, batch_dims + dim)
    where = [*places(shape[:batch_dims], indices.ndim), resolved(indices, shape[axis], request)]
    turned = (*shape[:batch_dims], shape[axis], *shape[batch_dims:axis], *shape[axis + 1 :])
    return moved(added(turned, where, rows), batch_dims, axis)


def batched(
    bind: Callable[..., Any], params: Any, indices: Any, params_dim: Any, indices_dim: Any, request: Request
) -> tuple[Any, int]:
    """If only one operand has a batch dim, the dim follows the batch dims, so that no operand is repeated."""
    axis, batch_dims = request.axis or 0, request.batch_dims
    if params_dim is None:
        return bind(params, moved(indices, indices_dim, batch_dims), request=request), axis
    if indices_dim is None:
        return bind(moved(params, params_dim, batch_dims), indices, request=request._replace(axis=axis + 1)), batch_dims
    request = request._replace(axis=axis + 1, batch_dims=batch_dims + 1)
    return bind(moved(params, params_dim, 0), moved(indices, indices_dim, 0), request=request), 0


operator = registered(GATHER, add, batched)
