"""Runs torch's own samples of 13 operations, in all their dtypes, with libgather.torch. test_torch.py runs this.

The samples are those of torch's own tests (``torch.testing._internal``). torch computes the expected values and
gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch

import libgather.torch as ours

pytest.importorskip("expecttest", reason="expecttest is not installed")
from torch.testing._internal.common_methods_invocations import op_db


def scatter_reduce(
    reduction: Any, x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    source = source[tuple(map(slice, index.shape))]
    return ours.scatter_elements(x, index, source, dim, reduction=reduction, include_self=include_self)


def scatter_add(x: Any, dim: int, index: Any, source: Any) -> Any:
    return ours.scatter_elements(x, index, source[tuple(map(slice, index.shape))], dim, reduction="add")


def embedding(weight: Any, ids: Any, **given: Any) -> Any:
    known = {"padding_idx", "sparse"}
    return ours.embedding(ids, weight, **given) if {*given} <= known else None


def embedding_bag(weight: Any, ids: Any, **given: Any) -> Any:
    given = {name: value for name, value in given.items() if value is not None and value is not False}
    known = {"offsets", "mode", "per_sample_weights", "include_last_offset", "padding_idx", "sparse"}
    return ours.embedding_bag(ids, weight, **given) if {*given} <= known else None


#: For each operation and its variant in torch: the same call of libgather.torch, or None if there is none.
CALLS: dict[tuple[str, str], Callable[..., Any]] = {
    ("index_select", ""): ours.index_select,
    ("gather", ""): lambda x, dim, index: ours.gather_elements(x, index, dim),
    ("take_along_dim", ""): ours.take_along_dim,
    ("index_add", ""): ours.index_add,
    ("index_copy", ""): lambda x, dim, index, source: ours.scatter(x, index, source, dim),
    ("scatter_add", ""): scatter_add,
    ("scatter_reduce", "sum"): partial(scatter_reduce, "add"),
    ("scatter_reduce", "prod"): partial(scatter_reduce, "mul"),
    ("scatter_reduce", "amax"): partial(scatter_reduce, "max"),
    ("scatter_reduce", "amin"): partial(scatter_reduce, "min"),
    ("scatter_reduce", "mean"): partial(scatter_reduce, "mean"),
    ("nn.functional.embedding", ""): embedding,
    ("nn.functional.embedding_bag", ""): embedding_bag,
}


#: torch rounds after each step, and the library does not.
HALVES = {torch.float16: {"rtol": 4e-3, "atol": 4e-2}, torch.bfloat16: {"rtol": 3e-2, "atol": 0.25}}


def operands_of(sample: Any) -> list[Any]:
    return [sample.input, *sample.args, *sample.kwargs.values()]


def is_supported(sample: Any, name: str) -> bool:
    """Returns whether the library has the ranks and dtypes. It has neither scalars as tables nor sums of bool."""
    tensors = [each for each in operands_of(sample) if isinstance(each, torch.Tensor)]
    is_reduced = any(word in name for word in ("add", "reduce", "bag"))
    kinds = {torch.complex32} | ({torch.bool} if is_reduced else set())
    # torch.gather accepts empty indices of another rank.
    is_other_rank = name == "gather" and tensors[0].dim() != tensors[1].dim()
    return not is_other_rank and all(each.dim() > 0 and each.dtype not in kinds for each in tensors)


def results_of(call: Callable[..., Any], sample: Any) -> Iterator[torch.Tensor | None]:
    """Yields the result and the gradients of a call."""
    leaves: list[torch.Tensor] = []

    def leaf(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        value = value.detach().clone()
        if value.is_floating_point() or value.is_complex():
            leaves.append(value.requires_grad_())
        return value

    result = call(leaf(sample.input), *map(leaf, sample.args), **{k: leaf(v) for k, v in sample.kwargs.items()})
    yield result if result is None else result.detach()
    if result is not None and result.requires_grad:
        weights = torch.arange(result.numel()).reshape(result.shape) % 5
        result.backward(weights.to(result.dtype))
        for each in leaves:
            yield None if each.grad is None else each.grad.to_dense()


@pytest.mark.parametrize(("name", "variant"), CALLS, ids=str)
def test_samples_of_torch(name: str, variant: str) -> None:
    torch.manual_seed(2)
    (op,) = (op for op in op_db if op.name == name and op.variant_test_name == variant)
    compared = 0
    for dtype in sorted(op.dtypes, key=str):
        for sample in op.sample_inputs("cpu", dtype):
            if not is_supported(sample, name):
                continue
            found = list(results_of(CALLS[name, variant], sample))
            if found[0] is None:
                continue
            try:
                expected = list(results_of(op, sample))
            except NotImplementedError:  # torch has no gradient of complex numbers
                continue
            tolerance = HALVES.get(dtype, {})
            torch.testing.assert_close(found, expected, **tolerance, msg=lambda m, s=sample: f"{s}: {m}")
            compared += 1
    assert compared >= 20, compared
