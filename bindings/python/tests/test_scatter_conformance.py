"""Runs each conformance case of a scatter: new result, in place, tensors, plan, and shape of the updates."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libgather
from conformance import CASES, Case, array_of, cases, data_of, expected_error, fields_of, integers
from libgather._arrays.numpy_ import dtype_named
from libgather._base.request_fields import Request
from libgather._operations import scatters
from libgather._requests.operation_table import SCATTER_ELEMENTS

FILES = sorted((CASES / "scatter").glob("*.txt"))
OPERANDS = ("target", "indices", "updates")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_profile(path: Path, case_counts: dict[str, int]) -> None:
    count, wrong = 0, []
    for case in cases(path):
        count += 1
        wrong += [f"{case.name} ({form}): {what}" for form, what in answers(case)]
    case_counts[f"scatter/{path.stem}"] = count
    assert count and not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:20])


def answers(case: Case) -> list[tuple[str, str]]:
    """Returns the forms of a case with an unexpected result, or in which a wrong operand has changed."""
    wrong = []
    for form, run in FORMS.items():
        arrays = [array_of(case.keys[name]) for name in OPERANDS]
        before = [data_of(array) for array in arrays]
        try:
            outcome: Any = run(case, *arrays)
        except libgather.Error as error:
            outcome = fields_of(error)
            written = len(arrays)
        else:
            written = OPERANDS.index("target") if form in IN_PLACE else len(arrays)
        if outcome is None:
            continue
        changed = [
            name
            for i, (name, array, data) in enumerate(zip(OPERANDS, arrays, before, strict=True))
            if i != written and data_of(array) != data
        ]
        if changed:
            wrong.append((form, f"{changed} changed"))
        if not same(case, outcome, expected(case)):
            wrong.append((form, f"{outcome} is not {expected(case)}"))
    return wrong


def expected(case: Case) -> Any:
    if case.expected[0] == "ok":
        _, dtype, extents, data = case.expected
        return dtype, integers(extents), data
    return expected_error(case)


def check_cases(path: Path, answer: Callable[[Case, Any], Any], name: str, case_counts: dict[str, int]) -> None:
    """Compares the answers to the cases of a file, with arrays and with tensors. Other files of tests use it."""
    count, wrong = 0, []
    for case in cases(path):
        count += 1
        for kind in (lambda array: array, libgather.Tensor):
            outcome = answer(case, kind)
            if not same(case, outcome, expected(case)):
                wrong.append(f"{case.name}: {outcome} is not {expected(case)}")
    case_counts[name] = count
    assert count and not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:20])


def same(case: Case, outcome: Any, wanted: Any) -> bool:
    """Compares results. All NaN values are equal."""
    if outcome == wanted:
        return True
    if case.expected[0] != "ok" or outcome[:2] != wanted[:2] or "float" not in wanted[0]:
        return False
    dtype = dtype_named(wanted[0])
    found, needed = (np.frombuffer(bytes.fromhex(data), dtype).astype("f8") for data in (outcome[2], wanted[2]))
    return np.array_equal(found, needed, equal_nan=True) and np.array_equal(
        np.signbit(found[~np.isnan(found)]), np.signbit(needed[~np.isnan(needed)])
    )


def scatter(case: Case, target: Any, indices: Any, updates: Any, inplace: bool) -> Any:
    """Calls the public function, or the internal one for attributes that the public function does not have."""
    attributes = case.attributes
    is_elements = case.operation is SCATTER_ELEMENTS
    if ("axis" in attributes and not case.operation.has_axis) or ("batch_dims" in attributes and is_elements):
        request = Request(**attributes, **case.switches)
        return scatters.run(case.operation, target, indices, updates, request, inplace)
    if is_elements:
        attributes.setdefault("axis", None)  # the default of the library
    function = getattr(libgather, case.operation.name)
    return function(target, indices, updates, inplace=inplace, **attributes, **case.switches)


def run_new(case: Case, *arrays: Any) -> Any:
    return data_of(scatter(case, *arrays, inplace=False))


def run_in_place(case: Case, target: Any, *others: Any) -> Any:
    if is_string(case):
        return None
    assert scatter(case, target, *others, inplace=True) is target
    return data_of(target)


def run_tensors(case: Case, *arrays: Any) -> Any:
    tensors = [libgather.Tensor(array) for array in arrays]
    result = scatter(case, *tensors, inplace=False)
    assert type(result) is libgather.Tensor
    return data_of(result)


def run_plan(case: Case, target: Any, indices: Any, updates: Any) -> Any:
    if is_string(case):
        return None
    attributes = case.attributes
    if case.operation is SCATTER_ELEMENTS:
        attributes.setdefault("axis", 0)  # the default of the library
    op: Any = case.operation.name
    plan = libgather.ScatterPlan(target, indices, op=op, updates=updates, **attributes, **case.switches)
    assert plan.updates_shape() == np.shape(updates)
    assert plan(target, indices, updates) is target
    return data_of(target)


def run_shape(case: Case, target: Any, indices: Any, updates: Any) -> Any:
    """Compares the result of the shape query with the updates, for cases without an error."""
    if case.expected[0] != "ok":
        return None
    request = Request(**case.attributes, extents=case.switches.get("extents"))
    shape = scatters.shape_for(case.operation, target, indices, request)
    assert shape == tuple(integers(case.keys["updates"].split(" ")[1])), case.name
    assert math.prod(shape) == np.size(updates)
    return expected(case)


def is_string(case: Case) -> bool:
    return case.keys["target"].startswith("string")


FORMS = {
    "new": run_new,
    "in place": run_in_place,
    "tensors": run_tensors,
    "plan": run_plan,
    "shape": run_shape,
}
IN_PLACE = ("in place", "plan")
