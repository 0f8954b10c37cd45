"""Runs each recorded call of packed rows with arrays, with tensors, with an output of the caller, and as a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_bags_conformance import answer as pooled
from test_scatter_conformance import check_cases

import libgather
from conformance import CASES, Case, array_of, data_of, packed_of
from libgather._arrays.numpy_ import dtype_named

FILES = sorted((CASES / "packed").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_system(path: Path, case_counts: dict[str, int]) -> None:
    check_cases(path, answer, f"packed/{path.stem}", case_counts)


def answer(case: Case, kind: Any) -> Any:
    """Returns the result of new memory. Those in existing memory and of a plan must be equal."""
    if case.keys["op"] == "gather_bags":
        return pooled(case, kind)
    table, indices = packed_of(case, kind), kind(array_of(case.keys["indices"]))
    switches = case.attributes | case.switches
    result = data_of(libgather.gather(table, indices, **switches))
    out = np.empty(result[1], dtype_named(result[0]))
    assert libgather.gather(table, indices, out=out, **switches) is out
    assert data_of(out) == result
    assert data_of(libgather.Plan(table, indices, **switches)(table, indices)) == result
    return result
