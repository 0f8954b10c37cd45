"""The operator gather."""

from __future__ import annotations

from math import prod

import torch

from .._base.request_fields import Request
from .._operations.gathers import gather
from .._requests.operation_table import GATHER
from ._common import registered, require_batch, resolved, sum_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int, switches: dict[str, Any]) -> Any:
    return gather(params, indices, axis, batch_dims, **switches)


def request(axis: int, batch_dims: int, *_: Any) -> Request:
    return Request(axis, batch_dims)


def shape(params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int, *_: Any) -> tuple[int, ...]:
    require_batch(params, indices, batch_dims)
    return (*params.shape[:axis], *indices.shape[batch_dims:], *params.shape[axis + 1 :])


def backward(
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


registered(GATHER, run, request, shape, backward)
