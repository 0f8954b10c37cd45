"""Timing side by side: the contenders take turns, round by round, so that what disturbs one disturbs all."""

import dataclasses
import math
import typing

MOST_CALLS = 1000


@dataclasses.dataclass
class Contender:
    name: str
    role: str  # "limit", "ours" or "peer"
    run: typing.Callable  # run(times) does the work so often in a row, or enqueues it
    clock: typing.Callable  # clock(run, times) is the seconds that one of them takes
    once: typing.Callable = None  # does it once, and gives (address, owner) of its result; None: there is none
    calls: int = 0  # in a row in a round; 0: to be found


def calibrate(contender, least_seconds):
    """So many calls in a row that a round of it takes least_seconds."""
    contender.clock(contender.run, 1)
    seconds = contender.clock(contender.run, 1)
    return max(1, min(math.ceil(least_seconds / seconds), MOST_CALLS))


def side_by_side(contenders, rounds, least_seconds):
    """{name: [seconds of a call, by round]}. Each round begins with another contender."""
    for contender in contenders:
        contender.calls = contender.calls or calibrate(contender, least_seconds)
    times = {contender.name: [] for contender in contenders}
    for number in range(rounds):
        first = number % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            times[contender.name].append(contender.clock(contender.run, contender.calls))
    return times
