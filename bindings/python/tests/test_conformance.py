"""Runs each conformance case with a new result, with an output of the caller, and as a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import libgather
from conformance import CASES, Case, array_of, cases, data_of, expected_error, fields_of, integers
from libgather._arrays.numpy_ import dtype_named
from libgather._base.request_fields import Request
from libgather._operations import gathers
from libgather._requests.operation_table import GATHER_ELEMENTS

FILES = sorted([*CASES.glob("*.txt"), *(CASES / "elements").glob("*.txt")])


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(CASES).with_suffix("")) for path in FILES])
def test_profile(path: Path, case_counts: dict[str, int]) -> None:
    count, wrong = 0, []
    for case in cases(path):
        count += 1
        wrong += [f"{case.name} ({form}): {what}" for form, what in answers(case)]
    case_counts[str(path.relative_to(CASES).with_suffix(""))] = count
    assert count and not wrong, f"{len(wrong)} of {count}:\n" + "\n".join(wrong[:20])


def answers(case: Case) -> list[tuple[str, str]]:
    """Returns the forms of a case with an unexpected result."""
    params, indices = array_of(case.keys["params"]), array_of(case.keys["indices"])
    wrong = []
    for form, run in (("new", run_new), ("out", run_out), ("plan", run_plan)):
        try:
            outcome: Any = run(case, params, indices)
        except libgather.Error as error:
            outcome = fields_of(error)
        if outcome is not None and outcome != expected(case, form):
            wrong.append((form, f"{outcome} is not {expected(case, form)}"))
    return wrong


def expected(case: Case, form: str) -> Any:
    if case.is_refused:
        return "VERSION", "options", -1, -1, 0, 0, "."
    if case.expected[0] == "ok":
        _, dtype, extents, data = case.expected
        shape = integers(extents)
        if form == "new" and case.keys.get("bounds") == "skip" and dtype != "string":
            data = data.replace("a5", "00")
        if form == "new" and dtype == "bool" and not shape:
            data = "01" if int(data, 16) else "00"  # a NumPy scalar only has these bytes
        return dtype, shape, data
    return expected_error(case)


def run_new(case: Case, params: Any, indices: Any) -> Any:
    if case.keys.get("bounds") == "skip" and "a5" in case.keys["params"].rsplit(" ", 1)[1]:
        return None  # the expected bytes of skipped rows cannot be distinguished here
    return data_of(operation(case, params, indices))


def operation(case: Case, params: Any, indices: Any, out: Any = None) -> Any:
    """Calls the public function, or the internal one for attributes that the public function does not have."""
    attributes = case.attributes
    if ("axis" in attributes and not case.operation.has_axis) or ("batch_dims" in attributes and is_elements(case)):
        return gathers.run(case.operation, params, indices, out, Request(**attributes, **case.switches))
    if is_elements(case):
        attributes.setdefault("axis", None)  # the default of the library
    function = getattr(libgather, case.operation.name)
    return function(params, indices, out=out, **attributes, **case.switches)


def is_elements(case: Case) -> bool:
    return case.operation is GATHER_ELEMENTS


def output_of(case: Case) -> np.ndarray | None:
    """Returns an output of bytes a5 for a case that has a result or an IndexError, else None."""
    if case.keys["params"].startswith("string"):
        return None
    if case.expected[0] == "ok":
        shape = integers(case.expected[2])
    elif case.expected[1] == "INDEX":
        source, index = (integers(case.keys[name].split(" ")[1]) for name in ("params", "indices"))
        request = Request(**case.attributes, extents=case.switches.get("extents"))
        shape = gathers.shape_for(case.operation, source, index, request)
    else:
        return None
    dtype = dtype_named(case.keys["params"].split(" ")[0])
    if np.prod(shape, dtype=float) > 1e6:
        return None
    return np.frombuffer(b"\xa5" * int(np.prod(shape)) * dtype.itemsize, dtype).reshape(shape).copy()


def run_out(case: Case, params: Any, indices: Any) -> Any:
    out = output_of(case)
    if out is None:
        return None
    try:
        return data_of(operation(case, params, indices, out))
    except libgather.IndexError:
        assert out.tobytes() == b"\xa5" * out.nbytes, "an error changed the output"
        raise


def run_plan(case: Case, params: Any, indices: Any) -> Any:
    out = output_of(case)
    if out is None:
        return None
    attributes = case.attributes
    if is_elements(case):
        attributes.setdefault("axis", 0)  # the default of the library
    plan = libgather.Plan(params, indices, op=case.operation.name, **attributes, **case.switches)
    return data_of(plan(params, indices, out))
