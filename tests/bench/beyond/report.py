"""docs/beyond.md out of what was measured."""

from __future__ import annotations

import re
import statistics
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
from machines import AGAIN, NETWORK, simulate
from plot import draw
from rounds import ROW_BYTES, ratio

Seconds = dict[str, list[float]]
OURS, BARE = "libgather", "bare actors"
COLOURS = {OURS: "#0b6e4f", BARE: "#c8553d", "with replicas": "#3a6ea5", "NumPy": "#c8553d"}
MACHINES = (1, 4, 10, 25, 50, 100)


def median(times: list[float]) -> float:
    return statistics.median(times)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def setting(part: dict[str, Any]) -> str:
    facts = part["facts"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return f"{facts['date']}, {facts['processor']}, {facts['cores']} cores, load {facts['load']:.1f} before; {versions}"


# --------------------------------------------------------------------------------------------------------------- steps


def steps_table(record: dict[str, Any]) -> str:
    rows = []
    for each in record["steps"]["results"]:
        number = each["repeats"] * each["count"]
        ns = [f"{median(each[step][OURS]) / number * 1e9:.1f}" for step in ("partition", "gather", "join")]
        ns[1] = f"{median(each['gather'][OURS]) * each['shards'] / number * 1e9:.1f}"  # of one shard's rows
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
        speed = [f"{each['count'] / median(seconds[name]) / 1e6:.2f}" for name in (OURS, BARE)]
        times = [f"{median(seconds[name]) * 1e3:.2f}" for name in (OURS, BARE)]
        rows.append([str(each["shards"]), f"{each['count']:,}", *times, *speed, f"{ratio(seconds, BARE, OURS):.2f}"])
    return table(["shards", "ids", "ms", "ms, bare", "million rows/s", "million rows/s, bare", "speed, of bare"], rows)


def growth(record: dict[str, Any], count: int, name: str) -> dict[int, float]:
    tables = [each for each in record["ray"]["results"] if each["count"] == count]
    return {each["shards"]: count / median(each["seconds"][name]) / 1e6 for each in tables}


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
        "`vindex` / ours",
        "`x[ids]` / ours",
    ]
    return table(head, rows)


def best_of(seconds: Seconds) -> str:
    """Ours, with the chunks of the result that suit it."""
    return min(("take, one block", "take"), key=lambda name: median(seconds[name]))


# ------------------------------------------------------------------------------------------------------------ machines


def costs_of(record: dict[str, Any]) -> dict[str, float]:
    """Seconds a row of each step, at 100,000 ids of 8 shards, and of sending one call."""
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
    head = ["ids", "machines", "asked", "MB to the caller", "ms", "ms, 99 in 100", "ms, with replicas", "99 in 100"]
    return table(head, rows)


def plots(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A name and a drawing of each."""
    for count in (256, 4096, 100_000):
        lines = {name: growth(record, count, name) for name in (OURS, BARE)}
        yield f"ray-{count}", draw(f"Ray, {count:,} ids: million rows/s by shards", lines, COLOURS)
    lines = {
        name: {machines: simulated(record, machines, 4096, again)["p99"] * 1e3 for machines in MACHINES}
        for name, again in ((OURS, False), ("with replicas", True))
    }
    yield "machines", draw("4,096 ids on paper: ms of 99 in 100 by machines", lines, COLOURS)
    results = [each for each in record["steps"]["results"] if each["shards"] == 8]
    lines = {
        name: {each["count"]: median(each["both"][name]) / each["repeats"] / each["count"] * 1e9 for each in results}
        for name in (OURS, "NumPy")
    }
    yield "steps", draw("8 shards: ns a row of dealing out and the way back, by ids", lines, COLOURS)


# --------------------------------------------------------------------------------------------------------------- wishes


def share(number: int, of: int) -> str:
    return "all" if number == of else f"{number} of {of}"


def wishes(record: dict[str, Any]) -> str:
    """What was aimed at, and how far it was reached."""
    tables = [each for each in record["ray"]["results"] if each["shards"] == 2]
    ray = {each["count"]: ratio(each["seconds"], BARE, OURS) for each in tables}
    steps = [(each["count"], ratio(each["both"], "NumPy", OURS)) for each in record["steps"]["results"]]
    dask = {
        name: {other: ratio(seconds, other, best_of(seconds)) for other in ("vindex", "x[ids]")}
        for name, seconds in record["dask"]["results"].items()
    }
    rows = [
        [f"Ray, 2 shards, {count:,} ids: 0.9 of the speed of bare actors", f"{found:.2f}", yes(found >= 0.9)]
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
    return table(["aimed at", "found", "reached"], rows)


def wrapped(text: str) -> str:
    """Paragraphs and items filled; tables, titles and pictures as they are."""
    blocks = []
    for block in text.split("\n\n"):
        items = re.split(r"\n(?=- )", block)
        if not block.startswith(("|", "#", "!")):
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

What a gather costs whose table lies in several processes or machines: by [Ray](python/ray.md), by
[dask](python/dask.md), and step by step. Made by `python3 tests/bench/beyond` from what it measured;
contestants take turns in every round, a ratio is the median of those of the rounds, and what they compute is
compared first. The table is 2.6 million rows of 100 float32 (1.04 GB) in a file that the system has in memory;
ids are drawn evenly.

## Aims

{wishes(record)}

Where it says no, this is the limit:

- dask's time goes to tasks. `take` has one for each chunk that is touched and one for each block of the result;
  `vindex` and `x[ids]` have at least one for each chunk that a block touches, blocks being as long as chunks. So they
  fall behind as chunks become shorter and more: 50,000 ids are 20 blocks of 2,600 rows, and 2 of 26,000. Where there
  are 2, dask's own ways have hardly more tasks than `take`, and nothing much is left to gain.

## Steps

Nanoseconds a row, in one process. {setting(record["steps"])}

{steps_table(record)}

*gather* is that of one shard, as if the shards took turns. *ratio* is how many times as long NumPy takes, with
a stable sort by shard, and rows put in order by its inverse. Of few ids the calls from Python bind, a `partition` and a
`join` of some microseconds whatever they are given; of many ids the rows do: both sides read each from a shard's answer
and write it where it belongs.

![8 shards: dealing out and the way back](beyond-steps.svg)

## Ray

`ShardedTable.from_file` beside actors with `np.take` and buckets written by hand, which neither judge ids nor
wait with a time-out. All on one machine: more shards mean more processes on the same cores.
{setting(record["ray"])}

{ray_table(record)}

![256 ids](beyond-ray-256.svg)
![4,096 ids](beyond-ray-4096.svg)
![100,000 ids](beyond-ray-100000.svg)

## dask

Seconds for 50,000 ids. {setting(record["dask"])}

{dask_table(record)}

## A hundred machines, on paper

No cluster was at hand: this is a simulation (`tests/bench/beyond/machines.py`) with the costs that were
measured here. A row takes {costs["partition"] * 1e9:.0f} ns to be dealt out,
{costs["gather"] * 1e9:.0f} ns to be gathered and {costs["join"] * 1e9:.0f} ns to be put where it belongs; to
send a call takes the caller {costs["send"] * 1e3:.2f} ms, as long as it takes Ray in Python; a call varies as the
{len(record["calls"]["results"]["whole"]):,} measured ones did; a network card moves
{NETWORK / 1e9:.1f} GB/s, which is assumed. With replicas, a call that is not back when {AGAIN:.0%} are is sent
to another machine. `ShardedTable` asks a replica only when the time-out is over; what asking earlier would gain
is in the last columns. Calls: {setting(record["calls"])}.

{machines_table(record)}

![99 in 100, by machines](beyond-machines.svg)

Each machine that is asked is one more call, and the slowest of all calls is what is waited for: few ids are dearer
the more machines there are. Of many ids most of the time is the caller's own, which more machines do not share: all
rows come through its card, and it puts them where they belong. Network bytes do not depend on the number of machines.
""")
