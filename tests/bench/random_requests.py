"""Times random requests beside the functions of NumPy and torch that compute the same.

python3 tests/bench requests [--seed N] [--count N] [--threads N] [--seconds S] [--json FILE] [--markdown FILE]

A request is drawn from a seed and its number: operation, dtypes, shapes, axis, layouts in memory, and the distribution
of the indices. libgather runs through its Python package. The results are compared before the times are measured. All
contestants of a request take turns, and the best round of each counts, because other programs can only make a round
slower. torch has no indices of some dtypes. Its call then includes their conversion.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

Call = Callable[[], Any]
Array = np.ndarray[Any, Any]

COMPLEX = ("complex64", "complex128")
DTYPES = ("float32",) * 4 + ("float64", "float16", "int8", "uint8", "int16", "int32", "int64", *COMPLEX)
INDEX_DTYPES = ("int64",) * 3 + ("int32",) * 2 + ("int16", "uint8", "int8", "uint32", "uint64")
LAYOUTS = ("dense",) * 4 + ("column-major", "swapped", "every second", "reversed", "repeated", "unaligned")
INDEX_LAYOUTS = ("dense",) * 3 + ("column-major", "every second", "reversed")
ORDERS = ("random", "random", "sorted", "zipf", "increasing")
REDUCTIONS = ("none", "none", "add", "add", "mul", "max", "min")
MOST_ELEMENTS = 1 << 21  # of a table, and of the result
ROUNDS, LEAST_TURN = 9, 2e-4  # seconds of a turn


@dataclass
class Request:
    """A request. `facts` describes it. Peers have the names of their functions."""

    facts: dict[str, Any]
    ours: Call
    peers: dict[str, Call] = field(default_factory=dict)


def lay_out(array: Array, layout: str) -> Array:
    """Returns an array with the same elements, or with repeated ones, in another layout."""
    if layout == "column-major":
        return np.asfortranarray(array)
    if layout == "swapped":
        return np.ascontiguousarray(array.swapaxes(0, -1)).swapaxes(0, -1)
    if layout == "every second":
        return np.repeat(array, 2, -1)[..., ::2]
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "repeated" and array.ndim > 1:
        return np.broadcast_to(array[:1], array.shape)
    if layout == "unaligned":
        moved = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    return array


class Draw:
    """Draws one request. The same seed and number give the same request."""

    def __init__(self, seed: int, number: int, threads: int) -> None:
        self.random = Random(f"{seed}/{number}")
        self.numbers = np.random.default_rng((seed, number))
        self.threads = threads
        choose = self.random.choice
        self.operation = self.random.choices(list(OPERATIONS), [weight for weight, _ in OPERATIONS.values()])[0]
        self.dtype, self.index, self.order = choose(DTYPES), choose(INDEX_DTYPES), choose(ORDERS)
        self.layout, self.index_layout = choose(LAYOUTS), choose(INDEX_LAYOUTS)
        self.reduction = choose(REDUCTIONS)
        if self.dtype in COMPLEX and self.reduction in ("max", "min"):
            self.reduction = "add"
        self.shape = self.draw_shape()
        self.axis = self.random.randrange(len(self.shape))
        self.size = self.shape[self.axis]
        self.others = prod(self.shape) // self.size
        self.n = max(1, min(int(2 ** self.random.uniform(0, 14)), MOST_ELEMENTS // self.others))
        self.facts = {"number": number, "operation": self.operation, "dtype": self.dtype, "index": self.index}
        self.facts |= {"shape": self.shape, "axis": self.axis, "order": self.order}

    def draw_shape(self) -> list[int]:
        rank = self.random.choice([1, 2, 2, 2, 3, 3, 4])
        while True:
            shape = [int(2 ** self.random.uniform(0.6, 12)) for _ in range(rank)]
            if 16 <= prod(shape) <= MOST_ELEMENTS:
                return shape

    def values(self, shape: list[int]) -> Array:
        """Returns small integers, whose sums are the same in every order."""
        return self.numbers.integers(0, 4, shape).astype(self.dtype)

    def table(self) -> Array:
        self.facts["layout"] = self.layout
        return lay_out(self.values(self.shape), self.layout)

    def indices(self, shape: list[int], size: int) -> Array:
        count, top = prod(shape), min(size, int(np.iinfo(self.index).max) + 1)
        if self.order == "increasing":
            drawn = np.arange(count) % top
        elif self.order == "zipf":
            drawn = np.minimum(self.numbers.zipf(1.2, count) - 1, top - 1)
        else:
            drawn = self.numbers.integers(0, top, count)
        drawn = np.sort(drawn) if self.order == "sorted" else drawn
        return drawn.astype(self.index).reshape(shape)

    def laid_out_indices(self, shape: list[int], size: int) -> Array:
        self.facts["index layout"] = self.index_layout
        return lay_out(self.indices(shape, size), self.index_layout)

    def at_axis(self, extent: int) -> list[int]:
        return [*self.shape[: self.axis], extent, *self.shape[self.axis + 1 :]]

    def begin(self, ours: Call, **facts: Any) -> Request:
        return Request(self.facts | facts, ours)


class Torch:
    """torch, or nothing if it is not installed."""

    def __init__(self, threads: int) -> None:
        self.module: Any = None
        try:
            self.module = importlib.import_module("torch")
        except ModuleNotFoundError:
            return
        self.module.set_num_threads(threads)
        warnings.filterwarnings("ignore", category=UserWarning)  # of read-only arrays, and of functions in beta

    def tensor(self, array: Array) -> Any:
        """Returns a tensor that shares the memory of an array, or None if torch has no such tensors."""
        if self.module is None or min(array.strides, default=0) < 0 or not array.flags.aligned:
            return None
        try:
            return self.module.from_numpy(array)
        except TypeError:
            return None

    def indices(self, array: Array, dtypes: tuple[str, ...] = ("int64",)) -> Call:
        """Returns a function that returns the indices. It converts those that torch does not accept in each call."""
        tensor = self.tensor(array) if array.dtype.name in dtypes else None
        return (lambda: tensor) if tensor is not None else lambda: self.module.from_numpy(array.astype("int64"))


def gather(draw: Draw, lg: Any, torch: Torch) -> Request:
    table, ids, axis = draw.table(), draw.laid_out_indices([draw.n], draw.size), draw.axis
    request = draw.begin(lambda: lg.gather(table, ids, axis=axis, threads=draw.threads), n=draw.n)
    request.peers["np.take"] = lambda: np.take(table, ids, axis)
    request.peers["np []"] = lambda: table[(slice(None),) * axis + (ids,)]
    tensor, places = torch.tensor(table), torch.indices(ids, ("int64", "int32"))
    if tensor is not None:
        request.peers["index_select"] = lambda: torch.module.index_select(tensor, axis, places())
    return request


def take(draw: Draw, lg: Any, torch: Torch) -> Request:
    table, ids, axis = draw.table(), draw.laid_out_indices([draw.n], draw.size), draw.axis
    mode: Any = draw.random.choice(["raise", "wrap", "clip"])
    request = draw.begin(lambda: lg.take(table, ids, axis=axis, mode=mode), n=draw.n, mode=mode)
    request.peers["np.take"] = lambda: np.take(table, ids, axis, mode=mode)
    return request


def gather_batches(draw: Draw, lg: Any, torch: Torch) -> Request | None:
    batches = draw.shape[0]
    each = max(1, min(draw.n, MOST_ELEMENTS // (batches * prod(draw.shape[2:]))))
    if len(draw.shape) < 2:
        return None
    table, ids = draw.table(), draw.indices([batches, each], draw.shape[1])
    rows = np.arange(batches)[:, None]
    request = draw.begin(lambda: lg.gather(table, ids, axis=1, batch_dims=1, threads=draw.threads), axis=1, n=each)
    request.peers["np []"] = lambda: table[rows, ids]
    return request


def gather_nd(draw: Draw, lg: Any, torch: Torch) -> Request:
    table = draw.table()
    tuples, columns = draw_tuples(draw)
    request = draw.begin(lambda: lg.gather_nd(table, tuples, threads=draw.threads), n=len(tuples), axis=None)
    request.facts["components"] = len(columns)
    request.peers["np []"] = lambda: table[columns]
    tensor, places = torch.tensor(table), [torch.indices(column) for column in columns]
    if tensor is not None:
        request.peers["torch []"] = lambda: tensor[tuple(place() for place in places)]
    return request


def draw_tuples(draw: Draw) -> tuple[Array, tuple[Array, ...]]:
    """Returns tuples of indices, and their contiguous columns."""
    components = draw.random.randint(1, len(draw.shape))
    n = max(1, min(draw.n, MOST_ELEMENTS // prod(draw.shape[components:])))
    columns = tuple(draw.indices([n], size) for size in draw.shape[:components])
    return np.stack(columns, -1), columns


def draw_pairs(draw: Draw) -> Array:
    """Returns the indices of elements."""
    extent = max(1, min(draw.n, 2 * draw.size, MOST_ELEMENTS // 2 // draw.others))
    return draw.laid_out_indices(draw.at_axis(extent), draw.size)


def gather_elements(draw: Draw, lg: Any, torch: Torch) -> Request:
    table, ids, axis = draw.table(), draw_pairs(draw), draw.axis
    request = draw.begin(lambda: lg.gather_elements(table, ids, axis, threads=draw.threads), n=ids.shape[axis])
    request.peers["take_along_axis"] = lambda: np.take_along_axis(table, ids, axis)
    tensor, places = torch.tensor(table), torch.indices(ids)
    if tensor is not None:
        request.peers["torch.gather"] = lambda: torch.module.gather(tensor, axis, places())
    return request


TORCH_SCATTERS = {
    False: ("index_copy_", "index_add_", "index_reduce_"),
    True: ("scatter_", "scatter_add_", "scatter_reduce_"),
}
TORCH_REDUCTIONS = {"mul": "prod", "max": "amax", "min": "amin"}


def scatter(draw: Draw, lg: Any, torch: Torch) -> Request:
    """Draws a scatter, or a scatter_elements. Both have an axis, and the functions of torch have similar names."""
    is_elements, axis, how = draw.operation == "scatter_elements", draw.axis, draw.reduction
    ids = draw_pairs(draw) if is_elements else draw.indices([draw.n], draw.size)
    base, updates = draw.values(draw.shape), draw.values(list(ids.shape) if is_elements else draw.at_axis(draw.n))
    target, same, key = base.copy(), base.copy(), (slice(None),) * axis + (ids,)
    function, switches = getattr(lg, draw.operation), dict(reduction=how, inplace=True, threads=draw.threads)
    request = draw.begin(lambda: function(target, ids, updates, axis, **switches), n=updates.shape[axis], reduction=how)

    def assign() -> Array:
        same[key] = updates
        return same

    if how == "none" and not is_elements:
        request.peers["np []="] = assign
    to, given, places = torch.tensor(base.copy()), torch.tensor(updates), torch.indices(ids)
    writes, adds, reduces = TORCH_SCATTERS[is_elements]
    name = {"none": writes, "add": adds}.get(how, reduces)
    more = [TORCH_REDUCTIONS[how]] if name == reduces else []
    if to is not None:
        request.peers[name] = lambda: getattr(to, name)(axis, places(), given, *more)
    return request


def scatter_nd(draw: Draw, lg: Any, torch: Torch) -> Request:
    tuples, columns = draw_tuples(draw)
    how = "none" if draw.reduction == "none" else "add"
    base, updates = draw.values(draw.shape), draw.values([len(tuples), *draw.shape[len(columns) :]])
    target = base.copy()
    request = draw.begin(
        lambda: lg.scatter_nd(target, tuples, updates, reduction=how, inplace=True, threads=draw.threads),
        n=len(tuples),
        reduction=how,
        axis=None,
    )
    request.facts["components"] = len(columns)
    to, given, places = torch.tensor(base.copy()), torch.tensor(updates), [torch.indices(column) for column in columns]
    if to is not None:
        adds = how == "add"
        request.peers["index_put_"] = lambda: to.index_put_(tuple(place() for place in places), given, adds)
    return request


def gradient(draw: Draw, lg: Any, torch: Torch) -> Request:
    is_elements = draw.operation == "gather_elements_gradient"
    ids = draw_pairs(draw) if is_elements else draw.indices([draw.n], draw.size)
    axis, shape, updates = draw.axis, draw.shape, draw.values(list(ids.shape) if is_elements else draw.at_axis(draw.n))
    function = lg.gather_elements_gradient if is_elements else lg.gather_gradient
    request = draw.begin(lambda: function(updates, ids, shape, axis, threads=draw.threads), n=updates.shape[axis])
    given, places = torch.tensor(updates), torch.indices(ids)
    if given is None:
        return request
    zeros, name = torch.module.zeros, "scatter_add_" if is_elements else "index_add_"
    request.peers[f"zeros, {name}"] = lambda: getattr(zeros(shape, dtype=given.dtype), name)(axis, places(), given)
    return request


def gather_bags(draw: Draw, lg: Any, torch: Torch) -> Request:
    """Draws bags of at least one index, because reduceat has no empty ones."""
    draw.shape = [draw.shape[0], prod(draw.shape[1:])]
    draw.facts["shape"] = draw.shape
    table, n = draw.table(), max(1, min(draw.n, MOST_ELEMENTS // draw.shape[1]))
    ids = draw.laid_out_indices([n], draw.shape[0])
    longest, pool = draw.random.choice([1, 3, 20, 60]), draw.random.choice(["sum", "max"])
    if draw.dtype in COMPLEX:
        pool = "sum"
    lengths = draw.numbers.integers(1, longest + 1, n)
    ends = np.cumsum(lengths)
    starts = np.concatenate([[0], ends[ends < n]]).astype(np.int64)
    request = draw.begin(
        lambda: lg.gather_bags(table, ids, starts=starts, pool=pool, threads=draw.threads),
        n=n,
        axis=None,
        reduction=pool,
        bags=len(starts),
    )
    reduceat = np.maximum.reduceat if pool == "max" else np.add.reduceat
    request.peers["take, reduceat"] = lambda: reduceat(np.take(table, ids, 0), starts, dtype=table.dtype)
    tensor, places, begin = torch.tensor(table), torch.indices(ids), torch.tensor(starts)
    if tensor is not None:
        bag = torch.module.nn.functional.embedding_bag
        request.peers["embedding_bag"] = lambda: bag(places(), tensor, begin, mode=pool)
    return request


#: The operations with their weights.
OPERATIONS: dict[str, tuple[int, Callable[[Draw, Any, Torch], Request | None]]] = {
    "gather": (4, gather),
    "take": (3, take),
    "gather with batch dims": (1, gather_batches),
    "gather_nd": (2, gather_nd),
    "gather_elements": (3, gather_elements),
    "scatter": (3, scatter),
    "scatter_nd": (2, scatter_nd),
    "scatter_elements": (3, scatter),
    "gather_gradient": (1, gradient),
    "gather_elements_gradient": (1, gradient),
    "gather_bags": (2, gather_bags),
}


def agree(ours: Any, other: Any, facts: dict[str, Any]) -> bool:
    """Compares the results of the first calls. A scatter without reduction leaves the order of duplicates open in
    torch, and float16 has few digits for sums and products."""
    if facts.get("reduction") == "none" or (facts["dtype"] == "float16" and "scatter" in facts["operation"]):
        return True
    return np.array_equal(np.asarray(ours), np.asarray(other), equal_nan=True)


def turn_of(call: Call, calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def race(calls: list[Call], seconds: float) -> list[float]:
    """Returns the seconds of the best round of each call. All calls take turns."""
    repeats = [max(1, int(max(LEAST_TURN, seconds / ROUNDS) / max(turn_of(call, 1), 1e-7))) for call in calls]
    rounds = [[turn_of(call, n) for call, n in zip(calls, repeats)] for _ in range(ROUNDS)]
    return [min(times) for times in zip(*rounds)]


def measure(request: Request, seconds: float) -> dict[str, Any] | None:
    """Returns the facts of a request and the seconds of each contestant. Returns None if no peer has such a call."""
    answer, peers = request.ours(), {}
    for name, call in request.peers.items():
        try:
            other = call()
        except (RuntimeError, TypeError, IndexError, NotImplementedError):
            continue  # torch lacks some dtypes in some functions
        if not agree(answer, other, request.facts):
            raise SystemExit(f"{name} differs in {request.facts}")
        if not isinstance(other, np.ndarray) or other.flags.c_contiguous:
            peers[name] = call  # a result in the order of the table is other work
    if not peers:
        return None
    ours, *others = race([request.ours, *peers.values()], seconds)
    return request.facts | {"ours": ours, "peers": dict(zip(peers, others))}


def measure_all(seed: int, count: int, threads: int, seconds: float) -> list[dict[str, Any]]:
    """Measures `count` requests. Draws that no peer has are skipped."""
    lg, torch = importlib.import_module("libgather"), Torch(threads)
    results: list[dict[str, Any]] = []
    for number in range(100 * count):
        draw = Draw(seed, number, threads)
        request = OPERATIONS[draw.operation][1](draw, lg, torch)
        result = measure(request, seconds) if request else None
        if result:
            results.append(result)
            print(f"\rrequest {len(results)} of {count} ", end="", file=sys.stderr)
        if len(results) == count:
            break
    print(file=sys.stderr)
    return results


def main(args: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="bench requests", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.02, help="for each contestant of a request")
    parser.add_argument("--json", type=Path, help="raw results")
    parser.add_argument("--markdown", type=Path, help="the report")
    options = parser.parse_args(args)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    from machine import processor, version_of
    from request_report import markdown

    results = measure_all(options.seed, options.count, options.threads, options.seconds)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    facts = {"seed": options.seed, "threads": options.threads, "date": date.today().isoformat()}
    facts |= {"processor": processor()} | {name: version_of(name) for name in ("numpy", "torch")}
    report = markdown(results, facts)
    if options.markdown:
        options.markdown.write_text(report)
    print(report)
