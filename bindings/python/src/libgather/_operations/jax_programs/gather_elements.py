"""The primitive gather_elements, and its gradient."""

from __future__ import annotations

from ..._requests.operation_table import GATHER_ELEMENTS
from .gather import from_front
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
    axis = -1 if request.axis is None else request.axis
    return request._replace(axis=from_front(axis, table.ndim))


def shape_of(params: Shape, indices: Shape, request: Request) -> Shape:
    """A dim of size 1 beside the axis is repeated."""
    axis = request.axis or 0
    return tuple(
        extent if dim != axis and isinstance(index, int) and index == 1 else index
        for dim, (extent, index) in enumerate(zip(params, indices, strict=True))
    )


def labels_of(params: Shape, indices: Shape, request: Request) -> tuple[Labels, Labels, Labels]:
    """A dim that is repeated is whole on each device, and so is the axis of params."""
    result = tuple(
        label if dim == request.axis or extent == index else None
        for dim, (label, extent, index) in enumerate(zip(numbered("p", len(params)), params, indices, strict=True))
    )
    table = tuple(None if dim == request.axis else label for dim, label in enumerate(result))
    return table, result, result


def selected(params: Any, indices: Any, request: Request) -> Shape:
    """Returns the shape of params with extents of 1 in the dims that do not decide what is out of bounds."""
    axis = from_front_of(request, params, indices).axis
    return tuple(extent if dim == axis else 1 for dim, extent in enumerate(params.shape))


def batched(
    bind: Callable[..., Any], params: Any, indices: Any, params_dim: Any, indices_dim: Any, request: Request
) -> tuple[Any, int]:
    """An operand without a batch dim gets one of size 1, which is repeated."""
    request = request._replace(axis=(request.axis or 0) + 1)
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
    request = request._replace(axis=(request.axis or 0) + 1)
    if rows_dim is None:
        rows, indices = in_front((rows, indices), (rows_dim, indices_dim))
    else:
        rows, indices = moved(rows, rows_dim, 0), moved(indices, indices_dim, 0)
    return bind(rows, indices, shape=inserted(shape, 0, rows.shape[0]), request=request), 0


primitive, gradient = registered(GATHER_ELEMENTS, shape_of, labels_of, batched, gradient_batched)
