"""The aims of the library's speed, and how many cells reach each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from standings import ours, rival

CACHED, BEYOND = 256 << 10, 1 << 30  # bytes of tables
Result = dict[str, Any]


def is_plain(cell: dict[str, Any]) -> bool:
    """Returns whether all properties of a cell except its table and its row are the default."""
    plain = {"depth": 1, "index": "int64", "spread": "uniform", "fresh": False, "out": 4 << 20}
    return all(cell.get(key) == value for key, value in plain.items())


@dataclass(frozen=True)
class Claim:
    words: str
    least: float
    # Yields each cell to which the claim applies and its ratio, which must be at least `least`.
    ratios: Callable[[list[Result]], Iterator[tuple[Result, float]]]


def best_of(result: Result, name: str) -> float | None:
    """Returns the time of a contestant's best round, or None."""
    return result["ns"][name]["best"] if name in result["ns"] else None


def our_best(result: Result) -> float:
    return result["ns"][ours(result["ns"])]["best"]


def best_other(result: Result) -> float | None:
    other = rival(result["ns"])
    return other and result["ns"][other]["best"]


def against(
    rival: Callable[[Result], float | None], belongs: Callable[[dict[str, Any], int], bool]
) -> Callable[[list[Result]], Iterator[tuple[Result, float]]]:
    """Returns a function that yields the ratio of a rival's time to ours for each cell that `belongs` accepts."""

    def ratios(results: list[Result]) -> Iterator[tuple[Result, float]]:
        for result in results:
            other = rival(result) if belongs(result["cell"], result["cores"]) else None
            if other is not None:
                yield result, other / our_best(result)

    return ratios


def like_gather(belongs: Callable[[dict[str, Any]], bool]) -> Callable[[list[Result]], Iterator[tuple[Result, float]]]:
    """Returns a function that yields the time of gather divided by that of an operation with the same rows."""

    def ratios(results: list[Result]) -> Iterator[tuple[Result, float]]:
        gathers = {(r["cores"], r["cell"]["table"], r["cell"]["row"]): r for r in results if is_plain(r["cell"])}
        for result in results:
            cell = result["cell"]
            table = cell["outer"] * cell["rows"] * cell["row"] if "batched" in cell else cell.get("table")
            gather = gathers.get((result["cores"], table, cell.get("row")))
            if gather is not None and belongs(cell):
                yield result, our_best(gather) / our_best(result)

    return ratios


CLAIMS = (
    Claim("at least as fast as the best peer in every cell", 1, against(best_other, lambda cell, cores: True)),
    Claim(
        "rows of 1 to 16 B from tables in the cache, existing output: at most 1.1 times the time of the loop",
        1 / 1.1,
        against(
            lambda r: best_of(r, "limit: loop"), lambda c, _: is_plain(c) and c["table"] <= CACHED and c["row"] <= 16
        ),
    ),
    Claim(
        "the same rows: at most the time of the validating loop",
        1,
        against(
            lambda r: best_of(r, "limit: validating loop"),
            lambda c, _: is_plain(c) and c["table"] <= CACHED and c["row"] <= 16,
        ),
    ),
    Claim(
        "elements, existing output: at most the time of the validating loop",
        1,
        against(lambda r: best_of(r, "limit: validating loop"), lambda c, _: "extent" in c),
    ),
    Claim(
        "rows of 3 to 48 B whose size is no power of two: 2.5 times as fast as the best peer",
        2.5,
        against(best_other, lambda c, _: is_plain(c) and 3 <= c["row"] <= 48 and c["row"] & (c["row"] - 1) != 0),
    ),
    Claim(
        "tables larger than the caches, rows of up to 32 B: 0.9 of the speed of reading lines with prefetch",
        0.9,
        against(
            lambda r: best_of(r, "limit: touch, fetched"),
            lambda c, _: is_plain(c) and c["table"] >= BEYOND and c["row"] <= 32,
        ),
    ),
    Claim(
        "tables larger than the caches, rows of at least 128 B, all cores: 0.85 of the speed of copying in order",
        0.85,
        against(
            lambda r: best_of(r, "limit: copy"),
            lambda c, cores: is_plain(c) and c["table"] >= BEYOND and c["row"] >= 128 and cores > 1,
        ),
    ),
    Claim(
        "gather_nd with tuples of 2 to 4: at most 1.3 times the time of gather with the same rows",
        1 / 1.3,
        like_gather(lambda cell: cell.get("depth", 1) > 1),
    ),
    Claim(
        "middle or last axis, with and without batch dims: at most 1.3 times the time of gather with the same rows",
        1 / 1.3,
        like_gather(lambda cell: "batched" in cell),
    ),
)


def hold(results: list[Result], describe: Callable[[dict[str, Any]], str]) -> list[tuple[str, ...]]:
    """Returns a line for each claim: its words, how many cells reach it, and the worst cell."""
    lines = []
    for claim in CLAIMS:
        found = sorted(claim.ratios(results), key=lambda each: each[1])
        if not found:
            lines.append((claim.words, "not measured", "-"))
            continue
        held = sum(ratio >= claim.least for _, ratio in found)
        (worst, ratio), *_ = found
        cell, cores = worst["cell"], "1 core" if worst["cores"] == 1 else f"{worst['cores']} cores"
        row = f", rows of {cell['row']} B" if "row" in cell else ""
        words = f"{ratio / claim.least:.2f}: {describe(cell)}{row}, {cores}"
        lines.append((claim.words, f"{held} of {len(found)}", words))
    return lines
