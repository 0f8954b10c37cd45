"""What can go wrong with a shard."""

from __future__ import annotations

import builtins

from .. import errors


class ShardError(errors.Error):
    """A shard that cannot answer: it is gone for good, or the file that it is of has been replaced.

    Attributes:
        shard: its number
    """

    shard: int

    @classmethod
    def of(cls, shard: int, message: str) -> ShardError:
        error = cls(f"shard {shard}: {message}")
        error.shard = shard
        return error


class ShardTimeoutError(ShardError, builtins.TimeoutError):
    """A shard that has not answered in time, nor has any replica of it."""
