"""Formats the times of random requests: means, the share that is not behind, and the slowest requests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

SHORT, LOST = 5e-6, 1e-6  # seconds: a call shorter than SHORT may lose LOST to a peer
WORST = 20

Result = dict[str, Any]


def best_peer(result: Result) -> tuple[str, float]:
    peers: dict[str, float] = result["peers"]
    return min(peers.items(), key=lambda each: each[1])


def ratio(result: Result) -> float:
    """Returns the time of the best peer divided by the time of the library."""
    ours: float = result["ours"]
    return best_peer(result)[1] / ours


def is_behind(result: Result) -> bool:
    ours, peer = result["ours"], best_peer(result)[1]
    return ours > peer and not (ours < SHORT and ours - peer < LOST)


def mean(ratios: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def name(result: Result) -> str:
    reduction = result.get("reduction", "none")
    return result["operation"] if reduction == "none" else f"{result['operation']}, {reduction}"


def row(words: Iterable[Any]) -> str:
    return f"| {' | '.join(map(str, words))} |"


def totals(results: Sequence[Result]) -> list[str]:
    """Returns a line of the table for each operation, and one for all."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(name(result), []).append(result)
    lines = [row(("operation", "requests", "not behind", "mean", "worst")), row(["---"] * 5)]
    for title, group in [*sorted(groups.items()), ("all", list(results))]:
        ratios = [ratio(result) for result in group]
        ahead = sum(not is_behind(result) for result in group)
        lines.append(row((title, len(group), ahead, f"{mean(ratios):.2f}", f"{min(ratios):.2f}")))
    return lines


def describe(result: Result) -> str:
    left_out = ("operation", "reduction", "ours", "peers")
    return ", ".join(f"{key} {value}" for key, value in result.items() if key not in left_out and value is not None)


def worst(results: Sequence[Result]) -> list[str]:
    lines = [row(("ratio", "us", "best peer", "its us", "operation", "request")), row(["---"] * 6)]
    for result in sorted(results, key=ratio)[:WORST]:
        peer, seconds = best_peer(result)
        times = f"{1e6 * result['ours']:.1f}", peer, f"{1e6 * seconds:.1f}"
        lines.append(row((f"{ratio(result):.2f}", *times, name(result), describe(result))))
    return lines


def markdown(results: Sequence[Result], seed: int) -> str:
    share = sum(not is_behind(result) for result in results) / len(results)
    return "\n".join(
        [
            "# Random requests",
            "",
            f"Seed {seed}. {share:.1%} of {len(results)} requests are not behind the best peer. The geometric mean of",
            f"the ratios is {mean([ratio(result) for result in results]):.2f}. A ratio is the time of the best peer",
            f"divided by the time of libgather. A call below {1e6 * SHORT:.0f} us may take {1e6 * LOST:.0f} us more.",
            "",
            *totals(results),
            "",
            *worst(results),
            "",
        ]
    )
