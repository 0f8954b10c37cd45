"""TensorFlow's gathers without TensorFlow: its signatures, its rules, any arrays.

Arrays on the host follow TensorFlow's CPU kernels, arrays on a device its GPU kernels, which give zeros for an index
out of bounds, so that no call has an error left to say; they work on the stream that :func:`libgather.gather` takes.
Strings come back as bytes, and lists of Python's numbers are int32 and float32, as there. TensorFlow's
own tensors go in and come out; nothing here imports it.
"""

from __future__ import annotations

from .. import _constants as c
from .. import errors
from .. import types as t
from .._operation import GATHER, GATHER_ND
from .._operations import run
from .._request import Request
from . import raw
from ._arguments import attribute, axis_number, constant, policy, prepared, profile_of, rank_of

__all__ = ["batch_gather", "gather", "gather_nd", "raw"]


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
        axis: an integer, NumPy's int32 or int64, or a scalar tensor; None is the same as `batch_dims`. As in
            TensorFlow, a constant 0 drops `batch_dims`
        batch_dims: leading dims that both share
        validate_indices, name: ignored

    Raises:
        IndexError: an index out of bounds, negative ones included (host arrays)
        RankError, ShapeError, DTypeError: where TensorFlow refuses its arguments

    >>> import libgather.tf
    >>> libgather.tf.gather([[1, 2], [3, 4]], [1, 0], axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    number = axis_number(constant(batch_dims if axis is None else axis))
    batch_dims = attribute("batch_dims", batch_dims) if number else 0
    request = Request(number, batch_dims, profile=profile_of(params))
    return run(GATHER, *prepared(params, indices), None, request)


def gather_nd(
    params: t.Any, indices: t.Any, batch_dims: t.Any = 0, name: t.Any = None, bad_indices_policy: str = ""
) -> t.Any:
    """``tf.gather_nd``: slices of `params` by the tuples along the last axis of `indices`.

    The result's shape is ``indices.shape[:-1] + params.shape[batch_dims + indices.shape[-1]:]``.

    Args:
        batch_dims: leading dims that both share
        bad_indices_policy: ``""`` or ``"DEFAULT"``, ``"ERROR"`` (not for device arrays), ``"IGNORE"``: zeros, empty
            strings
        name: ignored

    Raises:
        IndexError: a tuple out of bounds, where the policy is not to ignore it
        ShapeError, RankError, DTypeError, Error: where TensorFlow refuses its arguments

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
    return run(GATHER_ND, *prepared(params, indices), None, request)


def batch_gather(params: t.Any, indices: t.Any, name: t.Any = None) -> t.Any:
    """``tf.compat.v1.batch_gather``: all dims of `indices` but the last are batch dims.

    Raises:
        IndexError: an index out of bounds; TensorFlow would read a neighbour's row, which is refused here

    >>> import libgather.tf
    >>> libgather.tf.batch_gather([[1, 2, 3], [4, 5, 6]], [[2], [0]]).tolist()
    [[3], [4]]
    """
    batch_dims = rank_of(indices) - 1
    if batch_dims < 0:
        raise errors.RankError("indices: rank 0, 1 is needed", status=c.E_RANK, operand="indices", limit=1)
    request = Request(batch_dims, batch_dims, profile=profile_of(params))
    return run(GATHER, *prepared(params, indices), None, request)
