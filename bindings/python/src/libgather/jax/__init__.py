"""Primitives of JAX on the CPU, which support ``jit``, ``vmap``, ``grad`` and ``jvp``.

The functions of :mod:`libgather` itself accept JAX arrays as memory. Compiled programs call these primitives through
``jax.ffi``. They have shapes for tracing, derivatives of any order, and batching rules that repeat no operand. Shapes
and dtypes are validated during tracing. An index out of bounds is only known when the program runs. It then raises
``jax.errors.JaxRuntimeError`` with the message of :class:`libgather.IndexError`. The module needs JAX 0.5 or newer. It
is imported at the first use.
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

__all__ = ["gather", "gather_elements", "gather_nd"]


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
