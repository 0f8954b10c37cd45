"""Simulates a gather from up to a hundred machines, with the measured costs of its steps.

A gather partitions its ids, and sends a call to each shard that stores some of them. It ends when the slowest call has
returned. The duration of a call is drawn from the measured calls, plus the measured time of gathering its rows. The
rows of all shards pass one network card. Its speed is assumed. With replicas, a call that takes longer than most calls
is sent again to another machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: Bytes per second of a network card of 25 Gbit/s, and the quantile of the calls after which a call is sent again.
NETWORK, AGAIN = 25e9 / 8, 0.95
DRAWS = 20_000


def simulate(
    machines: int, count: int, row_bytes: int, costs: dict[str, float], calls: Any, again: bool, seed: int = 1
) -> dict[str, float]:
    """Returns the median and the 99th percentile of the seconds of a gather, and how much it sends."""
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
