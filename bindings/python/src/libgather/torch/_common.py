"""What the operators share: their registration, and the gradient as a sum over rows."""

from __future__ import annotations

from math import prod

import torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

SWITCHES = "str negative, str bounds, float fill_value"


def registered(name: str, attributes: str, run: Callable[..., Any], shape: Callable[..., Any]) -> Any:
    """An operator of params, indices, attributes and switches: how it runs, and the shape that comes out."""
    schema = f"(Tensor params, Tensor indices, {attributes}, {SWITCHES}) -> Tensor"

    def values(params: torch.Tensor, indices: torch.Tensor, *arguments: Any) -> torch.Tensor:
        result: torch.Tensor = run(params.detach(), indices.detach(), *arguments)
        return result

    def fake(params: torch.Tensor, indices: torch.Tensor, *arguments: Any) -> torch.Tensor:
        return params.new_empty(shape(params, indices, *arguments))

    operator = torch.library.custom_op(f"libgather::{name}", values, mutates_args=(), schema=schema)
    operator.register_fake(fake)
    return operator


def switches(negative: str, bounds: str, fill_value: float, dtype: torch.dtype) -> dict[str, Any]:
    """As keywords of this package's functions."""
    if bounds != "fill":
        return {"negative": negative, "bounds": bounds}
    is_whole = not (dtype.is_floating_point or dtype.is_complex) and float(fill_value).is_integer()
    exact = int(fill_value) if is_whole else fill_value  # a fraction is refused
    return {"negative": negative, "fill_value": bool(exact) if dtype is torch.bool else exact}


def resolved(indices: torch.Tensor, extent: int, negative: str, bounds: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices that are inside, and which of them were, or became so; indices have been judged already."""
    index = indices.long()
    if negative == "wrap":
        index = torch.where(index < 0, index + extent, index)
    if bounds == "modulo":
        index = index % extent
    inside = (index >= 0) & (index < extent)
    if bounds == "clamp":
        return index.clamp(0, extent - 1), torch.ones_like(inside)
    return torch.where(inside, index, 0), inside


def sum_of_rows(
    rows: torch.Tensor, index: torch.Tensor, inside: torch.Tensor, shape: Sequence[int], count: int
) -> torch.Tensor:
    """Zeros of a shape, whose leading dims are `count` rows, with each row added at its index if that is inside.

    In the order of the rows, so that the sum is the same for any number of threads.
    """
    rows = rows.reshape(index.numel(), prod(shape) // count if count else 0)
    # What is outside goes to a row of its own, which is cut off.
    index = torch.where(inside, index, count).reshape(-1)
    if rows.is_complex():
        parts = torch.view_as_real(rows).reshape(index.numel(), -1)
        return torch.view_as_complex(summed(parts, index, count).reshape(count, -1, 2)).reshape(tuple(shape))
    return summed(rows, index, count).reshape(tuple(shape))


def summed(rows: torch.Tensor, index: torch.Tensor, count: int) -> torch.Tensor:
    total: torch.Tensor = torch.ops.aten.embedding_dense_backward(rows, index, count + 1, -1, False)
    return total[:count]


def with_batch(value: torch.Tensor, dim: int | None, size: int) -> torch.Tensor:
    """With the dim of vmap in front."""
    return value.expand(size, *value.shape) if dim is None else value.movedim(dim, 0)
