"""Primitives of JAX on the CPU, which support ``jit``, ``vmap``, ``grad`` and ``jvp``.

The functions of :mod:`libgather` itself accept JAX arrays as memory. Compiled programs call these primitives through
``jax.ffi``. They have shapes for tracing, derivatives of any order, and batching rules. The rules of gathers repeat no
operand. Shapes and dtypes are validated during tracing. An index out of bounds is only known when the program runs. It
then raises ``jax.errors.JaxRuntimeError`` with the message of :class:`libgather.IndexError`. Arrays and programs of
another platform than the CPU raise :class:`libgather.UnsupportedError`. The module needs JAX 0.5 or newer. It is
imported at the first use.
"""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .. import types as t
from .._arrays.jax_ import check_alive, has_values
from .._arrays.kinds import call_library
from .._base.request_fields import Request
from .._bounds import bounds_of_fill
from .._memory.packed_memory import PackedRows
from .._operations.bags import bags_of
from .._operations.jax_programs import bags as pools
from .._operations.jax_programs import compiled, scatters
from .._operations.jax_programs import gather as rows_of
from .._operations.jax_programs import gather_elements as elements_of
from .._operations.jax_programs import gather_nd as tuples_of
from .._operations.jax_programs.primitive import TARGET, fill_of
from .._requests.operation_table import scatter_named

__all__ = [
    "export_checks",
    "gather",
    "gather_bags",
    "gather_bags_positions",
    "gather_elements",
    "gather_nd",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "scatter_positions",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_sum",
]


def gather(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
    padding_index: int | None = None,
) -> jax.Array:
    """Gathers slices of `params` along an axis. It is :func:`libgather.gather` as a primitive.

    The gradient of a slice of `params` is the sum of the gradients of all its copies.

    Args:
        axis: The axis that indices select in. None means the value of `batch_dims`.
        bounds: ``"error"``, ``"clamp"``, ``"modulo"``, or ``"fill"``, which a `fill_value` implies without a
            `padding_index`.
        fill_value: A value, ``"zero"`` (default), or ``"by_dtype"``. It may be a traced scalar, which has a gradient.
        padding_index: The slice of an index of this value is `fill_value`. The value may be out of bounds.

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
    if fill_value is not None:
        return filled(rows_of, params, indices, axis, batch_dims, negative, bounds, fill_value, padding_index)
    return gathering(rows_of, axis, batch_dims, negative, bounds, padding_index)(params, indices)


def gather_nd(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    batch_dims: int = 0,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
    padding_index: int | None = None,
) -> jax.Array:
    """Gathers slices of `params` by tuples. It is :func:`libgather.gather_nd` as a primitive.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.gather_nd(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [0, 1]])).tolist()
    [3, 2]
    """
    params, indices = array_of(params, "params"), array_of(indices, "indices")
    if fill_value is not None:
        return filled(tuples_of, params, indices, None, batch_dims, negative, bounds, fill_value, padding_index)
    return gathering(tuples_of, None, batch_dims, negative, bounds, padding_index)(params, indices)


def gather_elements(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    axis: int = -1,
    *,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
    padding_index: int | None = None,
) -> jax.Array:
    """Gathers single elements along an axis. It is :func:`libgather.gather_elements` as a primitive.

    As in ``jnp.take_along_axis``, a dim of size 1 beside the axis is repeated.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.gather_elements(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0]])).tolist()
    [[2], [3]]
    """
    params, indices = array_of(params, "params"), array_of(indices, "indices")
    if fill_value is not None:
        return filled(elements_of, params, indices, axis, 0, negative, bounds, fill_value, padding_index)
    return gathering(elements_of, axis, 0, negative, bounds, padding_index)(params, indices)


def scatter(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = "none",
    include_self: bool = True,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    negative: t.Negative = "reject",
    bounds: t.ScatterBounds = "error",
) -> jax.Array:
    """Writes slices of `updates` to slices of a copy of `target` along an axis.

    It is :func:`libgather.scatter` as a primitive, and ``target.at[indices].set(updates)``, ``.add``, ``.mul``,
    ``.max`` and ``.min``. XLA makes no copy of a `target` that nothing else needs. The shape of `updates` is
    ``target.shape[:axis] + indices.shape[batch_dims:] + target.shape[axis+1:]``. Its last dims are sufficient: one row
    or one number, which each index uses.

    Args:
        axis: The axis that indices select in. None means the value of `batch_dims`.
        reduction: ``"none"`` (the last duplicate wins), ``"add"``, ``"mul"``, ``"max"``, ``"min"`` or ``"mean"``. All
            have derivatives with respect to `target` and `updates`. Equal values that are the maximum or the minimum
            share the gradient, as in JAX. The second derivative of a product is 0 where two of its updates are 0.
        include_self: If false, a reduction ignores the slices of `target` that it replaces. They have no gradient.
        accumulate: The type in which floats are added and multiplied: ``"dtype"`` (default), ``"float32"`` or
            ``"float64"``.
        padding_index: The update of an index of this value is ignored. The value may be out of bounds.
        bounds: ``"error"``, ``"skip"``, ``"clamp"`` or ``"modulo"``.

    Raises:
        ShapeError, RankError, DTypeError: As for :func:`libgather.scatter`.
        jax.errors.JaxRuntimeError: An index is out of bounds. An access to the values of the result raises it.

    >>> import jax, jax.numpy as jnp, libgather.jax
    >>> add = jax.jit(lambda table, ids, rows: libgather.jax.scatter(table, ids, rows, reduction="add"))
    >>> ids = jnp.array([2, 2, 0])
    >>> add(jnp.zeros(3), ids, jnp.array([1.0, 2.0, 4.0])).tolist()
    [4.0, 0.0, 3.0]
    >>> jax.grad(lambda rows: (add(jnp.zeros(3), ids, rows) ** 2).sum())(jnp.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 6.0, 8.0]
    """
    others = reduction, include_self, accumulate, padding_index, negative, bounds
    run = scattering(scatters.scatter, axis, batch_dims, *others)
    return run(*operands_of(target, indices, updates))


def scatter_nd(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = "none",
    include_self: bool = True,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    negative: t.Negative = "reject",
    bounds: t.ScatterBounds = "error",
) -> jax.Array:
    """Writes slices of `updates` by tuples. It is :func:`libgather.scatter_nd` as a primitive.

    Arguments, derivatives and errors are those of :func:`scatter`.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.scatter_nd(jnp.zeros((2, 2), int), jnp.array([[1, 0], [0, 1]]), jnp.array([3, 2])).tolist()
    [[0, 2], [3, 0]]
    """
    others = reduction, include_self, accumulate, padding_index, negative, bounds
    run = scattering(scatters.scatter_nd, None, batch_dims, *others)
    return run(*operands_of(target, indices, updates))


def scatter_elements(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    axis: int = -1,
    *,
    reduction: t.Reduction | None = "none",
    include_self: bool = True,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
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
    others = reduction, include_self, accumulate, padding_index, negative, bounds
    run = scattering(scatters.scatter_elements, axis, 0, *others)
    return run(*operands_of(target, indices, updates))


def scatter_positions(
    target: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    updates: jax.typing.ArrayLike,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    op: t.ScatterName | None = None,
    reduction: t.Reduction,
    include_self: bool = True,
    padding_index: int | None = None,
    negative: t.Negative = "reject",
    bounds: t.ScatterBounds = "error",
) -> jax.Array:
    """Finds the positions of the maxima or minima of a scatter.

    It is :func:`libgather.scatter_positions` as a primitive. With ``include_self=False``, positions are the argmax or
    argmin of each group. They have no derivatives. Arguments and errors are those of :func:`scatter`.

    Args:
        axis: The axis of the operation. None means its default: -1 for ``"scatter_elements"``.
        op: ``"scatter"`` (default), ``"scatter_nd"`` or ``"scatter_elements"``.
        reduction: ``"max"`` or ``"min"``. With another one, the program raises ``jax.errors.JaxRuntimeError``.

    Returns:
        An array of the shape of `target`. Its dtype is int64 with ``jax_enable_x64``, else int32. Each element is the
        position in `updates`, in row-major order, of the element that the scatter writes: of equal numbers the first,
        and the first NaN if there is one. It is -1 where `target` remains.

    >>> import jax, jax.numpy as jnp, libgather.jax
    >>> find = jax.jit(lambda *operands: libgather.jax.scatter_positions(*operands, reduction="max"))
    >>> find(jnp.array([0, 0, 9]), jnp.array([0, 1, 0, 2]), jnp.array([3, 5, 7, 8])).tolist()
    [2, 1, -1]
    """
    operation = scatter_named(op)
    request = operation.completed(Request(axis))
    others = reduction, include_self, None, padding_index, negative, bounds
    run = scattering(getattr(scatters, f"positions_of_{operation.name}"), request.axis, batch_dims, *others)
    return run(*operands_of(target, indices, updates))


def segment_sum(
    data: jax.typing.ArrayLike,
    segment_ids: jax.typing.ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: str | jax.lax.GatherScatterMode | None = None,
) -> jax.Array:
    """``jax.ops.segment_sum``: adds the slices of `data` that have the same number. The numbers need not be sorted.

    The result has the shape ``(num_segments,) + data.shape[segment_ids.ndim:]``. It has the derivatives of
    :func:`scatter`.

    Args:
        segment_ids: The number of the segment of each slice. Its shape is the beginning of that of `data`.
        num_segments: The number of segments. None means that it follows from the values of `segment_ids`, which a
            compiled program does not have.
        indices_are_sorted, unique_indices: Have no effect.
        bucket_size: If given, so many slices are added first, and then their sums.
        mode: None or ``"drop"`` ignores a slice of an invalid number. With ``"clip"`` it belongs to the first or the
            last segment. With ``"promise_in_bounds"`` it is an error.

    Raises:
        ShapeError, DTypeError, jax.errors.JaxRuntimeError: As for :func:`scatter`.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.segment_sum(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 0, 1]), 3).tolist()
    [2.0, 5.0, 0.0]
    """
    return reduced("sum", data, segment_ids, num_segments, bucket_size, mode)


def segment_max(
    data: jax.typing.ArrayLike,
    segment_ids: jax.typing.ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: str | jax.lax.GatherScatterMode | None = None,
) -> jax.Array:
    """``jax.ops.segment_max``: the maximum of each segment. Arguments are those of :func:`segment_sum`.

    The maximum of a segment without a slice is the smallest value of its dtype.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.segment_max(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 0, 1])).tolist()
    [2.0, 4.0]
    """
    return reduced("max", data, segment_ids, num_segments, bucket_size, mode)


def segment_min(
    data: jax.typing.ArrayLike,
    segment_ids: jax.typing.ArrayLike,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: str | jax.lax.GatherScatterMode | None = None,
) -> jax.Array:
    """``jax.ops.segment_min``: the minimum of each segment. Arguments are those of :func:`segment_sum`.

    The minimum of a segment without a slice is the largest value of its dtype.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.segment_min(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 0, 1])).tolist()
    [2.0, 1.0]
    """
    return reduced("min", data, segment_ids, num_segments, bucket_size, mode)


def segment_mean(
    data: jax.typing.ArrayLike,
    segment_ids: jax.typing.ArrayLike,
    num_segments: int | None = None,
    *,
    mode: str | jax.lax.GatherScatterMode | None = None,
) -> jax.Array:
    """Returns the mean of each segment. Arguments are those of :func:`segment_sum`. JAX has no such function.

    The mean of a segment without a slice is 0.

    >>> import jax.numpy as jnp, libgather.jax
    >>> libgather.jax.segment_mean(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 0, 1]), 3).tolist()
    [2.0, 2.5, 0.0]
    """
    return reduced("mean", data, segment_ids, num_segments, None, mode)


def reduced(
    name: str,
    data: jax.typing.ArrayLike,
    segment_ids: jax.typing.ArrayLike,
    num_segments: int | None,
    bucket_size: int | None,
    mode: str | jax.lax.GatherScatterMode | None,
) -> jax.Array:
    """Returns a reduction of each segment. JAX itself makes the result of no slices, to which the scatter adds all."""
    data, ids = array_of(data, "updates"), array_of(segment_ids, "indices")
    count = int(np.max(ids)) + 1 if num_segments is None else num_segments
    reduction: t.Any = "add" if name == "sum" else name
    modes = jax.lax.GatherScatterMode
    bounds: t.Any = {modes.CLIP: "clamp", modes.PROMISE_IN_BOUNDS: "error"}.get(modes.from_any(mode), "skip")
    none = jnp.zeros((0, *data.shape[ids.ndim :]), data.dtype), jnp.zeros(0, jnp.int32)
    start = getattr(jax.ops, f"segment_{'sum' if name == 'mean' else name}")(*none, count)
    if bucket_size is None:
        return scatter(start, ids, data, reduction=reduction, include_self=name != "mean", bounds=bounds)
    buckets = jnp.arange(ids.size, dtype=jnp.int32).reshape(ids.shape) // bucket_size
    start = jnp.broadcast_to(start, (-(-ids.size // bucket_size), *start.shape))
    parts = scatter_nd(start, jnp.stack([buckets, ids], -1), data, reduction=reduction, bounds=bounds)
    total: jax.Array = getattr(parts, name)(0).astype(data.dtype)
    return total


def gather_bags(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    *,
    offsets: jax.typing.ArrayLike | None = None,
    starts: jax.typing.ArrayLike | None = None,
    lengths: jax.typing.ArrayLike | None = None,
    segments: jax.typing.ArrayLike | None = None,
    count: int | None = None,
    weights: jax.typing.ArrayLike | None = None,
    pool: t.Pool = "sum",
    padding_index: int | None = None,
    empty: t.Empty | None = None,
    accumulate: t.Accumulate | None = None,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
) -> jax.Array:
    """Gathers rows by bags of indices, and pools each bag. It is :func:`libgather.gather_bags` as a primitive.

    It has derivatives of any order with respect to `params` and `weights`. The gradient of a maximum or minimum belongs
    to the first row of the bag that has it. `vmap` runs bags one after another, unless only `params` have a batch dim,
    or each row of `indices` is a bag.

    Args:
        params: The table, of rank 1 or more.
        indices: The numbers of rows.
        offsets, starts, lengths, segments, count: The bags, as for :func:`libgather.gather_bags`. Without them, each
            row of `indices` along its last dim is a bag.
        weights: An array of the shape of `indices`, and of the dtype of `params` or float32.
        pool: ``"sum"``, ``"mean"``, ``"sqrtn"``, ``"max"`` or ``"min"``.
        padding_index: An index of this value is neither read nor counted.
        empty, accumulate, negative, fill_value: As for :func:`libgather.gather_bags`.
        bounds: ``"error"``, ``"fill"``, ``"clamp"``, ``"modulo"`` or ``"skip"``.

    Returns:
        An array of shape ``(bags,) + params.shape[1:]``, or ``indices.shape[:-1] + params.shape[1:]``.

    Raises:
        ShapeError, RankError, DTypeError, OptionError: As for :func:`libgather.gather_bags`.
        jax.errors.JaxRuntimeError: An index is out of bounds, or the bags are invalid.

    >>> import jax, jax.numpy as jnp, libgather.jax
    >>> table, ids = jnp.array([[1.0, 0.0], [0.0, 1.0], [4.0, 2.0]]), jnp.array([0, 2, 1])
    >>> means = lambda table: libgather.jax.gather_bags(table, ids, lengths=jnp.array([2, 1]), pool="mean")
    >>> jax.jit(means)(table).tolist()
    [[2.5, 1.0], [0.0, 1.0]]
    >>> jax.grad(lambda table: means(table).sum())(table).tolist()
    [[0.5, 0.5], [1.0, 1.0], [0.5, 0.5]]
    """
    params, indices = array_of(params, "params"), array_of(indices, "indices")
    form, bags = bags_of(count, offsets=offsets, starts=starts, lengths=lengths, segments=segments)
    bags = None if bags is None else array_of(bags, "bags")
    weights = None if weights is None else array_of(weights, "weights")
    bounds = filling(fill_value, bounds, empty, padding_index, form)
    fill = fill_of(fill_value, params)
    rules = form, pool, padding_index, empty, count or 0, accumulate, negative, bounds, fill
    return pooling(pools.operator, *rules)(params, indices, bags, weights)


def gather_bags_positions(
    params: jax.typing.ArrayLike,
    indices: jax.typing.ArrayLike,
    *,
    offsets: jax.typing.ArrayLike | None = None,
    starts: jax.typing.ArrayLike | None = None,
    lengths: jax.typing.ArrayLike | None = None,
    segments: jax.typing.ArrayLike | None = None,
    count: int | None = None,
    pool: t.Pool,
    padding_index: int | None = None,
    negative: t.Negative = "reject",
    bounds: t.Bounds = "error",
    fill_value: float | str | None = None,
) -> jax.Array:
    """Finds the positions of the maxima or minima of :func:`gather_bags`, as :func:`libgather.gather_bags_positions`.

    The positions have no derivatives. Arguments and errors are those of :func:`gather_bags`.

    Args:
        pool: ``"max"`` or ``"min"``. With another one, the program raises ``jax.errors.JaxRuntimeError``.

    Returns:
        An array of the shape of the pooled rows. Its dtype is int64 with ``jax_enable_x64``, else int32. Each element
        is the position in `indices`, in row-major order, of the index whose row has the element of the result: of equal
        numbers the first, and the first NaN if there is one. It is -1 if the bag has read no index.

    >>> import jax.numpy as jnp, libgather.jax
    >>> table, ids = jnp.array([[1.0, 8.0], [5.0, 2.0]]), jnp.array([1, 0, 0])
    >>> libgather.jax.gather_bags_positions(table, ids, offsets=jnp.array([0, 2, 2, 3]), pool="max").tolist()
    [[0, 1], [-1, -1], [2, 2]]
    """
    params, indices = array_of(params, "params"), array_of(indices, "indices")
    form, bags = bags_of(count, offsets=offsets, starts=starts, lengths=lengths, segments=segments)
    bags = None if bags is None else array_of(bags, "bags")
    bounds = filling(fill_value, bounds, None, padding_index, form)
    rules = form, pool, padding_index, None, count or 0, None, negative, bounds, fill_of(fill_value, params)
    return pooling(pools.positions_of, *rules)(params, indices, bags)


def export_checks() -> list[jax.export.DisabledSafetyCheck]:
    """Returns the `disabled_checks` of ``jax.export.export`` for programs with these primitives.

    JAX exports a call of another library only if its name is stated. The process that runs such a program must import
    ``libgather.jax`` first.

    >>> import jax, jax.export, jax.numpy as jnp, libgather.jax
    >>> spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("rows, 2"), jnp.float32)
    >>> export = jax.export.export(jax.jit(libgather.jax.gather), disabled_checks=libgather.jax.export_checks())
    >>> program = export(spec, jax.ShapeDtypeStruct((1,), jnp.int32)).serialize()
    >>> jax.export.deserialize(program).call(jnp.ones((5, 2)), jnp.array([4])).tolist()
    [[1.0, 1.0]]
    """
    return [jax.export.DisabledSafetyCheck.custom_call(TARGET)]


def operands_of(*operands: jax.typing.ArrayLike) -> tuple[jax.Array, jax.Array, jax.Array]:
    target, indices, updates = map(array_of, operands, ("target", "indices", "updates"))
    return target, indices, updates


# The names of the options that scattering() and pooling() receive after their operator.
_COMBINED = "reduction", "include_self", "accumulate", "padding_index", "negative", "bounds"
_POOLED = "bag_format", "pool", "padding_index", "empty", "bag_count"
_RULES = *_POOLED, "accumulate", "negative", "bounds", "fill_value"


# Equal arguments of other types are other requests, for example 1 and True.
@lru_cache(maxsize=None, typed=True)
def gathering(
    kind: t.Any,
    axis: int | None,
    batch_dims: int,
    negative: t.Negative,
    bounds: t.Bounds,
    padding_index: int | None,
) -> t.Any:
    """Returns the compiled gather of params and indices."""
    if bounds == "skip":
        raise errors.unsupported("options", "bounds 'skip' is for an out, which a primitive of JAX does not have")
    extents: t.Extents | None = "broadcast" if kind is elements_of else None
    request = Request(axis, batch_dims, negative=negative, bounds=bounds, extents=extents, padding_index=padding_index)
    return compiled(kind.operator, request)


@lru_cache(maxsize=None, typed=True)
def scattering(operator: t.Any, axis: int | None, batch_dims: int, reduction: str | None, *others: t.Any) -> t.Any:
    """Returns the compiled scatter of target, indices and updates."""
    given: t.Any = zip(_COMBINED, ("none" if reduction is None else reduction, *others), strict=True)
    return compiled(operator, Request(axis, batch_dims, **dict(given)))


@lru_cache(maxsize=None, typed=True)
def pooling(operator: t.Any, *rules: t.Any) -> t.Any:
    """Returns the compiled operator of the operands of gather_bags."""
    given: t.Any = zip(_RULES, rules, strict=True)
    return compiled(operator, Request(**dict(given)))


def filling(fill_value: t.Any, bounds: t.Bounds, *others: t.Any) -> t.Bounds:
    """Returns the bounds of a call with a fill value. Here the default is ``"error"``."""
    return bounds_of_fill(fill_value, None if bounds == "error" else bounds, *others) or "error"


def filled(
    kind: t.Any,
    params: jax.Array,
    indices: jax.Array,
    axis: int | None,
    batch_dims: int,
    negative: t.Negative,
    bounds: t.Bounds,
    fill_value: t.Any,
    padding_index: int | None,
) -> jax.Array:
    """Gathers with a fill value. The value of a tracer takes its place where a gather of ones has zeros."""
    extents: t.Extents | None = "broadcast" if kind is elements_of else None
    bounds = filling(fill_value, bounds, None, padding_index)
    request = Request(axis, batch_dims, negative=negative, bounds=bounds, extents=extents, padding_index=padding_index)
    if not isinstance(fill_value, jax.core.Tracer):
        request = request._replace(fill_value=fill_of(fill_value, params))
        made: jax.Array = compiled(kind.operator, request)(params, indices)
        return made
    if fill_value.shape != () or jnp.result_type(params, fill_value) != params.dtype:
        given = f"fill_value has dtype {fill_value.dtype} and shape {fill_value.shape}"
        raise errors.dtype_error("options", f"{given}: a scalar of {params.dtype} is needed")
    run = compiled(kind.operator, request._replace(fill_value="zero"))
    is_read = run(jnp.ones(kind.selected(params, indices, request), bool), indices)
    chosen: jax.Array = jnp.where(is_read, run(params, indices), fill_value.astype(params.dtype))
    return chosen


def array_of(value: jax.typing.ArrayLike, operand: str) -> jax.Array:
    # The conversion of an array takes longer in JAX than the gather.
    if has_values(value.__class__) or isinstance(value, jax.Array):
        check_alive(value, operand)
        return value
    if isinstance(value, PackedRows):
        raise errors.unsupported(operand, "JAX has no packed rows and no rows of files: use libgather.gather")
    made: jax.Array = call_library(jnp.asarray, value, operand)
    call_library(check_narrowed, value, operand, made.dtype, operand)
    return made


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
