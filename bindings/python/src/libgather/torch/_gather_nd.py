"""The operator gather_nd."""

from __future__ import annotations

from math import prod

import torch

from .._base.request_fields import Request
from .._operations.gathers import gather_nd
from .._requests.operation_table import GATHER_ND
from ._common import registered, require_batch, resolved, sum_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: torch.Tensor, indices: torch.Tensor, _: int, batch_dims: int, switches: dict[str, Any]) -> Any:
    return gather_nd(params, indices, batch_dims, **switches)


def request(_: int, batch_dims: int, *others: Any) -> Request:
    return Request(batch_dims=batch_dims)


def shape(params: torch.Tensor, indices: torch.Tensor, _: int, batch_dims: int, *others: Any) -> tuple[int, ...]:
    require_batch(params, indices, batch_dims)
    return (*indices.shape[:-1], *params.shape[batch_dims + indices.shape[-1] :])


def backward(
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


registered(GATHER_ND, run, request, shape, backward)
