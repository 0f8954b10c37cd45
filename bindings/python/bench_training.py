"""Compares the operators of libgather.torch with those of torch, forward and with the backward pass, on one thread.

    bench_training.py            prints ratios and microseconds
    bench_training.py --write    writes the table in README.md

The table has 1,000 rows of 64 floats. All calls of a row run in one process, in rounds of a random order, so that a
disturbance affects both sides. A ratio is the median of the ratios of all rounds. The ratio of torch's own call to
itself is printed in parentheses. It needs the extension (python -m libgather.torch.build).
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

import libgather.torch as ours

ROUNDS, NANOSECONDS = 41, 400_000
ROWS = 1, 100, 10_000
TABLE, DIM = 1000, 64
#: Both calls, the pass, and for each number of rows: our ratio, that of the repeated call, and nanoseconds of torch.
Row = tuple[str, str, str, list[tuple[float, float, float]]]
README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- bench_training.py --write -->\n", "<!-- end of bench_training.py -->\n"

Call = Callable[..., torch.Tensor]


def rows(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    ids, updates = torch.randint(0, TABLE, (count,)), torch.randn(count, DIM)
    return (ids, updates), (ids, updates)


def tuples(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """libgather has the indices of both dims in one tensor, and torch has them in two."""
    pair = torch.randint(0, TABLE, (count,)), torch.randint(0, DIM, (count,))
    return (torch.stack(pair, -1),), pair


def updated_tuples(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    (stacked,), pair = tuples(count)
    updates = torch.randn(count)
    return (stacked, updates), (*pair, updates)


def elements(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    ids, updates = torch.randint(0, TABLE, (count, DIM)), torch.randn(count, DIM)
    return (ids, updates), (ids, updates)


def bags(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Bags of ten ids."""
    both = torch.randint(0, TABLE, (count * 10,)), torch.arange(0, count * 10, 10)
    return both, both


def weighted_bags(count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    both = *bags(count)[0], torch.randn(count * 10)
    return both, both


#: For each pair: our call, that of torch, and the function that draws the operands of both beside the table.
CALLS: dict[tuple[str, str], tuple[Call, Call, Callable[..., Any]]] = {
    ("gather(table, ids)", "torch.index_select"): (
        lambda t, i, u: ours.gather(t, i),
        lambda t, i, u: torch.index_select(t, 0, i),
        rows,
    ),
    ("embedding(ids, table)", "F.embedding"): (
        lambda t, i, u: ours.embedding(i, t),
        lambda t, i, u: functional.embedding(i, t),
        rows,
    ),
    ("embedding(ids, table, 0)", "F.embedding(.., padding_idx=0)"): (
        lambda t, i, u: ours.embedding(i, t, 0),
        lambda t, i, u: functional.embedding(i, t, 0),
        rows,
    ),
    ("gather_nd(table, tuples)", "table[i, j]"): (ours.gather_nd, lambda t, i, j: t[i, j], tuples),
    ("gather_elements(table, ids, 0)", "torch.gather"): (
        lambda t, i, u: ours.gather_elements(t, i, 0),
        lambda t, i, u: torch.gather(t, 0, i),
        elements,
    ),
    ("take_along_dim(table, ids, 0)", "torch.take_along_dim"): (
        lambda t, i, u: ours.take_along_dim(t, i, 0),
        lambda t, i, u: torch.take_along_dim(t, i, 0),
        elements,
    ),
    ("index_add(table, 0, ids, updates)", "torch.index_add"): (
        lambda t, i, u: ours.index_add(t, 0, i, u),
        lambda t, i, u: torch.index_add(t, 0, i, u),
        rows,
    ),
    ("scatter(table, ids, updates)", "torch.index_copy"): (
        ours.scatter,
        lambda t, i, u: torch.index_copy(t, 0, i, u),
        rows,
    ),
    ("scatter(.., reduction='mean')", "torch.index_reduce(.., 'mean')"): (
        lambda t, i, u: ours.scatter(t, i, u, reduction="mean"),
        lambda t, i, u: torch.index_reduce(t, 0, i, u, "mean"),
        rows,
    ),
    ("scatter_nd(table, tuples, updates)", "torch.index_put"): (
        ours.scatter_nd,
        lambda t, i, j, u: torch.index_put(t, (i, j), u),
        updated_tuples,
    ),
    ("scatter_nd(.., reduction='add')", "torch.index_put(.., accumulate=True)"): (
        lambda t, i, u: ours.scatter_nd(t, i, u, reduction="add"),
        lambda t, i, j, u: torch.index_put(t, (i, j), u, accumulate=True),
        updated_tuples,
    ),
    ("scatter_elements(.., reduction='add')", "torch.scatter_add"): (
        lambda t, i, u: ours.scatter_elements(t, i, u, 0, reduction="add"),
        lambda t, i, u: torch.scatter_add(t, 0, i, u),
        elements,
    ),
    ("scatter_elements(.., reduction='max')", "torch.scatter_reduce(.., 'amax')"): (
        lambda t, i, u: ours.scatter_elements(t, i, u, 0, reduction="max"),
        lambda t, i, u: torch.scatter_reduce(t, 0, i, u, "amax"),
        elements,
    ),
    ("scatter_elements(.., 'mean', include_self=False)", "torch.scatter_reduce(.., 'mean', include_self=False)"): (
        lambda t, i, u: ours.scatter_elements(t, i, u, 0, reduction="mean", include_self=False),
        lambda t, i, u: torch.scatter_reduce(t, 0, i, u, "mean", include_self=False),
        elements,
    ),
    ("embedding_bag(.., sparse=True)", "F.embedding_bag(.., sparse=True)"): (
        lambda t, i, o: ours.embedding_bag(i, t, o, mode="sum", sparse=True),
        lambda t, i, o: functional.embedding_bag(i, t, o, mode="sum", sparse=True),
        bags,
    ),
    ("gather_bags(.., weights=weights)", "F.embedding_bag(.., per_sample_weights=weights)"): (
        lambda t, i, o, w: ours.gather_bags(t, i, starts=o, weights=w),
        lambda t, i, o, w: functional.embedding_bag(i, t, o, mode="sum", per_sample_weights=w),
        weighted_bags,
    ),
    **{
        (f"embedding_bag(.., mode='{mode}')", f"F.embedding_bag(.., mode='{mode}')"): (
            lambda t, i, o, mode=mode: ours.embedding_bag(i, t, o, mode=mode),
            lambda t, i, o, mode=mode: functional.embedding_bag(i, t, o, mode=mode),
            bags,
        )
        for mode in ("sum", "mean", "max")
    },
}


def forward(call: Call, *operands: torch.Tensor) -> Callable[[], Any]:
    return lambda: call(*operands)


def with_backward(call: Call, *operands: torch.Tensor) -> Callable[[], Any]:
    given = [operand.clone().requires_grad_(operand.is_floating_point()) for operand in operands]
    leaves = [operand for operand in given if operand.requires_grad]
    gradient = torch.randn_like(call(*operands))

    def run() -> None:
        for leaf in leaves:
            leaf.grad = None
        call(*given).backward(gradient)

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


def measured() -> Iterator[Row]:
    torch.set_num_threads(1)
    table = torch.randn(TABLE, DIM)
    for (own, other), (run, reference, draw) in CALLS.items():
        for name, prepared in (("forward", forward), ("with backward", with_backward)):
            found = []
            for count in ROWS:
                given, theirs = draw(count)
                calls = {"ours": (run, given), "theirs": (reference, theirs), "again": (reference, theirs)}
                found.append(compared({kind: prepared(call, table, *rest) for kind, (call, rest) in calls.items()}))
            yield own, other, name, found


def import_times() -> tuple[float, float]:
    """Returns the milliseconds of CPU that the imports of torch and then of this package take."""
    code = (
        "import time; start = time.process_time(); import torch; middle = time.process_time(); "
        "import libgather.torch; print(middle - start, time.process_time() - middle)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = [sys.executable, "-c", code]
    runs = [subprocess.check_output(run, env=environment, text=True).split() for _ in range(5)]
    first, second = (statistics.median(float(run[k]) * 1000 for run in runs) for k in (0, 1))
    return first, second


def processor() -> str:
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return next((line.split(": ")[1] for line in info.splitlines() if line.startswith("model name")), "unknown")


def table_of(rows: list[Row]) -> str:
    """Returns the table of the README. The rows with the highest ratios are the first ones."""
    heads = " | ".join(f"{count:,} rows" if count > 1 else "1 row" for count in ROWS)
    lines = [f"| libgather.torch | compared with | pass | {heads} |", "|---|---|---|---|---|---|"]
    for own, other, name, found in sorted(rows, key=lambda row: -max(ratio for ratio, _, _ in row[3])):
        lines.append(f"| `{own}` | `{other}` | {name} | {' | '.join(f'{ratio:.2f}' for ratio, _, _ in found)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if not {*arguments} <= {"--write"} or not ours.is_compiled():
        print(__doc__)
        return 2
    rows = []
    load = os.getloadavg()[0]
    of_torch, own_import = import_times()
    print(f"import: torch {of_torch:.0f} ms, libgather.torch {own_import:.0f} ms more", flush=True)
    for row in measured():
        own, other, name, found = row
        cells = "  ".join(f"{ratio:5.2f} ({again:.2f}, {time / 1000:7.1f} us)" for ratio, again, time in found)
        print(f"{cells}  {name:13} {own:40} {other}", flush=True)
        rows.append(row)
    if arguments:
        text = README.read_text(encoding="utf-8")
        head, rest = text.split(BEGIN)
        release, loads = torch.__version__.partition("+")[0], f"{load:.0f} to {os.getloadavg()[0]:.0f}"
        place = f"On {date.today()}, the processor was {processor()}, with torch {release} and a load of {loads}."
        imports = f"After torch, the import takes {own_import:.0f} ms of CPU."
        made = f"{place} {imports}\n\n{table_of(rows)}"
        README.write_text(f"{head}{BEGIN}{made}{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
