"""The operator gather_elements."""

from __future__ import annotations

from math import prod

import torch

from .. import _operations
from ._common import registered, resolved, sum_of_rows, switches, with_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: torch.Tensor, indices: torch.Tensor, axis: int, negative: str, bounds: str, fill: float) -> Any:
    given = switches(negative, bounds, fill, params.dtype)
    return _operations.gather_elements(params, indices, axis, extents="prefix", **given)


def shape(params: torch.Tensor, indices: torch.Tensor, *_: Any) -> tuple[int, ...]:
    return tuple(indices.shape)


def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    params, indices, *ctx.arguments = inputs
    ctx.shape = params.shape
    ctx.save_for_backward(indices)


def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    """Rows of params are its elements."""
    (indices,) = ctx.saved_tensors
    axis, negative, bounds, _ = ctx.arguments
    index, inside = resolved(indices, ctx.shape[axis], negative, bounds)
    linear = torch.zeros_like(index)
    for dim, extent in enumerate(ctx.shape):
        place = torch.arange(indices.shape[dim], device=index.device)
        own = index if dim == axis else place.reshape(tuple(-1 if d == dim else 1 for d in range(indices.dim())))
        linear = linear * extent + own
    return sum_of_rows(gradient, linear, inside, ctx.shape, prod(ctx.shape)), *(None,) * 5


def batched(info: Any, dims: tuple[Any, ...], params: Any, indices: Any, axis: int, *rest: Any) -> Any:
    params, indices = (with_batch(*pair, info.batch_size) for pair in zip((params, indices), dims[:2], strict=True))
    return operator(params, indices, axis + 1, *rest), 0


operator = registered("gather_elements", "int axis", run, shape)
operator.register_autograd(backward, setup_context=keep)
operator.register_vmap(batched)
