"""The primitive gather_bags, its gradients with respect to the table and to weights, and the positions of its maxima.

The first three are linear in their rows. A sum is also linear in the weights. For the derivative with respect to
weights, a mean, or a sum divided by a root, is a sum with a factor for each bag.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.interpreters import ad

from ... import errors
from ..._base.constants import E_SHAPE
from ..._base.request_fields import Request
from ..._requests.memory_runs import shape_for
from ..._requests.operation_table import GATHER_BAGS
from . import gather, gather_elements
from .primitive import (
    GRADIENT_OF_BAGS,
    GRADIENT_OF_WEIGHTS,
    called,
    defined,
    defined_positions,
    fill_of,
    in_front,
    inserted,
    linear,
    moved,
    spec_of,
    transposed_by,
    within,
)
from .sharding import common, numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .primitive import Shape
    from .sharding import Labels, Rule


def operator(params: Any, indices: Any, bags: Any, weights: Any, *, request: Request) -> Any:
    others = tuple(each for each in (bags, weights) if each is not None)
    return pooled.bind(params, indices, *others, request=request, has_weights=weights is not None)


def positions_of(params: Any, indices: Any, bags: Any, *, request: Request) -> Any:
    return positions.bind(params, indices, *(() if bags is None else (bags,)), request=request)


def named(others: tuple[Any, ...], has_weights: bool) -> dict[str, Any]:
    """Returns bags and weights by role."""
    bags = others[: len(others) - has_weights]
    return {"bags": bags[0] if bags else None, "weights": others[-1] if has_weights else None}


def shape_of_bags(indices: Any, bags: Any, request: Request) -> Shape:
    """Returns the first dims of the result."""
    if request.bag_format == "dense":
        return (*indices.shape[:-1],)
    if request.bag_format == "segments":
        return (request.bag_count,)
    return (bags.shape[0] - (request.bag_format == "offsets"),)


def shape(params: Any, indices: Any, *others: Any, request: Request, has_weights: bool) -> Any:
    given = named(others, has_weights)
    bags, weights = given["bags"], given["weights"]
    if weights is not None and weights.shape != indices.shape:
        message = f"weights: shape is {weights.shape}, needed is {indices.shape}"
        raise errors.ShapeError(message, status=E_SHAPE, operand="weights")
    count = request.bag_count if isinstance(request.bag_count, int) else 1
    asked = request._replace(
        bags=None if bags is None else spec_of(bags, "bags"),
        weights=None if weights is None else spec_of(weights, "weights"),
        bag_count=count,
    )
    shape_for(GATHER_BAGS, spec_of(params, "params"), spec_of(indices, "indices"), asked)  # raises the errors of a call
    return jax.ShapeDtypeStruct((*shape_of_bags(indices, bags, request), *params.shape[1:]), params.dtype)


def constant(request: Request) -> Request:
    """Returns the request of a call. The number of bags is that of the rows, because it may be symbolic."""
    return request._replace(bag_count=0)


def call(params: Any, indices: Any, *others: Any, request: Request, has_weights: bool) -> Any:
    result = shape(params, indices, *others, request=request, has_weights=has_weights)
    given = named(others, has_weights)
    return called(GATHER_BAGS, constant(request), result, table=params, indices=indices, **given)


def shape_of_gradient(rows: Any, indices: Any, *others: Any, shape: Shape, request: Request, has_weights: bool) -> Any:
    return jax.ShapeDtypeStruct(shape, rows.dtype)


def call_gradient(rows: Any, indices: Any, *others: Any, shape: Shape, request: Request, has_weights: bool) -> Any:
    result = jax.ShapeDtypeStruct(shape, rows.dtype)
    operands = {"indices": indices, "rows": rows, **named(others, has_weights)}
    return called(GATHER_BAGS, constant(request), result, function=GRADIENT_OF_BAGS, **operands)


def shape_of_weights(rows: Any, params: Any, indices: Any, *bags: Any, dtype: Any, request: Request) -> Any:
    return jax.ShapeDtypeStruct(indices.shape, dtype)


def call_weights(rows: Any, params: Any, indices: Any, *bags: Any, dtype: Any, request: Request) -> Any:
    """The library reads the dtype of weights. The values of the weights have no effect if the pool is a sum."""
    result = jax.ShapeDtypeStruct(indices.shape, dtype)
    operands = {**operands_of(params, indices, *bags), "rows": rows, "weights": jnp.ones(indices.shape, dtype)}
    return called(GATHER_BAGS, constant(request), result, function=GRADIENT_OF_WEIGHTS, **operands)


def labels_of(params: Any, indices: Any, others: Any, request: Request) -> tuple[Labels, list[Labels], Labels]:
    """Returns the labels of the dims of params, of indices and the other operands, and of the rows."""
    row = (None, *numbered("p", params.ndim)[1:])
    is_dense = request.bag_format == "dense"
    ids: Labels = (*numbered("i", indices.ndim - 1), None) if is_dense else (None,) * indices.ndim
    outer: Labels = ids[:-1] if is_dense else (None,)
    return row, [ids, *(ids if is_dense else (None,) for _ in others)], (*outer, *row[1:])


def rule(params: Any, indices: Any, *others: Any, request: Request, has_weights: bool) -> Rule:
    table, ids, rows = labels_of(params, indices, others, request)
    return [table, *ids], rows


def rule_of_gradient(rows: Any, indices: Any, *others: Any, shape: Shape, request: Request, has_weights: bool) -> Rule:
    table, ids, made = labels_of(jax.ShapeDtypeStruct(shape, rows.dtype), indices, others, request)
    return [common(each, table) for each in (made, *ids)], table


def rule_of_weights(rows: Any, params: Any, indices: Any, *bags: Any, dtype: Any, request: Request) -> Rule:
    table, ids, made = labels_of(params, indices, bags, request)
    return [common(each, ids[0]) for each in (made, table, *ids)], ids[0]


def one_by_one(bind: Any, arrays: tuple[Any, ...], dims: tuple[Any, ...]) -> tuple[Any, int]:
    """Runs the elements of a batch one after another."""
    places = [place for place, dim in enumerate(dims) if dim is not None]

    def run(batch: list[Any]) -> Any:
        operands = list(arrays)
        for place, each in zip(places, batch, strict=True):
            operands[place] = each
        return bind(*operands)

    return jax.lax.map(run, [moved(arrays[place], dims[place], 0) for place in places]), 0


def batch(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request, has_weights: bool) -> tuple[Any, int]:
    """A batch of tables is a table of wider rows, and a batch of dense bags has an additional first dim."""
    return batched(partial(pooled.bind, request=request, has_weights=has_weights), arrays, dims, request)


def batched(bind: Any, arrays: tuple[Any, ...], dims: tuple[Any, ...], request: Request) -> tuple[Any, int]:
    is_dense = request.bag_format == "dense"
    if all(dim is None for dim in dims[1:]):
        return bind(moved(arrays[0], dims[0], 1), *arrays[1:]), arrays[1].ndim - 1 if is_dense else 1
    if is_dense and dims[0] is None:
        return bind(arrays[0], *in_front(arrays[1:], dims[1:])), 0
    return one_by_one(bind, arrays, dims)


def batch_positions(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request) -> tuple[Any, int]:
    found, dim = batched(partial(positions.bind, request=request), arrays, dims, request)
    indices = arrays[1]
    return within(found, indices.size if dims[1] is None else indices.size // indices.shape[dims[1]]), dim


def batch_gradient(
    arrays: tuple[Any, ...], dims: tuple[Any, ...], *, shape: Shape, request: Request, has_weights: bool
) -> tuple[Any, int]:
    bind = partial(gradient.bind, request=request, has_weights=has_weights)
    if any(dim is not None for dim in dims[1:]):
        return one_by_one(partial(bind, shape=shape), arrays, dims)
    place = arrays[1].ndim - 1 if request.bag_format == "dense" else 1
    rows = moved(arrays[0], dims[0], place)
    return bind(rows, *arrays[1:], shape=inserted(shape, 1, rows.shape[place])), 1


def batch_weights(arrays: tuple[Any, ...], dims: tuple[Any, ...], **attributes: Any) -> tuple[Any, int]:
    return one_by_one(partial(of_weights.bind, **attributes), arrays, dims)


def operands_of(params: Any, indices: Any, *bags: Any) -> dict[str, Any]:
    return {"table": params, "indices": indices, **named(bags, False)}


pooled = defined("gather_bags", shape, call, batch, rule)
gradient = defined("gather_bags_gradient", shape_of_gradient, call_gradient, batch_gradient, rule_of_gradient)
of_weights = defined("gather_bags_weight_gradient", shape_of_weights, call_weights, batch_weights, rule_of_weights)
positions = defined_positions(GATHER_BAGS, operands_of, partial(shape, has_weights=False), batch_positions)

# ------------------------------------------------------------------------------------------------------ derivatives


def jvp(primals: Any, tangents: Any, *, request: Request, has_weights: bool) -> Any:
    params, indices, *others = primals
    result = pooled.bind(*primals, request=request, has_weights=has_weights)
    changes = []
    if type(tangents[0]) is not ad.Zero:
        if request.pool in ("max", "min"):
            changes.append(picked(tangents[0], params, indices, others, request))
        else:
            changes.append(pooled.bind(tangents[0], indices, *others, request=linear(request), has_weights=has_weights))
    if has_weights and type(tangents[-1]) is not ad.Zero:
        *bags, weights = others
        change = change_of_factors(params, indices, bags, weights, tangents[-1], request)
        changes.append(pooled.bind(params, indices, *bags, change, request=summing(request), has_weights=True))
    return result, sum(changes[1:], changes[0])


def jvp_of_gradient(primals: Any, tangents: Any, *, shape: Shape, request: Request, has_weights: bool) -> Any:
    rows, indices, *others = primals
    attributes = {"shape": shape, "has_weights": has_weights}
    result = gradient.bind(*primals, request=request, **attributes)
    changes = []
    if type(tangents[0]) is not ad.Zero:
        changes.append(gradient.bind(tangents[0], indices, *others, request=request, **attributes))
    if has_weights and type(tangents[-1]) is not ad.Zero:
        *bags, weights = others
        params = jax.ShapeDtypeStruct(shape, rows.dtype)
        change = change_of_factors(params, indices, bags, weights, tangents[-1], request)
        changes.append(gradient.bind(rows, indices, *bags, change, request=summing(request), **attributes))
    return result, sum(changes[1:], changes[0])


def jvp_of_weights(primals: Any, tangents: Any, *, dtype: Any, request: Request) -> Any:
    rows, params, indices, *bags = primals
    bind = partial(of_weights.bind, dtype=dtype)
    result = bind(*primals, request=request)
    changes = []
    if type(tangents[0]) is not ad.Zero:
        changes.append(bind(tangents[0], params, indices, *bags, request=request))
    if type(tangents[1]) is not ad.Zero:
        changes.append(bind(rows, tangents[1], indices, *bags, request=linear(request)))
    return result, sum(changes[1:], changes[0])


def transpose(rows: Any, params: Any, indices: Any, *others: Any, request: Request, has_weights: bool) -> Any:
    results: list[Any] = [None] * (2 + len(others))
    if ad.is_undefined_primal(params):
        shape = params.aval.shape
        results[0] = gradient.bind(rows, indices, *others, shape=shape, request=request, has_weights=has_weights)
    else:
        *bags, weights = others
        results[-1] = of_weights.bind(rows, params, indices, *bags, dtype=weights.aval.dtype, request=request)
    return results


def transpose_gradient(
    total: Any, rows: Any, indices: Any, *others: Any, shape: Shape, request: Request, has_weights: bool
) -> Any:
    results: list[Any] = [None] * (2 + len(others))
    if ad.is_undefined_primal(rows):
        results[0] = pooled.bind(total, indices, *others, request=linear(request), has_weights=has_weights)
    else:
        *bags, weights = others
        results[-1] = of_weights.bind(rows, total, indices, *bags, dtype=weights.aval.dtype, request=linear(request))
    return results


def transpose_weights(
    weights: Any, rows: Any, params: Any, indices: Any, *bags: Any, dtype: Any, request: Request
) -> Any:
    results: list[Any] = [None] * (3 + len(bags))
    if ad.is_undefined_primal(rows):
        results[0] = pooled.bind(params, indices, *bags, weights, request=request, has_weights=True)
    else:
        shape = params.aval.shape
        results[1] = gradient.bind(rows, indices, *bags, weights, shape=shape, request=request, has_weights=True)
    return results


for primitive, tangent_rule, transposition in (
    (pooled, jvp, transpose),
    (gradient, jvp_of_gradient, transpose_gradient),
    (of_weights, jvp_of_weights, transpose_weights),
):
    ad.primitive_jvps[primitive] = tangent_rule
    transposed_by(primitive, transposition)


def summing(request: Request) -> Request:
    """Returns the request of a sum of the rows times their factors. Empty bags are zero."""
    request = request._replace(pool="sum", empty="zero")
    return request if request.bounds == "fill" else request._replace(fill_value=None)


def change_of_factors(params: Any, indices: Any, bags: Any, weights: Any, tangent: Any, request: Request) -> Any:
    """Returns the change of the factors of ids, if the change of their weights is `tangent`.

    The factor of a sum is the weight itself. Other factors are in float32 if params are in half precision.
    """
    if request.pool == "sum":
        return tangent
    dtype = jnp.promote_types(params.dtype, jnp.float32)
    find = partial(factors_of, params.shape[0], indices, bags, request=request)
    return jax.jvp(find, (weights.astype(dtype),), (tangent.astype(dtype),))[1]


def factors_of(count: Any, indices: Any, bags: Any, weights: Any, *, request: Request) -> Any:
    """Returns weights divided by the divisors of their bags, those of a mean or of a sum divided by a root.

    The sum of the weights of a bag is its sum from a table of ones, so that the same weights are counted. The gradient
    of the weights of such a sum has the scale of the bag at each of its ids that is counted.
    """
    is_mean, ones = request.pool == "mean", jnp.ones((count,), weights.dtype)
    request = summing(request)
    if request.bounds == "fill":
        request = request._replace(fill_value=fill_of(1, ones))
    powers = weights if is_mean else weights * weights
    divisors = pooled.bind(ones, indices, *bags, powers, request=request, has_weights=True)
    is_zero = divisors == 0
    roots = jnp.where(is_zero, 1, divisors)
    scale = jnp.where(is_zero, 0, 1 / (roots if is_mean else jnp.sqrt(roots)))
    return weights * of_weights.bind(scale, ones, indices, *bags, dtype=weights.dtype, request=request)


def picked(tangent: Any, params: Any, indices: Any, bags: Any, request: Request) -> Any:
    """Returns the elements of a tangent of params at the places of the maximum or minimum of each bag."""
    found = positions.bind(params, indices, *bags, request=request)
    bounds: Any = request.bounds if request.bounds in ("clamp", "modulo") else "fill"
    reading = Request(0, negative=request.negative, bounds=bounds, extents="broadcast")
    chosen = gather.operator(indices.reshape(-1), found.reshape(-1, *params.shape[1:]), request=Request(bounds="fill"))
    elements = gather_elements.operator(tangent, chosen, request=reading)
    return jnp.where(found < 0, 0, elements.reshape(found.shape))
