"""Plots of libgather, the best peer and the limit: GB/s by row size, ns/row by number of rows and by table size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 320, 48, 40, 28, 130
COLOURS = {"libgather": "#0b6e4f", "best peer": "#c8553d", "limit": "#8a8a8a"}
Line = dict[int, float]
Facts = dict[str, Any]


def lines_of(
    results: list[dict[str, Any]], x: Callable[[Facts], int], y: Callable[[Facts, float], float]
) -> dict[str, Line]:
    """Returns for each line the points (x of a cell, y of its time for a row)."""
    lines: dict[str, Line] = {name: {} for name in COLOURS}
    for result in results:
        cell, best = result["cell"], {name: each["best"] for name, each in result["ns"].items()}
        at = x(cell)
        own = min(ns for name, ns in best.items() if name.startswith("libgather"))
        others = [ns for name, ns in best.items() if not name.startswith(("libgather", "limit"))]
        touch = [ns for name, ns in best.items() if name.startswith("limit: touch")]
        copy = [ns for name, ns in best.items() if name.startswith("limit: copy")]
        lines["libgather"][at] = y(cell, own)
        if others:
            lines["best peer"][at] = y(cell, min(others))
        if touch and copy:
            lines["limit"][at] = y(cell, max(min(touch), min(copy)))
    return {name: line for name, line in lines.items() if line}


def short(number: int) -> str:
    """Returns the label of a number on an axis: with a letter if a power of 1024 divides it."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if number % unit == 0:
            return f"{number // unit}{letter}"
    return str(number)


def draw(title: str, lines: dict[str, Line], colours: dict[str, str] = COLOURS) -> str:
    places = sorted({place for line in lines.values() for place in line})
    values = [value for line in lines.values() for value in line.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    span = math.log2(places[-1] / places[0]) or 1

    def x(place: int) -> float:
        return LEFT + math.log2(place / places[0]) / span * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / ((high - low) or 1) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="16">{title}</text>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for place in places:
        where = f'x="{x(place):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" font-size="9"'
        parts.append(f"<text {where}>{short(place)}</text>")
    for number, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{x(place):.1f},{y(line[place]):.1f}" for place in sorted(line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colours[name]}" stroke-width="2"/>')
        at = TOP + 16 * number + 12
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{at}" fill="{colours[name]}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def is_plain(cell: Facts, besides: tuple[str, ...] = ()) -> bool:
    """Returns whether all other properties of a cell, except its table, its row and `besides`, are the default."""
    plain = {"depth": 1, "index": "int64", "spread": "uniform", "fresh": False, "out": 4 << 20}
    return all(cell.get(key) == value for key, value in plain.items() if key not in besides)


def count(cell: Facts) -> int:
    return max(1, int(cell["out"]) // int(cell["row"]))


def is_power_of_ten(number: int) -> bool:
    return str(number).strip("0") == "1"


def grouped(
    results: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]
) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    groups: dict[Any, list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return ((name, group) for name, group in sorted(groups.items()) if len(group) > 3)


def on(cores: int) -> str:
    return f"{cores} core{'s' if cores > 1 else ''}"


def plots(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the name and the drawing of each plot."""
    rows = [result for result in record["results"] if is_plain(result["cell"], ("out",))]
    usual = [result for result in rows if is_plain(result["cell"])]
    for (cores, table), group in grouped(usual, lambda r: (r["cores"], r["cell"]["table"])):
        lines = lines_of(group, lambda cell: cell["row"], lambda cell, ns: cell["row"] / ns)
        yield f"{cores}-{table >> 10}k", draw(f"{on(cores)}, table of {short(table)}B: GB/s by row size", lines)
    for (cores, row), group in grouped(usual, lambda r: (r["cores"], r["cell"]["row"])):
        lines = lines_of(group, lambda cell: cell["table"], lambda _, ns: ns)
        yield f"{cores}-tables-{row}", draw(f"{on(cores)}, rows of {row} bytes: ns/row by table size", lines)
    of_one_table = [
        result for result in rows if result["cell"]["table"] == 8 << 20 and is_power_of_ten(count(result["cell"]))
    ]
    for (cores, row), group in grouped(of_one_table, lambda r: (r["cores"], r["cell"]["row"])):
        lines = lines_of(group, count, lambda _, ns: ns)
        yield (
            f"{cores}-rows-{row}",
            draw(f"{on(cores)}, table of 8MB, rows of {row} bytes: ns/row by number of rows", lines),
        )
