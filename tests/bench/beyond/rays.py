"""Measures ShardedTable beside Ray actors that are written by hand with np.take."""

from __future__ import annotations

import os
import sys
from time import perf_counter
from typing import Any

import numpy as np
import ray
from rounds import COLUMNS, ROWS, compare, timed
from steps import bucketed

from libgather.ray import ShardedTable

#: The number of ids, and the factor by which the number of rounds is multiplied.
COUNTS = {256: 20, 4096: 8, 100_000: 2}
SHARDS = (1, 2, 4, 8)
CALLS = 2000


class Bare:
    """An actor written by hand, with some rows of a mapped file."""

    def __init__(self, path: str, first: int, last: int) -> None:
        self.table = np.load(path, mmap_mode="r").view(np.ndarray)[first:last]

    def rows(self, ids: Any) -> Any:
        return np.take(self.table, ids, 0)


class BareTable:
    def __init__(self, path: str, shards: int) -> None:
        self.block, self.shards = -(-ROWS // shards), shards
        kind = ray.remote(max_restarts=-1, max_task_retries=-1)(Bare)
        self.actors = [kind.remote(path, self.block * shard, self.block * (shard + 1)) for shard in range(shards)]

    def gather(self, ids: Any) -> Any:
        order, counts, local = bucketed(ids, self.block, self.shards)
        ends = np.concatenate([[0], np.cumsum(counts)])
        asked = [shard for shard in range(self.shards) if counts[shard]]
        answers = ray.get([self.actors[shard].rows.remote(local[ends[shard] : ends[shard + 1]]) for shard in asked])
        out = np.empty((len(ids), COLUMNS), np.float32)
        for shard, answer in zip(asked, answers, strict=True):
            out[order[ends[shard] : ends[shard + 1]]] = answer
        return out

    def close(self) -> None:
        for actor in self.actors:
            ray.kill(actor)


def started() -> None:
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
    paths = os.pathsep.join(filter(None, sys.path))
    ray.init(num_cpus=8, object_store_memory=800 << 20, runtime_env={"env_vars": {"PYTHONPATH": paths}}, **quiet)


def measure(path: str, rounds: int) -> list[dict[str, Any]]:
    started()
    results = [result for shards in SHARDS for result in of_shards(path, shards, rounds)]
    ray.shutdown()
    return results


def of_shards(path: str, shards: int, rounds: int) -> list[dict[str, Any]]:
    table, bare = ShardedTable.from_file(path, shards=shards), BareTable(path, shards)
    results = []
    for count, more in COUNTS.items():
        ids = np.random.default_rng(count).integers(0, ROWS, count)
        contestants = {"libgather": lambda ids=ids: table.gather(ids), "bare actors": lambda ids=ids: bare.gather(ids)}
        seconds = compare(contestants, rounds * more, warm=20)
        results.append({"shards": shards, "count": count, "seconds": seconds})
    table.close()
    bare.close()
    return results


def calls(path: str) -> dict[str, list[float]]:
    """Returns the seconds of calls for one row of one shard, and the seconds of sending such a call."""
    started()
    with ShardedTable.from_file(path, shards=1) as table:
        one, actor = np.zeros(1, np.int64), table._actors.replicas[0][0]
        for _ in range(100):
            table.gather(one)
        whole = [timed(lambda: table.gather(one)) for _ in range(CALLS)]
        sent = []
        for _ in range(CALLS):
            begin = perf_counter()
            answer = actor.gather.remote(one)
            sent.append(perf_counter() - begin)
            ray.get(answer)
    ray.shutdown()
    return {"whole": whole, "sent": sent}
