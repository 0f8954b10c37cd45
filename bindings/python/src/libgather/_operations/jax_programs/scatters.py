"""The primitives of the scatters, which have derivatives with respect to the target and the updates.

Others find the positions of their maxima and minima.
"""

from __future__ import annotations

from math import prod

import jax.numpy as jnp
from jax.interpreters import ad

from ... import errors
from ..._base.constants import E_SHAPE
from ..._requests.operation_table import SCATTER, SCATTER_ELEMENTS, SCATTER_ND
from . import gather, gather_elements, gather_nd
from .primitive import called, defined, defined_positions, in_front, inferred, transposed_by, within
from .sharding import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..._base.request_fields import Request
    from ..._requests.operation_table import Operation
    from .sharding import Rule


def registered(
    operation: Operation, reader: Any, batched: Callable[[Request], Request]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Registers a scatter and its positions as primitives.

    Returns functions of target, indices, updates and the request: the scatter, and the positions of its maxima or
    minima.

    Args:
        reader: The module of the gather whose rows are the updates.
        batched: Returns the request of operands that have an additional first dim.
    """

    def shape(target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        wanted = inferred(operation, reader.shape_of, target, indices, request)
        if updates.shape != wanted:
            message = f"updates: shape is {updates.shape}, needed is {wanted}"
            raise errors.ShapeError(message, status=E_SHAPE, operand="updates")
        if updates.dtype != target.dtype:
            raise errors.dtype_error("updates", f"dtype is {updates.dtype}, needed is {target.dtype}")
        return target

    def operands_of(target: Any, indices: Any, updates: Any) -> dict[str, Any]:
        return {"table": target, "indices": indices, "rows": updates}

    def call(target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        shape(target, indices, updates, request=request)
        return called(operation, request, target, in_place=True, **operands_of(target, indices, updates))

    def rule(target: Any, indices: Any, updates: Any, *, request: Request) -> Rule:
        table, ids, rows = reader.labels_of(target.shape, indices.shape, request)
        table = common(table, rows)
        return (table, common(ids, table), common(rows, table)), table

    def batch(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request) -> tuple[Any, int]:
        return primitive.bind(*in_front(arrays, dims), request=batched(request)), 0

    primitive = defined(operation.name, shape, call, batch, rule)

    def jvp(primals: Any, tangents: Any, *, request: Request) -> Any:
        """A scatter that sets or adds is linear. The derivative of another scatter is a sum of the tangents with
        factors."""
        target, indices, updates = primals
        moves, changes = map(ad.instantiate_zeros, (tangents[0], tangents[2]))
        result = primitive.bind(target, indices, updates, request=request)
        if request.reduction in ("none", "add"):
            return result, primitive.bind(moves, indices, changes, request=request)
        find = finds[request.reduction]
        kept, used, count = find(target, indices, updates, result, request)
        sums = primitive.bind(moves * kept, indices, changes * used, request=request._replace(reduction="add"))
        return result, sums / count

    def factors_of_product(target: Any, indices: Any, updates: Any, result: Any, request: Request) -> Any:
        """If one update of a place is 0, its factor is the product of all other updates and the target."""

        def scattered(onto: Any, rows: Any, reduction: Any) -> Any:
            return primitive.bind(onto, indices, rows, request=request._replace(reduction=reduction))

        is_zero = updates == 0
        zeros = rows_of(scattered(jnp.zeros_like(target), is_zero.astype(target.dtype), "add"), indices, request)
        is_only_zero = is_zero & (zeros == 1)
        others = rows_of(scattered(target, jnp.where(is_only_zero, 1, updates), "mul"), indices, request)
        used = jnp.where(is_only_zero, others, rows_of(result, indices, request) / jnp.where(is_zero, 1, updates))
        return scattered(jnp.ones_like(target), updates, "mul"), used, 1

    def factors_of_mean(target: Any, indices: Any, updates: Any, result: Any, request: Request) -> Any:
        ones = jnp.ones_like(target), indices, jnp.ones_like(updates)
        return 1, 1, primitive.bind(*ones, request=request._replace(reduction="add"))

    def factors_of_extreme(target: Any, indices: Any, updates: Any, result: Any, request: Request) -> Any:
        """All values that are the extreme have equal factors."""
        is_own = (target == result).astype(target.dtype)
        is_one = (updates == rows_of(result, indices, request)).astype(target.dtype)
        count = primitive.bind(is_own, indices, is_one, request=request._replace(reduction="add"))
        return is_own, is_one, jnp.maximum(count, 1)

    finds: dict[Any, Any] = {
        "mul": factors_of_product,
        "max": factors_of_extreme,
        "min": factors_of_extreme,
        "mean": factors_of_mean,
    }

    def transpose(gradient: Any, target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        of_target = of_updates = None
        if ad.is_undefined_primal(target):
            of_target = gradient
            if request.reduction == "none" or not request.include_self:
                rows = jnp.zeros(inferred(operation, reader.shape_of, gradient, indices, request), gradient.dtype)
                of_target = primitive.bind(gradient, indices, rows, request=request._replace(reduction="none"))
        if ad.is_undefined_primal(updates):
            of_updates = rows_of(gradient, indices, request)
            if request.reduction == "none":
                of_updates = jnp.where(last(gradient.shape, indices, of_updates.shape, request), of_updates, 0)
        return of_target, None, of_updates

    def rows_of(array: Any, indices: Any, request: Request) -> Any:
        """Returns the rows that a scatter has written. Zeros take the place of those that it has skipped."""
        request = request._replace(reduction=None, accumulate=None, include_self=True)
        request = request._replace(extents=None if operation.has_rows else "broadcast")
        if request.bounds == "skip":
            request = request._replace(bounds="fill", fill_value="zero")
        return reader.operator(array, indices, request=request)

    def last(shape: tuple[int, ...], indices: Any, rows: tuple[int, ...], request: Request) -> Any:
        """Returns a mask of the updates that no later update replaces."""
        numbers = jnp.arange(prod(rows), dtype=jnp.int32).reshape(rows)
        kept = primitive.bind(jnp.zeros(shape, jnp.int32), indices, numbers, request=request)
        return rows_of(kept, indices, request) == numbers

    ad.primitive_jvps[primitive] = jvp
    transposed_by(primitive, transpose)

    def batch_positions(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request) -> tuple[Any, int]:
        operands = in_front(arrays, dims)
        return within(positions.bind(*operands, request=batched(request)), prod(operands[2].shape[1:])), 0

    positions = defined_positions(operation, operands_of, shape, batch_positions)

    def prepared(target: Any, indices: Any, updates: Any, request: Request) -> tuple[Any, Request]:
        """Returns updates of the whole shape, and the request with axes from the front."""
        request = reader.from_front_of(request, target, indices)
        wanted = inferred(operation, reader.shape_of, target, indices, request)
        if updates.ndim < len(wanted) and updates.shape == wanted[len(wanted) - updates.ndim :]:
            updates = jnp.broadcast_to(updates, wanted)
        return updates, request

    def operator(target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        updates, request = prepared(target, indices, updates, request)
        return primitive.bind(target, indices, updates, request=request)

    def find(target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        """Returns positions in the given updates, of which each index may use all."""
        rows, request = prepared(target, indices, updates, request)
        found = positions.bind(target, indices, rows, request=request)
        return found if rows is updates else within(found, updates.size)

    return operator, find


def batched_rows(request: Request) -> Request:
    axis = request.axis
    return request._replace(axis=None if axis is None else axis + 1, batch_dims=request.batch_dims + 1)


def batched_elements(request: Request) -> Request:
    return request._replace(axis=(request.axis or 0) + 1)


scatter, positions_of_scatter = registered(SCATTER, gather, batched_rows)
scatter_nd, positions_of_scatter_nd = registered(SCATTER_ND, gather_nd, batched_rows)
scatter_elements, positions_of_scatter_elements = registered(SCATTER_ELEMENTS, gather_elements, batched_elements)
