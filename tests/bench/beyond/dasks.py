"""Measures libgather.dask.take beside the indexing of dask."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from rounds import COLUMNS, ROWS, compare

import libgather.dask

IDS = 50_000


def part(path: str, block_info: Any = None) -> Any:
    first, last = block_info[None]["array-location"][0]
    return np.load(path, mmap_mode="r").view(np.ndarray)[first:last]


def read(path: str, block_info: Any = None) -> Any:
    return np.array(part(path, block_info))


def measure(path: str, rounds: int) -> dict[str, Any]:
    with dask.config.set(scheduler="threads"):
        results = {
            "threads, 100 chunks of 2,600 rows": ways(table(part, path, 100, ROWS // 10), rounds),
            "threads, 100 chunks of 26,000 rows": ways(table(part, path, 100), rounds),
            "threads, 1,000 chunks of 2,600 rows": ways(table(part, path, 1000), 1),
        }
    quiet = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, **quiet) as cluster, Client(cluster):
        results["2 processes, 100 chunks of 2,600 rows"] = ways(table(part, path, 100, ROWS // 10), rounds)
        results["2 processes, 100 chunks of 26,000 rows"] = ways(table(part, path, 100), rounds)
        held = table(read, path, 100).persist()
        wait(held)
        results["2 processes, 100 chunks of 26,000 rows in their memory"] = ways(held, rounds)
    return results


def table(chunk: Any, path: str, chunks: int, rows: int = ROWS) -> da.Array:
    sizes = ((rows // chunks,) * chunks, (COLUMNS,))
    return da.map_blocks(chunk, path, chunks=sizes, dtype=np.float32)


def ways(x: Any, rounds: int) -> dict[str, list[float]]:
    ids = np.random.default_rng(1).integers(0, len(x), IDS)
    return compare(
        {
            "take, one block": lambda: libgather.dask.take(x, ids, out_chunks=-1).compute(),
            "take": lambda: libgather.dask.take(x, ids).compute(),
            "vindex": lambda: x.vindex[ids].compute(),
            "x[ids]": lambda: x[ids].compute(),
        },
        rounds,
        warm=0,
        pause=0.5,
    )
