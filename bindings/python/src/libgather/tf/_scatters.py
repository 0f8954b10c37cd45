"""TensorFlow's scatters by tuples."""

from __future__ import annotations

import sys
from functools import partial

from .. import types as t
from .._operations.gradients import gather_nd_gradient
from .._operations.scatters import scatter_nd as scatter_to
from ._arguments import as_bytes, constant, policy, prepared, profile_of, require_numbers
from ._differentiated import differentiated, is_differentiated, unconverted
from ._eager import empty, tensor_of, views_of


@unconverted
def scatter_nd(indices: t.Any, updates: t.Any, shape: t.Any, bad_indices_policy: str = "", name: t.Any = None) -> t.Any:
    """``tf.scatter_nd``: adds slices of `updates` to a new array of zeros, by tuples.

    The last axis of `indices` contains the components of a tuple. The shape of `updates` is
    ``indices.shape[:-1] + shape[indices.shape[-1]:]``.

    Args:
        shape: The shape of the result: integers, or an array of them.
        bad_indices_policy: ``""``, ``"DEFAULT"``, ``"ERROR"``, or ``"IGNORE"``, which skips tuples out of bounds.
        name: This is ignored.

    Raises:
        IndexError: A tuple is out of bounds, and the policy does not ignore it.
        ShapeError, RankError, DTypeError, Error: TensorFlow would reject the arguments.

    >>> import libgather.tf
    >>> libgather.tf.scatter_nd([[1], [3], [1]], [9, 10, 11], [4]).tolist()
    [0, 20, 0, 10]
    """
    bounds = skipping(bad_indices_policy, updates)
    if not is_differentiated(indices, updates, shape):
        return summed(bounds, updates, indices, shape)
    tf = sys.modules["tensorflow"]
    gradient = partial(gradient_of_sum, bad_indices_policy)
    return differentiated(partial(summed, bounds), gradient, tf.get_static_value(shape), updates, indices, shape)


@unconverted
def tensor_scatter_nd_update(tensor: t.Any, indices: t.Any, updates: t.Any, name: t.Any = None) -> t.Any:
    """``tf.tensor_scatter_nd_update``: replaces slices of a copy of `tensor`. The last duplicate wins.

    Arguments, shapes and errors are those of :func:`tensor_scatter_nd_add`.

    >>> import libgather.tf
    >>> libgather.tf.tensor_scatter_nd_update([[1, 2], [3, 4]], [[1, 0], [0, 1]], [30, 20]).tolist()
    [[1, 20], [30, 4]]
    """
    return scattered("none", tensor, indices, updates, "")


@unconverted
def tensor_scatter_nd_add(
    tensor: t.Any, indices: t.Any, updates: t.Any, bad_indices_policy: str = "", name: t.Any = None
) -> t.Any:
    """``tf.tensor_scatter_nd_add``: adds slices of `updates` to slices of a copy of `tensor`, by tuples.

    The last axis of `indices` contains the components of a tuple. The shape of `updates` is
    ``indices.shape[:-1] + tensor.shape[indices.shape[-1]:]``.

    Args:
        bad_indices_policy: ``""``, ``"DEFAULT"``, ``"ERROR"``, or ``"IGNORE"``, which skips tuples out of bounds.
        name: This is ignored.

    Returns:
        An array of the kind, the shape and the dtype of `tensor`.

    Raises:
        IndexError: A tuple is out of bounds, and the policy does not ignore it.
        ShapeError, RankError, DTypeError, Error: TensorFlow would reject the arguments.

    >>> import libgather.tf
    >>> libgather.tf.tensor_scatter_nd_add([1, 1, 1], [[2], [2], [0]], [5, 6, 7]).tolist()
    [8, 1, 12]
    """
    return scattered("add", tensor, indices, updates, bad_indices_policy)


@unconverted
def tensor_scatter_nd_max(
    tensor: t.Any, indices: t.Any, updates: t.Any, bad_indices_policy: str = "", name: t.Any = None
) -> t.Any:
    """``tf.tensor_scatter_nd_max``: the larger of each element and its updates.

    Arguments, shapes and errors are those of :func:`tensor_scatter_nd_add`. Equal elements share the gradient, as in
    TensorFlow.

    >>> import libgather.tf
    >>> libgather.tf.tensor_scatter_nd_max([1, 9, 1], [[2], [1], [2]], [5, 6, 4]).tolist()
    [1, 9, 5]
    """
    return scattered("max", tensor, indices, updates, bad_indices_policy)


@unconverted
def tensor_scatter_nd_min(
    tensor: t.Any, indices: t.Any, updates: t.Any, bad_indices_policy: str = "", name: t.Any = None
) -> t.Any:
    """``tf.tensor_scatter_nd_min``: the smaller of each element and its updates.

    Arguments, shapes and errors are those of :func:`tensor_scatter_nd_add`. Equal elements share the gradient, as in
    TensorFlow.

    >>> import libgather.tf
    >>> libgather.tf.tensor_scatter_nd_min([1, 9, 1], [[2], [1], [1]], [5, 6, 4]).tolist()
    [1, 4, 1]
    """
    return scattered("min", tensor, indices, updates, bad_indices_policy)


def scattered(reduction: t.Reduction, tensor: t.Any, indices: t.Any, updates: t.Any, bad_indices_policy: str) -> t.Any:
    call = partial(reduced, reduction, skipping(bad_indices_policy, tensor))
    if not is_differentiated(tensor, indices, updates):
        return call(tensor, indices, updates)
    tf = sys.modules["tensorflow"]
    tensor = tf.convert_to_tensor(tensor)
    updates = tf.convert_to_tensor(updates, tensor.dtype)
    gradient = partial(_GRADIENTS[reduction], bad_indices_policy)
    return differentiated(call, gradient, tensor.shape, tensor, indices, updates)


def skipping(bad_indices_policy: t.Any, array: t.Any) -> t.Any:
    bounds = policy(bad_indices_policy, profile_of(array))
    return "skip" if bounds == "fill" else bounds


def reduced(reduction: t.Reduction, bounds: t.Any, tensor: t.Any, indices: t.Any, updates: t.Any) -> t.Any:
    rules: t.Any = {"reduction": reduction, "bounds": bounds, "profile": profile_of(tensor)}
    views = views_of(tensor, indices, updates)
    if views is None:
        tensor, indices = prepared(tensor, indices, "target")
        require_numbers("updates", updates)
        return scatter_to(tensor, indices, as_bytes(updates), **rules)
    made = empty(views[0].shape, views[0].dtype)
    made[...] = views[0]
    return tensor_of(scatter_to(made, *views[1:], inplace=True, **rules))


def summed(bounds: t.Any, updates: t.Any, indices: t.Any, shape: t.Any) -> t.Any:
    updates, indices = prepared(updates, indices, "updates")
    extents = tuple(int(extent) for extent in constant(shape))
    return gather_nd_gradient(updates, indices, extents, bounds=bounds, profile=profile_of(updates))


# ------------------------------------------------------------------------------------------------------- gradients


def gradient_of_sum(policy: str, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    return gathered(upstream, operands[1], policy), None, None


def gradient_of_update(policy: str, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    tf = sys.modules["tensorflow"]
    _, indices, updates = operands
    kept = scattered("none", upstream, indices, tf.zeros_like(updates), policy)
    return kept, None, gathered(upstream, indices, policy)


def gradient_of_add(policy: str, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    return upstream, None, gathered(upstream, operands[1], policy)


def gradient_of_extremum(policy: str, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    """Divides the gradient of an element by the number of equal elements."""
    tf = sys.modules["tensorflow"]
    tensor, indices, updates = operands
    is_kept = tf.cast(tensor == result, upstream.dtype)
    is_taken = tf.cast(updates == gathered(result, indices, policy), upstream.dtype)
    share = upstream / scattered("add", is_kept, indices, is_taken, policy)
    return share * is_kept, None, gathered(share, indices, policy) * is_taken


def gathered(array: t.Any, indices: t.Any, policy: str) -> t.Any:
    return sys.modules["tensorflow"].gather_nd(array, indices, bad_indices_policy=policy)


_GRADIENTS = {
    "none": gradient_of_update,
    "add": gradient_of_add,
    "max": gradient_of_extremum,
    "min": gradient_of_extremum,
}
