"""Writes torch_scatter.json: results of scatter_max and scatter_min of torch_scatter, which torch_positions.py reads.

It needs torch_scatter, built for the installed torch. No number is the lowest of its dtype or NaN, which torch_scatter
ignores.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch_scatter

RANDOM = np.random.default_rng(11)
GROUPS = 5
#: The shapes of the numbers, the dim, and whether each number has an index of its own.
FORMS = [((9,), 0, True), ((7, 3), 0, False), ((3, 8), -1, True), ((2, 6, 3), 1, False), ((4, 5), 0, True)]


def recorded(dtype: str, reduction: str, shape: tuple[int, ...], dim: int, is_full: bool, has_out: bool) -> dict:
    """Returns the operands and the results of a call. Groups have equal numbers, and some groups have none."""
    src = torch.from_numpy(RANDOM.integers(1, 7, shape)).to(getattr(torch, dtype))
    index = torch.from_numpy(RANDOM.integers(0, GROUPS - 1, shape if is_full else shape[dim]))
    target = list(shape)
    target[dim] = GROUPS
    out = torch.from_numpy(RANDOM.integers(2, 6, target)).to(src.dtype) if has_out else None
    case = {"dtype": dtype, "reduction": reduction, "dim": dim, "dim_size": GROUPS}
    case |= {"src": src.tolist(), "index": index.tolist(), "out": None if out is None else out.tolist()}
    call = getattr(torch_scatter, f"scatter_{reduction}")
    result, arg = call(src, index, dim, out, None if has_out else GROUPS)
    return case | {"result": result.tolist(), "arg": arg.tolist()}


cases = [
    recorded(dtype, reduction, *form, has_out)
    for dtype in ("float32", "int64", "float16", "uint8")
    for reduction in ("max", "min")
    for form in FORMS
    for has_out in (False, True)
]
versions = f"torch_scatter {torch_scatter.__version__}, torch {torch.__version__.partition('+')[0]}"
lines = ",\n".join(map(json.dumps, cases))
path = Path(__file__).with_name("torch_scatter.json")
path.write_text(f'{{"system": "{versions}", "cases": [\n{lines}\n]}}\n', encoding="utf-8")
