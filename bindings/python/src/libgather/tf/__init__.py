"""TensorFlow's gathers, scatters and lookups without it: they have its signatures and rules, and accept any arrays.

Arrays on the host follow TensorFlow's CPU kernels, and arrays on a device its GPU kernels. The GPU kernels return zeros
for an index out of bounds, and scatters ignore it, so such a call raises no error later. Calls on a device use the
stream that :func:`libgather.gather` uses. As in TensorFlow, strings become bytes, and lists of Python numbers become
int32 and float32. TensorFlow's own tensors are accepted and returned. This module does not import TensorFlow.

All have gradients, and a ``tf.function`` may call them. It calls them by ``tf.numpy_function``, so
neither a saved model nor XLA can contain them. An error then is one of ``tf.errors`` with the message of the library.
"""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.request_fields import Request
from .._requests.operation_table import GATHER, GATHER_ND
from . import raw
from ._arguments import attribute, axis_number, constant, is_traced, policy, profile_of, rank_of
from ._differentiated import unconverted
from ._embeddings import embedding_lookup_sparse, safe_embedding_lookup_sparse
from ._gathers import gathered, gathered_along
from ._scatters import (
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    tensor_scatter_nd_update,
)

__all__ = [
    "batch_gather",
    "embedding_lookup_sparse",
    "gather",
    "gather_nd",
    "raw",
    "safe_embedding_lookup_sparse",
    "scatter_nd",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_update",
]


@unconverted
def gather(
    params: t.Any,
    indices: t.Any,
    validate_indices: t.Any = None,
    axis: t.Any = None,
    batch_dims: t.Any = 0,
    name: t.Any = None,
) -> t.Any:
    """``tf.gather``: slices of `params` along `axis`.

    The result's shape is ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis+1:]``.

    Args:
        axis: An integer, NumPy's int32 or int64, or a scalar tensor, which a ``tf.function`` may compute. None means
            the value of `batch_dims`. As in TensorFlow, a constant 0 ignores `batch_dims`.
        batch_dims: The number of leading dims that both share.
        validate_indices, name: These are ignored.

    Raises:
        IndexError: An index of a host array is negative or out of bounds.
        RankError, ShapeError, DTypeError: TensorFlow would reject the arguments.

    >>> import libgather.tf
    >>> libgather.tf.gather([[1, 2], [3, 4]], [1, 0], axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    axis = constant(batch_dims if axis is None else axis)
    if is_traced(axis):
        return gathered_along(axis, attribute("batch_dims", batch_dims), profile_of(params), params, indices)
    number = axis_number(axis)
    batch_dims = attribute("batch_dims", batch_dims) if number else 0
    return gathered(GATHER, params, indices, Request(number, batch_dims, profile=profile_of(params)))


@unconverted
def gather_nd(
    params: t.Any, indices: t.Any, batch_dims: t.Any = 0, name: t.Any = None, bad_indices_policy: str = ""
) -> t.Any:
    """``tf.gather_nd``: gathers slices of `params` by tuples. The last axis of `indices` contains the components.

    The result's shape is ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``.

    Args:
        batch_dims: The number of leading dims that both share.
        bad_indices_policy: ``""``, ``"DEFAULT"``, ``"ERROR"`` (not for device arrays), or ``"IGNORE"``, which gives
            zeros or empty strings.
        name: This is ignored.

    Raises:
        IndexError: A tuple is out of bounds, and the policy does not ignore it.
        ShapeError, RankError, DTypeError, Error: TensorFlow would reject the arguments.

    >>> import libgather.tf
    >>> libgather.tf.gather_nd([[1, 2], [3, 4]], [[1, 1], [0, 9]], bad_indices_policy="IGNORE").tolist()
    [4, 0]
    """
    batch = constant(batch_dims)
    if batch is None:
        raise errors.dtype_error("options", "batch_dims is None, not an integer")
    try:
        number = int(batch)
    except (TypeError, ValueError) as error:
        raise errors.dtype_error("options", f"batch_dims: {error}") from None
    profile = profile_of(params)
    request = Request(batch_dims=number, bounds=policy(bad_indices_policy, profile), profile=profile)
    return gathered(GATHER_ND, params, indices, request)


@unconverted
def batch_gather(params: t.Any, indices: t.Any, name: t.Any = None) -> t.Any:
    """``tf.compat.v1.batch_gather``: all dims of `indices` except the last one are batch dims.

    Raises:
        IndexError: An index is out of bounds. TensorFlow would read the row of another batch.

    >>> import libgather.tf
    >>> libgather.tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]]).tolist()
    [[3], [4]]
    """
    batch_dims = rank_of(indices) - 1
    if batch_dims < 0:
        raise errors.RankError("indices: rank 0, 1 is needed", status=c.E_RANK, operand="indices", limit=1)
    return gathered(GATHER, params, indices, Request(batch_dims, batch_dims, profile=profile_of(params)))
