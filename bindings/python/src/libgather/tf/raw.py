"""TensorFlow's raw operations."""

from __future__ import annotations

from .._operation import GATHER_ND
from .._operations import run
from .._request import Request
from ._arguments import policy, prepared, profile_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def GatherNd(params: Any, indices: Any, bad_indices_policy: str = "") -> Any:
    """The op GatherNd, as ``tf.raw_ops.GatherNd`` and TensorFlow's Java class have it.

    The result's shape is ``indices.shape[:-1] + params.shape[indices.shape[-1]:]``.

    Raises:
        IndexError: a tuple out of bounds, where the policy is not to ignore it
        ShapeError, RankError, DTypeError, Error: where TensorFlow refuses its arguments

    >>> import libgather.tf
    >>> libgather.tf.raw.GatherNd([[1, 2], [3, 4]], [[1, 0]]).tolist()
    [3]
    """
    profile = profile_of(params)
    request = Request(bounds=policy(bad_indices_policy, profile), profile=profile)
    return run(GATHER_ND, *prepared(params, indices), None, request)
