"""Operators of torch: what autograd, ``torch.compile``, ``torch.export``, FakeTensor and ``vmap`` see of a gather.

The functions of :mod:`libgather` itself take torch's tensors as memory. These are operators that torch knows, in
``torch.ops.libgather``, with shapes for tensors without values, gradients that do not depend on the number of threads,
and batches for ``vmap``. They need torch 2.4 or newer, and are imported when they are first used.
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
    """:func:`libgather.gather` as an operator: slices of `params` along an axis, by index.

    The gradient of `params` adds up what each of its slices has been taken for.

    Args:
        axis: None is the same as `batch_dims`
        bounds: ``"error"``, ``"clamp"``, ``"modulo"``, or ``"fill"``, with `fill_value`
        fill_value: a number that the dtype of `params` has; an integer is kept exactly

    Raises:
        IndexError: an index out of bounds
        ShapeError, RankError, DTypeError: as :func:`libgather.gather`

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
    """:func:`libgather.gather_nd` as an operator: slices of `params` by tuples, along the last axis of `indices`.

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
    """:func:`libgather.gather_elements` as an operator, with the extents of ``torch.gather``: those of `indices` beside
    the axis may be smaller than those of `params`.

    >>> import torch, libgather.torch
    >>> libgather.torch.gather_elements(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    axis = from_front(axis, params.dim())
    result: torch.Tensor = _gather_elements.operator(params, indices, axis, negative, *checked(bounds, fill_value))
    return result


def from_front(dim: int, rank: int) -> int:
    """A dim counted from the front; one that is out of range stays as it is, and the library refuses it."""
    return dim + rank if -rank <= dim < 0 else dim


def checked(bounds: str, fill_value: complex) -> tuple[str, complex]:
    """The bounds of a result that is new, and a fill value that torch can hand on."""
    if bounds == "skip":
        raise errors.unsupported("options", "bounds 'skip' is for an out, which an operator of torch's does not have")
    if isinstance(fill_value, int) and not -(2**63) <= fill_value < 2**64:
        raise errors.dtype_error("options", f"fill_value {fill_value} is beyond 64 bits")
    return bounds, fill_value
