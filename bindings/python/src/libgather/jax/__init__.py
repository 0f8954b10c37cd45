"""Primitives of JAX on the CPU, which support ``jit``, ``vmap``, ``grad`` and ``jvp``.

The functions of :mod:`libgather` itself accept JAX arrays as memory. Compiled programs call these primitives through
``jax.ffi``. They have shapes for tracing, derivatives of any order, and batching rules. The rules of gathers repeat no
operand. Shapes and dtypes are validated during tracing. An index out of bounds is only known when the program runs. It
then raises ``jax.errors.JaxRuntimeError`` with the message of :class:`libgather.IndexError`. The module needs JAX 0.5
or newer. It is imported at the first use.
"""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .. import types as t
from .._arrays.jax_ import check_alive
from .._arrays.kinds import call_library
from .._base.request_fields import Request
from .._operations.jax_programs.gather import operator as run_gather
from .._operations.jax_programs.gather_elements import operator as run_gather_elements
from .._operations.jax_programs.gather_nd import operator as run_gather_nd
from .._operations.jax_programs.primitive import fill_of
from .._operations.jax_programs.scatters import scatter as run_scatter
from .._operations.jax_programs.scatters import scatter_elements as run_scatter_elements
from .._operations.jax_programs.scatters import scatter_nd as run_scatter_nd

__all__ = ["gather", "gather_elements", "gather_nd", "scatter", "scatter_elements", "scatter_nd", "segment_sum"]


def gather(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
) -> jax.Array:
    """Gathers slices of `params` along an axis. It is :func:`libgather.gather` as a primitive.

    The gradient of a slice of `params` is the sum of the gradients of all its copies.

    Args:
        axis: The axis that indices select in. None means the value of `batch_dims`.
        bounds: ``"error"``, ``"clamp"``, ``"modulo"``, or ``"fill"``, which a `fill_value` implies.
        fill_value: A value, ``"zero"`` (default), or ``"by_dtype"``.

    JAX has 64-bit integers only with ``jax_enable_x64``. Without it, a larger index in an array of NumPy or a list is a
    DTypeError. ``jax.jit`` itself converts its arguments, so that this function receives other indices.

    Raises:
        ShapeError, RankError, DTypeError: As for :func:`libgather.gather`.
        jax.errors.JaxRuntimeError: An index is out of bounds. An access to the values of the result raises it.

    >>> import jax, jax.numpy as jnp, libgather.jax
    >>> table, ids = jnp.arange(6.0).reshape(3, 2), jnp.array([2, 2, 0])
    >>> jax.jit(libgather.jax.gather)(table, ids).tolist()
    [[4.0, 5.0], [4.0, 5.0], [0.0, 1.0]]
    >>> jax.grad(lambda t: libgather.jax.gather(t, ids).sum())(table).tolist()
    [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
    """
    params, indices = array_of(params, "params"), array_of(indices, "indices")
    axis = batch_dims if axis is None else axis
    batch_dims = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    switches = request_of(params, negative, bounds, fill_value)
    request = switches._replace(axis=positive(axis, params), batch_dims=batch_dims)
    return run_gather(params, indices, request=request)


def gather_nd(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    batch_dims: int = 0,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
) -> jax.Array:
    """Gathers slices of `params` by tuples. It is :func:`libgather.gather_nd` as a primitive.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.gather_nd(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [0, 1]])).tolist()
    [3, 2]
    """
    params, indices = array_of(params, "params"), array_of(indices, "indices")
    request = request_of(params, negative, bounds, fill_value)._replace(batch_dims=batch_dims)
    return run_gather_nd(params, indices, request=request)


def gather_elements(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    axis: int = -1,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
) -> jax.Array:
    """Gathers single elements along an axis. It is :func:`libgather.gather_elements` as a primitive.

    As in ``jnp.take_along_axis``, a dim of size 1 beside the axis is repeated.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.gather_elements(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0]])).tolist()
    [[2], [3]]
    """
    params = array_of(params, "params")
    switches = request_of(params, negative, bounds, fill_value)
    request = switches._replace(axis=positive(axis, params), extents="broadcast")
    return run_gather_elements(params, array_of(indices, "indices"), request=request)


def scatter(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction = "none",
    accumulate: t.Accumulate | None = None,
    negative: t.Negative = "reject",
    bounds: t.ScatterBounds = "error",
) -> jax.Array:
    """Writes slices of `updates` to slices of a copy of `target` along an axis.

    It is :func:`libgather.scatter` as a primitive, and ``target.at[indices].set(updates)``, ``.add``, ``.mul``,
    ``.max`` and ``.min``. XLA makes no copy of a `target` that nothing else needs. The shape of `updates` is
    ``target.shape[:axis] + indices.shape[batch_dims:] + target.shape[axis+1:]``.

    Args:
        axis: The axis that indices select in. None means the value of `batch_dims`.
        reduction: ``"none"`` (the last duplicate wins), ``"add"``, ``"mul"``, ``"max"`` or ``"min"``. The first two
            have derivatives with respect to `target` and `updates`.
        accumulate: The type in which float16 and bfloat16 are added: ``"dtype"`` (default) or ``"float32"``.
        bounds: ``"error"``, ``"skip"``, ``"clamp"`` or ``"modulo"``.

    Raises:
        ShapeError, RankError, DTypeError: As for :func:`libgather.scatter`.
        UnsupportedError: The derivative of another reduction is needed.
        jax.errors.JaxRuntimeError: An index is out of bounds. An access to the values of the result raises it.

    >>> import jax, jax.numpy as jnp, libgather.jax
    >>> add = jax.jit(lambda table, ids, rows: libgather.jax.scatter(table, ids, rows, reduction="add"))
    >>> ids = jnp.array([2, 2, 0])
    >>> add(jnp.zeros(3), ids, jnp.array([1.0, 2.0, 4.0])).tolist()
    [4.0, 0.0, 3.0]
    >>> jax.grad(lambda rows: (add(jnp.zeros(3), ids, rows) ** 2).sum())(jnp.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 6.0, 8.0]
    """
    target, indices, updates = operands_of(target, indices, updates)
    axis = batch_dims if axis is None else axis
    batch_dims = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    switches = scattering(reduction, accumulate, negative, bounds)
    request = switches._replace(axis=positive(axis, target), batch_dims=batch_dims)
    return run_scatter(target, indices, updates, request=request)


def scatter_nd(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction = "none",
    accumulate: t.Accumulate | None = None,
    negative: t.Negative = "reject",
    bounds: t.ScatterBounds = "error",
) -> jax.Array:
    """Writes slices of `updates` by tuples. It is :func:`libgather.scatter_nd` as a primitive.

    Arguments, derivatives and errors are those of :func:`scatter`.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.scatter_nd(jnp.zeros((2, 2), int), jnp.array([[1, 0], [0, 1]]), jnp.array([3, 2])).tolist()
    [[0, 2], [3, 0]]
    """
    request = scattering(reduction, accumulate, negative, bounds)._replace(batch_dims=batch_dims)
    return run_scatter_nd(*operands_of(target, indices, updates), request=request)


def scatter_elements(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    axis: int = -1,
    *,
    reduction: t.Reduction = "none",
    accumulate: t.Accumulate | None = None,
    negative: t.Negative = "reject",
    bounds: t.ScatterBounds = "error",
) -> jax.Array:
    """Writes single elements along an axis. It is :func:`libgather.scatter_elements` as a primitive.

    Arguments, derivatives and errors are those of :func:`scatter`. The shape of `updates` is that of `indices`.

    >>> import jax.numpy as jnp, libgather.jax
    >>> table, ids = jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0]])
    >>> libgather.jax.scatter_elements(table, ids, jnp.array([[20], [30]]), reduction="add").tolist()
    [[1, 22], [33, 4]]
    """
    target, indices, updates = operands_of(target, indices, updates)
    request = scattering(reduction, accumulate, negative, bounds)._replace(axis=positive(axis, target))
    return run_scatter_elements(target, indices, updates, request=request)


def segment_sum(
    data: jax.typing.ArrayLike,
    segment_ids: jax.typing.ArrayLike,
    num_segments: int,
    *,
    bounds: t.ScatterBounds = "skip",
) -> jax.Array:
    """``jax.ops.segment_sum``: adds the slices of `data` that have the same number. The numbers need not be sorted.

    The result has the shape ``(num_segments,) + data.shape[segment_ids.ndim:]``. It has the derivatives of
    :func:`scatter`.

    Args:
        segment_ids: The number of the segment of each slice. Its shape is the beginning of that of `data`.
        bounds: ``"skip"`` (a slice of an invalid number is ignored, as in JAX), ``"error"``, ``"clamp"`` or
            ``"modulo"``.

    Raises:
        ShapeError, DTypeError, jax.errors.JaxRuntimeError: As for :func:`scatter`.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.segment_sum(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 0, 1]), 3).tolist()
    [2.0, 5.0, 0.0]
    """
    data, segment_ids = array_of(data, "updates"), array_of(segment_ids, "indices")
    sums = jnp.zeros((num_segments, *data.shape[segment_ids.ndim :]), data.dtype)
    return scatter(sums, segment_ids, data, reduction="add", bounds=bounds)


def operands_of(*operands: jax.typing.ArrayLike) -> tuple[jax.Array, jax.Array, jax.Array]:
    target, indices, updates = map(array_of, operands, ("target", "indices", "updates"))
    return target, indices, updates


@cache
def scattering(
    reduction: t.Reduction, accumulate: t.Accumulate | None, negative: t.Negative, bounds: t.ScatterBounds
) -> Request:
    return Request(reduction=reduction, accumulate=accumulate, negative=negative, bounds=bounds)


def request_of(params: jax.Array, negative: t.Negative, bounds: t.Bounds, fill_value: t.Any) -> Request:
    if fill_value is None:
        return unfilled(negative, bounds)
    return unfilled(negative, "fill" if bounds == "error" else bounds)._replace(fill_value=fill_of(fill_value, params))


@cache
def unfilled(negative: t.Negative, bounds: t.Bounds) -> Request:
    if bounds == "skip":
        raise errors.unsupported("options", "bounds 'skip' is for an out, which a primitive of JAX does not have")
    return Request(negative=negative, bounds=bounds)


def array_of(value: jax.typing.ArrayLike, operand: str) -> jax.Array:
    # The conversion of an array takes longer in JAX than the gather.
    if not isinstance(value, jax.Array):
        made: jax.Array = call_library(jnp.asarray, value, operand)
        call_library(check_narrowed, value, operand, made.dtype, operand)
        return made
    check_alive(value, operand)
    return value


def check_narrowed(value: jax.typing.ArrayLike, dtype: np.dtype[t.Any], operand: str) -> None:
    """Raises DTypeError if JAX has changed an integer, because it converts 64-bit integers to 32 bits by default."""
    for part in jax.tree.leaves(value):
        if not hasattr(part, "dtype") or isinstance(part, jax.Array):  # JAX itself refuses large integers of Python
            continue
        given = np.asarray(part)
        if given.dtype.kind in "iu" and dtype.kind in "iu" and given.dtype.itemsize > dtype.itemsize:
            limits = np.iinfo(dtype)
            changed = given[(given < limits.min) | (given > limits.max)]
            if changed.size:
                message = f"{changed.flat[0]} is beyond {dtype}, which JAX makes of {given.dtype}: set jax_enable_x64"
                raise errors.dtype_error(operand, message)


def positive(axis: int, params: jax.Array) -> int:
    return axis + params.ndim if axis < 0 else axis
