"""Timing in turns: the contenders run round by round, so that a disturbance affects all of them."""

import dataclasses
import math
import typing

MOST_CALLS = 1000


@dataclasses.dataclass
class Contender:
    name: str
    role: str  # "limit", "ours" or "peer"
    run: typing.Callable  # run(times) runs or enqueues the work `times` times
    clock: typing.Callable  # clock(run, times) returns the seconds of one run
    once: typing.Callable = None  # runs once and returns (address, owner) of its result; None: no result
    calls: int = 0  # runs per round, or 0 to determine it


def calibrate(contender, least_seconds):
    """Returns the number of consecutive runs that take least_seconds."""
    contender.clock(contender.run, 1)
    seconds = contender.clock(contender.run, 1)
    return max(1, min(math.ceil(least_seconds / seconds), MOST_CALLS))


def side_by_side(contenders, rounds, least_seconds):
    """Returns {name: [seconds of a run, by round]}. Each round starts with another contender."""
    for contender in contenders:
        contender.calls = contender.calls or calibrate(contender, least_seconds)
    times = {contender.name: [] for contender in contenders}
    for number in range(rounds):
        first = number % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            times[contender.name].append(contender.clock(contender.run, contender.calls))
    return times
