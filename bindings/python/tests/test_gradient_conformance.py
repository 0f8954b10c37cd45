"""Runs each recorded gradient of a gather with arrays and with tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_scatter_conformance import check_cases

import libgather
from conformance import CASES, Case, array_of, data_of, fields_of, integers
from libgather._requests.operation_table import GATHER_ELEMENTS

FILES = sorted((CASES / "gradient").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_profile(path: Path, case_counts: dict[str, int]) -> None:
    check_cases(path, answer, f"gradient/{path.stem}", case_counts)


def answer(case: Case, kind: Any) -> Any:
    attributes = case.attributes
    if case.operation is GATHER_ELEMENTS:
        attributes.setdefault("axis", 0)  # the default of the library
    shape = integers(case.keys["target"].split(" ")[1])
    gradient, indices = (kind(array_of(case.keys[name])) for name in ("updates", "indices"))
    function = getattr(libgather, f"{case.operation.name}_gradient")
    try:
        result = function(gradient, indices, shape, **attributes, **case.switches)
    except libgather.Error as error:
        return fields_of(error)
    assert type(result) is type(gradient) or not shape
    return data_of(result)
