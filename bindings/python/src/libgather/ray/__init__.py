"""Tables whose rows are stored by actors of Ray. Each process of the cluster can gather from them by id.

Ray places the actors, restarts them and repeats calls. This module validates and partitions the ids, and joins the
rows. It needs ray 2.40 or newer and NumPy. It is imported at the first use.
"""

from __future__ import annotations

from ._errors import ShardError, ShardTimeoutError
from ._shard import ShardStats
from ._table import ShardedTable

__all__ = ["ShardError", "ShardStats", "ShardTimeoutError", "ShardedTable"]
