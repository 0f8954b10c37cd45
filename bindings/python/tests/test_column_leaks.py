"""The memory of the process does not grow in gathers of each kind of column: 100,000 calls in the long run."""

from __future__ import annotations

import gc
import os
import random
from typing import Any

import column_kinds as kinds
import pyarrow as pa
import pytest
from test_leaks import SANITIZED, resident

import libgather

CALLS = 100_000 if os.environ.get("GATHER_LONG") else 2_000
#: 10 bytes of each of 100,000 calls. The allocators of Arrow and polars keep some freed memory.
LIMIT_KIB = 1024


def column_named(name: str) -> Any:
    library, _, kind = name.partition(" ")
    if library == "pyarrow":
        return kinds.arrow_column(kind, random.Random(kind), 9)
    return kinds.pandas_column(kind) if library == "pandas" else kinds.POLARS[kind](kinds.library("polars"))


NAMES = (
    *(f"pyarrow {name}" for name in kinds.ARROW | kinds.ODD),
    *(f"pandas {name}" for name in kinds.PANDAS),
    *(f"polars {name}" for name in kinds.POLARS),
)


def check_flat(column: Any) -> None:
    for calls in (CALLS // 20, CALLS):
        before = resident()
        for _ in range(calls):
            libgather.gather(column, [1, 0])
        gc.collect()
    assert SANITIZED or resident() - before < LIMIT_KIB


@pytest.mark.parametrize("name", NAMES)
def test_gathers_of_a_column_are_flat(name: str) -> None:
    check_flat(column_named(name))


def test_gathers_of_a_table_are_flat() -> None:
    check_flat(pa.table({"a": [1, None], "b": ["x", "y"]}))
