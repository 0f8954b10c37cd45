"""TensorFlow's raw operations."""

from __future__ import annotations

from .. import types as t
from .._base.request_fields import Request
from .._requests.operation_table import GATHER_ND
from ._arguments import policy, profile_of
from ._differentiated import unconverted
from ._gathers import gathered


@unconverted
def GatherNd(params: t.Any, indices: t.Any, bad_indices_policy: str = "") -> t.Any:
    """The operation GatherNd, as in ``tf.raw_ops.GatherNd`` and TensorFlow's Java class.

    The result's shape is ``indices.shape[:-1] + params.shape[indices.shape[-1]:]``.

    Raises:
        IndexError: A tuple is out of bounds, and the policy does not ignore it.
        ShapeError, RankError, DTypeError, Error: TensorFlow would reject the arguments.

    >>> import libgather.tf
    >>> libgather.tf.raw.GatherNd([[1, 2], [3, 4]], [[1, 0]]).tolist()
    [3]
    """
    profile = profile_of(params)
    return gathered(GATHER_ND, params, indices, Request(bounds=policy(bad_indices_policy, profile), profile=profile))
