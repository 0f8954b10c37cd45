"""The memory of the process does not grow in 10,000 calls of each kind, 100,000 in the long run.

With the address sanitizer (GATHER_SANITIZED) few calls are enough, because it reports leaks at the end of the process.
"""

from __future__ import annotations

import array
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libgather
from conftest import needs_emulated, run_emulated

SANITIZED = "GATHER_SANITIZED" in os.environ
CALLS = 1_000 if SANITIZED else 100_000 if os.environ.get("GATHER_LONG") else 10_000
#: Less than any leak of an allocation adds.
LIMIT_KIB = 15 * CALLS // 1024
PARAMS, INDICES, OUT = np.arange(64.0).reshape(8, 8), np.array([1, 2]), np.zeros((2, 8))
WORDS = libgather.Tensor(["one", "two", "three"])
PLAN = libgather.Plan(PARAMS, libgather.Spec("int64", (-1,)))
BOUND = PLAN.bind(PARAMS, INDICES, OUT)
TARGET, ROWS = PARAMS.copy(), np.zeros((1, 8), "i8")
PARTS = libgather.partition([6, 1], 8, shards=2)
SCATTER_PLAN = libgather.ScatterPlan(TARGET, libgather.Spec("int64", (-1,)))


class Producer:
    """An array that only supports DLPack."""

    __dlpack_device__ = PARAMS.__dlpack_device__
    __dlpack__ = PARAMS.__dlpack__


def error() -> None:
    with pytest.raises(IndexError):
        libgather.gather(PARAMS, 99)


def scatter_error(inplace: bool) -> None:
    with pytest.raises(IndexError):
        libgather.scatter(TARGET, [1, 99], OUT, inplace=inplace)


def partition_error() -> None:
    with pytest.raises(IndexError):
        libgather.partition(INDICES, 2, shards=2)


def join_error() -> None:
    with pytest.raises(libgather.OutputError):
        PARTS.join([OUT[:1], OUT[1:]], OUT)


KINDS: dict[str, Callable[[], Any]] = {
    "gather": lambda: libgather.gather(PARAMS, INDICES),
    "out": lambda: libgather.gather(PARAMS, INDICES, out=OUT),
    "general": lambda: libgather.gather(PARAMS, INDICES, profile="numpy_raise"),
    "gather_nd": lambda: libgather.gather_nd(PARAMS, INDICES),
    "scatter": lambda: libgather.scatter(PARAMS, INDICES, OUT),
    "scatter in place": lambda: libgather.scatter(TARGET, INDICES, OUT, reduction="max", inplace=True),
    "scatter of lists": lambda: libgather.scatter([1, 2], [1], [3]),
    "scatter of blocks": lambda: libgather.scatter(np.array(["a", "b", "c"]), [1], ["d"]),
    "scatter plan": lambda: SCATTER_PLAN(TARGET, INDICES, OUT),
    "scatter error": lambda: scatter_error(False),
    "scatter error in place": lambda: scatter_error(True),
    "partition": lambda: libgather.partition(INDICES, 8, shards=2),
    "partition of borders": lambda: libgather.partition([1, 9], 8, borders=[0, 4, 8], bounds="skip", once=True),
    "partition error": partition_error,
    "join": lambda: PARTS.join([PARAMS[:1], PARAMS[1:2]], OUT),
    "join into a new array": lambda: PARTS.join((PARAMS[:1], PARAMS[1:2])),
    "join of lists": lambda: PARTS.join([[[1]], [[2]]]),
    "join error": join_error,
    "put_along_axis": lambda: libgather.put_along_axis(TARGET, ROWS, 5.0, 0),
    "gradient": lambda: libgather.gather_gradient(OUT, INDICES, (8, 8)),
    "buffers": lambda: libgather.gather(b"abc", array.array("b", [1])),
    "lists": lambda: libgather.gather([1, 2], [1]),
    "indices of Python": lambda: libgather.gather(PARAMS, [*range(8), 0, 1]),
    "plan, new result": lambda: PLAN(PARAMS, INDICES),
    "strings": lambda: libgather.gather(WORDS, INDICES),
    "objects": lambda: libgather.gather(np.array(["a", "b", "c"]), INDICES),
    "plan": lambda: PLAN(PARAMS, INDICES, OUT),
    "bound": BOUND,
    "new plan": lambda: libgather.Plan(PARAMS, INDICES).bind(PARAMS, INDICES, OUT),
    "tensor": lambda: libgather.gather(libgather.Tensor(PARAMS), INDICES).memory(),
    "dlpack out": lambda: np.from_dlpack(libgather.Tensor.zeros((4,))),
    "dlpack unused": lambda: libgather.Tensor.zeros((4,)).__dlpack__(max_version=(1, 0)),
    "dlpack in": lambda: libgather.Tensor(Producer()),
    "arrow": WORDS.__arrow_c_array__,
    "context": lambda: libgather.Context().close(),
    "error": error,
}


def resident() -> int:
    """Returns the resident memory of this process in KiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0])


@pytest.mark.parametrize("name", KINDS)
def test_flat(name: str) -> None:
    call = KINDS[name]
    for _ in range(2_000):
        call()
    gc.collect()
    before = resident()
    for _ in range(CALLS):
        call()
    gc.collect()
    grown = resident() - before
    assert SANITIZED or grown < LIMIT_KIB, f"{grown} KiB more after {CALLS} calls"


@needs_emulated
def test_every_allocation_may_fail() -> None:
    run_emulated("failing_memory.py")
