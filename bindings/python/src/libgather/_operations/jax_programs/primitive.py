"""The common part of the primitives: the call of the library, and the shapes of operands."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ... import _objects, errors
from ..._arrays.jax_ import is_cpus, is_dtype
from ..._base.constants import OPEN
from ..._requests.fill_values import value_fill
from ..._requests.memory_runs import shape_for
from ..._requests.options_struct import named_fill, options_of
from ..._requests.spec import Spec
from .sharding import common, lowered, spec_of_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..._base.request_fields import Request
    from ..._requests.operation_table import Operation
    from .sharding import Labels, Rule

    #: A shape, whose extents may be symbolic.
    Shape = tuple[Any, ...]

TARGET = "libgather"
type_of = jax.typeof if hasattr(jax, "typeof") else jax.core.get_aval  # JAX 0.5 has only the second
jax.ffi.register_ffi_target(TARGET, _objects.xla_handler(), platform="cpu")

#: The functions and the operands of a call, as in native/xla.c.
RUN, GRADIENT_OF_BAGS, GRADIENT_OF_WEIGHTS, POSITIONS = range(4)
ROLES = ("table", "indices", "rows", "bags", "weights")


def called(
    operation: Operation, request: Request, result: Any, *, function: int = RUN, in_place: bool = False, **operands: Any
) -> Any:
    """Calls the library in a program, with operands by role. Operands that are None are left out.

    Args:
        result: Anything with the shape and dtype of the result.
        in_place: True if the result has the memory of the table. XLA copies the table if something else needs it.
    """
    given = [role for role in ROLES if operands.get(role) is not None]
    arrays = varied([operands[role] for role in given])
    aval = aval_of(result, [type_of(each) for each in arrays])
    run = jax.ffi.ffi_call(TARGET, aval, input_output_aliases={0: 0} if in_place else None)
    filled = operands.get("table", result)
    asked = attribute(operation, function, tuple(given), request, Spec(filled.dtype, ())._dtype)
    return run(*arrays, request=asked)


@cache
def attribute(operation: Operation, function: int, roles: tuple[str, ...], request: Request, dtype: int) -> np.ndarray:
    """Returns the attribute for the handler: the operation, the function, the operands, and a gth_options.

    Args:
        dtype: The number of the dtype of a fill value.
    """
    fill = named_fill(request.fill_value) or value_fill(request.fill_value, dtype)
    bits = sum(1 << ROLES.index(role) for role in roles)
    numbers = operation.number.to_bytes(4, "little") + function.to_bytes(4, "little") + bits.to_bytes(8, "little")
    return np.frombuffer(numbers + options_of(request, fill), np.int64)


def varying(aval: Any) -> frozenset[Any]:
    """Returns the axes of a mesh over which the values of a part of `jax.shard_map` differ. JAX 0.5 has none."""
    axes: frozenset[Any] = aval.mat.varying if hasattr(aval, "mat") else getattr(aval, "vma", frozenset())
    return axes


def varied(operands: Sequence[Any]) -> list[Any]:
    """Returns operands that all vary over the same axes, as JAX's own functions make them.

    The derivative of this conversion adds the gradients of all devices.
    """
    axes = [varying(type_of(each)) for each in operands]
    needed: frozenset[Any] = frozenset().union(*axes)
    return [
        vary(each, tuple(sorted(needed - own, key=str))) if needed - own else each
        for each, own in zip(operands, axes, strict=True)
    ]


def vary(operand: Any, axes: tuple[Any, ...]) -> Any:
    return jax.lax.pcast(operand, axes, to="varying") if hasattr(jax.lax, "pcast") else jax.lax.pvary(operand, axes)


def aval_of(result: Any, operands: Sequence[Any], rule: Rule | None = None) -> jax.core.ShapedArray:
    """Returns the abstract value of a result. It varies over the same axes of a mesh as the operands.

    If types state how operands are divided, the result is divided by the rule.
    """
    aval = next((each for each in operands if not each.sharding.mesh.empty), operands[0])
    spec = spec_of_result(rule, operands) if rule else jax.sharding.PartitionSpec(*[None] * len(result.shape))
    sharding = jax.sharding.NamedSharding(aval.sharding.mesh, spec)
    made: jax.core.ShapedArray = aval.update(shape=result.shape, dtype=result.dtype, weak_type=False, sharding=sharding)
    return made


class Varying(Primitive):
    """A primitive whose operands vary over the same axes of a mesh."""

    def bind(self, *operands: Any, **attributes: Any) -> Any:
        return super().bind(*varied(operands), **attributes)


def defined(
    name: str,
    shape: Callable[..., Any],
    call: Callable[..., Any],
    batch: Callable[..., tuple[Any, int]],
    rule: Callable[..., Rule],
) -> Primitive:
    """Returns a new primitive.

    Args:
        shape: Returns anything with the shape and dtype of the result, from the operands and the attributes.
        call: Returns the result, by operations of JAX.
        batch: The rule for vmap.
        rule: Returns the labels of dims that may be divided among devices, from the operands and the attributes.
    """
    primitive = Varying(f"libgather_{name}")

    def abstract(*operands: Any, **attributes: Any) -> jax.core.ShapedArray:
        return aval_of(shape(*operands, **attributes), operands, rule(*operands, **attributes))

    def run(*operands: Any, **attributes: Any) -> Any:
        for each in operands:
            if isinstance(each, jax.Array) and not is_cpus(each.sharding):
                raise not_cpu(name, {device.platform for device in each.sharding.device_set})
        return call(*operands, **attributes)

    def refuse(context: mlir.LoweringRuleContext, *_: Any, **attributes: Any) -> Any:
        raise not_cpu(name, context.module_context.platforms)

    primitive.def_abstract_eval(abstract)
    primitive.def_impl(run)
    mlir.register_lowering(primitive, refuse)
    mlir.register_lowering(primitive, lowered(primitive, call, rule), platform="cpu")
    batching.primitive_batchers[primitive] = batch
    return primitive


def not_cpu(name: str, platforms: Iterable[str]) -> errors.UnsupportedError:
    """Returns the error of a primitive for arrays or a program of other platforms."""
    message = f"libgather.jax runs {name} on the CPU only, and the call is on {', '.join(sorted(platforms))}"
    return errors.unsupported("context", message)


def defined_positions(
    operation: Operation,
    operands_of: Callable[..., dict[str, Any]],
    written: Callable[..., Any],
    batch: Callable[..., tuple[Any, int]],
) -> Primitive:
    """Returns a new primitive that finds the positions of maxima or minima. They have no derivatives.

    Their dtype is that of integers in JAX. The library itself has positions of 64 bits.

    Args:
        operands_of: Returns the operands by role.
        written: Returns an array of the shape of the positions, from the operands and the request.
        batch: The rule for vmap.
    """

    def result(*operands: Any, request: Request) -> jax.ShapeDtypeStruct:
        dtype = jax.dtypes.canonicalize_dtype(np.int64)
        given = operands_of(*operands)
        role = "rows" if "rows" in given else "indices"
        if isinstance(given[role].size, int) and given[role].size - 1 > np.iinfo(dtype).max:
            raise errors.unsupported(
                operation.roles[ROLES.index(role)], f"positions beyond {dtype}: set jax_enable_x64"
            )
        return jax.ShapeDtypeStruct(written(*operands, request=request).shape, dtype)

    def call(*operands: Any, request: Request) -> Any:
        known = result(*operands, request=request)
        wide = jax.ShapeDtypeStruct(known.shape, np.dtype(np.int64))
        request = request._replace(bag_count=0)  # it is that of the positions
        found = called(operation, request, wide, function=POSITIONS, **operands_of(*operands))
        return jax.lax.convert_element_type(found, known.dtype)

    def rule(*operands: Any, request: Request) -> Rule:
        """Returns no labels, because a part of the operands has other positions."""
        whole: Labels = (None,) * written(*operands, request=request).ndim
        return [(None,) * operand.ndim for operand in operands], whole

    def jvp(operands: Any, tangents: Any, *, request: Request) -> Any:
        found = primitive.bind(*operands, request=request)
        return found, ad.Zero(type_of(found).to_tangent_aval())

    primitive = defined(f"{operation.name}_positions", result, call, batch, rule)
    ad.primitive_jvps[primitive] = jvp
    return primitive


def within(positions: Any, count: Any) -> Any:
    """Returns positions in one part of an operand instead of those in all parts, each of which has `count` elements."""
    return jnp.where(positions < 0, positions, positions % count)


def transposed_by(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Registers the rule of transposition for a cotangent that is not zero. Results are divided as the operands are."""

    def checked(cotangent: Any, *operands: Any, **attributes: Any) -> list[Any]:
        avals = [each.aval if ad.is_undefined_primal(each) else None for each in operands]
        if type(cotangent) is ad.Zero:
            return [None if aval is None else ad.Zero(aval) for aval in avals]
        results = rule(cotangent, *operands, **attributes)
        return [
            each
            if aval is None or each is None or type_of(each).sharding == aval.sharding
            else jax.sharding.reshard(each, aval.sharding)
            for each, aval in zip(results, avals, strict=True)
        ]

    ad.primitive_transposes[primitive] = checked


def registered(
    operation: Operation,
    shape_of: Callable[[Shape, Shape, Request], Shape],
    labels_of: Callable[[Shape, Shape, Request], tuple[Labels, Labels, Labels]],
    batched: Callable[..., tuple[jax.Array, int]],
    gradient_batched: Callable[..., tuple[jax.Array, int]],
) -> tuple[Primitive, Primitive]:
    """Registers a gather and its gradient as primitives. Each is linear, and each is the transpose of the other.

    Args:
        shape_of: Returns the shape of the result of a gather, from those of params and indices. They are valid.
        labels_of: Returns the labels of the dims of params, of indices and of the result.
        batched: Returns the result of a gather and its batch dim if params, indices or both have a batch dim.
        gradient_batched: The same for the gradient of params, if the gradient of the result, indices or both have one.
    """
    transposed = operation.of_kind("gradient")

    def shape(params: Any, indices: Any, *, request: Request) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(inferred(operation, shape_of, params, indices, request), params.dtype)

    def call(params: Any, indices: Any, *, request: Request) -> Any:
        result = shape(params, indices, request=request)
        return called(operation, request, result, table=params, indices=indices)

    def rule(params: Any, indices: Any, *, request: Request) -> Rule:
        *operands, result = labels_of(params.shape, indices.shape, request)
        return operands, result

    def batch(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request) -> tuple[Any, int]:
        return batched(gather.bind, *arrays, *dims, request)

    def shape_of_gradient(rows: Any, indices: Any, *, shape: Shape, request: Request) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, rows.dtype)

    def rule_of_gradient(rows: Any, indices: Any, *, shape: Shape, request: Request) -> Rule:
        params, *others = labels_of(shape, indices.shape, request)
        return [common(each, params) for each in reversed(others)], common(params, others[1])

    def call_gradient(rows: Any, indices: Any, *, shape: Shape, request: Request) -> Any:
        if rows.dtype.itemsize == 1:  # the library adds no float8
            return call_gradient(rows.astype(jnp.float32), indices, shape=shape, request=request).astype(rows.dtype)
        request = request._replace(fill_value=None, accumulate="float32")
        return called(transposed, request, jax.ShapeDtypeStruct(shape, rows.dtype), indices=indices, rows=rows)

    def batch_gradient(
        arrays: tuple[Any, ...], dims: tuple[Any, ...], *, shape: Shape, request: Request
    ) -> tuple[Any, int]:
        return gradient_batched(gradient.bind, *arrays, *dims, shape, request)

    gather = defined(operation.name, shape, call, batch, rule)
    gradient = defined(transposed.name, shape_of_gradient, call_gradient, batch_gradient, rule_of_gradient)

    def jvp(tangent: Any, params: Any, indices: Any, *, request: Request) -> Any:
        return gather.bind(tangent, indices, request=linear(request))

    def transpose(rows: Any, params: Any, indices: Any, *, request: Request) -> tuple[Any, None]:
        return gradient.bind(rows, indices, shape=params.aval.shape, request=request), None

    def jvp_of_gradient(tangent: Any, rows: Any, indices: Any, *, shape: Shape, request: Request) -> Any:
        return gradient.bind(tangent, indices, shape=shape, request=request)

    def transpose_gradient(total: Any, rows: Any, indices: Any, *, shape: Shape, request: Request) -> tuple[Any, None]:
        return gather.bind(total, indices, request=linear(request)), None

    ad.defjvp(gather, jvp, None)
    transposed_by(gather, transpose)
    ad.defjvp(gradient, jvp_of_gradient, None)
    transposed_by(gradient, transpose_gradient)
    return gather, gradient


def linear(request: Request) -> Request:
    """Returns the request for a tangent. A gather is linear in params, and the fill does not depend on them."""
    return request if request.fill_value is None else request._replace(fill_value="zero")


def inferred(
    operation: Operation, shape_of: Callable[[Shape, Shape, Request], Shape], table: Any, indices: Any, request: Request
) -> Shape:
    """Returns the shape of the rows. Raises the errors of a call."""
    known = shape_for(operation, spec_of(table, operation.roles[0]), spec_of(indices, "indices"), request)
    return shape_of(table.shape, indices.shape, request) if OPEN in known else known


def spec_of(value: Any, operand: str) -> Spec:
    """Returns the spec of an array or of a tracer. Symbolic extents are open."""
    if not is_dtype(value.dtype):
        raise errors.dtype_error(operand, f"elements of dtype {value.dtype} are no dtype of this library")
    return Spec(value.dtype, tuple(extent if isinstance(extent, int) else OPEN for extent in value.shape))


def fill_of(fill_value: Any, params: Any) -> str | bytes | None:
    """Returns the name of a fill, or the bytes of one element. Programs are cached, and 0.0 and -0.0 are equal."""
    if fill_value is None or isinstance(fill_value, (str, bytes)):
        return fill_value
    return value_fill(fill_value, spec_of(params, "params")._dtype)[1]


def moved(array: jax.Array, dim: int | None, to: int) -> jax.Array:
    """Returns an array with its batch dim at a place. A batch dim of size 1 is new if there is none."""
    result: jax.Array = jnp.expand_dims(array, to) if dim is None else jnp.moveaxis(array, dim, to)
    return result


def in_front(arrays: tuple[Any, ...], dims: tuple[int | None, ...]) -> tuple[Any, ...]:
    """Returns the arrays with the batch dim as the first dim. An array without one is repeated."""
    size = next(array.shape[dim] for array, dim in zip(arrays, dims, strict=True) if dim is not None)
    return tuple(
        jnp.broadcast_to(array, (size, *array.shape)) if dim is None else moved(array, dim, 0)
        for array, dim in zip(arrays, dims, strict=True)
    )


def inserted(shape: Shape, place: int, extent: Any) -> Shape:
    return (*shape[:place], extent, *shape[place:])
