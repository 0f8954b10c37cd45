"""The primitive gather_nd, and its gradient."""

from __future__ import annotations

from ..._requests.operation_table import GATHER_ND
from .primitive import in_front, inserted, moved, registered
from .sharding import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..._base.request_fields import Request
    from .primitive import Shape
    from .sharding import Labels


def operator(params: Any, indices: Any, *, request: Request) -> Any:
    return primitive.bind(params, indices, request=request)


def from_front_of(request: Request, table: Any, indices: Any) -> Request:
    return request


def shape_of(params: Shape, indices: Shape, request: Request) -> Shape:
    return (*indices[:-1], *params[request.batch_dims + indices[-1] :])


def labels_of(params: Shape, indices: Shape, request: Request) -> tuple[Labels, Labels, Labels]:
    batch_dims, count = request.batch_dims, indices[-1]
    table = numbered("p", len(params))
    outer, inner = table[:batch_dims], table[batch_dims + count :]
    ids = (*outer, *numbered("i", len(indices) - 1)[batch_dims:])
    return (*outer, *[None] * count, *inner), (*ids, None), (*ids, *inner)


def selected(params: Any, indices: Any, request: Request) -> Shape:
    """Returns the shape of params with extents of 1 in the dims that do not decide what is out of bounds."""
    count = request.batch_dims + indices.shape[-1]
    return (*params.shape[:count], *(1,) * (params.ndim - count))


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


def gradient_batched(
    bind: Callable[..., Any],
    rows: Any,
    indices: Any,
    rows_dim: Any,
    indices_dim: Any,
    shape: Shape,
    request: Request,
) -> tuple[Any, int]:
    batch_dims = request.batch_dims
    if indices_dim is None:
        rows, behind = moved(rows, rows_dim, indices.ndim - 1), batch_dims + indices.shape[-1]
        shape = inserted(shape, behind, rows.shape[indices.ndim - 1])
        return bind(rows, indices, shape=shape, request=request), behind
    rows, indices = in_front((rows, indices), (rows_dim, indices_dim))
    request = request._replace(batch_dims=batch_dims + 1)
    return bind(rows, indices, shape=inserted(shape, 0, rows.shape[0]), request=request), 0


primitive, gradient = registered(GATHER_ND, shape_of, labels_of, batched, gradient_batched)
