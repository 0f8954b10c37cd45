"""Measures cells of the benchmark. All contestants of a cell take turns in one process with a given number of cores."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import axes
import bags
import contestants
import elements
import numpy as np
import scatters
import strings
from axes import AxisCase
from bags import BagsCase
from cells import AnyCell, AxisCell, BagsCell, Cell, ElementsCell, ScatterCell, ScatterElementsCell, StringsCell
from contestants import Case, Gather, bytes_of
from elements import ElementsCase
from library import Library
from scatters import ScatterCase
from strings import StringsCase

Runners = dict[str, Gather]
AnyCase = Case | ElementsCase | AxisCase | StringsCase | ScatterCase | BagsCase
KINDS: dict[type, Any] = {
    Case: contestants,
    ElementsCase: elements,
    AxisCase: axes,
    StringsCase: strings,
    ScatterCase: scatters,
    BagsCase: bags,
}

SETS = 4  # index sets of a cell: successive calls use different ones
LEAST_ROUNDS, MOST_ROUNDS = 5, 41
# A turn repeats its call until LEAST_BYTES have been moved, at most MOST_CALLS times.
LEAST_BYTES, MOST_CALLS = 64 << 10, 64


def spread(cell: Cell, random: np.random.Generator) -> np.ndarray:
    shape = (cell.count,) if cell.depth == 1 else (cell.count, cell.depth)
    if cell.spread == "zipf":
        ids = random.zipf(1.2, shape).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) % np.uint64(cell.side)
    elif cell.spread == "equal":
        ids = np.full(shape, random.integers(cell.side))
    elif cell.spread == "neighbours":
        blocks = random.integers(0, max(1, cell.side - 8), -(-cell.count // 8))
        ids = (blocks[:, None] + np.arange(8)).reshape(-1)[: cell.count] % cell.side
    else:
        ids = random.integers(0, cell.side, shape)
    if cell.spread in ("sorted", "reverse"):
        ids = np.sort(ids, axis=0)
    return np.ascontiguousarray(ids[::-1] if cell.spread == "reverse" else ids).astype(cell.index)


class Tables:
    """The memory of the tables. All cells share it."""

    def __init__(self) -> None:
        self.bytes = np.empty(0, np.uint8)

    def of(self, size: int) -> np.ndarray:
        if self.bytes.size < size:
            pattern = np.random.default_rng(1).integers(0, 256, min(size, 1 << 20), np.uint8)
            self.bytes = np.resize(pattern, size)
            # Rows at a distance of a megabyte must not be equal.
            self.bytes.view(np.uint64)[:: (1 << 20) // 8] = np.arange(-(-size // (1 << 20)), dtype=np.uint64)
        return self.bytes[:size]


def expected(case: Case, k: int) -> np.ndarray:
    ids = case.ids[k].astype(np.int64)
    if case.cell.depth > 1:
        ids = np.ravel_multi_index(tuple(ids.T), (case.cell.side,) * case.cell.depth)
    return case.table.reshape(-1, case.cell.row)[ids].reshape(-1)


def check(name: str, gather: Gather, case: AnyCase) -> None:
    if isinstance(case, ScatterCase):
        case.begin()
    for k in (0, SETS - 1):
        if isinstance(case, Case | ElementsCase | AxisCase | BagsCase):
            case.out.fill(0)
        wanted = expected(case, k) if isinstance(case, Case) else case.expected(k)
        if not np.array_equal(bytes_of(gather(k)), bytes_of(wanted)):
            raise SystemExit(f"{name} differs in {case.cell}")


def rows_limits(limits: ctypes.CDLL, case: Case) -> Runners:
    cell, table, out = case.cell, case.table.ctypes.data, case.out.ctypes.data
    if cell.depth > 1 or cell.fresh or cell.index != "int64":
        return {}
    copy, touch = limits.bench_copy_bytes, limits.bench_touch
    copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    touch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int, ctypes.c_int]
    loop, validating = limits.bench_loop, limits.bench_validating_loop
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    validating.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    copy.restype = touch.restype = loop.restype = validating.restype = ctypes.c_int64
    addresses = [ids.ctypes.data for ids in case.ids]

    def touches(fetches: int) -> Gather:
        return lambda k: 1e-9 * touch(table, addresses[k], cell.count, cell.row, fetches, case.cores)

    return {
        "limit: copy": lambda _: 1e-9 * copy(out, table, case.out.size, case.table.size, case.cores),
        "limit: touch": touches(0),
        "limit: touch, fetched": touches(1),
        "limit: loop": lambda k: 1e-9 * loop(out, table, addresses[k], cell.count, cell.row, case.cores),
        "limit: validating loop": lambda k: (
            1e-9 * validating(out, table, addresses[k], cell.count, cell.row, cell.side, case.cores)
        ),
    }


def loops(
    limits: ctypes.CDLL, name: str, out: int, given: int, ids: Sequence[np.ndarray], sizes: Sequence[int]
) -> Runners:
    """Returns the loop by hand, and the loop that validates all indices first. The last of sizes is an int in C."""

    def timed(function: Any) -> Gather:
        function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * (len(sizes) - 1) + [ctypes.c_int]
        function.restype = ctypes.c_int64
        return lambda k: 1e-9 * function(out, given, ids[k].ctypes.data, *sizes)

    return {
        "limit: loop": timed(getattr(limits, f"bench_{name}_loop")),
        "limit: validating loop": timed(getattr(limits, f"bench_validating_{name}_loop")),
    }


def lines_of(cell: ElementsCell | ScatterElementsCell) -> tuple[int, int, int, int]:
    """Returns the product of the outer extents, both extents along the axis, and the product of the inner extents."""
    return prod(cell.shape[: cell.axis]), cell.shape[cell.axis], cell.extent, prod(cell.shape[cell.axis + 1 :])


def elements_limits(limits: ctypes.CDLL, case: ElementsCase) -> Runners:
    if case.cell.fresh or case.cell.index != "int64":
        return {}
    sizes = (*lines_of(case.cell), case.cores)
    return loops(limits, "elements", case.out.ctypes.data, case.params.ctypes.data, case.ids, sizes)


def update_limits(limits: ctypes.CDLL, case: ScatterCase) -> Runners:
    """Returns the loops of one thread. Several threads would need a rule for updates of the same row."""
    cell = case.cell
    if cell.into != "itself" or case.depth > 1 or case.cores > 1:
        return {}
    sizes = (1, cell.side, cell.count, 1, cell.row // 4) if isinstance(cell, ScatterCell) else (*lines_of(cell), 0)
    return loops(
        limits, "update", case.target.ctypes.data, case.updates.ctypes.data, case.ids, (*sizes, int(case.adds))
    )


def limits_of(limits: ctypes.CDLL, case: AnyCase) -> Runners:
    if isinstance(case, ScatterCase):
        return update_limits(limits, case)
    if isinstance(case, ElementsCase):
        return elements_limits(limits, case)
    return rows_limits(limits, case) if isinstance(case, Case) else {}


def calls_of(cell: AnyCell) -> int:
    """Returns the number of calls of a turn. Small calls are repeated, as in a program with many small calls."""
    row = getattr(cell, "row", 4)
    return max(1, min(MOST_CALLS, LEAST_BYTES // (cell.count * (row + 8))))


def turn_of(runner: Gather, first: int, calls: int) -> float:
    """Returns the seconds of one call. A runner that measures its own time returns it as a float."""
    reported, begin = 0.0, time.perf_counter()
    for call in range(calls):
        result = runner((first + call) % SETS)
        if isinstance(result, float):
            reported += result
        del result
    taken = time.perf_counter() - begin
    return (reported or taken) / calls


def race(runners: Runners, calls: int, seconds: float) -> dict[str, list[float]]:
    """Returns the seconds of a call in each round.

    Each round has a new random order. So the contents of the caches and spinning idle threads of one contestant affect
    all others equally.
    """
    times: dict[str, list[float]] = {name: [] for name in runners}
    names, end, order = list(runners), time.perf_counter() + seconds, np.random.default_rng(3)
    for turn in range(MOST_ROUNDS):
        if turn >= LEAST_ROUNDS and time.perf_counter() > end:
            break
        for place, name in enumerate(order.permutation(names)):
            times[name].append(turn_of(runners[name], turn + place, calls))
    return times


def summary(times: Sequence[float], cell: AnyCell) -> dict[str, float]:
    ns = sorted(1e9 * t / cell.count for t in times)
    low, median, high = statistics.quantiles(ns, n=4)
    return {"best": ns[0], "low": low, "median": median, "high": high, "rounds": len(ns)}


def make_case(cell: AnyCell, tables: Tables, cores: int) -> AnyCase:
    random = np.random.default_rng(7)
    if isinstance(cell, ElementsCell):
        return ElementsCase.make(cell, SETS, cores, random)
    if isinstance(cell, AxisCell):
        return AxisCase.make(cell, SETS, cores, random)
    if isinstance(cell, StringsCell):
        return StringsCase.make(cell, SETS, random)
    if isinstance(cell, BagsCell):
        return BagsCase.make(cell, SETS, random)
    if isinstance(cell, ScatterCell | ScatterElementsCell):
        return ScatterCase.make(cell, SETS, cores, random)
    table = tables.of(cell.table)[: cell.side**cell.depth * cell.row]
    ids = [spread(cell, random) for _ in range(SETS)]
    return Case(cell, table, ids, np.empty(cell.count * cell.row, np.uint8), cores)


def make_runners(case: AnyCase, libraries: dict[str, Library], limits: ctypes.CDLL, peers: Sequence[str]) -> Runners:
    """Returns the functions of all contestants. A key is the contestant, a colon and the name of its function."""
    kind = KINDS[type(case)]
    runners: Runners = {}
    for name, library in libraries.items():
        runners |= {f"{name}: {way}": gather for way, gather in kind.ours(library, case)}
    runners |= {f"libgather: {way}": gather for way, gather in kind.package(case)}
    if isinstance(case, Case):
        runners |= {f"loop: {way}": gather for way, gather in contestants.memcpy_loop(limits, case)}
    for peer, ways in kind.PEERS.items():
        if peer in peers:
            runners |= {f"{peer}: {way}": gather for way, gather in ways(case)}
    return runners


def measure(
    cells: Sequence[AnyCell],
    libraries: dict[str, Library],
    limits: ctypes.CDLL,
    peers: Sequence[str],
    cores: int,
    seconds: float,
    on_cell: Callable[[AnyCell], None],
) -> list[dict[str, Any]]:
    for peer in peers:  # in their order, before any cell: TensorFlow cannot be imported after JAX
        contestants.module(peer)
    tables, results = Tables(), []
    for cell in sorted(cells, key=lambda c: -c.table):
        on_cell(cell)
        case = make_case(cell, tables, cores)
        runners = make_runners(case, libraries, limits, peers)
        for name, gather in runners.items():
            check(name, gather, case)
        times = race(runners | limits_of(limits, case), calls_of(cell), seconds)
        results.append(
            {"cell": cell.facts(), "cores": cores, "ns": {name: summary(each, cell) for name, each in times.items()}}
        )
    return results
