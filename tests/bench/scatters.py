"""The contestants of scatters. Only those are measured whose result is the same in each run."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from cells import ScatterCell, ScatterElementsCell
from contestants import OPEN, Gather, module, onnx_node
from elements import flat_places
from library import SCATTER, SCATTER_ELEMENTS, SCATTER_ND, Library, Options, request

REDUCTIONS = {"none": 1, "add": 2}
PREFIX = 2  # indices may have smaller extents than the target


def draw(cell: ScatterCell, random: np.random.Generator) -> np.ndarray:
    """Returns indices of shape [count] or [count, depth]."""
    rows = cell.side**cell.depth
    if cell.duplicates == "no":
        flat = random.permutation(rows)[: cell.count]
    else:
        flat = random.integers(0, min(rows, 100) if cell.duplicates == "many" else rows, cell.count)
    if cell.depth == 1:
        return flat
    return np.stack(np.unravel_index(flat, (cell.side,) * cell.depth), axis=1)


@dataclass
class ScatterCase:
    """The memory of a cell. Updates and target are integers, whose sums are equal in any order."""

    cell: ScatterCell | ScatterElementsCell
    target: np.ndarray  # float32; the dims that no index selects are last
    ids: list[np.ndarray]
    updates: np.ndarray
    memory: np.ndarray  # as large as the target if the cell writes into existing memory
    cores: int

    @classmethod
    def make(cls, cell: Any, sets: int, cores: int, random: np.random.Generator) -> ScatterCase:
        if isinstance(cell, ScatterCell):
            shape = (*[cell.side] * cell.depth, cell.row // 4)
            ids = [draw(cell, random) for _ in range(sets)]
            updated: tuple[int, ...] = (cell.count, cell.row // 4)
        else:
            shape = cell.shape
            updated = (*shape[: cell.axis], cell.extent, *shape[cell.axis + 1 :])
            ids = [random.integers(0, shape[cell.axis], updated) for _ in range(sets)]
        target, updates = (random.integers(-8, 8, each).astype(np.float32) for each in (shape, updated))
        memory = np.empty(shape if cell.into == "memory" else 0, np.float32)
        return cls(cell, target, ids, updates, memory, cores)

    def __post_init__(self) -> None:
        self.given = self.target.copy()
        self.wanted: dict[int, np.ndarray] = {}

    @property
    def depth(self) -> int:
        """The number of components of a tuple. 0 for elements."""
        return self.cell.depth if isinstance(self.cell, ScatterCell) else 0

    @property
    def axis(self) -> int:
        return 0 if isinstance(self.cell, ScatterCell) else self.cell.axis

    @property
    def adds(self) -> bool:
        return self.cell.reduction == "add"

    @property
    def has_duplicates(self) -> bool:
        return not isinstance(self.cell, ScatterCell) or self.cell.duplicates != "no"

    def begin(self) -> None:
        """Resets the target before the compared calls of a contestant."""
        self.target[...] = self.given
        self.memory.fill(0)

    def expected(self, k: int) -> np.ndarray:
        """Returns the expected target. In place, a call begins with the result of the previous call."""
        if k not in self.wanted:
            before = [*self.wanted.values()] if self.cell.into == "itself" else []
            self.wanted[k] = self.scattered([self.given, *before][-1].copy(), k)
        return self.wanted[k]

    def scattered(self, target: np.ndarray, k: int) -> np.ndarray:
        """Returns the expected target by sorting. No contestant works in this way."""
        if self.depth:
            rows = target.reshape(-1, target.shape[-1])
            places = np.ravel_multi_index(tuple(self.ids[k].reshape(-1, self.depth).T), target.shape[: self.depth])
        else:
            rows = target.reshape(-1, 1)
            places = flat_places(target, self.ids[k], self.axis).reshape(-1)
        order = np.argsort(places, kind="stable")
        updates = self.updates.reshape(places.size, -1)[order]
        touched, first, counts = np.unique(places[order], return_index=True, return_counts=True)
        if self.adds:
            rows[touched] += np.add.reduceat(updates, first)
        else:
            rows[touched] = updates[first + counts - 1]
        return target


def written(case: ScatterCase, write: Callable[[np.ndarray, int], None]) -> Gather:
    """Returns a contestant that calls `write`, which works in place, in the form of the cell."""

    def itself(k: int) -> np.ndarray:
        write(case.target, k)
        return case.target

    def new(k: int) -> np.ndarray:
        result = case.target.copy()
        write(result, k)
        return result

    def memory(k: int) -> np.ndarray:
        np.copyto(case.memory, case.target)
        write(case.memory, k)
        return case.memory

    return {"itself": itself, "new": new, "memory": memory}[case.cell.into]


def way(case: ScatterCase, name: str) -> str:
    """Returns the name of a contestant of `written`."""
    return {"itself": name, "new": f"copy, {name}", "memory": f"copyto, {name}"}[case.cell.into]


# ---- ours


def ours(library: Library, case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    op = {0: SCATTER_ELEMENTS, 1: SCATTER}.get(case.depth, SCATTER_ND)
    options = Options(size=ctypes.sizeof(Options), reduction=REDUCTIONS[case.cell.reduction])
    if case.depth == 0:
        options.has_axis, options.axis, options.extents = 1, case.axis, PREFIX
    if case.cell.into == "new":
        target, updates = library.borrow(case.target), library.borrow(case.updates)
        requests = [request(op, target, library.borrow(ids), updates, options) for ids in case.ids]
        yield "allocating", library.allocating(requests)
        return
    plan = library.plan(op, case.target, case.ids[0], options)
    run, updates_at = library.functions.gth_plan_run, case.updates.ctypes.data
    addresses = [ids.ctypes.data for ids in case.ids]

    def write(target: np.ndarray, k: int) -> None:
        if run(None, plan, OPEN, target.ctypes.data, addresses[k], updates_at, None):
            raise RuntimeError("gth_plan_run failed")

    yield way(case, "plan"), written(case, write)


def package(case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    libgather = module("libgather")
    if libgather is None:
        return
    scatter = {0: libgather.scatter_elements, 1: libgather.scatter}.get(case.depth, libgather.scatter_nd)
    switches = {"reduction": case.cell.reduction} | ({} if case.depth else {"axis": case.axis, "extents": "prefix"})
    target, ids, updates = case.target, case.ids, case.updates
    if case.cell.into == "new":
        yield "Python", lambda k: scatter(target, ids[k], updates, **switches)
        return

    def write(into: np.ndarray, k: int) -> None:
        scatter(into, ids[k], updates, inplace=True, **switches)

    yield way(case, "Python inplace"), written(case, write)


# ---- peers


def selectors(case: ScatterCase) -> list[Any]:
    """Returns the indices in the form in which NumPy uses them."""
    if case.depth == 1:
        return case.ids
    if case.depth > 1:
        return [tuple(np.ascontiguousarray(column) for column in ids.T) for ids in case.ids]
    places = np.indices(case.updates.shape, sparse=True)
    return [tuple(ids if dim == case.axis else place for dim, place in enumerate(places)) for ids in case.ids]


def numpy_functions(case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    where, updates = selectors(case), case.updates
    if case.adds:
        yield way(case, "add.at"), written(case, lambda target, k: np.add.at(target, where[k], updates))
    elif case.depth == 0:
        put, ids = np.put_along_axis, case.ids
        yield way(case, "put_along_axis"), written(case, lambda target, k: put(target, ids[k], updates, case.axis))
    else:
        yield way(case, "t[i] = u"), written(case, lambda target, k: target.__setitem__(where[k], updates))


def torch_functions(case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    torch = module("torch")
    if torch is None:
        return
    # This is torch.use_deterministic_algorithms without its import of Triton, whose LLVM conflicts with TensorFlow's.
    torch._C._set_deterministic_algorithms(True, warn_only=False)
    torch.utils.deterministic.fill_uninitialized_memory = False  # no measured call reads such memory
    target, updates, memory = (torch.from_numpy(array) for array in (case.target, case.updates, case.memory))
    if case.depth != 0 and case.cell.into != "memory":
        where = [tuple(map(torch.from_numpy, each if isinstance(each, tuple) else (each,))) for each in selectors(case)]
        put = target.index_put_ if case.cell.into == "itself" else target.index_put
        yield put.__name__, lambda k: put(where[k], updates, accumulate=case.adds)
    if case.depth > 1:
        return
    ids = [torch.from_numpy(each) for each in case.ids]
    names = ["scatter_add" if case.adds else "scatter"]
    sets = {names[0]: ids if case.depth == 0 else [each.unsqueeze(1).expand_as(updates) for each in ids]}
    if case.depth == 1:
        names.append("index_add" if case.adds else "index_copy")
        sets[names[1]] = ids
    for name in names:
        by = sets[name]
        if case.cell.into == "memory":
            function = getattr(torch, name)
            yield f"{name} out", lambda k, f=function, by=by: f(target, case.axis, by[k], updates, out=memory)
        else:
            method = getattr(target, f"{name}_" if case.cell.into == "itself" else name)
            yield method.__name__, lambda k, f=method, by=by: f(case.axis, by[k], updates)


def onnx_runtime(case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    """Yields ONNX Runtime. It has no scatter in place. Its ScatterND is not deterministic if threads write one row."""
    if case.cell.into == "itself" or (case.depth and case.cores > 1 and case.has_duplicates):
        return
    ids = [each[:, None] for each in case.ids] if case.depth == 1 else case.ids
    name, attributes = ("ScatterND", {}) if case.depth else ("ScatterElements", {"axis": case.axis})
    yield from onnx_node(
        name,
        [(case.target, each, case.updates) for each in ids],
        case.memory if case.cell.into == "memory" else case.target,
        case.cell.into == "new",
        case.cores,
        reduction=case.cell.reduction,
        **attributes,
    )


def tensorflow_functions(case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    tf = module("tensorflow")
    if tf is None or case.depth == 0 or case.cell.into == "memory":
        return
    ids = [tf.constant(each[:, None] if case.depth == 1 else each) for each in case.ids]
    updates = tf.constant(case.updates)
    if case.cell.into == "itself":
        variable = tf.Variable(case.target)
        scatter = variable.scatter_nd_add if case.adds else variable.scatter_nd_update

        def in_place(k: int) -> Any:
            scatter(ids[k], updates)
            return variable.numpy

        yield scatter.__name__, in_place
        return
    target, operation = tf.constant(case.target), tf.tensor_scatter_nd_add if case.adds else tf.tensor_scatter_nd_update
    compiled = tf.function(operation)
    yield "eager", lambda k: operation(target, ids[k], updates)
    yield "function", lambda k: compiled(target, ids[k], updates)


def jax_functions(case: ScatterCase) -> Iterator[tuple[str, Gather]]:
    """Yields JAX. In place, each call donates its target."""
    jax = module("jax")
    if jax is None or case.cell.into == "memory":
        return
    jax.config.update("jax_enable_x64", True)
    numpy = importlib.import_module("jax.numpy")
    updates, where = numpy.asarray(case.updates), jax.tree.map(numpy.asarray, selectors(case))
    in_place = case.cell.into == "itself"
    for mode in ("drop", "clip"):

        def scatter(target: Any, at: Any, new: Any, mode: str = mode) -> Any:
            return target.at[at].add(new, mode=mode) if case.adds else target.at[at].set(new, mode=mode)

        compiled = jax.jit(scatter, donate_argnums=0 if in_place else ())
        states = [numpy.array(case.given, copy=True)]  # JAX may copy later, so no other call may write it

        def call(k: int, compiled: Any = compiled, states: list[Any] = states) -> Any:
            result = compiled(states[0], where[k], updates).block_until_ready()
            if in_place:
                states[0] = result
            return result

        yield f"jit {mode}{', donated' if in_place else ''}", call


PEERS: dict[str, Callable[[ScatterCase], Iterator[tuple[str, Gather]]]] = {
    "numpy": numpy_functions,
    "torch": torch_functions,
    "onnxruntime": onnx_runtime,
    "tensorflow": tensorflow_functions,
    "jax": jax_functions,
}
