"""The contestants of gather_elements."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from cells import ElementsCell
from contestants import Gather, module, onnx_node, planned
from library import GATHER_ELEMENTS, Library, Options, request


def flat_places(params: np.ndarray, ids: np.ndarray, axis: int) -> np.ndarray:
    """Returns the flat positions of the selected elements in params. No contestant works in this way."""
    strides = [stride // params.itemsize for stride in params.strides]
    flat = ids.astype(np.int64) * strides[axis]
    for dim, place in enumerate(np.indices(ids.shape, sparse=True)):
        if dim != axis:
            flat = flat + place * strides[dim]
    return flat


@dataclass
class ElementsCase:
    """The memory of a cell: float32 params, and index sets whose shape differs from params along the axis only."""

    cell: ElementsCell
    params: np.ndarray
    ids: list[np.ndarray]
    out: np.ndarray
    cores: int

    @classmethod
    def make(cls, cell: ElementsCell, sets: int, cores: int, random: np.random.Generator) -> ElementsCase:
        params = random.random(cell.shape, np.float32)
        shape = list(cell.shape)
        shape[cell.axis] = cell.extent
        ids = [random.integers(0, cell.shape[cell.axis], shape).astype(cell.index) for _ in range(sets)]
        return cls(cell, params, ids, np.empty(shape, np.float32), cores)

    def expected(self, k: int) -> np.ndarray:
        return self.params.reshape(-1)[flat_places(self.params, self.ids[k], self.cell.axis)]


def ours(library: Library, case: ElementsCase) -> Iterator[tuple[str, Gather]]:
    options = Options(size=ctypes.sizeof(Options), has_axis=1, axis=case.cell.axis)
    if case.cell.fresh:
        table = library.borrow(case.params)
        requests = [request(GATHER_ELEMENTS, table, library.borrow(ids), None, options) for ids in case.ids]
        yield "allocating", library.allocating(requests)
        return
    plan = library.plan(GATHER_ELEMENTS, case.params, case.ids[0], options)
    yield "plan", planned(library, plan, case.params, case.ids, case.out)


def package(case: ElementsCase) -> Iterator[tuple[str, Gather]]:
    libgather = module("libgather")
    if libgather is None:
        return
    gather, params, ids, axis, out = libgather.gather_elements, case.params, case.ids, case.cell.axis, case.out
    if case.cell.fresh:
        yield "Python", lambda k: gather(params, ids[k], axis)
    else:
        yield "Python out", lambda k: gather(params, ids[k], axis, out=out)


def numpy_functions(case: ElementsCase) -> Iterator[tuple[str, Gather]]:
    if case.cell.fresh:
        yield "take_along_axis", lambda k: np.take_along_axis(case.params, case.ids[k], case.cell.axis)


def torch_functions(case: ElementsCase) -> Iterator[tuple[str, Gather]]:
    torch = module("torch")
    if torch is None or case.cell.index != "int64":
        return
    params, ids, axis = torch.from_numpy(case.params), [torch.from_numpy(x) for x in case.ids], case.cell.axis
    if case.cell.fresh:
        yield "gather", lambda k: torch.gather(params, axis, ids[k])
    else:
        out = torch.from_numpy(case.out)
        yield "gather out", lambda k: torch.gather(params, axis, ids[k], out=out)


def onnx_runtime(case: ElementsCase) -> Iterator[tuple[str, Gather]]:
    cell, sets = case.cell, [(case.params, ids) for ids in case.ids]
    return onnx_node("GatherElements", sets, case.out, cell.fresh, case.cores, axis=cell.axis)


def jax_functions(case: ElementsCase) -> Iterator[tuple[str, Gather]]:
    jax = module("jax")
    if jax is None or not case.cell.fresh:
        return
    jax.config.update("jax_enable_x64", True)
    numpy = importlib.import_module("jax.numpy")
    params, ids, axis = numpy.asarray(case.params), [numpy.asarray(x) for x in case.ids], case.cell.axis
    for mode in ("clip", "fill"):
        compiled = jax.jit(lambda p, i, mode=mode: numpy.take_along_axis(p, i, axis, mode=mode))
        yield f"jit {mode}", lambda k, compiled=compiled: compiled(params, ids[k]).block_until_ready()


PEERS: dict[str, Callable[[ElementsCase], Iterator[tuple[str, Gather]]]] = {
    "numpy": numpy_functions,
    "torch": torch_functions,
    "onnxruntime": onnx_runtime,
    "jax": jax_functions,
}
