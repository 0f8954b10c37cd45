"""Pictures of the results: bytes a second by rows of each size, beside the best peer and the limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 320, 48, 40, 28, 130
COLOURS = {"libgather": "#0b6e4f", "best other": "#c8553d", "limit": "#8a8a8a"}
Line = dict[int, float]


def speeds(results: list[dict[str, Any]]) -> dict[str, Line]:
    """GB/s by the bytes of a row."""
    lines: dict[str, Line] = {name: {} for name in COLOURS}
    for result in results:
        row, best = result["cell"]["row"], {name: each["best"] for name, each in result["ns"].items()}
        own = min(ns for name, ns in best.items() if name.startswith("libgather"))
        others = [ns for name, ns in best.items() if not name.startswith(("libgather", "limit"))]
        touch = [ns for name, ns in best.items() if name.startswith("limit: touch")]
        copy = [ns for name, ns in best.items() if name.startswith("limit: copy")]
        lines["libgather"][row] = row / own
        if others:
            lines["best other"][row] = row / min(others)
        if touch and copy:
            lines["limit"][row] = row / max(min(touch), min(copy))
    return {name: line for name, line in lines.items() if line}


def draw(title: str, lines: dict[str, Line]) -> str:
    rows = sorted({row for line in lines.values() for row in line})
    values = [value for line in lines.values() for value in line.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    span = math.log2(rows[-1] / rows[0]) or 1

    def x(row: int) -> float:
        return LEFT + math.log2(row / rows[0]) / span * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="16">{title}: GB/s by bytes of a row</text>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for row in rows:
        parts.append(
            f'<text x="{x(row):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" font-size="9">{row}</text>'
        )
    for number, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{x(row):.1f},{y(line[row]):.1f}" for row in sorted(line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        at = TOP + 16 * number + 12
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{at}" fill="{COLOURS[name]}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def is_plain(cell: dict[str, Any]) -> bool:
    plain = {"depth": 1, "index": "int64", "spread": "uniform", "fresh": False, "out": 4 << 20}
    return all(cell.get(key) == value for key, value in plain.items())


def plots(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A name and a drawing for each table and number of cores."""
    groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for result in record["results"]:
        if is_plain(result["cell"]):
            groups.setdefault((result["cores"], result["cell"]["table"]), []).append(result)
    for (cores, table), results in sorted(groups.items()):
        if len(results) > 1:
            where = f"{cores} core{'s' if cores > 1 else ''}, table of {table >> 10} KiB"
            yield f"{cores}-{table >> 10}k", draw(where, speeds(results))
