"""Measures contestants alternately. Each round measures each contestant once, so that load affects all of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

import numpy as np

ROWS, COLUMNS = 2_600_000, 100
ROW_BYTES = 4 * COLUMNS


def timed(work: Callable[[], Any]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def compare(
    contestants: dict[str, Callable[[], Any]], rounds: int, warm: int = 1, pause: float = 0
) -> dict[str, list[float]]:
    """Returns the seconds of each round. The results are compared first. Each round begins with the next contestant.

    pause: seconds to wait before each call, for the cleanup after the previous one
    """
    answers = {name: work() for name, work in contestants.items()}
    first, *others = answers.values()
    for other in others:
        if not same(first, other):
            raise SystemExit(f"{list(answers)} do not agree")
    times: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(warm + rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            sleep(pause)
            seconds = timed(contestants[name])
            if number >= warm:
                times[name].append(seconds)
    return times


def same(one: Any, other: Any) -> bool:
    return one is None or (one.dtype == other.dtype and bool(np.array_equal(one, other)))


def ratio(times: dict[str, list[float]], slow: str, quick: str) -> float:
    """Returns the median over the rounds of the time of `slow` divided by that of `quick`."""
    return statistics.median(a / b for a, b in zip(times[slow], times[quick], strict=True))


def write_table(path: str) -> None:
    """Writes a .npy file of 2.6 million rows of 100 float32: 1.04 GB."""
    table = np.lib.format.open_memmap(path, "w+", np.float32, (ROWS, COLUMNS))
    for first in range(0, ROWS, 100_000):
        table[first : first + 100_000] = np.random.default_rng(first).random((100_000, COLUMNS), np.float32)
    table.flush()
