"""A small call of each kind against NumPy's, as ratios: one process, interleaved, the median of many rounds.

python bench.py [--markdown]
"""

from __future__ import annotations

import statistics
import sys
import timeit
from typing import Any

import numpy as np

import libgather

REFERENCE = "np.take(params, indices, 0, out)"
ROUNDS, CALLS = 41, 4000


def subjects() -> dict[str, Any]:
    """Names to callables for timeit, over one row of 64 floats out of 1000."""
    params, indices = np.ones((1000, 64), "f4"), np.array([5])
    plan = libgather.Plan(params, libgather.Spec("int64", (-1,)))
    out = np.empty((1, 64), "f4")
    names: dict[str, Any] = {"np": np, "gather": libgather.gather, "params": params, "indices": indices, "out": out}
    names |= {"plan": plan, "bound": plan.bind(params, indices, out)}
    statements = [
        REFERENCE,
        "params.take(indices, 0, out, 'clip')",
        "bound()",
        "plan(params, indices, out)",
        "gather(params, indices, out=out)",
        "gather(params, indices)",
        "np.take(params, indices, 0)",
    ]
    try:
        import torch
    except ImportError:
        print("torch is not installed: torch.index_select is left out", file=sys.stderr)
    else:
        names |= {"torch": torch, "tp": torch.from_numpy(params), "ti": torch.from_numpy(indices)}
        names["to"] = torch.from_numpy(out)
        statements.append("torch.index_select(tp, 0, ti, out=to)")
    return {statement: timeit.Timer(statement, globals=names) for statement in statements}


def main() -> None:
    timers = subjects()
    rounds: dict[str, list[float]] = {statement: [] for statement in timers}
    for _ in range(ROUNDS):
        for statement, timer in timers.items():
            rounds[statement].append(timer.timeit(CALLS) / CALLS * 1e9)
    for statement, times in rounds.items():
        ratio = statistics.median(t / r for t, r in zip(times, rounds[REFERENCE], strict=True))
        if "--markdown" in sys.argv:
            print(f"| `{statement}` | {ratio:.2f} |")
        else:
            print(f"{ratio:6.2f} x {min(times):7.0f} ns  {statement}")


if __name__ == "__main__":
    main()
