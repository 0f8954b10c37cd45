"""The functions of :mod:`libgather` as operators of torch."""

from __future__ import annotations

import torch
from torch.compiler import is_compiling

from .. import types as t
from .._requests.packed import Packed
from ._calls import bags_of, elements_extents, fast, run_bags, run_gather, run_positions, run_scatter

_fast_gather, _fast_gather_nd, _fast_gather_elements, _fast_scatter, _fast_scatter_nd, _fast_scatter_elements = map(
    fast, ("gather", "gather_nd", "gather_elements", "scatter", "scatter_nd", "scatter_elements")
)
_fast_bags = fast("gather_bags")
# The names of the options that a function of the extension receives after its tensors.
_GATHER = "axis", "batch_dims", "negative", "bounds", "fill_value", "padding_index", "profile", "opset", "order"
_GATHER_ELEMENTS = *_GATHER, "extents"
_ADDED = "accumulate", "order"
_COMBINED = "reduction", "include_self", "padding_index", "negative", "bounds", "profile", "opset", *_ADDED
_SCATTER = "axis", "batch_dims", *_COMBINED
_SCATTER_ELEMENTS = *_SCATTER, "extents"
_RULES = "pool", "padding_index", "empty", *_ADDED, "negative", "bounds", "fill_value", "profile", "sparse"
_BAGS = "bag_format", "bag_count", *_RULES


def _named(names: tuple[str, ...], given: tuple[t.Any, ...]) -> dict[str, t.Any]:
    return dict(zip(names, given, strict=True))


def gather(
    params: torch.Tensor | Packed,
    indices: torch.Tensor | t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    padding_index: int | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
) -> torch.Tensor:
    """Gathers slices of `params` along an axis. It is :func:`libgather.gather` as an operator.

    The gradient of a slice of `params` is the sum of the gradients of all its copies. float16 and bfloat16 are added in
    float32.

    Args:
        params: A tensor of shape ``params.shape``, or a :class:`libgather.Packed`.
        indices: A tensor of integers, an integer, or a list of integers.
        axis: The axis that indices select in. None means the value of `batch_dims`.
        batch_dims: The number of leading dims that both tensors share.
        negative, bounds, profile, opset: As for :func:`libgather.gather`. `bounds` is not ``"skip"``.
        fill_value: A number that the dtype of `params` can represent, ``"zero"`` or ``"by_dtype"``. It implies
            ``bounds="fill"``, unless there is a `padding_index`. An integer is passed exactly.
        padding_index: The slice of an index of this value is `fill_value`, or zeros, and has no gradient. The value may
            be out of bounds.
        order: The order in which the gradient adds on a CUDA device: ``"updates"`` (default), the order of `indices`,
            or ``"any"``. On the CPU it is always the former.

    Returns:
        A tensor of shape ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis+1:]``.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError, RankError, DTypeError, OptionError: As for :func:`libgather.gather`.

    >>> import torch, libgather.torch
    >>> table = torch.zeros(3, 2, requires_grad=True)
    >>> libgather.torch.gather(table, torch.tensor([2, 2, 0])).sum().backward()
    >>> table.grad
    tensor([[1., 1.],
            [0., 0.],
            [2., 2.]])
    """
    given = axis, batch_dims, negative, bounds, fill_value, padding_index, profile, opset, order
    if not is_compiling():
        result = _fast_gather(params, indices, _GATHER, *given)
        if result is not NotImplemented:
            return result
    return run_gather("gather", gather, params, indices, **_named(_GATHER, given))


def gather_nd(
    params: torch.Tensor | Packed,
    indices: torch.Tensor | t.Any,
    batch_dims: int = 0,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    padding_index: int | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
) -> torch.Tensor:
    """Gathers slices of `params` by tuples. It is :func:`libgather.gather_nd` as an operator.

    Arguments and errors are those of :func:`gather`.

    Returns:
        A tensor of shape ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``.

    >>> import torch, libgather.torch
    >>> libgather.torch.gather_nd(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0], [0, 1]]))
    tensor([3, 2])
    """
    given = 0, batch_dims, negative, bounds, fill_value, padding_index, profile, opset, order
    if not is_compiling():
        result = _fast_gather_nd(params, indices, _GATHER, *given)
        if result is not NotImplemented:
            return result
    return run_gather("gather_nd", gather_nd, params, indices, **_named(_GATHER, given))


def gather_elements(
    params: torch.Tensor,
    indices: torch.Tensor | t.Any,
    axis: int = -1,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    padding_index: int | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
    extents: t.Extents | None = None,
) -> torch.Tensor:
    """Gathers single elements along an axis. It is :func:`libgather.gather_elements` as an operator.

    Arguments and errors are those of :func:`gather`. As in ``torch.gather``, dims of `indices` beside the axis may be
    smaller than those of `params`, unless `extents` or `profile` states another rule.

    Returns:
        A tensor of the shape of `indices`.

    >>> import torch, libgather.torch
    >>> libgather.torch.gather_elements(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    extents = elements_extents(extents, profile)
    given = axis, 0, negative, bounds, fill_value, padding_index, profile, opset, order, extents
    if not is_compiling():
        result = _fast_gather_elements(params, indices, _GATHER_ELEMENTS, *given)
        if result is not NotImplemented:
            return result
    return run_gather("gather_elements", gather_elements, params, indices, **_named(_GATHER_ELEMENTS, given))


def scatter(
    target: torch.Tensor,
    indices: torch.Tensor | t.Any,
    updates: torch.Tensor | t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = None,
    include_self: bool = True,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
    accumulate: t.Accumulate | None = None,
    order: t.Order | None = None,
) -> torch.Tensor:
    """Writes slices to a copy of `target` along an axis. It is :func:`libgather.scatter` as an operator.

    There are gradients of `target` and `updates` for each reduction. If several updates replace one slice, only the
    last has a gradient. Equal values that are the maximum or the minimum share it, as in torch. float16 and bfloat16
    are added and multiplied in float32, unless `accumulate` or `profile` states another type.

    Args:
        target: A tensor. It is not changed.
        indices: A tensor of integers, an integer, or a list of integers.
        updates: A tensor of the dtype of `target` and of shape ``target.shape[:axis] + indices.shape[batch_dims:] +
            target.shape[axis+1:]``, or the last dims of it: one row or one number, which each index uses. It may also
            consist of Python numbers.
        axis, batch_dims: As for :func:`gather`.
        reduction: ``"none"`` (the default), ``"add"``, ``"mul"``, ``"max"``, ``"min"`` or ``"mean"``.
        include_self: If false, a reduction ignores the slices of `target` that it replaces. They have no gradient.
        padding_index: The update of an index of this value is ignored. The value may be out of bounds.
        negative, bounds, profile, opset, accumulate, order: As for :func:`libgather.scatter`.

    Returns:
        A tensor of the shape of `target`.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError, RankError, DTypeError, OptionError: As for :func:`libgather.scatter`.
        UnsupportedError: The operators are not compiled for this torch.

    >>> import torch, libgather.torch
    >>> updates = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> sums = libgather.torch.scatter(torch.zeros(3), torch.tensor([2, 2, 0]), updates, reduction="add")
    >>> sums.tolist()
    [3.0, 0.0, 3.0]
    >>> sums[2].backward()
    >>> updates.grad
    tensor([1., 1., 0.])
    """
    combined = reduction, include_self, padding_index, negative, bounds, profile, opset, accumulate, order
    given = axis, batch_dims, *combined
    if not is_compiling():
        result = _fast_scatter(target, indices, updates, _SCATTER, *given)
        if result is not NotImplemented:
            return result
    return run_scatter("scatter", scatter, target, indices, updates, **_named(_SCATTER, given))


def scatter_nd(
    target: torch.Tensor,
    indices: torch.Tensor | t.Any,
    updates: torch.Tensor | t.Any,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = None,
    include_self: bool = True,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
    accumulate: t.Accumulate | None = None,
    order: t.Order | None = None,
) -> torch.Tensor:
    """Writes slices to a copy of `target` by tuples. It is :func:`libgather.scatter_nd` as an operator.

    Arguments, gradients and errors are those of :func:`scatter`.

    >>> import torch, libgather.torch
    >>> libgather.torch.scatter_nd(torch.zeros(2, 2), torch.tensor([[1, 0]]), torch.tensor([5.0]))
    tensor([[0., 0.],
            [5., 0.]])
    """
    combined = reduction, include_self, padding_index, negative, bounds, profile, opset, accumulate, order
    given = 0, batch_dims, *combined
    if not is_compiling():
        result = _fast_scatter_nd(target, indices, updates, _SCATTER, *given)
        if result is not NotImplemented:
            return result
    return run_scatter("scatter_nd", scatter_nd, target, indices, updates, **_named(_SCATTER, given))


def scatter_elements(
    target: torch.Tensor,
    indices: torch.Tensor | t.Any,
    updates: torch.Tensor | t.Any,
    axis: int = -1,
    *,
    reduction: t.Reduction | None = None,
    include_self: bool = True,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
    extents: t.Extents | None = None,
    accumulate: t.Accumulate | None = None,
    order: t.Order | None = None,
) -> torch.Tensor:
    """Writes single elements to a copy of `target`. It is :func:`libgather.scatter_elements` as an operator.

    Arguments, gradients and errors are those of :func:`scatter`. `updates` have the shape of `indices`. Dims of
    `indices` beside the axis may be smaller than those of `target`, unless `extents` or `profile` states another rule.

    >>> import torch, libgather.torch
    >>> libgather.torch.scatter_elements(torch.zeros(2, 2), torch.tensor([[1], [0]]), torch.tensor([[5.0], [6.0]]))
    tensor([[0., 5.],
            [6., 0.]])
    """
    extents = elements_extents(extents, profile)
    combined = reduction, include_self, padding_index, negative, bounds, profile, opset, accumulate, order
    given = axis, 0, *combined, extents
    if not is_compiling():
        result = _fast_scatter_elements(target, indices, updates, _SCATTER_ELEMENTS, *given)
        if result is not NotImplemented:
            return result
    return run_scatter(
        "scatter_elements",
        scatter_elements,
        target,
        indices,
        updates,
        **_named(_SCATTER_ELEMENTS, given),
    )


def scatter_positions(
    target: torch.Tensor,
    indices: torch.Tensor | t.Any,
    updates: torch.Tensor | t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    op: t.ScatterName | None = None,
    extents: t.Extents | None = None,
    reduction: t.Reduction,
    include_self: bool = True,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
) -> torch.Tensor:
    """Finds the positions of the maxima or minima of a scatter.

    It is :func:`libgather.scatter_positions` as an operator. With ``include_self=False``, positions are the argmax or
    argmin of each group. They have no derivatives. Arguments and errors are those of :func:`scatter`.

    Args:
        axis: The axis of the operation. None means its default: -1 for ``"scatter_elements"``.
        op: ``"scatter"`` (default), ``"scatter_nd"`` or ``"scatter_elements"``.
        extents: As for :func:`scatter_elements`.
        reduction: ``"max"`` or ``"min"``.
        include_self: If false, only the shape and the dtype of `target` are used.

    Returns:
        A tensor of int64, of the shape of `target`. Each element is the position in `updates`, in row-major order, of
        the element that the scatter writes. Of equal numbers, it is the first one, and the first NaN if there is one.
        It is -1 where the value of `target` remains.

    For axis 0, the second result of ``scatter_max`` of torch_scatter is ``positions // updates[0].numel()``, with
    ``len(updates)`` in place of -1. In torch_scatter, neither NaN nor the lowest number of a dtype is a maximum.

    >>> import torch, libgather.torch
    >>> target, ids, updates = torch.tensor([0, 0, 9]), torch.tensor([0, 1, 0, 2]), torch.tensor([3, 5, 7, 8])
    >>> libgather.torch.scatter_positions(target, ids, updates, reduction="max")
    tensor([ 2,  1, -1])
    """
    return run_positions(
        scatter_positions,
        target,
        indices,
        updates,
        axis,
        batch_dims,
        op,
        extents=extents,
        reduction=reduction,
        include_self=include_self,
        padding_index=padding_index,
        negative=negative,
        bounds=bounds,
        profile=profile,
        opset=opset,
    )


def gather_bags(
    params: torch.Tensor | Packed,
    indices: torch.Tensor | t.Any,
    *,
    offsets: torch.Tensor | t.Any = None,
    starts: torch.Tensor | t.Any = None,
    lengths: torch.Tensor | t.Any = None,
    segments: torch.Tensor | t.Any = None,
    count: int | None = None,
    weights: torch.Tensor | t.Any = None,
    pool: t.Pool | None = "sum",
    padding_index: int | None = None,
    empty: t.Empty | None = None,
    accumulate: t.Accumulate | None = None,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    order: t.Order | None = None,
    sparse: bool = False,
) -> torch.Tensor:
    """Gathers rows by bags of indices, and pools each bag. It is :func:`libgather.gather_bags` as an operator.

    There are gradients of `params` and `weights`. The gradient of a maximum or minimum belongs to the first row of the
    bag that has it, as in torch.

    Args:
        params: A tensor of rank 1 or more, or a :class:`libgather.Packed`, which has no gradient.
        indices: A tensor of integers, or a list.
        offsets, starts, lengths, segments, count: The bags, as for :func:`libgather.gather_bags`. Without them, each
            row of `indices` along its last dim is a bag.
        weights: A tensor of the shape of `indices`, or numbers.
        pool: ``"sum"``, ``"mean"``, ``"sqrtn"``, ``"max"`` or ``"min"``.
        padding_index: An index of this value is neither read nor counted.
        empty, accumulate, negative, bounds, fill_value, profile: As for :func:`libgather.gather_bags`.
        order: As for :func:`gather`.
        sparse: If true, the gradient of `params` is a sparse tensor of the rows that are read, with each row once. In a
            compiled program and for higher derivatives it is dense. On a CUDA device, the backward pass waits for the
            number of rows, so it cannot be captured.

    Returns:
        A tensor of shape ``(bags,) + params.shape[1:]``, or ``indices.shape[:-1] + params.shape[1:]``.

    Raises:
        OffsetsError: The bags are invalid.
        IndexError: An index is out of bounds.
        ShapeError, RankError, DTypeError, OptionError: As for :func:`libgather.gather_bags`.
        UnsupportedError: The operators are not compiled for this torch.

    >>> import torch, libgather.torch
    >>> table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [4.0, 2.0]], requires_grad=True)
    >>> means = libgather.torch.gather_bags(table, torch.tensor([0, 2, 1]), lengths=torch.tensor([2, 1]), pool="mean")
    >>> means.sum().backward()
    >>> means.tolist(), table.grad[:, 0].tolist()
    ([[2.5, 1.0], [0.0, 1.0]], [0.5, 1.0, 0.5])
    """
    form, bags = bags_of(count, offsets, starts, lengths, segments)
    given = pool, padding_index, empty, accumulate, order, negative, bounds, fill_value, profile, sparse
    if not is_compiling():
        counted = 0 if count is None else count
        result = _fast_bags(params, indices, bags, weights, _BAGS, form, counted, *given)
        if result is not NotImplemented:
            return result
    return run_bags("gather_bags", gather_bags, params, indices, form, bags, count, weights, _named(_RULES, given))


def gather_bags_positions(
    params: torch.Tensor,
    indices: torch.Tensor | t.Any,
    *,
    offsets: torch.Tensor | t.Any = None,
    starts: torch.Tensor | t.Any = None,
    lengths: torch.Tensor | t.Any = None,
    segments: torch.Tensor | t.Any = None,
    count: int | None = None,
    pool: t.Pool,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
) -> torch.Tensor:
    """Finds the positions of the maxima or minima of :func:`gather_bags`.

    It is :func:`libgather.gather_bags_positions` as an operator. Positions have no derivatives. Arguments and errors
    are those of :func:`gather_bags`.

    Args:
        pool: ``"max"`` or ``"min"``.

    Returns:
        A tensor of int64, of the shape of the pooled rows. Each element is the position in `indices`, in row-major
        order, of the index whose row has the element of the result. Of equal numbers, it is the first one, and the
        first NaN if there is one. It is -1 if the bag has read no index.

    ``torch.ops.aten.embedding_bag`` returns the number of the row as ``max_indices``, which is
    ``indices.reshape(-1)[positions]``. It has 0 for a bag without an index.

    >>> import torch, libgather.torch
    >>> table, ids = torch.tensor([[1.0, 8.0], [5.0, 2.0]]), torch.tensor([1, 0, 0])
    >>> libgather.torch.gather_bags_positions(table, ids, lengths=[2, 0, 1], pool="max").tolist()
    [[0, 1], [-1, -1], [2, 2]]
    """
    form, bags = bags_of(count, offsets, starts, lengths, segments)
    rules = {
        "pool": pool,
        "padding_index": padding_index,
        "negative": negative,
        "bounds": bounds,
        "fill_value": fill_value,
        "profile": profile,
    }
    return run_bags("gather_bags_positions", gather_bags_positions, params, indices, form, bags, count, None, rules)
