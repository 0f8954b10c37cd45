"""The gathers with their gradients. A gather and its gradient are linear, and each is the gradient of the other."""

from __future__ import annotations

import sys
from functools import partial

from .. import types as t
from .._base.integers import rules_of
from .._base.request_fields import Request
from .._operations.gathers import run
from .._operations.gradients import gather_gradient, gather_nd_gradient
from .._requests.operation_table import GATHER
from ._arguments import constant, prepared
from ._differentiated import differentiated, is_differentiated
from ._eager import empty, tensor_of, views_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._requests.operation_table import Operation


def gathered(operation: Operation, params: t.Any, indices: t.Any, request: Request) -> t.Any:
    if not is_differentiated(params, indices):
        return rows_of(operation, request, params, indices)
    tf = sys.modules["tensorflow"]
    params, indices = tf.convert_to_tensor(params), tf.convert_to_tensor(indices)
    call, gradient = partial(rows_of, operation, request), partial(gradient_of_rows, operation, request)
    return differentiated(call, gradient, known_shape(operation, request, params, indices), params, indices)


def gathered_along(axis: t.Any, batch_dims: int, profile: t.Profile, params: t.Any, indices: t.Any) -> t.Any:
    """Gathers along an axis whose value a traced function computes."""
    tf = sys.modules["tensorflow"]
    params, indices = tf.convert_to_tensor(params), tf.convert_to_tensor(indices)

    def request(axis: t.Any) -> Request:
        return Request(int(axis), batch_dims, profile=profile)

    def rows(params: t.Any, indices: t.Any, axis: t.Any) -> t.Any:
        return rows_of(GATHER, request(axis), params, indices)

    def sums(rows: t.Any, indices: t.Any, shape: t.Any, axis: t.Any) -> t.Any:
        return summed(GATHER, request(axis), rows, indices, shape)

    def gradient_of_sums(operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
        return gathered_along(operands[3], batch_dims, profile, upstream, operands[1]), None, None, None

    def gradient(operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
        params, indices, axis = operands
        return (
            differentiated(sums, gradient_of_sums, params.shape, upstream, indices, tf.shape(params), axis),
            None,
            None,
        )

    return differentiated(rows, gradient, rank_after(params, indices, batch_dims), params, indices, axis)


def rank_after(params: t.Any, indices: t.Any, batch_dims: int) -> t.Any:
    """Returns the shape of a gather along an unknown axis, of which only the rank is known, or None."""
    ranks = params.shape.rank, indices.shape.rank
    return None if None in ranks or batch_dims < 0 else [None] * (sum(ranks) - 1 - batch_dims)


def rows_of(operation: Operation, request: Request, params: t.Any, indices: t.Any) -> t.Any:
    views = views_of(params, indices)
    shape = None if views is None else known_shape(operation, request, *views)
    if not shape or 0 in shape:
        return run(operation, *prepared(params, indices), None, request)
    table, index = views
    return tensor_of(run(operation, table, index, empty(shape, table.dtype), request))


def known_shape(operation: Operation, request: Request, params: t.Any, indices: t.Any) -> t.Any:
    """Returns the shape of the result of a gather, or None if a rank is unknown. Arguments may be invalid."""
    given, index = params.shape, indices.shape
    if None in (getattr(given, "rank", 0), getattr(index, "rank", 0)):
        return None
    if operation is GATHER:
        axis = (request.axis or 0) % max(1, len(given))
        batch = request.batch_dims % max(1, len(index)) if request.batch_dims < 0 else request.batch_dims
        return [*given[:axis], *index[batch:], *given[axis + 1 :]]
    if len(index) == 0 or index[-1] is None:
        return None
    return [*index[:-1], *given[request.batch_dims + index[-1] :]]


def summed(operation: Operation, request: Request, rows: t.Any, indices: t.Any, shape: t.Any) -> t.Any:
    """Returns the sum of the rows of each slice. It is the gradient of a gather."""
    extents = tuple(int(extent) for extent in constant(shape))
    given: t.Any = {"bounds": request.bounds, "profile": request.profile}
    if operation is GATHER:
        return gather_gradient(rows, indices, extents, request.axis, request.batch_dims, **given)
    return gather_nd_gradient(rows, indices, extents, request.batch_dims, **given)


def gradient_of_rows(operation: Operation, request: Request, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    tf = sys.modules["tensorflow"]
    params, indices = operands
    shape = tf.shape(params)
    if selects_rows(operation, request, indices):
        rows = tf.reshape(upstream, tf.concat([[-1], shape[1:]], 0))
        return tf.IndexedSlices(rows, tf.reshape(indices, [-1]), shape), None
    call, gradient = partial(summed, operation, request), partial(gradient_of_sums, operation, request)
    return differentiated(call, gradient, params.shape, upstream, indices, shape), None


def selects_rows(operation: Operation, request: Request, indices: t.Any) -> bool:
    """Returns whether each index is a row of params. A list of tuples of one component has such indices too."""
    if operation is GATHER:
        return request.axis == 0 and request.batch_dims == 0
    is_list = indices.shape.rank == 2 and indices.shape[-1] == 1 and request.batch_dims == 0
    return is_list and request.bounds != "fill" and rules_of(request.profile)["bounds"] == "error"


def gradient_of_sums(operation: Operation, request: Request, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    return gathered(operation, upstream, operands[1], request), None, None
