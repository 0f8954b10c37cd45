"""Runs torch's own samples of index_select and gather with libgather. They have all dtypes, and invalid arguments.

    foreign_torch.py        prints the rows of the table in README.md

The samples are those of torch's own tests (``torch.testing._internal``), and torch computes the expected results. The
values of the plain functions and of the operators of libgather.torch are compared, and the gradients of the operators.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import libgather
import libgather.torch as operators

#: For each operator of torch, which takes a dim and an index: the plain function and the operator of libgather.
OURS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "index_select": (libgather.gather, operators.gather),
    "gather": (partial(libgather.gather_elements, extents="prefix"), operators.gather_elements),
}


def is_listed(sample: Any) -> bool:
    """Returns whether torch accepts a sample that libgather rejects, as listed in README.md."""
    source, (_, index) = sample.input, sample.args
    rank_0, rank_of_nothing = source.dim() == 0, index.numel() == 0 and index.dim() > max(source.dim(), 1)
    return rank_0 or rank_of_nothing or source.dtype == torch.complex32


def same(ours: Any, theirs: torch.Tensor) -> bool:
    return ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.equal(theirs)


def judged(op: Any, sample: Any) -> bool:
    """Returns whether libgather and torch have the same result and gradient for a sample."""
    expected, (dim, index) = op(sample.input, *sample.args, **sample.kwargs), sample.args
    plain, operator = OURS[op.name]
    results = [plain(sample.input, index, dim), operator(sample.input, index, dim)]
    if not all(same(result, expected) for result in results):
        return False
    if not (sample.input.is_floating_point() or sample.input.is_complex()):
        return True
    gradients = []
    for call in (op, lambda source, dim, index: operator(source, index, dim)):
        leaf = sample.input.detach().clone().requires_grad_()
        call(leaf, dim, index).sum().abs().backward()
        gradients.append(leaf.grad)
    return torch.allclose(*gradients)


def is_refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except libgather.Error:
        return True
    return False


def samples_of(op: Any) -> Iterator[Any]:
    for dtype in sorted(op.dtypes, key=str):
        yield from op.sample_inputs("cpu", dtype)


def rows() -> Iterator[tuple[str, int, int, int]]:
    """Yields for each operator its name and the numbers of matching, listed and invalid samples."""
    for op in op_db:
        if op.name not in OURS:
            continue
        plain = OURS[op.name][0]
        samples = list(samples_of(op))
        listed = [sample for sample in samples if is_listed(sample)]
        for sample in samples:
            dim, index = sample.args
            as_told = is_refused(partial(plain, sample.input, index, dim)) if is_listed(sample) else judged(op, sample)
            if not as_told:
                sys.exit(f"{op.name} of {sample.input.dtype} {tuple(sample.input.shape)}, {sample.args}: not as told")
        wrong = [each.sample_input for each in op.error_inputs("cpu")]
        for sample in wrong:
            dim, index = sample.args
            if not is_refused(partial(plain, sample.input, index, dim, **sample.kwargs)):
                sys.exit(f"{op.name}: torch refuses {sample.input}, {sample.args}, {sample.kwargs}, and we do not")
        yield op.name, len(samples) - len(listed), len(listed), len(wrong)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, answered, listed, wrong in rows():
        release = torch.__version__.partition("+")[0]
        print(f"| torch {release}: samples of `{name}` | {answered} as torch, {wrong} wrong ones refused | {listed} |")
