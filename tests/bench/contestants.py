"""The contestants. Each yields, for a case, functions that gather by index set k and return the result."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cells import Cell
from library import GATHER, GATHER_ND, Library, request

OPEN = -1
Gather = Callable[[int], Any]


@dataclass
class Case:
    """The memory of a cell. Rows are float32 if their size is a multiple of 4, else bytes."""

    cell: Cell
    table: np.ndarray  # uint8, side ** depth rows
    ids: list[np.ndarray]  # index sets; [count] or [count, depth]
    out: np.ndarray  # uint8
    cores: int

    def rows(self, flat: np.ndarray) -> np.ndarray:
        return flat.view(np.float32) if self.cell.row % 4 == 0 else flat

    @property
    def params(self) -> np.ndarray:
        """[side] * depth + [elements of a row]"""
        return self.rows(self.table).reshape(*[self.cell.side] * self.cell.depth, -1)

    @property
    def output(self) -> np.ndarray:
        return self.rows(self.out).reshape(self.cell.count, -1)


def module(name: str) -> Any:
    """Returns a module, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the module is installed, but one that it imports is not
            raise
        return None


# ---- ours


def ours(library: Library, case: Case) -> Iterator[tuple[str, Gather]]:
    cell = case.cell
    params = case.table.reshape(*[cell.side] * cell.depth, cell.row)
    if cell.fresh:
        yield "allocating", allocating(library, params, case)
        return
    plan = library.plan(GATHER if cell.depth == 1 else GATHER_ND, params, case.ids[0])
    yield "plan", planned(library, plan, case.table, case.ids, case.out)


def planned(
    library: Library, plan: ctypes.c_void_p, params: np.ndarray, ids: list[np.ndarray], out: np.ndarray
) -> Gather:
    run, addresses = library.functions.gth_plan_run, [each.ctypes.data for each in ids]
    params_at, out_at = params.ctypes.data, out.ctypes.data

    def gather(k: int) -> np.ndarray:
        if run(None, plan, OPEN, params_at, addresses[k], out_at, None):
            raise RuntimeError("gth_plan_run failed")
        return out

    return gather


def allocating(library: Library, params: np.ndarray, case: Case) -> Gather:
    op, table = GATHER if case.cell.depth == 1 else GATHER_ND, library.borrow(params)
    return library.allocating([request(op, table, library.borrow(ids)) for ids in case.ids])


def package(case: Case) -> Iterator[tuple[str, Gather]]:
    """Yields the calls of the Python package, if it is installed."""
    libgather = module("libgather")
    if libgather is None:
        return
    gather = libgather.gather if case.cell.depth == 1 else libgather.gather_nd
    params, ids, out = case.params, case.ids, case.output
    if case.cell.fresh:
        yield "Python", lambda k: gather(params, ids[k])
    else:
        yield "Python out", lambda k: gather(params, ids[k], out=out)


def memcpy_loop(limits: ctypes.CDLL, case: Case) -> Iterator[tuple[str, Gather]]:
    """Yields a loop of memcpy. It is the only contestant that validates nothing."""
    cell = case.cell
    if cell.depth > 1 or cell.fresh or cell.index != "int64":
        return
    copy, table, out = limits.bench_copy_rows, case.table.ctypes.data, case.out.ctypes.data
    copy.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_int64, ctypes.c_int]
    addresses = [ids.ctypes.data for ids in case.ids]

    def gather(k: int) -> np.ndarray:
        copy(out, table, addresses[k], cell.count, cell.row, case.cores)
        return case.out

    yield "memcpy loop", gather


# ---- peers


def numpy_take(case: Case) -> Iterator[tuple[str, Gather]]:
    params, out, ids = case.params, case.output, case.ids
    if case.cell.depth > 1:
        if case.cell.fresh:
            columns = [tuple(np.ascontiguousarray(column) for column in x.T) for x in ids]
            yield "p[i, j]", lambda k: params[columns[k]]
        return
    if case.cell.fresh:
        yield "take", lambda k: np.take(params, ids[k], axis=0)
        yield "take clip", lambda k: np.take(params, ids[k], axis=0, mode="clip")
        yield "p[i]", lambda k: params[ids[k]]
    else:
        yield "take out", lambda k: np.take(params, ids[k], axis=0, out=out)
        yield "take out clip", lambda k: np.take(params, ids[k], axis=0, out=out, mode="clip")


def torch_functions(case: Case) -> Iterator[tuple[str, Gather]]:
    torch = module("torch")
    if torch is None:
        return
    params, ids = torch.from_numpy(case.params), [torch.from_numpy(x) for x in case.ids]
    if case.cell.depth > 1:
        if case.cell.fresh:
            columns = [tuple(column.contiguous() for column in x.T) for x in ids]
            yield "p[i, j]", lambda k: params[columns[k]]
        return
    out = torch.from_numpy(case.output)
    wide = [x.long().unsqueeze(1).expand(-1, params.shape[1]) for x in ids]
    if case.cell.fresh:
        yield "index_select", lambda k: torch.index_select(params, 0, ids[k])
        yield "p[i]", lambda k: params[ids[k]]
        yield "gather", lambda k: torch.gather(params, 0, wide[k])
        if params.is_floating_point():
            yield "embedding", lambda k: torch.nn.functional.embedding(ids[k], params)
    else:
        yield "index_select out", lambda k: torch.index_select(params, 0, ids[k], out=out)
        yield "gather out", lambda k: torch.gather(params, 0, wide[k], out=out)


def onnx_runtime(case: Case) -> Iterator[tuple[str, Gather]]:
    if case.cell.depth == 1 or case.cell.index == "int64":
        name, sets = "Gather" if case.cell.depth == 1 else "GatherND", [(case.params, ids) for ids in case.ids]
        yield from onnx_node(name, sets, case.output, case.cell.fresh, case.cores)


def onnx_node(
    op: str, sets: Sequence[tuple[np.ndarray, ...]], out: np.ndarray, fresh: bool, cores: int, **attributes: Any
) -> Iterator[tuple[str, Gather]]:
    """Yields a model of one node for each set of inputs. It writes to new memory if `fresh`, else to `out`."""
    ort, onnx = module("onnxruntime"), module("onnx")
    if ort is None or onnx is None:
        return

    def value(name: str, array: np.ndarray) -> Any:
        return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    names = [f"i{place}" for place in range(len(sets[0]))]
    node = onnx.helper.make_node(op, names, ["o"], **attributes)
    graph = onnx.helper.make_graph([node], "node", list(map(value, names, sets[0])), [value("o", out)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = cores
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    if fresh:
        feeds = [dict(zip(names, each, strict=True)) for each in sets]
        yield "run", lambda k: session.run(None, feeds[k])[0]
        return
    bindings = []
    for each in sets:
        binding = session.io_binding()
        for name, array in zip(names, each, strict=True):
            binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
        binding.bind_output("o", "cpu", 0, out.dtype, out.shape, out.ctypes.data)
        bindings.append(binding)

    def bound(k: int) -> np.ndarray:
        session.run_with_iobinding(bindings[k])
        return out

    yield "I/O binding", bound


def tensorflow_functions(case: Case) -> Iterator[tuple[str, Gather]]:
    tf = module("tensorflow")
    if tf is None or not case.cell.fresh:
        return
    params, ids = tf.constant(case.params), [tf.constant(x) for x in case.ids]
    operation = tf.gather if case.cell.depth == 1 else tf.gather_nd
    compiled = tf.function(operation)
    yield "eager", lambda k: operation(params, ids[k])
    yield "function", lambda k: compiled(params, ids[k])


def jax_functions(case: Case) -> Iterator[tuple[str, Gather]]:
    jax = module("jax")
    if jax is None or not case.cell.fresh:
        return
    jax.config.update("jax_enable_x64", True)
    params, ids = jax.numpy.asarray(case.params), [jax.numpy.asarray(x) for x in case.ids]
    depth = case.cell.depth
    for mode in ("clip", "fill"):
        if depth == 1:
            compiled = jax.jit(lambda p, i, mode=mode: jax.numpy.take(p, i, axis=0, mode=mode))
        else:
            compiled = jax.jit(lambda p, i, mode=mode: p.at[tuple(i[:, c] for c in range(depth))].get(mode=mode))
        yield f"jit {mode}", lambda k, compiled=compiled: compiled(params, ids[k]).block_until_ready()


def arrow_take(case: Case) -> Iterator[tuple[str, Gather]]:
    pa = module("pyarrow")
    if pa is None or not case.cell.fresh or case.cell.depth > 1:
        return
    compute = importlib.import_module("pyarrow.compute")
    kind = pa.binary(case.cell.row)
    table = pa.FixedSizeBinaryArray.from_buffers(kind, case.cell.side, [None, pa.py_buffer(case.table)])
    ids = [pa.array(x) for x in case.ids]

    def gather(k: int) -> Any:
        taken = compute.take(table, ids[k])
        return lambda: np.frombuffer(taken.buffers()[1], np.uint8)[: case.out.size]

    yield "take", gather


PEERS: dict[str, Callable[[Case], Iterator[tuple[str, Gather]]]] = {
    "numpy": numpy_take,
    "torch": torch_functions,
    "onnxruntime": onnx_runtime,
    "tensorflow": tensorflow_functions,
    "jax": jax_functions,
    "pyarrow": arrow_take,
}
SMOKE_PEERS = ("numpy", "torch", "onnxruntime")  # the others take too long to import for a smoke run


def bytes_of(result: Any) -> np.ndarray:
    array = np.asarray(result() if callable(result) else result)
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
