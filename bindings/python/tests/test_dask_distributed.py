"""libgather.dask with workers in other processes, one of which is killed or stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libgather

distributed: Any = pytest.importorskip("distributed", reason="distributed is not installed")
dask: Any = pytest.importorskip("dask", reason="dask is not installed")
da: Any = pytest.importorskip("dask.array", reason="dask is not installed")
take: Any = libgather.dask.take

ROWS, CHUNKS = 2000, 20
IDS = np.random.default_rng(1).integers(0, ROWS, 5000)
LONG = 120.0


@pytest.fixture
def client() -> Iterator[Any]:
    quiet = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": 0, **quiet}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def chunk(pause: float, block_info: Any = None) -> Any:
    time.sleep(pause)
    number = block_info[None]["chunk-location"][0]
    return np.random.default_rng(number).random((ROWS // CHUNKS, 8), np.float32)


def table(pause: float = 0) -> tuple[Any, Any]:
    """Returns a dask array whose chunks are created by tasks, and its elements."""
    x = da.map_blocks(chunk, pause, chunks=((ROWS // CHUNKS,) * CHUNKS, (8,)), dtype=np.float32)
    held = [np.random.default_rng(number).random((ROWS // CHUNKS, 8), np.float32) for number in range(CHUNKS)]
    return x, np.concatenate(held)


def test_worker_killed_during_gather(client: Any) -> None:
    x, held = table(pause=0.1)
    pid, *_ = client.run(os.getpid).values()
    future = client.compute(take(x, IDS, out_chunks=1000))
    time.sleep(0.7)
    assert not future.done()
    os.kill(pid, signal.SIGKILL)
    assert future.result(timeout=LONG).tobytes() == np.take(held, IDS, 0).tobytes()
    assert pid not in client.run(os.getpid).values()


def test_killed_worker_loses_its_chunks(client: Any) -> None:
    x, held = table()
    x = x.persist()
    distributed.wait(x)
    pid, *_ = client.run(os.getpid).values()
    os.kill(pid, signal.SIGKILL)
    assert client.compute(take(x, IDS)).result(timeout=LONG).tobytes() == np.take(held, IDS, 0).tobytes()


def test_stopped_worker_returns_rows_after_it_continues(client: Any) -> None:
    x, held = table()
    pid, *_ = client.run(os.getpid).values()
    os.kill(pid, signal.SIGSTOP)
    try:
        future = client.compute(take(x, IDS))
        with pytest.raises(TimeoutError):
            future.result(timeout=2)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert future.result(timeout=LONG).tobytes() == np.take(held, IDS, 0).tobytes()


def test_errors_keep_their_type_and_fields(client: Any) -> None:
    x, _ = table()
    with pytest.raises(libgather.IndexError, match=r"indices\[1\], axis 0") as caught:
        client.compute(take(x, da.from_array(np.array([0, ROWS, -1])))).result(timeout=LONG)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, ROWS, ROWS)


@pytest.mark.parametrize("ids", [[], [3] * 100, range(ROWS - 5, ROWS)], ids=["none", "one row", "one chunk"])
def test_ids_of_few_chunks(client: Any, ids: Any) -> None:
    x, held = table()
    for given in (ids, da.from_array(np.asarray(ids, int))):
        rows = client.compute(take(x, given)).result(timeout=LONG)
        assert rows.tobytes() == np.take(held, np.asarray(ids, int), 0).tobytes()


def numbered(columns: int, block_info: Any = None) -> Any:
    first, last = block_info[None]["array-location"][0]
    return np.repeat(np.arange(first, last, dtype=np.float32)[:, None], columns, 1)


def gathered_from_small_workers(rows: int, limit: str, lazy: bool = False) -> None:
    """Gathers as many rows of 400 bytes as the table has, in 20 blocks, with two workers of limited memory."""
    quiet = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": limit, **quiet}
    x = da.map_blocks(numbered, 100, chunks=((rows // 20,) * 20, (100,)), dtype=np.float32)
    ids = np.random.default_rng(1).integers(0, rows, rows)
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        result = take(x, da.from_array(ids) if lazy else ids).persist()
        assert result.numblocks == (20, 1)
        for number in range(20):
            block = client.compute(result.blocks[number]).result(timeout=10 * LONG)
            expected = ids[rows // 20 * number : rows // 20 * (number + 1)].astype(np.float32)
            assert block.shape == (rows // 20, 100) and (block == expected[:, None]).all()


@pytest.mark.parametrize("lazy", [False, True])
def test_result_larger_than_a_worker(lazy: bool) -> None:
    """dask refuses a task with inputs that are larger than the limit. The memory of processes is not limited here."""
    processes = {"spill": False, "pause": False, "terminate": 100.0}
    with dask.config.set({f"distributed.worker.memory.{name}": value for name, value in processes.items()}):
        gathered_from_small_workers(200_000, "60MB", lazy)


@pytest.mark.skipif(not os.environ.get("GATHER_LARGE"), reason="GATHER_LARGE=1 tests tables of 1 GB")
def test_gigabyte_in_blocks_of_51_megabytes_with_workers_of_700_megabytes() -> None:
    gathered_from_small_workers(2_560_000, "700MB")


@pytest.mark.skipif(not os.environ.get("GATHER_LARGE"), reason="GATHER_LARGE=1 tests tables of 1 GB")
def test_rows_of_a_file_larger_than_a_worker(tmp_path: Path) -> None:
    file, rows = tmp_path / "large.npy", 2_560_000
    held = np.lib.format.open_memmap(file, "w+", np.float32, (rows, 100))
    for first in range(0, rows, 128_000):
        held[first : first + 128_000] = np.arange(first, first + 128_000)[:, None]
    held.flush()
    ids = np.random.default_rng(1).integers(0, rows, 100_000)
    quiet = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": "700MB", **quiet}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        x = libgather.dask.from_file(file, chunks=(128_000, 100))
        taken = client.compute(take(x, ids)).result(timeout=10 * LONG)
        assert (taken == ids.astype(np.float32)[:, None]).all()


@pytest.mark.skipif(not os.environ.get("GATHER_LARGE"), reason="GATHER_LARGE=1 tests tables of 1 GB")
def test_gather_from_one_gigabyte_is_right_while_worker_is_killed(client: Any, tmp_path: Path) -> None:
    """Gathers rows of all parts of a mapped file while a worker is killed. The result must be equal bit by bit."""
    file, count = tmp_path / "large.npy", 2_600_000
    held = np.lib.format.open_memmap(file, "w+", np.float32, (count, 100))
    for first in range(0, count, 100_000):
        held[first : first + 100_000] = np.random.default_rng(first).random((100_000, 100), np.float32)
    held.flush()

    def part(block_info: Any = None) -> Any:
        first, last = block_info[None]["array-location"][0]
        return np.load(file, mmap_mode="r")[first:last]

    x = da.map_blocks(part, chunks=((count // 100,) * 100, (100,)), dtype=np.float32)
    ids = np.random.default_rng(1).integers(0, count, 50_000)
    for kills in (False, True):
        future = client.compute(take(x, ids))
        if kills:
            time.sleep(0.1)
            os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)
        assert future.result(timeout=LONG).tobytes() == np.take(held, ids, 0).tobytes()
