"""Contestants in turn: each round has one time of each, so that what slows the machine slows them all."""

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
    """The seconds of each round. What they compute is compared first; the order of a round changes with its number.

    pause: seconds before each, for what the one before has left to be tidied up
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
    """How many times as long one takes as another, as the median of rounds has it."""
    return statistics.median(a / b for a, b in zip(times[slow], times[quick], strict=True))


def write_table(path: str) -> None:
    """2.6 million rows of 100 float32 as a .npy file: 1.04 GB."""
    table = np.lib.format.open_memmap(path, "w+", np.float32, (ROWS, COLUMNS))
    for first in range(0, ROWS, 100_000):
        table[first : first + 100_000] = np.random.default_rng(first).random((100_000, COLUMNS), np.float32)
    table.flush()
