"""Writes docs/beyond.md from the measurements."""

from __future__ import annotations

import re
import statistics
import textwrap
from typing import Any

import numpy as np
from machines import AGAIN, NETWORK, simulate
from rounds import ROW_BYTES, ratio

Seconds = dict[str, list[float]]
OURS, BASELINE = "libgather", "bare actors"
MACHINES = (1, 4, 10, 25, 50, 100)


def median(times: list[float]) -> float:
    return statistics.median(times)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def setting(part: dict[str, Any]) -> str:
    facts = part["facts"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"This was measured on {facts['date']} on {facts['processor']}, {facts['cores']} cores, with {versions}. "
        f"The load average before the run was {facts['load']:.1f}."
    )


# --------------------------------------------------------------------------------------------------------------- steps


def steps_table(record: dict[str, Any]) -> str:
    rows = []
    for each in record["steps"]["results"]:
        number = each["repeats"] * each["count"]
        ns = [f"{median(each[step][OURS]) / number * 1e9:.1f}" for step in ("partition", "gather", "join")]
        ns[1] = f"{median(each['gather'][OURS]) * each['shards'] / number * 1e9:.1f}"  # one shard is measured
        both, numpys = median(each["both"][OURS]) / number, median(each["both"]["NumPy"]) / number
        against = ratio(each["both"], "NumPy", OURS)
        rows.append([
            f"{each['count']:,}", str(each["shards"]), *ns,
            f"{both * 1e9:.1f}", f"{numpys * 1e9:.1f}", f"{against:.2f}",
        ])  # fmt: skip
    head = ["ids", "shards", "partition", "gather", "join", "partition + join", "argsort + un-permute", "ratio"]
    return table(head, rows)


# ----------------------------------------------------------------------------------------------------------------- ray


def ray_table(record: dict[str, Any]) -> str:
    rows = []
    for each in record["ray"]["results"]:
        seconds = each["seconds"]
        speed = [f"{each['count'] / median(seconds[name]) / 1e6:.2f}" for name in (OURS, BASELINE)]
        times = [f"{median(seconds[name]) * 1e3:.2f}" for name in (OURS, BASELINE)]
        rows.append(
            [str(each["shards"]), f"{each['count']:,}", *times, *speed, f"{ratio(seconds, BASELINE, OURS):.2f}"]
        )
    head = [
        "shards",
        "ids",
        "ms",
        "baseline (ms)",
        "million rows/s",
        "baseline (million rows/s)",
        "baseline / libgather",
    ]
    return table(head, rows)


# ---------------------------------------------------------------------------------------------------------------- dask


def dask_table(record: dict[str, Any]) -> str:
    rows = []
    for setting_, seconds in record["dask"]["results"].items():
        times = [f"{median(times):.2f}" for times in seconds.values()]
        against = [f"{ratio(seconds, other, best_of(seconds)):.1f}" for other in ("vindex", "x[ids]")]
        rows.append([setting_, *times, *against])
    head = [
        "",
        "`take`, `out_chunks=-1`",
        "`take`",
        "`x.vindex[ids]`",
        "`x[ids]`",
        "`vindex` / `take`",
        "`x[ids]` / `take`",
    ]
    return table(head, rows)


def best_of(seconds: Seconds) -> str:
    """Returns the faster of the two calls of libgather, which differ in the chunks of the result."""
    return min(("take, one block", "take"), key=lambda name: median(seconds[name]))


# ------------------------------------------------------------------------------------------------------------ machines


def costs_of(record: dict[str, Any]) -> dict[str, float]:
    """Returns the seconds per row of each step, for 100,000 ids and 8 shards, and the seconds of sending a call."""
    (each,) = [each for each in record["steps"]["results"] if (each["count"], each["shards"]) == (100_000, 8)]
    number = each["repeats"] * each["count"]
    costs = {step: median(each[step][OURS]) / number for step in ("partition", "join")}
    costs["gather"] = median(each["gather"][OURS]) * each["shards"] / number
    costs["send"] = median(record["calls"]["results"]["sent"])
    return costs


def simulated(record: dict[str, Any], machines: int, count: int, again: bool) -> dict[str, float]:
    calls = np.array(record["calls"]["results"]["whole"])
    return simulate(machines, count, ROW_BYTES, costs_of(record), calls, again)


def machines_table(record: dict[str, Any]) -> str:
    rows = []
    for count in (256, 4096, 100_000):
        for machines in MACHINES:
            plain, again = (simulated(record, machines, count, again) for again in (False, True))
            rows.append([
                f"{count:,}", str(machines), f"{plain['asked']:.0f}", f"{plain['bytes'] / 1e6:.2f}",
                *(f"{each[key] * 1e3:.1f}" for each in (plain, again) for key in ("median", "p99")),
            ])  # fmt: skip
    head = ["ids", "machines", "machines with ids", "MB to the caller", "median (ms)", "p99 (ms)"]
    head += ["median with replicas (ms)", "p99 with replicas (ms)"]
    return table(head, rows)


# ----------------------------------------------------------------------------------------------------------------- aims


def share(number: int, of: int) -> str:
    return "all" if number == of else f"{number} of {of}"


def aims(record: dict[str, Any]) -> str:
    """Returns the table of aims and measured values."""
    tables = [each for each in record["ray"]["results"] if each["shards"] == 2]
    ray = {each["count"]: ratio(each["seconds"], BASELINE, OURS) for each in tables}
    steps = [(each["count"], ratio(each["both"], "NumPy", OURS)) for each in record["steps"]["results"]]
    dask = {
        name: {other: ratio(seconds, other, best_of(seconds)) for other in ("vindex", "x[ids]")}
        for name, seconds in record["dask"]["results"].items()
    }
    rows = [
        [f"Ray, 2 shards, {count:,} ids: 0.9 of the speed of the baseline", f"{found:.2f}", yes(found >= 0.9)]
        for count, found in ray.items()
    ]
    for count in sorted({count for count, _ in steps}):
        found = [each for at, each in steps if at == count]
        rows.append([
            f"{count:,} ids: partition + join in half the time of argsort + un-permute",
            f"{min(found):.2f} to {max(found):.2f} times as fast", yes(min(found) >= 2),
        ])  # fmt: skip
    for name, found in dask.items():
        rows.append([
            f"dask, {name}: 20 times as fast as `x[ids]`, 4 times as `vindex`",
            f"{found['x[ids]']:.1f}, {found['vindex']:.1f}", yes(found["x[ids]"] >= 20 and found["vindex"] >= 4),
        ])  # fmt: skip
    return table(["Aim", "Measured", "Reached"], rows)


def wrapped(text: str) -> str:
    """Wraps paragraphs and list items. Tables and titles are unchanged."""
    blocks = []
    for block in text.split("\n\n"):
        items = re.split(r"\n(?=- )", block)
        if not block.startswith(("|", "#")):
            items = [
                textwrap.fill(" ".join(item.split()), 120, subsequent_indent="  " * item.startswith("- "))
                for item in items
            ]
        blocks.append("\n".join(items))
    return "\n\n".join(blocks).rstrip() + "\n"


def yes(reached: bool) -> str:
    return "yes" if reached else "no"


def report(record: dict[str, Any]) -> str:
    costs = costs_of(record)
    return wrapped(f"""# Beyond one process

`python3 tests/bench/beyond` measures the times on this page and writes it. It compares ways to gather from a table that
is split over several processes or machines. The first tables have the steps without a framework.
[Ray](python/ray.md) and [dask](python/dask.md) have pages of their own.
Contestants take turns in each round. A ratio is the median of the ratios of the rounds. The results of contestants
are compared before they are timed. The table has 2.6 million rows of 100 float32 (1.04 GB). It is a file in the page
cache. Ids are uniformly distributed.

## Aims

{aims(record)}

The aims that are not reached are those of dask. Its scheduler limits them:

- Each task costs dask time. `take` has one task for each chunk with ids and one for each block of the result.
  `vindex` and `x[ids]` have at least one task for each chunk in each block. A block is as long as a chunk. So `take`
  saves the most time if a table has many short chunks. 50,000 ids are 20 blocks of 2,600 rows, or 2 blocks of 26,000
  rows. With 2 blocks, dask has hardly more tasks than `take`.

## Steps

The table shows nanoseconds for each row, in one process. {setting(record["steps"])}

{steps_table(record)}

*gather* is the time of one shard multiplied by the number of shards, as if they ran one after the other. *ratio* is
the time of NumPy divided by the time of libgather. NumPy sorts ids by shard with a stable sort, and orders the rows
by the inverse permutation. With few ids, the Python calls take most of the time: `partition` and `join` need some
microseconds for any number of ids. With many ids, the rows take most of the time: both sides read each row from the
answer of a shard and write it to its position.

## Ray

The table compares `ShardedTable.from_file` with a baseline: actors that are written by hand with `np.take`. The
baseline does not validate ids and has no time-out. All processes run on one machine, so more shards mean more
processes on the same cores. {setting(record["ray"])}

{ray_table(record)}

## dask

The table shows seconds for 50,000 ids. {setting(record["dask"])}

{dask_table(record)}

## Simulation of a hundred machines

No cluster was available. This is a simulation (`tests/bench/beyond/machines.py`) with these measured costs:

- A row takes {costs["partition"] * 1e9:.0f} ns in `partition`, {costs["gather"] * 1e9:.0f} ns in `gather` and
  {costs["join"] * 1e9:.0f} ns in `join`.
- Sending a call takes the caller {costs["send"] * 1e3:.2f} ms, measured with Ray.
- The duration of a call is drawn from {len(record["calls"]["results"]["whole"]):,} measured calls.

A network card is assumed to move {NETWORK / 1e9:.1f} GB/s. With replicas, a call that takes longer than {AGAIN:.0%}
of the calls is sent again to another machine. `ShardedTable` uses a replica only after the time-out. The last columns
show what an earlier retry would gain. {setting(record["calls"])}

{machines_table(record)}

Each machine adds a call, and the gather ends with the slowest call. So with few ids, more machines take more time.
With many ids, the caller itself takes most of the time: all rows pass its network card, and it writes them to their
positions. More machines do not change this. The number of bytes in the network does not depend on the number of
machines.
""")
