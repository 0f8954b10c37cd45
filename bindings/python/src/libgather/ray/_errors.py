"""Errors of shards."""

from __future__ import annotations

import builtins

from .. import errors


class ShardError(errors.Error):
    """A shard cannot respond, because its actor has ended or its file has been replaced.

    Attributes:
        shard: The number of the shard.
    """

    shard: int

    @classmethod
    def of(cls, shard: int, message: str) -> ShardError:
        error = cls(f"shard {shard}: {message}")
        error.shard = shard
        return error


class ShardTimeoutError(ShardError, builtins.TimeoutError):
    """No replica of a shard has responded in time."""
