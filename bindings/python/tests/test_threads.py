"""Calls on many threads: the GIL is released, results are correct, and forked processes work."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import libgather

TABLE = np.arange(80_000.0).reshape(1000, 80)


def test_results_of_many_threads() -> None:
    plan = libgather.Plan(TABLE, libgather.Spec("int64", (-1,)))

    def work(seed: int) -> bool:
        indices = np.random.default_rng(seed).integers(0, 1000, 300)
        out = np.empty((300, 80))
        expected = TABLE[indices]
        for _ in range(50):
            results = (
                libgather.gather(TABLE, indices),
                plan(TABLE, indices, out),
                libgather.gather_nd(TABLE, indices[:, None]),
            )
            if not all((result == expected).all() for result in results):
                return False
            try:
                libgather.gather(TABLE, np.array([seed, 1000 + seed]))
            except libgather.IndexError as error:
                if (error.position, error.value) != (1, 1000 + seed):
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_large_call_releases_the_gil() -> None:
    params = np.zeros((1, 1 << 16), "u1")
    indices = np.zeros(1 << 13, "i4")
    out = np.empty((1 << 13, 1 << 16), "u1")
    ticks = 0
    done = threading.Event()

    def gather() -> None:
        libgather.gather(params, indices, out=out, threads=1)
        done.set()

    thread = threading.Thread(target=gather)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3, "this thread stood still while another one gathered"


def test_after_fork() -> None:
    large = np.arange(4_000_000.0).reshape(-1, 40)
    order = np.arange(len(large))[::-1].copy()
    expected = large[::-1]
    assert (libgather.gather(large, order) == expected).all()
    child = os.fork()
    if child == 0:
        os._exit(0 if (libgather.gather(large, order) == expected).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has a GIL")
def test_without_a_gil() -> None:
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined] # the import must not enable it
