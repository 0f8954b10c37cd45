"""The contestants of a gather along an axis that is not the first, with and without batch dims."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from cells import AxisCell
from contestants import Gather, module, onnx_node, planned
from library import GATHER, Library, Options


@dataclass
class AxisCase:
    """params [outer, rows, row], out [outer, each, row], indices [each], or [outer, each] with batch dims."""

    cell: AxisCell
    params: np.ndarray  # float32
    ids: list[np.ndarray]
    out: np.ndarray
    cores: int

    @classmethod
    def make(cls, cell: AxisCell, sets: int, cores: int, random: np.random.Generator) -> AxisCase:
        params = random.random((cell.outer, cell.rows, cell.row // 4), np.float32)
        shape = (cell.outer, cell.each) if cell.batched else (cell.each,)
        ids = [random.integers(0, cell.rows, shape) for _ in range(sets)]
        return cls(cell, params, ids, np.empty((cell.outer, cell.each, cell.row // 4), np.float32), cores)

    def expected(self, k: int) -> np.ndarray:
        """Returns the expected rows, taken from a flat table. No contestant works in this way."""
        first = np.arange(self.cell.outer)[:, None] * self.cell.rows
        return self.params.reshape(-1, self.params.shape[2])[first + self.ids[k]]


def ours(library: Library, case: AxisCase) -> Iterator[tuple[str, Gather]]:
    batch_dims = 1 if case.cell.batched else 0
    options = Options(size=ctypes.sizeof(Options), has_axis=1, axis=1, batch_dims=batch_dims)
    plan = library.plan(GATHER, case.params, case.ids[0], options)
    yield "plan", planned(library, plan, case.params, case.ids, case.out)


def package(case: AxisCase) -> Iterator[tuple[str, Gather]]:
    libgather = module("libgather")
    if libgather is not None:
        gather, params, ids, out = libgather.gather, case.params, case.ids, case.out
        batch_dims = 1 if case.cell.batched else 0
        yield "Python out", lambda k: gather(params, ids[k], axis=1, batch_dims=batch_dims, out=out)


def numpy_take(case: AxisCase) -> Iterator[tuple[str, Gather]]:
    params, out, ids = case.params, case.out, case.ids
    if case.cell.batched:
        first = np.arange(case.cell.outer)[:, None]
        yield "p[b, i]", lambda k: params[first, ids[k]]
        return
    yield "take out", lambda k: np.take(params, ids[k], axis=1, out=out)
    yield "take out clip", lambda k: np.take(params, ids[k], axis=1, out=out, mode="clip")


def torch_functions(case: AxisCase) -> Iterator[tuple[str, Gather]]:
    torch = module("torch")
    if torch is None:
        return
    params, out = torch.from_numpy(case.params), torch.from_numpy(case.out)
    sets = [torch.from_numpy(ids) for ids in case.ids]
    wide = [ids.reshape(-1, case.cell.each, 1).expand(*out.shape) for ids in sets]
    if not case.cell.batched:
        yield "index_select out", lambda k: torch.index_select(params, 1, sets[k], out=out)
    yield "gather out", lambda k: torch.gather(params, 1, wide[k], out=out)


def onnx_runtime(case: AxisCase) -> Iterator[tuple[str, Gather]]:
    if not case.cell.batched:
        return onnx_node("Gather", [(case.params, ids) for ids in case.ids], case.out, False, case.cores, axis=1)
    tuples = [(case.params, np.ascontiguousarray(ids[..., None])) for ids in case.ids]
    return onnx_node("GatherND", tuples, case.out, False, case.cores, batch_dims=1)


PEERS: dict[str, Callable[[AxisCase], Iterator[tuple[str, Gather]]]] = {
    "numpy": numpy_take,
    "torch": torch_functions,
    "onnxruntime": onnx_runtime,
}
