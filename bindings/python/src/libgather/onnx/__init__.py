"""The ONNX operators Gather, GatherElements, GatherND, ScatterElements and ScatterND.

They have the types and attributes of each opset.
"""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.request_fields import Request
from .._operations.gathers import run
from .._operations.scatters import run as run_scatter
from .._requests.operation_table import GATHER, GATHER_ELEMENTS, GATHER_ND, SCATTER_ELEMENTS, SCATTER_ND

__all__ = ["Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"]


def Gather(data: t.Any, indices: t.Any, axis: int = 0, opset: int = 13) -> t.Any:
    """The operator Gather (opsets 1, 11, 13).

    The result's shape is ``data.shape[:axis] + indices.shape + data.shape[axis+1:]``.

    Args:
        indices: int32 or int64. Negative indices count from the end (from opset 11).
        opset: The call follows the newest definition that is not above it.

    Raises:
        IndexError: An index is out of bounds.
        RankError, DTypeError: `axis` is out of range, or the opset does not have the dtype.
        Error: The opset is older than the first definition.

    >>> import libgather.onnx
    >>> libgather.onnx.Gather([1.0, 1.1, 1.2], [0, -1]).tolist()
    [1.0, 1.2]
    """
    return run(GATHER, data, indices, None, Request(axis, profile="onnx", opset=checked(opset)))


def GatherND(data: t.Any, indices: t.Any, batch_dims: int = 0, opset: int = 13) -> t.Any:
    """The operator GatherND (opsets 11, 12, 13).

    The result's shape is ``indices.shape[:-1] + data.shape[batch_dims + indices.shape[-1]:]``.

    Args:
        indices: int64. Negative indices count from the end.
        batch_dims: The number of leading dims that both share (from opset 12).
        opset: The call follows the newest definition that is not above it.

    Raises:
        IndexError: A tuple is out of bounds.
        ShapeError, RankError, DTypeError: The specification does not allow the arguments.
        Error: The opset is older than the first definition.

    >>> import libgather.onnx
    >>> libgather.onnx.GatherND([[0, 1], [2, 3]], [[0, 0], [1, 1]]).tolist()
    [0, 3]
    """
    request = Request(batch_dims=batch_dims, profile="onnx", opset=checked(opset))
    return run(GATHER_ND, data, indices, None, request)


def GatherElements(data: t.Any, indices: t.Any, axis: int = 0, opset: int = 13) -> t.Any:
    """The operator GatherElements (opsets 11, 13).

    The result has the shape of `indices`. Its dims other than `axis` may be smaller than the dims of `data`.

    Args:
        indices: int32 or int64, of the rank of `data`. Negative indices count from the end.
        opset: The call follows the newest definition that is not above it.

    Raises:
        IndexError: An index is out of bounds. ShapeError, RankError, DTypeError: A dim is larger than the same dim of
        `data`, ranks differ, `axis` is out of range, or the opset does not have the dtype.
        Error: The opset is older than the first definition.

    >>> import libgather.onnx
    >>> libgather.onnx.GatherElements([[1, 2], [3, 4]], [[0, 0], [-1, 0]], axis=1).tolist()
    [[1, 1], [4, 3]]
    """
    return run(GATHER_ELEMENTS, data, indices, None, Request(axis, profile="onnx", opset=checked(opset)))


def ScatterND(data: t.Any, indices: t.Any, updates: t.Any, reduction: t.Reduction = "none", opset: int = 18) -> t.Any:
    """The operator ScatterND (opsets 11, 13, 16, 18). It returns a copy of `data` with the updates.

    The shape of `updates` is ``indices.shape[:-1] + data.shape[indices.shape[-1]:]``. The last update of a place wins.
    A reduction combines the updates in their order.

    Args:
        indices: int64. Negative indices count from the end.
        reduction: ``"none"``, ``"add"`` or ``"mul"`` (from opset 16), ``"max"`` or ``"min"`` (from opset 18).
        opset: The call follows the newest definition that is not above it.

    Raises:
        IndexError: A tuple is out of bounds.
        ShapeError, RankError, DTypeError: The specification does not allow the arguments.
        Error: The opset is older than the first definition, or does not have the reduction.

    >>> import libgather.onnx
    >>> libgather.onnx.ScatterND([1, 2, 3, 4], [[3], [-3]], [40, 20]).tolist()
    [1, 20, 3, 40]
    >>> libgather.onnx.ScatterND([1, 2, 3, 4], [[0], [0]], [5, 6], reduction="add").tolist()
    [12, 2, 3, 4]
    """
    request = Request(profile="onnx", opset=checked(opset), reduction=reduction)
    return run_scatter(SCATTER_ND, data, indices, updates, request, False)


def ScatterElements(
    data: t.Any, indices: t.Any, updates: t.Any, axis: int = 0, reduction: t.Reduction = "none", opset: int = 18
) -> t.Any:
    """The operator ScatterElements (opsets 11, 13, 16, 18). It returns a copy of `data` with the updates.

    `updates` have the shape of `indices`. Its dims other than `axis` may be smaller than the dims of `data`. The last
    update of a place wins. A reduction combines the updates in their order.

    Args:
        indices: int32 or int64, of the rank of `data`. Negative indices count from the end.
        reduction: ``"none"``, ``"add"`` or ``"mul"`` (from opset 16), ``"max"`` or ``"min"`` (from opset 18).
        opset: The call follows the newest definition that is not above it.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError, RankError, DTypeError: The specification does not allow the arguments.
        Error: The opset is older than the first definition, or does not have the reduction.

    >>> import libgather.onnx
    >>> libgather.onnx.ScatterElements([[1, 2, 3]], [[2, -2]], [[30, 20]], axis=1).tolist()
    [[1, 20, 30]]
    """
    request = Request(axis, profile="onnx", opset=checked(opset), reduction=reduction)
    return run_scatter(SCATTER_ELEMENTS, data, indices, updates, request, False)


def checked(opset: t.Any) -> t.Any:
    if opset == 0:
        raise errors.OptionError(
            "options: opset 0 is before the first definition", status=c.E_VERSION, operand="options"
        )
    return opset
