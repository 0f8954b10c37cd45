"""The primitives of the scatters, which have derivatives with respect to the target and the updates."""

from __future__ import annotations

from math import prod

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ... import errors
from ..._base.constants import E_SHAPE
from ..._requests.memory_runs import shape_for
from ..._requests.operation_table import SCATTER, SCATTER_ELEMENTS, SCATTER_ND
from ..._requests.spec import Spec
from . import gather, gather_elements, gather_nd
from .primitive import TARGET, attribute, moved, spec_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..._base.request_fields import Request
    from ..._requests.operation_table import Operation


def registered(
    operation: Operation, read: Callable[..., jax.Array], batched: Callable[[Request], Request]
) -> Callable[..., jax.Array]:
    """Registers a scatter as a primitive. Returns a compiled function of target, indices, updates and the request.

    Args:
        read: The gather whose rows are the updates.
        batched: Returns the request of operands that have an additional first dim.
    """
    primitive = Primitive(f"libgather_{operation.name}")

    def shape(target: Any, indices: Any, updates: Any, *, request: Request) -> jax.core.ShapedArray:
        wanted = shape_for(operation, spec_of(target, "target"), spec_of(indices, "indices"), request)
        if updates.shape != wanted:
            message = f"updates: shape is {updates.shape}, needed is {wanted}"
            raise errors.ShapeError(message, status=E_SHAPE, operand="updates")
        if updates.dtype != target.dtype:
            raise errors.dtype_error("updates", f"dtype is {updates.dtype}, needed is {target.dtype}")
        return jax.core.ShapedArray(target.shape, target.dtype)

    def call(target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        shape(target, indices, updates, request=request)
        # XLA copies the target, unless nothing else needs it.
        run = jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct(target.shape, target.dtype), input_output_aliases={0: 0})
        return run(target, indices, updates, request=attribute(operation, request, Spec(target.dtype, ())._dtype))

    def jvp(primals: Any, tangents: Any, *, request: Request) -> Any:
        if request.reduction not in ("none", "add"):
            message = f"reduction {request.reduction!r} has no derivative in JAX: only 'none' and 'add' have one"
            raise errors.unsupported("options", message)
        target, indices, updates = primals
        moves, _, changes = tangents
        moves, changes = ad.instantiate_zeros(moves), ad.instantiate_zeros(changes)
        return (
            primitive.bind(target, indices, updates, request=request),
            primitive.bind(moves, indices, changes, request=request),
        )

    def transpose(gradient: Any, target: Any, indices: Any, updates: Any, *, request: Request) -> Any:
        if type(gradient) is ad.Zero:
            return zero_of(target), None, zero_of(updates)
        of_target = of_updates = None
        if ad.is_undefined_primal(target):
            of_target = gradient
            if request.reduction == "none":
                source, index = spec_of(gradient, "target"), spec_of(indices, "indices")
                rows = jnp.zeros(shape_for(operation, source, index, request), gradient.dtype)
                of_target = primitive.bind(gradient, indices, rows, request=request)
        if ad.is_undefined_primal(updates):
            of_updates = rows_of(gradient, indices, request)
            if request.reduction == "none":
                of_updates = jnp.where(last(gradient.shape, indices, of_updates.shape, request), of_updates, 0)
        return of_target, None, of_updates

    def rows_of(array: Any, indices: Any, request: Request) -> Any:
        """Returns the rows that a scatter has written. Zeros take the place of those that it has skipped."""
        request = request._replace(reduction=None, accumulate=None, extents=None if operation.has_rows else "broadcast")
        if request.bounds == "skip":
            request = request._replace(bounds="fill", fill_value="zero")
        return read(array, indices, request=request)

    def last(shape: tuple[int, ...], indices: Any, rows: tuple[int, ...], request: Request) -> Any:
        """Returns which updates no later one replaces."""
        numbers: jax.Array = jnp.arange(prod(rows), dtype=jnp.int32).reshape(rows)
        kept = primitive.bind(jnp.zeros(shape, jnp.int32), indices, numbers, request=request)
        return rows_of(kept, indices, request) == numbers

    def batch(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request) -> tuple[Any, int]:
        size = next(array.shape[dim] for array, dim in zip(arrays, dims, strict=True) if dim is not None)
        operands = (
            jnp.broadcast_to(array, (size, *array.shape)) if dim is None else moved(array, dim, 0)
            for array, dim in zip(arrays, dims, strict=True)
        )
        return primitive.bind(*operands, request=batched(request)), 0

    primitive.def_abstract_eval(shape)
    primitive.def_impl(call)
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=False), platform="cpu")
    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batch
    compiled: Callable[..., jax.Array] = jax.jit(primitive.bind, static_argnames="request")
    return compiled


def zero_of(operand: Any) -> Any:
    return ad.Zero(operand.aval) if ad.is_undefined_primal(operand) else None


def batched_rows(request: Request) -> Request:
    axis = request.axis
    return request._replace(axis=None if axis is None else axis + 1, batch_dims=request.batch_dims + 1)


def batched_elements(request: Request) -> Request:
    return request._replace(axis=(request.axis or 0) + 1)


scatter = registered(SCATTER, gather.operator, batched_rows)
scatter_nd = registered(SCATTER_ND, gather_nd.operator, batched_rows)
scatter_elements = registered(SCATTER_ELEMENTS, gather_elements.operator, batched_elements)
