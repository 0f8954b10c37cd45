"""Runs each recorded call of gather_bags with arrays, with tensors, and with an output of the caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_scatter_conformance import check_cases

import libgather
from conformance import CASES, Case, array_of, data_of, fields_of, packed_of

FILES = sorted((CASES / "bags").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_profile(path: Path, case_counts: dict[str, int]) -> None:
    check_cases(path, answer, f"bags/{path.stem}", case_counts)


def answer(case: Case, kind: Any) -> Any:
    """Returns the result of new memory. The result in existing memory must be equal."""
    keys = case.keys
    indices, bags, weights = (
        kind(array_of(keys[name])) if name in keys else None for name in ("indices", "bags", "weights")
    )
    params = packed_of(case, kind) if "codec" in keys else kind(array_of(keys["params"]))
    switches = case.attributes | case.switches | {name: keys[name] for name in ("pool", "empty") if name in keys}
    switches["padding_index"] = int(keys["padding_index"]) if "padding_index" in keys else None
    switches["count"] = int(keys["bag_count"]) if "bag_count" in keys else None
    if bags is not None:
        switches[keys["bag_format"]] = bags
    try:
        result = libgather.gather_bags(params, indices, weights=weights, **switches)
    except libgather.Error as error:
        return fields_of(error)
    if isinstance(result, (np.ndarray, libgather.Tensor)):
        out = np.empty(np.shape(result), np.asarray(result).dtype)
        assert libgather.gather_bags(params, indices, weights=weights, out=out, **switches) is out
        assert data_of(out) == data_of(result)
    return data_of(result)
