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

from .. import errors
from .. import types as t
from .._arrays import call_library
from .._constants import OP_GATHER, OP_GATHER_ELEMENTS, OP_GATHER_ND
from .._kinds.jax_ import check_alive
from .._request import Request
from . import _gather, _gather_elements, _gather_nd

__all__ = ["gather", "gather_elements", "gather_nd"]

#: The compiled function of each operation, by the number of the operation.
PROGRAMS = {
    OP_GATHER: _gather.operator,
    OP_GATHER_ND: _gather_nd.operator,
    OP_GATHER_ELEMENTS: _gather_elements.operator,
}


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
    switches = request_of(negative, bounds, fill_value)
    request = switches._replace(axis=positive(axis, params), batch_dims=batch_dims)
    return _gather.operator(params, indices, request=request)


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
    request = request_of(negative, bounds, fill_value)._replace(batch_dims=batch_dims)
    return _gather_nd.operator(array_of(params, "params"), array_of(indices, "indices"), request=request)


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
    switches = request_of(negative, bounds, fill_value)
    request = switches._replace(axis=positive(axis, params), extents="broadcast")
    return _gather_elements.operator(params, array_of(indices, "indices"), request=request)


@cache
def request_of(negative: t.Negative, bounds: t.Bounds, fill_value: t.Any) -> Request:
    if bounds == "skip":
        raise errors.unsupported("options", "bounds 'skip' is for an out, which a primitive of JAX does not have")
    is_filled = fill_value is not None and bounds == "error"
    return Request(negative=negative, bounds="fill" if is_filled else bounds, fill_value=fill_value)


def array_of(value: jax.typing.ArrayLike, operand: str) -> jax.Array:
    # The conversion of an array takes longer in JAX than the gather.
    if not isinstance(value, jax.Array):
        made: jax.Array = call_library(jnp.asarray, value, operand)
        return made
    check_alive(value, operand)
    return value


def positive(axis: int, params: jax.Array) -> int:
    return axis + params.ndim if axis < 0 else axis
