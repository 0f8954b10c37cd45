"""Prints by how much the memory of the process grows in calls of each operator. test_torch.py runs this.

torch_leaks.py [CALLS]
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import libgather
import libgather.torch as ours

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000 if os.environ.get("GATHER_LONG") else 20_000
#: A leak of one small object in twenty calls exceeds this limit after 20,000 calls.
LIMIT_KIB = 64

torch.set_num_threads(1)
table, ids, rows = torch.randn(64, 8), torch.tensor([2, 0, 2]), torch.randn(3, 8)
places, starts, weights = torch.zeros(3, 8, dtype=torch.long), torch.tensor([0, 2]), torch.ones(3)
leaf, updates, factors = (each.clone().requires_grad_() for each in (table, rows, weights))


def error() -> None:
    with contextlib.suppress(libgather.IndexError):
        ours.gather(table, torch.tensor([99]))


FORWARD: dict[str, Callable[[], Any]] = {
    "gather": lambda: ours.gather(table, ids),
    "gather of a list": lambda: ours.gather(table, [1, 2]),
    "gather with a fill value": lambda: ours.gather(table, ids, fill_value=2.0),
    "error": error,
    "gather_nd": lambda: ours.gather_nd(table, ids[:, None]),
    "gather_elements": lambda: ours.gather_elements(table, places, 0),
    "take_along_dim": lambda: ours.take_along_dim(table, places, 0),
    "scatter": lambda: ours.scatter(table, ids, rows),
    "scatter_nd": lambda: ours.scatter_nd(table, ids[:, None], rows),
    "scatter_elements": lambda: ours.scatter_elements(table, places, rows, 0, reduction="add"),
    "index_add": lambda: ours.index_add(table, 0, ids, rows),
    "embedding": lambda: ours.embedding(ids, table, 0),
    "gather_bags": lambda: ours.gather_bags(table, ids, starts=starts, weights=weights),
    "embedding_bag": lambda: ours.embedding_bag(ids, table, starts),
}
#: Calls, whose results have gradients of the shape of `rows`, `table` or two rows.
BACKWARD: dict[str, tuple[Callable[[], Any], torch.Tensor]] = {
    "gather": (lambda: ours.gather(leaf, ids), rows),
    "gather_nd": (lambda: ours.gather_nd(leaf, ids[:, None]), rows),
    "gather_elements": (lambda: ours.gather_elements(leaf, places, 0), rows),
    "scatter": (lambda: ours.scatter(leaf, ids, updates), table),
    "scatter with mul": (lambda: ours.scatter(leaf, ids, updates, reduction="mul"), table),
    "scatter_nd with add": (lambda: ours.scatter_nd(leaf, ids[:, None], updates, reduction="add"), table),
    "scatter_elements with max": (lambda: ours.scatter_elements(leaf, places, updates, 0, reduction="max"), table),
    "embedding": (lambda: ours.embedding(ids, leaf, 0), rows),
    "sparse embedding": (lambda: ours.embedding(ids, leaf, sparse=True), rows),
    "gather_bags": (lambda: ours.gather_bags(leaf, ids, starts=starts, weights=factors), table[:2]),
    "embedding_bag, mean": (lambda: ours.embedding_bag(ids, leaf, starts), table[:2]),
    "scatter with mean": (
        lambda: ours.scatter(leaf, ids, updates, reduction="mean", include_self=False, padding_index=0),
        table,
    ),
    "sparse embedding_bag": (lambda: ours.embedding_bag(ids, leaf, starts, mode="sum", sparse=True), table[:2]),
    "embedding_bag, max": (lambda: ours.embedding_bag(ids, leaf, starts, mode="max"), table[:2]),
}


def with_backward(call: Callable[[], Any], gradient: torch.Tensor) -> Callable[[], Any]:
    inputs = [each for each in (leaf, updates, factors) if each.requires_grad]
    return lambda: torch.autograd.grad(call(), inputs, gradient, allow_unused=True)


def kib() -> int:
    """Returns the memory of the process without mapped files."""
    gc.collect()
    resident, shared = map(int, Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3])
    return (resident - shared) * 4


def growth(call: Callable[[], Any]) -> int:
    """Returns by how much memory grows. A leak grows in each round, and the caches of an allocator grow once."""
    for _ in range(2000):  # fills caches
        call()
    grown = LIMIT_KIB + 1
    for _ in range(2):
        if grown > LIMIT_KIB:
            before = kib()
            for _ in range(CALLS):
                call()
            grown = kib() - before
    return grown


def main() -> int:
    calls = FORWARD | {f"{name}, backward": with_backward(*given) for name, given in BACKWARD.items()}
    worst = 0
    for name, call in calls.items():
        grown = growth(call)
        print(f"{grown:6} KiB in {CALLS:,} calls of {name}", flush=True)
        worst = max(worst, grown)
    return worst > LIMIT_KIB


if __name__ == "__main__":
    sys.exit(main())
