"""Compiles each function that accepts torch tensors, as the first call of libgather in a process.

test_torch.py runs ``torch_compiled.py MODULE...``. The script first imports the modules in this order.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

for name in sys.argv[1:]:
    import_module(name)

libgather: Any = import_module("libgather")
torch: Any = import_module("torch")

TABLE = torch.arange(12.0).reshape(4, 3)
IDS = torch.tensor([2, 0])
TUPLES = IDS[:, None]
ROWS = TABLE[:2] + 100
FIRST = torch.zeros(4, 1, dtype=torch.long)


def replaced(table: Any) -> Any:
    expected = table.clone()
    expected[IDS] = ROWS
    return expected


def with_column(table: Any) -> Any:
    expected = table.clone()
    expected[:, :1] = table[:, 1:2] + 1
    return expected


def added(shape: Any, ids: Any, rows: Any) -> Any:
    return torch.zeros(shape).index_add(0, ids, rows)


def put(table: Any) -> Any:
    table = table + 0
    libgather.put_along_axis(table, FIRST, table[:, 1:2] + 1, 1)
    return table


def bound(table: Any) -> Any:
    out = torch.zeros(2, 3)
    return libgather.Plan(table, IDS).bind(table, IDS, out)()


def checked(table: Any) -> Any:
    libgather.Plan(table, IDS).check(IDS)
    return table


def bound_scatter(table: Any) -> Any:
    target = table + 0
    return libgather.ScatterPlan(target, IDS).bind(target, IDS, ROWS)()


def copied(table: Any) -> Any:
    out = torch.zeros(4, 3)
    libgather.Tensor(table).copy_to(out)
    return out


#: The compiled function, and the function of torch with the same result. Both take a table.
CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "gather": (lambda t: libgather.gather(t, IDS), lambda t: t[IDS]),
    "gather_nd": (lambda t: libgather.gather_nd(t, TUPLES), lambda t: t[IDS]),
    "gather_elements": (lambda t: libgather.gather_elements(t, FIRST), lambda t: t[:, :1]),
    "gather_gradient": (lambda t: libgather.gather_gradient(t[:2], IDS, (4, 3)), lambda t: added((4, 3), IDS, t[:2])),
    "gather_nd_gradient": (
        lambda t: libgather.gather_nd_gradient(t[:2], TUPLES, (4, 3)),
        lambda t: added((4, 3), IDS, t[:2]),
    ),
    "gather_elements_gradient": (
        lambda t: libgather.gather_elements_gradient(t[:, :1], FIRST, (4, 1)),
        lambda t: t[:, :1],
    ),
    "scatter": (lambda t: libgather.scatter(t, IDS, ROWS), replaced),
    "scatter_nd": (lambda t: libgather.scatter_nd(t, TUPLES, ROWS), replaced),
    "scatter_elements": (lambda t: libgather.scatter_elements(t, FIRST, t[:, 1:2] + 1, extents="prefix"), with_column),
    "put_along_axis": (put, with_column),
    "take": (lambda t: libgather.take(t, IDS, 0), lambda t: t[IDS]),
    "take_along_axis": (lambda t: libgather.take_along_axis(t, FIRST), lambda t: t[:, :1]),
    "partition": (
        lambda t: torch.tensor(libgather.partition(t[0].long(), 4, shards=2).counts.tolist()),
        lambda t: torch.tensor([2, 1]),
    ),
    "Tensor": (lambda t: torch.tensor(libgather.Tensor(t).tolist()), lambda t: t),
    "Tensor.copy_to": (copied, lambda t: t),
    "Plan": (lambda t: libgather.Plan(t, IDS)(t, IDS), lambda t: t[IDS]),
    "Plan.bind": (bound, lambda t: t[IDS]),
    "Plan.check": (checked, lambda t: t),
    "ScatterPlan": (lambda t: libgather.ScatterPlan(t, IDS)(t + 0, IDS, ROWS), replaced),
    "ScatterPlan.bind": (bound_scatter, replaced),
    "output_shape": (lambda t: torch.tensor(libgather.output_shape(t, IDS)), lambda t: torch.tensor([2, 3])),
    "updates_shape": (lambda t: torch.tensor(libgather.updates_shape(t, IDS)), lambda t: torch.tensor([2, 3])),
    "tf.gather": (lambda t: libgather.tf.gather(t, IDS), lambda t: t[IDS]),
    "tf.gather_nd": (lambda t: libgather.tf.gather_nd(t, TUPLES), lambda t: t[IDS]),
    "tf.batch_gather": (lambda t: libgather.tf.batch_gather(t, FIRST), lambda t: t[:, :1]),
    "tf.raw.GatherNd": (lambda t: libgather.tf.raw.GatherNd(t, TUPLES), lambda t: t[IDS]),
    "onnx.Gather": (lambda t: libgather.onnx.Gather(t, IDS), lambda t: t[IDS]),
    "onnx.GatherND": (lambda t: libgather.onnx.GatherND(t, TUPLES), lambda t: t[IDS]),
    "onnx.GatherElements": (lambda t: libgather.onnx.GatherElements(t, FIRST, axis=1), lambda t: t[:, :1]),
    "onnx.ScatterND": (lambda t: libgather.onnx.ScatterND(t, TUPLES, ROWS), replaced),
    "onnx.ScatterElements": (
        lambda t: libgather.onnx.ScatterElements(t, FIRST, t[:, 1:2] + 1, axis=1),
        with_column,
    ),
    "torch.gather": (lambda t: libgather.torch.gather(t, IDS), lambda t: t[IDS]),
    "torch.gather_nd": (lambda t: libgather.torch.gather_nd(t, TUPLES), lambda t: t[IDS]),
    "torch.gather_elements": (lambda t: libgather.torch.gather_elements(t, FIRST), lambda t: t[:, :1]),
}


def passes(name: str) -> bool:
    """Runs a case in a forked process in which libgather has not been called."""
    run, expected = CASES[name]
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    same = False
    try:
        table = TABLE[torch.tensor([2, 1, 3, 0])]
        table[0, :] = torch.tensor([3.0, 0.0, 1.0])  # these values are also used as ids
        found = torch.compile(lambda t: run(t * 1), backend="eager")(table)
        same = torch.equal(found, expected(table))
        print(name, found if not same else "")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(not same)


torch.compile(lambda t: t + 1, backend="eager")(TABLE)  # imports the modules that each child would import
failed = [name for name in CASES if not passes(name)]
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
