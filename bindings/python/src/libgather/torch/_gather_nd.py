"""The operator gather_nd."""

from __future__ import annotations

from math import prod

import torch

from .._base.request_fields import Request
from .._operations.gathers import gather_nd
from .._requests.operation_table import GATHER_ND
from ._common import registered, require_batch, resolved, sum_of_rows, switches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: torch.Tensor, indices: torch.Tensor, batch_dims: int, negative: str, bounds: str, fill: complex) -> Any:
    return gather_nd(params, indices, batch_dims, **switches(negative, bounds, fill, params.dtype))


def request(batch_dims: int, *_: Any) -> Request:
    return Request(batch_dims=batch_dims)


def shape(params: torch.Tensor, indices: torch.Tensor, batch_dims: int, *_: Any) -> tuple[int, ...]:
    require_batch(params, indices, batch_dims)
    return (*indices.shape[:-1], *params.shape[batch_dims + indices.shape[-1] :])


def backward(ctx: Any, indices: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """Adds rows to params as (batch, indexed dims, other dims)."""
    batch_dims, negative, bounds, _ = ctx.arguments
    shape, components = ctx.shape, indices.shape[-1]
    batch, indexed = shape[:batch_dims], shape[batch_dims : batch_dims + components]
    index = torch.arange(prod(batch), device=indices.device)
    index = index.reshape((*batch, *(1,) * (indices.dim() - 1 - batch_dims))).expand(indices.shape[:-1])
    inside = torch.ones_like(index, dtype=torch.bool)
    for component, extent in enumerate(indexed):
        part, is_inside = resolved(indices[..., component], extent, negative, bounds)
        index, inside = index * extent + part, inside & is_inside
    return sum_of_rows(gradient, index, inside, shape, batch_dims + components)


operator = registered(GATHER_ND, "int batch_dims", run, request, shape, backward)
