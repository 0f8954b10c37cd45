"""The value of an id that is in no part of a table."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._base.optional_packages import module
from .._base.request_fields import Request
from .gathers import gather
from .partitions import bordered, partition_ids


def missing_of(dtype: t.Any, request: Request) -> t.Any:
    """Returns the element that an id out of bounds gives.

    Returns None if such an id is an error or gives another row.
    """
    try:
        if partition_ids([1], bordered(1, (0, 1)), False, request).place[0] >= 0:
            return None
    except errors.IndexError:
        return None
    if dtype.hasobject:
        raise errors.unsupported("params", f"elements of dtype {dtype} are not filled")
    switches = request.negative, request.bounds, request.fill_value, request.profile
    named: dict[str, t.Any] = dict(zip(("negative", "bounds", "fill_value", "profile"), switches, strict=True))
    return gather(module("numpy").zeros(1, dtype), [1], **named)
