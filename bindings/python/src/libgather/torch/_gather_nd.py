"""The operator gather_nd."""

from __future__ import annotations

from math import prod

import torch

from .. import _operations
from ._common import registered, resolved, sum_of_rows, switches, with_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: torch.Tensor, indices: torch.Tensor, batch_dims: int, negative: str, bounds: str, fill: float) -> Any:
    return _operations.gather_nd(params, indices, batch_dims, **switches(negative, bounds, fill, params.dtype))


def shape(params: torch.Tensor, indices: torch.Tensor, batch_dims: int, *_: Any) -> tuple[int, ...]:
    return (*indices.shape[:-1], *params.shape[batch_dims + indices.shape[-1] :])


def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    params, indices, *ctx.arguments = inputs
    ctx.shape = params.shape
    ctx.save_for_backward(indices)


def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    """Rows of params are (batch, the dims that a tuple indexes)."""
    (indices,) = ctx.saved_tensors
    batch_dims, negative, bounds, _ = ctx.arguments
    shape, components = ctx.shape, indices.shape[-1]
    batch, indexed = shape[:batch_dims], shape[batch_dims : batch_dims + components]
    index = torch.arange(prod(batch), device=indices.device)
    index = index.reshape((*batch, *(1,) * (indices.dim() - 1 - batch_dims))).expand(indices.shape[:-1])
    inside = torch.ones_like(index, dtype=torch.bool)
    for component, extent in enumerate(indexed):
        part, is_inside = resolved(indices[..., component], extent, negative, bounds)
        index, inside = index * extent + part, inside & is_inside
    total = sum_of_rows(gradient, index, inside, shape, prod(batch) * prod(indexed))
    return total, *(None,) * 5


def batched(info: Any, dims: tuple[Any, ...], params: Any, indices: Any, batch_dims: int, *rest: Any) -> Any:
    params, indices = (with_batch(*pair, info.batch_size) for pair in zip((params, indices), dims[:2], strict=True))
    return operator(params, indices, batch_dims + 1, *rest), 0


operator = registered("gather_nd", "int batch_dims", run, shape)
operator.register_autograd(backward, setup_context=keep)
operator.register_vmap(batched)
