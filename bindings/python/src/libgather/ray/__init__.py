"""Tables that actors of Ray hold, a part of the rows each: gathered from anywhere in the cluster by id.

Ray places the actors, restarts them and asks again; here ids are judged and dealt out, and rows put together. It needs
ray 2.40 or newer with NumPy, and is imported when it is first used.
"""

from __future__ import annotations

from ._errors import ShardError, ShardTimeoutError
from ._shard import ShardStats
from ._table import ShardedTable

__all__ = ["ShardError", "ShardStats", "ShardTimeoutError", "ShardedTable"]
