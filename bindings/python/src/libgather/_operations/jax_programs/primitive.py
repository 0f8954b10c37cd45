"""The common part of the primitives: the call of the library, derivatives, and the sum of a gradient."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ... import _objects, errors
from ..._arrays.jax_ import is_dtype
from ..._requests.fill_values import value_fill
from ..._requests.memory_runs import shape_for
from ..._requests.options_struct import named_fill, options_of
from ..._requests.spec import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..._base.request_fields import Request
    from ..._requests.operation_table import Operation

TARGET = "libgather"
jax.ffi.register_ffi_target(TARGET, _objects.xla_handler(), platform="cpu")


def registered(
    operation: Operation, add: Callable[..., jax.Array], batched: Callable[..., tuple[jax.Array, int]]
) -> Callable[..., jax.Array]:
    """Registers an operation as a primitive. Returns a compiled function of params, indices and the request.

    Args:
        add: Returns the gradient of params, from their shape, the indices, the gradient of a result and the request.
        batched: Returns the result and its batch dim if params, indices or both have a batch dim.
    """
    primitive = Primitive(f"libgather_{operation.name}")

    def shape(params: Any, indices: Any, *, request: Request) -> jax.core.ShapedArray:
        source, index = spec_of(params, "params"), spec_of(indices, "indices")
        return jax.core.ShapedArray(shape_for(operation, source, index, request), params.dtype)

    def call(params: Any, indices: Any, *, request: Request) -> Any:
        result = shape(params, indices, request=request)
        run = jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct(result.shape, result.dtype))
        return run(params, indices, request=attribute(operation, request, Spec(params.dtype, ())._dtype))

    def jvp(tangent: Any, params: Any, indices: Any, *, request: Request) -> Any:
        """A gather is linear in params. The fill does not depend on them."""
        fill = None if request.fill_value is None else "zero"
        return primitive.bind(tangent, indices, request=request._replace(fill_value=fill))

    def transpose(gradient: Any, params: Any, indices: Any, *, request: Request) -> tuple[Any, None]:
        if type(gradient) is ad.Zero:
            return ad.Zero(params.aval), None
        return add(params.aval.shape, indices, gradient, request), None

    def batch(arrays: tuple[Any, ...], dims: tuple[Any, ...], *, request: Request) -> tuple[Any, int]:
        return batched(primitive.bind, *arrays, *dims, request)

    primitive.def_abstract_eval(shape)
    primitive.def_impl(call)
    mlir.register_lowering(primitive, mlir.lower_fun(call, multiple_results=False), platform="cpu")
    ad.defjvp(primitive, jvp, None)
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batch
    compiled: Callable[..., jax.Array] = jax.jit(primitive.bind, static_argnames="request")
    return compiled


def spec_of(value: Any, operand: str) -> Spec:
    """Returns the spec of an array or of a tracer."""
    if not is_dtype(value.dtype):
        raise errors.dtype_error(operand, f"elements of dtype {value.dtype} are no dtype of this library")
    return Spec(value.dtype, value.shape)


def fill_of(fill_value: Any, params: Any) -> str | bytes | None:
    """Returns the name of a fill, or the bytes of one element. Programs are cached, and 0.0 and -0.0 are equal."""
    if fill_value is None or isinstance(fill_value, (str, bytes)):
        return fill_value
    return value_fill(fill_value, spec_of(params, "params")._dtype)[1]


@cache
def attribute(operation: Operation, request: Request, dtype: int) -> np.ndarray:
    """Returns the attribute for the handler: the number of the operation, and the bytes of a gth_options."""
    fill = named_fill(request.fill_value) or value_fill(request.fill_value, dtype)
    options = options_of(request, fill)
    return np.frombuffer(operation.number.to_bytes(8, "little") + options, np.int64)


def resolved(index: jax.Array, extent: int, request: Request) -> jax.Array:
    """Returns validated indices as numbers in [0, extent). An index out of bounds becomes `extent`."""
    is_signed = jnp.issubdtype(index.dtype, jnp.signedinteger)
    if index.dtype.itemsize < 4:
        index, is_signed = index.astype(jnp.int32), True
    if is_signed and request.negative == "wrap":
        index = jnp.where(index < 0, index + extent, index)
    if request.bounds == "modulo":
        index = index % extent
    if request.bounds == "clamp":
        index = jnp.clip(index, 0, extent - 1)
    index = jnp.where((index >= 0) & (index < extent), index, extent)
    return index if is_signed else index.astype(jnp.int32 if index.dtype.itemsize == 4 else jnp.int64)


def places(shape: tuple[int, ...], rank: int) -> list[jax.Array]:
    """Returns the numbers of each dim of a shape, as indices whose leading dims have that shape."""
    return [
        jnp.arange(extent).reshape((1,) * dim + (extent,) + (1,) * (rank - dim - 1)) for dim, extent in enumerate(shape)
    ]


def added(shape: tuple[int, ...], where: list[jax.Array], rows: jax.Array) -> jax.Array:
    """Returns an array of zeros to which each row is added at its indices. Rows out of bounds are ignored."""
    sums: jax.Array = jnp.zeros(shape, rows.dtype).at[tuple(where)].add(rows, mode="drop")
    return sums


def moved(array: jax.Array, dim: int, to: int) -> jax.Array:
    result: jax.Array = jnp.moveaxis(array, dim, to)
    return result
