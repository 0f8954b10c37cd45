"""Prints the cost of calls from Python in nanoseconds, one per line.

A call gathers 4 bytes that are in the L1 cache.
"""

import statistics
import timeit

import numpy as np

import libgather

ROUNDS, CALLS = 41, 2000


def main() -> None:
    params, indices, out = np.ones(64, "f4"), np.array([7]), np.empty(1, "f4")
    plan, open_plan = (libgather.Plan(params, libgather.Spec("int64", (extent,))) for extent in (1, -1))
    names = {"gather": libgather.gather, "params": params, "indices": indices, "out": out}
    names |= {"bound": plan.bind(params, indices, out), "open": open_plan}
    statements = {
        "plan run": "bound()",
        "plan run, open extent": "open(params, indices, out)",
        "gather into an output, operands described in each call": "gather(params, indices, out=out)",
        "gather with a new output": "gather(params, indices)",
    }
    timers = {name: timeit.Timer(statement, globals=names) for name, statement in statements.items()}
    rounds = [{name: timer.timeit(CALLS) / CALLS * 1e9 for name, timer in timers.items()} for _ in range(ROUNDS)]
    for name in timers:
        print(f"{name}\t{statistics.median(times[name] for times in rounds):.0f}")


if __name__ == "__main__":
    main()
