"""The primitive gather, and its gradient."""

from __future__ import annotations

from ..._requests.operation_table import GATHER
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
    return primitive.bind(params, indices, request=from_front_of(request, params, indices))


def from_front_of(request: Request, table: Any, indices: Any) -> Request:
    """Returns the request with dims that are counted from the front. The axis is that of `batch_dims` if it is None."""
    axis = request.batch_dims if request.axis is None else request.axis
    return request._replace(axis=from_front(axis, table.ndim), batch_dims=from_front(request.batch_dims, indices.ndim))


def from_front(dim: int, rank: int) -> int:
    return dim + rank if dim < 0 else dim


def shape_of(params: Shape, indices: Shape, request: Request) -> Shape:
    axis = request.axis or 0
    return (*params[:axis], *indices[request.batch_dims :], *params[axis + 1 :])


def labels_of(params: Shape, indices: Shape, request: Request) -> tuple[Labels, Labels, Labels]:
    axis, batch_dims = request.axis or 0, request.batch_dims
    table, ids = numbered("p", len(params)), (*numbered("p", batch_dims), *numbered("i", len(indices))[batch_dims:])
    outer, inner = table[:axis], table[axis + 1 :]
    return (*outer, None, *inner), ids, (*outer, *ids[batch_dims:], *inner)


def selected(params: Any, indices: Any, request: Request) -> Shape:
    """Returns the shape of params with extents of 1 in the dims that do not decide what is out of bounds."""
    request = from_front_of(request, params, indices)
    return tuple(
        extent if dim < request.batch_dims or dim == request.axis else 1 for dim, extent in enumerate(params.shape)
    )


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


def gradient_batched(
    bind: Callable[..., Any],
    rows: Any,
    indices: Any,
    rows_dim: Any,
    indices_dim: Any,
    shape: Shape,
    request: Request,
) -> tuple[Any, int]:
    axis, batch_dims = request.axis or 0, request.batch_dims
    request = request._replace(axis=axis + 1)
    if indices_dim is None:
        rows = moved(rows, rows_dim, batch_dims)
        shape = inserted(shape, batch_dims, rows.shape[batch_dims])
        return bind(rows, indices, shape=shape, request=request), batch_dims
    rows, indices = in_front((rows, indices), (rows_dim, indices_dim))
    request = request._replace(batch_dims=batch_dims + 1)
    return bind(rows, indices, shape=inserted(shape, 0, rows.shape[0]), request=request), 0


primitive, gradient = registered(GATHER, shape_of, labels_of, batched, gradient_batched)
