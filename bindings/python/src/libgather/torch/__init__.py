"""Operators of torch, which support autograd, ``torch.compile``, ``torch.export``, FakeTensor and ``vmap``.

The functions of :mod:`libgather` itself accept torch tensors as memory. These operators are registered in
``torch.ops.libgather``. They have shapes for tensors without values, gradients that do not depend on the number of
threads, and batching for ``vmap``. The module needs torch 2.4 or newer. It is imported at the first use.
"""

from __future__ import annotations

import torch

from .. import errors
from .. import types as t
from . import _gather, _gather_elements, _gather_nd

__all__ = ["gather", "gather_elements", "gather_nd"]


def gather(
    params: torch.Tensor,
    indices: torch.Tensor,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: complex = 0,
) -> torch.Tensor:
    """Gathers slices of `params` along an axis. It is :func:`libgather.gather` as an operator.

    The gradient of a slice of `params` is the sum of the gradients of all its copies.

    Args:
        axis: The axis that indices select in. None means the value of `batch_dims`.
        bounds: ``"error"``, ``"clamp"``, ``"modulo"``, or ``"fill"``, which writes `fill_value`.
        fill_value: A number that the dtype of `params` can represent. An integer is passed exactly.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError, RankError, DTypeError: As for :func:`libgather.gather`.

    >>> import torch, libgather.torch
    >>> table = torch.zeros(3, 2, requires_grad=True)
    >>> libgather.torch.gather(table, torch.tensor([2, 2, 0])).sum().backward()
    >>> table.grad
    tensor([[1., 1.],
            [0., 0.],
            [2., 2.]])
    """
    axis = batch_dims if axis is None else axis
    axis, batch_dims = from_front(axis, params.dim()), from_front(batch_dims, indices.dim())
    result: torch.Tensor = _gather.operator(params, indices, axis, batch_dims, negative, *checked(bounds, fill_value))
    return result


def gather_nd(
    params: torch.Tensor,
    indices: torch.Tensor,
    batch_dims: int = 0,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: complex = 0,
) -> torch.Tensor:
    """Gathers slices of `params` by tuples. It is :func:`libgather.gather_nd` as an operator.

    >>> import torch, libgather.torch
    >>> libgather.torch.gather_nd(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0], [0, 1]]))
    tensor([3, 2])
    """
    result: torch.Tensor = _gather_nd.operator(params, indices, batch_dims, negative, *checked(bounds, fill_value))
    return result


def gather_elements(
    params: torch.Tensor,
    indices: torch.Tensor,
    axis: int = -1,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: complex = 0,
) -> torch.Tensor:
    """Gathers single elements along an axis. It is :func:`libgather.gather_elements` as an operator.

    As in ``torch.gather``, dims of `indices` beside the axis may be smaller than those of `params`.

    >>> import torch, libgather.torch
    >>> libgather.torch.gather_elements(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    axis = from_front(axis, params.dim())
    result: torch.Tensor = _gather_elements.operator(params, indices, axis, negative, *checked(bounds, fill_value))
    return result


def from_front(dim: int, rank: int) -> int:
    """Returns a dim counted from the front. A dim out of range is returned unchanged, and the library rejects it."""
    return dim + rank if -rank <= dim < 0 else dim


def checked(bounds: str, fill_value: complex) -> tuple[str, complex]:
    """Validates the bounds of a new result, and that torch can pass the fill value."""
    if bounds == "skip":
        raise errors.unsupported("options", "bounds 'skip' is for an out, which an operator of torch's does not have")
    if isinstance(fill_value, int) and not -(2**63) <= fill_value < 2**64:
        raise errors.dtype_error("options", f"fill_value {fill_value} is beyond 64 bits")
    return bounds, fill_value
