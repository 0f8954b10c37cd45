"""Compares the operators of libgather.torch with those of torch, forward and with the backward pass, on one thread.

    bench_training.py            prints ratios and microseconds
    bench_training.py --write    writes the table in README.md

The table has 1,000 rows of 64 floats. All calls of a row run in one process, in rounds of a random order, so that a
disturbance affects both sides. A ratio is the median of the ratios of all rounds. The last column is torch's own call
against itself. It needs the extension (python -m libgather.torch.build).
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

import libgather.torch as ours

ROUNDS, NANOSECONDS = 41, 400_000
ROWS = 1, 100, 10_000
TABLE = 1000
README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- bench_training.py --write -->\n", "<!-- end of bench_training.py -->\n"

Call = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
#: For each pair: our call, that of torch, and whether indices are those of elements. The calls take a table, indices
#: and updates.
CALLS: dict[tuple[str, str], tuple[Call, Call, bool]] = {
    ("gather(table, ids)", "torch.index_select"): (
        lambda t, i, u: ours.gather(t, i),
        lambda t, i, u: torch.index_select(t, 0, i),
        False,
    ),
    ("embedding(ids, table)", "F.embedding"): (
        lambda t, i, u: ours.embedding(i, t),
        lambda t, i, u: functional.embedding(i, t),
        False,
    ),
    ("embedding(ids, table, 0)", "F.embedding(.., padding_idx=0)"): (
        lambda t, i, u: ours.embedding(i, t, 0),
        lambda t, i, u: functional.embedding(i, t, 0),
        False,
    ),
    ("gather_nd(table, ids[:, None])", "table[ids]"): (
        lambda t, i, u: ours.gather_nd(t, i[:, None]),
        lambda t, i, u: t[i],
        False,
    ),
    ("gather_elements(table, ids, 0)", "torch.gather"): (
        lambda t, i, u: ours.gather_elements(t, i, 0),
        lambda t, i, u: torch.gather(t, 0, i),
        True,
    ),
    ("index_add(table, 0, ids, updates)", "torch.index_add"): (
        lambda t, i, u: ours.index_add(t, 0, i, u),
        lambda t, i, u: torch.index_add(t, 0, i, u),
        False,
    ),
    ("scatter(table, ids, updates)", "torch.index_copy"): (
        lambda t, i, u: ours.scatter(t, i, u),
        lambda t, i, u: torch.index_copy(t, 0, i, u),
        False,
    ),
    ("scatter_elements(.., reduction='add')", "torch.scatter_add"): (
        lambda t, i, u: ours.scatter_elements(t, i, u, 0, reduction="add"),
        lambda t, i, u: torch.scatter_add(t, 0, i, u),
        True,
    ),
    ("scatter_elements(.., reduction='max')", "torch.scatter_reduce(.., 'amax')"): (
        lambda t, i, u: ours.scatter_elements(t, i, u, 0, reduction="max"),
        lambda t, i, u: torch.scatter_reduce(t, 0, i, u, "amax"),
        True,
    ),
}


def forward(call: Call, *operands: torch.Tensor) -> Callable[[], Any]:
    return lambda: call(*operands)


def with_backward(call: Call, table: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> Callable[[], Any]:
    leaves = table.clone().requires_grad_(), updates.clone().requires_grad_()
    gradient = torch.randn_like(call(table, indices, updates))

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        call(leaves[0], indices, leaves[1]).backward(gradient)

    return run


def nanoseconds(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    return (time.perf_counter_ns() - start) / count


def compared(calls: dict[str, Callable[[], Any]]) -> tuple[float, float, float]:
    """Returns the ratio of our call, that of the repeated call of torch, and the time of torch's call."""
    count = max(3, min(400, int(NANOSECONDS / min(nanoseconds(calls["theirs"], 20) for _ in range(3)))))
    rounds: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    for _ in range(ROUNDS):
        random.shuffle(order)
        for name in order:
            nanoseconds(calls[name], 3)  # fills the caches
            rounds[name].append(nanoseconds(calls[name], count))
    ratio, again = (
        statistics.median(a / b for a, b in zip(rounds[name], rounds["theirs"], strict=True))
        for name in ("ours", "again")
    )
    return ratio, again, statistics.median(rounds["theirs"])


def measured() -> Iterator[tuple[str, str, str, list[tuple[float, float, float]]]]:
    torch.set_num_threads(1)
    table = torch.randn(TABLE, 64)
    for (own, other), (run, reference, is_elements) in CALLS.items():
        for name, prepared in (("forward", forward), ("with backward", with_backward)):
            found = []
            for rows in ROWS:
                indices = torch.randint(0, TABLE, (rows, 64) if is_elements else (rows,))
                operands = table, indices, torch.randn(rows, 64)
                calls = {"ours": run, "theirs": reference, "again": reference}
                found.append(compared({kind: prepared(call, *operands) for kind, call in calls.items()}))
            yield own, other, name, found


def table_of(rows: list[tuple[str, str, str, list[tuple[float, float, float]]]]) -> str:
    heads = " | ".join(f"{count:,} rows" if count > 1 else "1 row" for count in ROWS)
    lines = [f"| libgather.torch | compared with | pass | {heads} |", "|---|---|---|---|---|---|"]
    for own, other, name, found in rows:
        lines.append(f"| `{own}` | `{other}` | {name} | {' | '.join(f'{ratio:.2f}' for ratio, _, _ in found)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if not {*arguments} <= {"--write"} or not ours.is_compiled():
        print(__doc__)
        return 2
    rows = []
    for row in measured():
        own, other, name, found = row
        cells = "  ".join(f"{ratio:5.2f} ({again:.2f}, {time / 1000:7.1f} us)" for ratio, again, time in found)
        print(f"{cells}  {name:13} {own:40} {other}", flush=True)
        rows.append(row)
    if arguments:
        text = README.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        README.write_text(f"{head}{BEGIN}{table_of(rows)}{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
