"""The kernels of libgather.torch for tensors on devices, run with tensors on the CPU. test_torch.py runs this file."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.autograd.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch_bags import FORMATS, POOLS, RULES, bags_of
from torch_training import REDUCTIONS, SCATTERS, SWITCHES, drawn

import libgather
import libgather.torch as operators
from libgather._base.request_fields import Request
from libgather._objects import run_arrays
from libgather._operations import gathers
from libgather.torch import _devices

torch.manual_seed(9)


class OnDevice(TorchDispatchMode):
    """Runs the kernels for devices. It records the operators and their last arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.arguments: dict[str, tuple[Any, ...]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.partition("::")[2]
        kernel = _devices.KERNELS.get(name)
        if kernel is None:
            return func(*args, **(kwargs or {}))
        self.arguments[name] = args
        return kernel(*args)


def with_gradients(call: Any, *leaves: torch.Tensor) -> list[torch.Tensor]:
    """Returns the result of a call and the gradients of its leaves."""
    own = [leaf.clone().requires_grad_() for leaf in leaves]
    result = call(*own)
    factors = torch.arange(1, result.numel() + 1).to(result.dtype).reshape(result.shape)
    return [result.detach(), *torch.autograd.grad(result, own, factors)]


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", SCATTERS)
def test_scatters_are_those_of_the_cpu(name: str, reduction: str, switches: dict[str, Any]) -> None:
    scatter, target, indices, updates = drawn(name, reduction, **switches)
    expected = with_gradients(lambda t, u: scatter(t, indices, u), target, updates)
    with OnDevice() as mode:
        found = with_gradients(lambda t, u: scatter(t, indices, u), target, updates)
    assert SCATTERS[name][0] in mode.arguments
    for mine, other in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=0)


@pytest.mark.parametrize("switches", [{}, {"include_self": False}, {"padding_index": 1}], ids=str)
@pytest.mark.parametrize("reduction", ["max", "min"])
@pytest.mark.parametrize("name", SCATTERS)
def test_positions_of_scatters_are_those_of_the_cpu(name: str, reduction: Any, switches: dict[str, Any]) -> None:
    op, *_, attributes = SCATTERS[name]
    _, *operands = drawn(name, reduction)

    def call() -> torch.Tensor:
        return operators.scatter_positions(*operands, op=op, reduction=reduction, **attributes, **switches)

    expected = call()
    with OnDevice() as mode:
        assert torch.equal(call(), expected)
    assert mode.arguments.keys() == {f"{op}_positions"}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("switches", [{}, {"accumulate": "dtype"}, {"profile": "torch"}], ids=str)
@pytest.mark.parametrize("reduction", ["add", "mul", "mean", "max"])
def test_halves_are_rounded_as_on_the_cpu(reduction: Any, switches: Any, dtype: torch.dtype) -> None:
    target, indices = torch.ones(3, 2, dtype=dtype), torch.randint(3, (900,))
    updates = (torch.rand(900, 2) * 0.1 + 0.95).to(dtype)
    expected = operators.scatter(target, indices, updates, reduction=reduction, **switches)
    with OnDevice() as mode:
        found = operators.scatter(target, indices, updates, reduction=reduction, **switches)
    assert mode.arguments.keys() == {"scatter"} and torch.equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.complex64], ids=str)
@pytest.mark.parametrize(
    "switches",
    [
        {},
        {"negative": "wrap", "bounds": "clamp"},
        {"bounds": "fill", "fill_value": 2.0},
        {"padding_index": 1},
        {"profile": "jax_fill", "fill_value": 2.0},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("name", "shape", "index", "attributes"),
    [
        ("gather", (3, 2), (700,), {}),
        ("gather", (2, 3, 2), (2, 4), {"axis": 1, "batch_dims": 1}),
        ("gather_nd", (3, 3, 2), (5, 2), {}),
        ("gather_elements", (3, 4), (5, 4), {"axis": 0}),
    ],
)
def test_gradients_of_gathers_are_those_of_the_cpu(
    name: str, shape: Any, index: Any, attributes: Any, switches: Any, dtype: torch.dtype
) -> None:
    gather = getattr(operators, name)
    params = torch.rand(shape).to(dtype)
    low, high = (-2, 5) if "bounds" in switches or "profile" in switches else (0, 3)
    indices = torch.randint(low, high, index)

    def call(leaf: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = gather(leaf, indices, **attributes, **switches)
        return result

    expected = with_gradients(call, params)
    with OnDevice() as mode:
        found = with_gradients(call, params)
    assert mode.arguments.keys() == {f"{name}_gradient"}
    assert all(torch.equal(mine, other) for mine, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("padding_idx", [None, 1])
def test_gradients_of_embeddings_are_those_of_the_cpu(padding_idx: int | None) -> None:
    weight, ids = torch.rand(4, 3), torch.tensor([[1, 2], [2, 0]])
    expected = with_gradients(lambda leaf: operators.embedding(ids, leaf, padding_idx), weight)
    with OnDevice() as mode:
        found = with_gradients(lambda leaf: operators.embedding(ids, leaf, padding_idx), weight)
    assert mode.arguments.keys() == {"gather_gradient"}
    assert all(torch.equal(mine, other) for mine, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize(
    ("form", "rule"), [*((form, "strict") for form in FORMATS), *(("starts", rule) for rule in RULES)]
)
def test_bags_are_those_of_the_cpu(form: str, pool: Any, rule: str) -> None:
    """In a mode, the gradients are a composition, whose sums have another order."""
    switches, ids = RULES[rule]
    table, ids = torch.rand(8, 3, dtype=torch.float64), bags_of(form, ids)
    is_extreme = pool in ("max", "min")
    leaves = (table,) if is_extreme else (table, torch.rand(ids.shape, dtype=torch.float64))

    def call(table: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
        return operators.gather_bags(table, ids, **FORMATS[form], pool=pool, weights=weights, **switches)

    result, *gradients = with_gradients(call, *leaves)
    with OnDevice() as mode:
        found = with_gradients(call, *leaves)
    assert {"gather_bags", "gather_bags_positions" if is_extreme else "gather_gradient"} <= mode.arguments.keys()
    assert torch.equal(found[0], result)
    torch.testing.assert_close(found[1:], gradients, rtol=1e-12, atol=1e-12)

    params, *others = mode.arguments["gather_bags"]
    upstream = torch.arange(1, result.numel() + 1).to(result.dtype).reshape(result.shape)
    for of_weights, expected in enumerate(gradients):
        for given in (params, None) if not (is_extreme or of_weights) else (params,):
            kernel = _devices.KERNELS["gather_bags_gradient"]
            assert torch.equal(kernel(bool(of_weights), upstream, given, table.shape, *others), expected)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("mode", "weighted"), [("sum", False), ("sum", True), ("mean", False)])
def test_sparse_gradients_of_bags_are_those_of_torch(mode: str, weighted: bool) -> None:
    ids, offsets = torch.tensor([7, 3, 7, 1, 0, 3]), torch.tensor([0, 2, 2, 5])
    weights = torch.rand(6, dtype=torch.float64) if weighted else None
    table, upstream = torch.rand(9, 3, dtype=torch.float64), torch.rand(4, 3, dtype=torch.float64)
    given: dict[str, Any] = {"mode": mode, "per_sample_weights": weights, "padding_idx": 1, "sparse": True}
    theirs = table.clone().requires_grad_()
    torch.nn.functional.embedding_bag(ids, theirs, offsets, **given).backward(upstream)
    assert theirs.grad is not None
    expected = theirs.grad.coalesce()
    with OnDevice() as mode_of_kernels:
        operators.embedding_bag(ids, table.clone().requires_grad_(), offsets, **given)
    _, *others = mode_of_kernels.arguments["gather_bags"]
    kernel = _devices.KERNELS["gather_bags_gradient"]
    for params in (None, table):
        found = kernel(False, upstream, params, table.shape, *others)
        assert found.is_sparse and found.is_coalesced() and found.shape == table.shape
        assert torch.equal(found.indices(), torch.tensor([[0, 3, 7]]))
        torch.testing.assert_close(found.to_dense(), expected.to_dense(), rtol=1e-12, atol=0)
        theirs.grad = found
        torch.optim.SGD([theirs], lr=1.0).step()
    if weighted:
        assert not kernel(True, upstream, table, table.shape, *others).is_sparse


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_of_bags_on_devices_are_one_operator_each(weighted: bool) -> None:
    """Tensors without values have a device, and no device is needed for them."""
    table, weights = torch.empty(8, 3, device="meta", requires_grad=True), torch.empty(9, device="meta")
    ids = torch.empty(9, dtype=torch.int64, device="meta")
    leaves = [table, weights.requires_grad_()] if weighted else [table]
    result = operators.gather_bags(table, ids, starts=ids[:4], weights=weights if weighted else None, pool="mean")
    with profile() as found:
        gradients = torch.autograd.grad(result.sum(), leaves)
    assert [each.shape for each in gradients] == [each.shape for each in leaves]
    names = [event.name for event in found.function_events if event.name.startswith("libgather::")]
    assert names.count("libgather::gather_bags_gradient") == len(leaves) and "libgather::gather_gradient" not in names


ORDERED: dict[str, Any] = {
    "gather": lambda leaf, **how: operators.gather(leaf, torch.tensor([2, 0]), **how),
    "gather_nd": lambda leaf, **how: operators.gather_nd(leaf, torch.tensor([[2, 0]]), **how),
    "gather_elements": lambda leaf, **how: operators.gather_elements(leaf, torch.tensor([[2, 0]]), **how),
    "scatter": lambda leaf, **how: operators.scatter(leaf, torch.tensor([1]), leaf[:1], reduction="add", **how),
    "scatter_nd": lambda leaf, **how: operators.scatter_nd(leaf, torch.tensor([[1]]), leaf[:1], **how),
    "scatter_elements": lambda leaf, **how: operators.scatter_elements(leaf, torch.tensor([[1]]), leaf[:1, :1], **how),
    "gather_bags": lambda leaf, **how: operators.gather_bags(leaf, torch.tensor([[2, 0]]), **how),
}


@pytest.mark.parametrize("name", ORDERED)
def test_order_is_passed_to_the_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[str | None] = []

    def run(*arguments: Any) -> Any:
        orders.append(Request._make(arguments[4:]).order)
        return run_arrays(*arguments)

    monkeypatch.setattr(_devices, "run_arrays", run)
    monkeypatch.setattr(gathers, "run_arrays", run)
    leaf, found = torch.rand(3, 3), []
    for order in ({}, {"order": "updates"}, {"order": "any"}):
        with OnDevice():
            found.append(with_gradients(lambda leaf, order=order: ORDERED[name](leaf, **order), leaf))
        assert orders and set(orders) == {order.get("order")}
        orders.clear()
    torch.testing.assert_close(found[1:], found[:1] * 2)


def test_errors_are_those_of_the_cpu() -> None:
    target, updates = torch.zeros(3, 2), torch.ones(2, 2)

    def wrong() -> None:
        operators.scatter(target, torch.tensor([0, 3]), updates)

    caught = []
    for mode in (OnDevice(), None):
        with mode or torch.no_grad(), pytest.raises(libgather.IndexError) as error:
            wrong()
        caught.append(error.value)
    assert [(each.operand, each.position, each.value, each.limit) for each in caught] == [("indices", 1, 3, 3)] * 2
    assert str(caught[0]) == str(caught[1])
