"""Measures the steps of a gather from shards in one process: partition, gather and join."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from rounds import COLUMNS, ROWS, compare

import libgather

COUNTS = (256, 4096, 100_000, 1_000_000)
SHARDS = (1, 2, 4, 8)


def measure(path: str, rounds: int) -> list[dict[str, Any]]:
    table = np.load(path, mmap_mode="r").view(np.ndarray)
    return [step(table, ids, shards, rounds) for shards in SHARDS for ids in COUNTS]


def step(table: Any, count: int, shards: int, rounds: int) -> dict[str, Any]:
    ids = np.random.default_rng(count).integers(0, ROWS, count)
    block = -(-ROWS // shards)
    parts = libgather.partition(ids, ROWS, shards=shards)
    ends = parts.slices
    blocks = [table[block * shard : block * (shard + 1)] for shard in range(shards)]
    answers = [np.take(rows, parts.local[end], 0) for rows, end in zip(blocks, ends, strict=True)]
    out = np.empty((count, COLUMNS), np.float32)

    def by_libgather() -> Any:
        return libgather.partition(ids, ROWS, shards=shards).join(answers, out)

    def by_numpy() -> Any:
        order, _, _ = bucketed(ids, block, shards)
        back = np.empty(count, np.int64)
        back[order] = np.arange(count)
        return np.concatenate(answers)[back]

    repeats = max(1, 100_000 // count)
    return {
        "count": count,
        "shards": shards,
        "repeats": repeats,
        "both": compare({"libgather": again(by_libgather, repeats), "NumPy": again(by_numpy, repeats)}, rounds),
        "partition": compare(
            {
                "libgather": again(lambda: libgather.partition(ids, ROWS, shards=shards).order, repeats),
                "NumPy": again(lambda: bucketed(ids, block, shards)[0], repeats),
            },
            rounds,
        ),
        "gather": compare(
            {
                "libgather": again(lambda: libgather.gather(blocks[0], parts.local[ends[0]]), repeats),
                "NumPy": again(lambda: np.take(blocks[0], parts.local[ends[0]], 0), repeats),
            },
            rounds,
        ),
        "join": compare({"libgather": again(lambda: parts.join(answers, out), repeats)}, rounds),
    }


def bucketed(ids: Any, block: int, shards: int) -> tuple[Any, Any, Any]:
    """Returns the order by shard, the counts and the local row numbers, as NumPy code written by hand computes them."""
    shard = ids // block
    order = np.argsort(shard, kind="stable")
    return order, np.bincount(shard, minlength=shards), ids[order] - shard[order] * block


def again(work: Any, repeats: int) -> Any:
    """Returns a function that repeats `work`. So short times can be measured."""

    @functools.wraps(work)
    def repeated() -> Any:
        for _ in range(repeats):
            result = work()
        return result

    return repeated
