"""A hundred machines on paper: what a gather from so many takes, drawn from the measured costs of its steps.

A gather deals its ids out, sends a call to each shard that has some, and is over when the slowest has answered: its
call varies as the measured ones do, its rows take what gathering took, and all answers come through one network card,
whose speed is assumed. With replicas, a call that has not come back when most have is sent once more, to another
machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bytes a second of a network card of 25 Gbit/s, and the share of calls after which one is sent again.
NETWORK, AGAIN = 25e9 / 8, 0.95
DRAWS = 20_000


def simulate(
    machines: int, count: int, row_bytes: int, costs: dict[str, float], calls: Any, again: bool, seed: int = 1
) -> dict[str, float]:
    """Seconds of a gather, of which half and of which 99 in 100 are over, and what it sends."""
    random = np.random.default_rng(seed)
    draws = max(200, DRAWS // machines)
    rows = random.multinomial(count, np.full(machines, 1 / machines), size=draws)
    asked = rows > 0
    slowness = random.choice(calls, size=rows.shape)
    if again:
        limit = float(np.quantile(calls, AGAIN))
        slowness = np.minimum(slowness, limit + random.choice(calls, size=rows.shape))
    shards = np.where(asked, slowness + rows * costs["gather"], 0).max(axis=1)
    network = count * (row_bytes + 8) / NETWORK
    fixed = count * (costs["partition"] + costs["join"]) + network
    seconds = fixed + asked.sum(axis=1) * costs["send"] + shards
    return {
        "median": float(np.median(seconds)),
        "p99": float(np.quantile(seconds, 0.99)),
        "asked": float(asked.sum(axis=1).mean()),
        "network": network,
        "bytes": float(count * (row_bytes + 8)),
    }
