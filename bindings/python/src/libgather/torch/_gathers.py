"""The operators gather, gather_nd and gather_elements, and their gradients without the extension."""

from __future__ import annotations

from math import prod

import torch

from .._base.request_fields import Request
from .._operations.gathers import gather, gather_elements, gather_nd
from .._requests.operation_table import GATHER, GATHER_ELEMENTS, GATHER_ND
from ._common import registered, require_batch, resolved, sum_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run_gather(
    params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int, switches: dict[str, Any]
) -> Any:
    return gather(params, indices, axis, batch_dims, **switches)


def request_of_gather(axis: int, batch_dims: int, *_: Any) -> Request:
    return Request(axis, batch_dims)


def shape_of_gather(
    params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int, *_: Any
) -> tuple[int, ...]:
    require_batch(params, indices, batch_dims)
    return (*params.shape[:axis], *indices.shape[batch_dims:], *params.shape[axis + 1 :])


def sum_of_gather(
    gradient: torch.Tensor, indices: torch.Tensor, shape: Any, axis: int, batch_dims: int, negative: str, bounds: str
) -> torch.Tensor:
    """Adds rows to params as (batch, axis, other dims). The other dims are those before and after the axis."""
    extent = shape[axis]
    batch, between, after = shape[:batch_dims], shape[batch_dims:axis], shape[axis + 1 :]
    taken = indices.dim() - batch_dims
    # From (batch, between, taken, after) to (batch, taken, between, after).
    rows = gradient.movedim(tuple(range(axis, axis + taken)), tuple(range(batch_dims, batch_dims + taken)))
    index, inside = resolved(indices, extent, negative, bounds)
    base = torch.arange(prod(batch), device=index.device) * extent
    index = index + base.reshape((*batch, *(1,) * taken))
    total = sum_of_rows(rows, index, inside, (*batch, extent, *between, *after), batch_dims + 1)
    return total.movedim(batch_dims, axis)


def run_gather_nd(
    params: torch.Tensor, indices: torch.Tensor, _: int, batch_dims: int, switches: dict[str, Any]
) -> Any:
    return gather_nd(params, indices, batch_dims, **switches)


def request_of_nd(_: int, batch_dims: int, *others: Any) -> Request:
    return Request(batch_dims=batch_dims)


def shape_of_nd(params: torch.Tensor, indices: torch.Tensor, _: int, batch_dims: int, *others: Any) -> tuple[int, ...]:
    require_batch(params, indices, batch_dims)
    return (*indices.shape[:-1], *params.shape[batch_dims + indices.shape[-1] :])


def sum_of_nd(
    gradient: torch.Tensor, indices: torch.Tensor, shape: Any, _: int, batch_dims: int, negative: str, bounds: str
) -> torch.Tensor:
    """Adds rows to params as (batch, indexed dims, other dims)."""
    components = indices.shape[-1]
    batch, indexed = shape[:batch_dims], shape[batch_dims : batch_dims + components]
    index = torch.arange(prod(batch), device=indices.device)
    index = index.reshape((*batch, *(1,) * (indices.dim() - 1 - batch_dims))).expand(indices.shape[:-1])
    inside = torch.ones_like(index, dtype=torch.bool)
    for component, extent in enumerate(indexed):
        part, is_inside = resolved(indices[..., component], extent, negative, bounds)
        index, inside = index * extent + part, inside & is_inside
    return sum_of_rows(gradient, index, inside, shape, batch_dims + components)


def run_gather_elements(
    params: torch.Tensor, indices: torch.Tensor, axis: int, _: int, switches: dict[str, Any]
) -> Any:
    return gather_elements(params, indices, axis, **switches)


def request_of_elements(axis: int, *_: Any) -> Request:
    return Request(axis, extents="prefix")


def shape_of_elements(params: torch.Tensor, indices: torch.Tensor, axis: int, *_: Any) -> tuple[int, ...]:
    for dim, (extent, limit) in enumerate(zip(indices.shape, params.shape, strict=True)):
        if dim != axis:
            torch._check(extent <= limit, lambda: "indices: an extent is larger than that of params")
    return tuple(indices.shape)


def sum_of_elements(
    gradient: torch.Tensor, indices: torch.Tensor, shape: Any, axis: int, _: int, negative: str, bounds: str
) -> torch.Tensor:
    """Adds elements to params, with one index for each element."""
    index, inside = resolved(indices, shape[axis], negative, bounds)
    linear = torch.zeros_like(index)
    for dim, extent in enumerate(shape):
        place = torch.arange(indices.shape[dim], device=index.device)
        own = index if dim == axis else place.reshape(tuple(-1 if d == dim else 1 for d in range(indices.dim())))
        linear = linear * extent + own
    return sum_of_rows(gradient, linear, inside, shape, len(shape))


registered(GATHER, run_gather, request_of_gather, shape_of_gather, sum_of_gather)
registered(GATHER_ND, run_gather_nd, request_of_nd, shape_of_nd, sum_of_nd)
registered(GATHER_ELEMENTS, run_gather_elements, request_of_elements, shape_of_elements, sum_of_elements)
