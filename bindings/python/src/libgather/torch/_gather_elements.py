"""The operator gather_elements."""

from __future__ import annotations

import torch

from .._base.request_fields import Request
from .._operations.gathers import gather_elements
from .._requests.operation_table import GATHER_ELEMENTS
from ._common import registered, resolved, sum_of_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run(params: torch.Tensor, indices: torch.Tensor, axis: int, _: int, switches: dict[str, Any]) -> Any:
    return gather_elements(params, indices, axis, **switches)


def request(axis: int, *_: Any) -> Request:
    return Request(axis, extents="prefix")


def shape(params: torch.Tensor, indices: torch.Tensor, axis: int, *_: Any) -> tuple[int, ...]:
    for dim, (extent, limit) in enumerate(zip(indices.shape, params.shape, strict=True)):
        if dim != axis:
            torch._check(extent <= limit, lambda: "indices: an extent is larger than that of params")
    return tuple(indices.shape)


def backward(
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


registered(GATHER_ELEMENTS, run, request, shape, backward)
