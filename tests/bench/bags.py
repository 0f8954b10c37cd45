"""The contestants of bags: rows that are gathered by runs of ids, and pooled to one row each."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from cells import BagsCell
from contestants import Gather, module
from library import GATHER_BAGS, POOLS, Library, Options, describe, request


@dataclass
class BagsCase:
    """The memory of a cell. Tables and weights are small integers, so that sums are exact in every order."""

    cell: BagsCell
    tables: list[np.ndarray]  # float32
    ids: list[list[np.ndarray]]  # ids[k][t]: the ids of set k for table t
    offsets: np.ndarray
    weights: np.ndarray | None
    out: np.ndarray  # [bags, columns of all tables]

    @classmethod
    def make(cls, cell: BagsCell, sets: int, random: np.random.Generator) -> BagsCase:
        rows, columns, ids = cell.table // cell.row, cell.row // 4, cell.bags * cell.length
        # A large table repeats a part. Its rows still differ in the caches.
        part = random.integers(-8, 9, (min(rows, 1 << 16), columns)).astype(np.float32)
        tables = [np.resize(part, (rows, columns)) for _ in range(cell.tables)]
        drawn = [[random.integers(0, rows, ids) for _ in tables] for _ in range(sets)]
        weights = random.integers(1, 5, ids).astype(np.float32) if cell.weighted else None
        offsets = np.arange(cell.bags + 1) * cell.length
        return cls(cell, tables, drawn, offsets, weights, np.zeros((cell.bags, columns * cell.tables), np.float32))

    def expected(self, k: int) -> np.ndarray:
        """Returns the expected output by adding one id of each bag after the other."""
        pooled = []
        for table, ids in zip(self.tables, self.ids[k], strict=True):
            rows = table[ids] if self.weights is None else table[ids] * self.weights[:, None]
            each = rows.reshape(self.cell.bags, self.cell.length, -1)
            total = each[:, 0].copy()
            for place in range(1, self.cell.length):
                total = np.maximum(total, each[:, place]) if self.cell.pool == "max" else total + each[:, place]
            pooled.append(total / np.float32(self.cell.length) if self.cell.pool == "mean" else total)
        return np.concatenate(pooled, axis=1)


# ---- ours


def ours(library: Library, case: BagsCase) -> Iterator[tuple[str, Gather]]:
    """Yields one call for all tables. Each writes its columns of the output."""
    columns, options = case.cell.row // 4, Options(size=ctypes.sizeof(Options), pool=POOLS[case.cell.pool])
    bags, weights = describe(case.offsets), None if case.weights is None else describe(case.weights)
    outs = [case.out[:, columns * place :][:, :columns] for place in range(case.cell.tables)]
    requests = [
        [
            request(GATHER_BAGS, describe(table), describe(one), describe(out), options, bags=bags, weights=weights)
            for table, one, out in zip(case.tables, ids, outs, strict=True)
        ]
        for ids in case.ids
    ]
    pointers = [(ctypes.c_void_p * len(each))(*map(ctypes.addressof, each)) for each in requests]
    run, count = library.functions.gth_run_many, ctypes.c_int64(case.cell.tables)

    def gather(k: int, _kept: Any = requests) -> np.ndarray:
        if run(None, count, pointers[k], None):
            raise RuntimeError("gth_run_many failed")
        return case.out

    yield "many", gather


def package(case: BagsCase) -> Iterator[tuple[str, Gather]]:
    libgather = module("libgather")
    if libgather is None or case.cell.tables > 1:
        return
    table, pool, offsets, weights, out = case.tables[0], case.cell.pool, case.offsets, case.weights, case.out
    yield (
        "Python out",
        lambda k: libgather.gather_bags(table, case.ids[k][0], offsets=offsets, weights=weights, pool=pool, out=out),
    )


# ---- peers


def joined(case: BagsCase, pool: Callable[[int, int], np.ndarray]) -> Gather:
    """Returns a contestant that pools each table by a call of its own."""
    if case.cell.tables == 1:
        return lambda k: pool(0, k)
    return lambda k: np.concatenate([pool(place, k) for place in range(case.cell.tables)], axis=1)


def numpy_functions(case: BagsCase) -> Iterator[tuple[str, Gather]]:
    reduce = np.maximum.reduceat if case.cell.pool == "max" else np.add.reduceat

    def pool(place: int, k: int) -> np.ndarray:
        rows = np.take(case.tables[place], case.ids[k][place], axis=0)
        if case.weights is not None:
            rows *= case.weights[:, None]
        pooled = reduce(rows, case.offsets[:-1])
        return pooled / np.float32(case.cell.length) if case.cell.pool == "mean" else pooled

    yield "take, reduceat", joined(case, pool)


def torch_functions(case: BagsCase) -> Iterator[tuple[str, Gather]]:
    torch = module("torch")
    if torch is None:
        return
    tables, offsets = [torch.from_numpy(each) for each in case.tables], torch.from_numpy(case.offsets[:-1].copy())
    ids = [[torch.from_numpy(one) for one in each] for each in case.ids]
    weights = None if case.weights is None else torch.from_numpy(case.weights)
    bag = torch.nn.functional.embedding_bag

    def pool(place: int, k: int) -> Any:
        return bag(ids[k][place], tables[place], offsets, mode=case.cell.pool, per_sample_weights=weights)

    if case.cell.tables == 1:
        yield "embedding_bag", lambda k: pool(0, k)
    else:
        yield "embedding_bag, cat", lambda k: torch.cat([pool(place, k) for place in range(len(tables))], 1)


PEERS: dict[str, Callable[[BagsCase], Iterator[tuple[str, Gather]]]] = {
    "numpy": numpy_functions,
    "torch": torch_functions,
}
