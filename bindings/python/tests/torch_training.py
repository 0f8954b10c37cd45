"""The scatters, the names of torch and the modules of libgather.torch. test_torch.py runs this with the extension."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.utils.checkpoint

import libgather
import libgather.torch as ours

torch.manual_seed(5)

#: The function, the shapes of target, indices and updates, and the attributes. All indices are below 3.
SCATTERS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "rows": ("scatter", (3, 2), (5,), (5, 2), {}),
    "columns": ("scatter", (2, 3, 2), (2, 2), (2, 2, 2, 2), {"axis": 1}),
    "batch": ("scatter", (2, 3, 2), (2, 4), (2, 4, 2), {"batch_dims": 1}),
    "last": ("scatter", (2, 3), (4,), (2, 4), {"axis": -1}),
    "tuples": ("scatter_nd", (3, 3, 2), (5, 2), (5, 2), {}),
    "batch of tuples": ("scatter_nd", (2, 3, 2), (2, 4, 1), (2, 4, 2), {"batch_dims": 1}),
    "tuples of none": ("scatter_nd", (2, 3), (2, 0), (2, 2, 3), {}),
    "elements": ("scatter_elements", (2, 3), (2, 5), (2, 5), {}),
    "prefix": ("scatter_elements", (3, 4), (5, 2), (5, 2), {"axis": 0}),
}
REDUCTIONS = ["none", "add", "mul", "max", "min", "mean"]
SWITCHES: list[dict[str, Any]] = [
    {},
    {"bounds": "skip"},
    {"bounds": "clamp", "negative": "wrap"},
    {"include_self": False},
    {"padding_index": 1},
    {"padding_index": 4, "bounds": "modulo", "include_self": False},
]


def drawn(name: str, reduction: str, **switches: Any) -> tuple[Callable[..., Any], Any, Any, Any]:
    """Returns the function of a case with its attributes, and its operands. All their values differ."""
    call, target, index, updates, attributes = SCATTERS[name]
    low, high = (-2, 5) if "bounds" in switches else (0, 3)
    numbers = torch.randperm(1000, dtype=torch.float64)[:200] / 500 + 0.5
    size = torch.Size(target).numel()
    operands = (
        numbers[:size].reshape(target),
        torch.randint(low, high, index),
        numbers[size : size + torch.Size(updates).numel()].reshape(updates),
    )
    return partial(getattr(ours, call), reduction=reduction, **attributes, **switches), *operands


def plain(name: str, operands: Any, reduction: str, **switches: Any) -> Any:
    """Returns the result of the function of libgather that has no gradients."""
    call, _, _, _, attributes = SCATTERS[name]
    extents = {"extents": "prefix"} if call == "scatter_elements" else {}
    return getattr(libgather, call)(*operands, reduction=reduction, **attributes, **switches, **extents)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", SCATTERS)
class TestScatters:
    def test_values(self, name: str, reduction: str, switches: dict[str, Any]) -> None:
        scatter, *operands = drawn(name, reduction, **switches)
        before = operands[0].clone()
        assert torch.equal(scatter(*operands), plain(name, operands, reduction, **switches))
        assert torch.equal(operands[0], before)

    def test_gradients(self, name: str, reduction: str, switches: dict[str, Any]) -> None:
        scatter, target, indices, updates = drawn(name, reduction, **switches)
        both = target.requires_grad_(), updates.requires_grad_()
        assert torch.autograd.gradcheck(
            lambda t, u: scatter(t, indices, u), both, check_forward_ad=True, check_batched_grad=True
        )
        assert torch.autograd.gradgradcheck(lambda t, u: scatter(t, indices, u), both, fast_mode=True)

    def test_vmap(self, name: str, reduction: str, switches: dict[str, Any]) -> None:
        scatter, target, indices, updates = drawn(name, reduction, **switches)
        many = torch.stack([updates, updates + 1], -1)
        expected = torch.stack([scatter(target, indices, updates), scatter(target, indices, updates + 1)])
        assert torch.equal(torch.vmap(scatter, (None, None, -1))(target, indices, many), expected)


@pytest.mark.parametrize(
    ("reduction", "switches"),
    [*((reduction, {}) for reduction in REDUCTIONS), ("mul", {"bounds": "skip"}), ("mean", SWITCHES[-1])],
    ids=str,
)
@pytest.mark.parametrize("name", SCATTERS)
def test_compiled_whole(name: str, reduction: str, switches: dict[str, Any]) -> None:
    scatter, target, indices, updates = drawn(name, reduction, **switches)
    torch._dynamo.reset()
    compiled = torch.compile(lambda t, i, u: scatter(t * 2, i, u).sin(), fullgraph=True, backend="aot_eager")
    leaves = [[tensor.clone().requires_grad_() for tensor in (target, updates)] for _ in range(2)]
    result = compiled(leaves[0][0], indices, leaves[0][1])
    expected = scatter(leaves[1][0] * 2, indices, leaves[1][1]).sin()
    assert torch.equal(result, expected)
    result.sum().backward()
    expected.sum().backward()
    for leaf, other in zip(*leaves, strict=True):
        torch.testing.assert_close(leaf.grad, other.grad)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["rows", "tuples", "elements"])
def test_opcheck(name: str, reduction: str) -> None:
    call, _, _, _, _ = SCATTERS[name]
    _, target, indices, updates = drawn(name, reduction)
    axis = 1 if call == "scatter_elements" else 0
    switches = [0, 0, 0, 0, 0, 0, REDUCTIONS.index(reduction) + 1]
    operands = target.requires_grad_(), indices, updates.requires_grad_()
    torch.library.opcheck(getattr(torch.ops.libgather, call).default, (*operands, axis, 0, switches))


def test_opcheck_of_gradients_and_embeddings() -> None:
    rows, ids = torch.randn(4, 3, requires_grad=True), torch.tensor([2, 0, 2, 1])
    torch.library.opcheck(torch.ops.libgather.gather_gradient.default, (rows, ids, (5, 3), 0, 0, []))
    torch.library.opcheck(torch.ops.libgather.embedding.default, (rows, ids, 1, False))


TORCH_SCATTERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "index_add": (
        lambda t, i, u: ours.index_add(t, 0, i[:, 0], u),
        lambda t, i, u: torch.index_add(t, 0, i[:, 0], u),
    ),
    "index_add with alpha": (
        lambda t, i, u: ours.index_add(t, 0, i[:, 0], u, alpha=2),
        lambda t, i, u: torch.index_add(t, 0, i[:, 0], u, alpha=2),
    ),
    "scatter_add": (
        lambda t, i, u: ours.scatter_elements(t, i, u, 0, reduction="add"),
        lambda t, i, u: torch.scatter_add(t, 0, i, u),
    ),
    **{
        f"scatter_reduce {theirs}": (
            lambda t, i, u, name=name: ours.scatter_elements(t, i, u, 0, reduction=name),
            lambda t, i, u, name=theirs: torch.scatter_reduce(t, 0, i, u, name),
        )
        for name, theirs in (("mul", "prod"), ("max", "amax"), ("min", "amin"), ("mean", "mean"))
    },
    **{
        f"scatter_reduce {theirs} without self": (
            lambda t, i, u, name=name: ours.scatter_elements(t, i, u, 0, reduction=name, include_self=False),
            lambda t, i, u, name=theirs: torch.scatter_reduce(t, 0, i, u, name, include_self=False),
        )
        for name, theirs in (("add", "sum"), ("mul", "prod"), ("mean", "mean"))
    },
    "index_select": (
        lambda t, i, u: ours.index_select(t, 0, i[:, 0]) * u,
        lambda t, i, u: torch.index_select(t, 0, i[:, 0]) * u,
    ),
    "take_along_dim": (
        lambda t, i, u: ours.take_along_dim(t, i[:, :1], 0) * u,
        lambda t, i, u: torch.take_along_dim(t, i[:, :1], 0) * u,
    ),
    "embedding": (
        lambda t, i, u: ours.embedding(i, t).sum(1) * u,
        lambda t, i, u: torch.nn.functional.embedding(i, t).sum(1) * u,
    ),
}


#: Complex numbers have no order. torch refuses the other two, and test_complex_gradients has them.
WITHOUT_COMPLEX_GRADIENT = "scatter_reduce", "embedding"


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128], ids=str
)
@pytest.mark.parametrize("name", TORCH_SCATTERS)
def test_values_and_gradients_are_those_of_torch(name: str, dtype: torch.dtype) -> None:
    """Ties, zeros and duplicates occur. The small integers are exact in all dtypes."""
    if dtype.is_complex and name.startswith(WITHOUT_COMPLEX_GRADIENT):
        pytest.skip("torch has no gradient of this function for complex numbers")
    run, expected = TORCH_SCATTERS[name]
    indices = torch.randint(0, 5, (6, 3))
    target, updates = (torch.randint(0, 3, shape).to(dtype) for shape in ((5, 3), (6, 3)))
    gradients = []
    for call in (run, expected):
        leaves = [tensor.clone().requires_grad_() for tensor in (target, updates)]
        result = call(leaves[0], indices, leaves[1])
        result.backward((torch.arange(result.numel()) % 4).reshape(result.shape).to(dtype))
        gradients.append((result.detach(), leaves[0].grad, leaves[1].grad))
    for given, wanted in zip(*gradients, strict=True):
        torch.testing.assert_close(given, wanted)


@pytest.mark.parametrize("reduction", ["amax", "amin"])
def test_extremes_without_self_have_the_gradient_of_torch(reduction: str) -> None:
    """All values differ. torch divides the gradient of a value by one more if the ignored value of target is equal."""
    target, updates, found = *torch.randperm(33, dtype=torch.float64).split([15, 18]), []
    indices, upstream = torch.randint(0, 4, (6, 3)), torch.randn(5, 3, dtype=torch.float64)
    for is_own in (True, False):
        leaves = target.reshape(5, 3).clone().requires_grad_(), updates.reshape(6, 3).clone().requires_grad_()
        rules: Any = {"include_self": False}
        if is_own:
            result = ours.scatter_elements(leaves[0], indices, leaves[1], 0, reduction=reduction[1:], **rules)
        else:
            result = torch.scatter_reduce(leaves[0], 0, indices, leaves[1], reduction, **rules)
        result.backward(upstream)
        found.append((result.detach(), leaves[0].grad, leaves[1].grad))
    torch.testing.assert_close(*found)


def test_padding_of_gathers_has_the_gradient_of_embedding() -> None:
    ids, upstream, found = torch.randint(0, 5, (4, 6)), torch.randn(4, 6, 3), []
    for is_own in (True, False):
        table = torch.arange(15.0).reshape(5, 3).requires_grad_()
        if is_own:
            rows = ours.gather(table, ids, padding_index=2)
        else:
            rows = torch.nn.functional.embedding(ids, table, padding_idx=2) * (ids != 2).unsqueeze(-1)
        rows.backward(upstream)
        found.append((rows.detach(), table.grad))
    torch.testing.assert_close(*found)


def test_padding_is_filled_and_other_indices_stay_errors() -> None:
    table = torch.arange(1.0, 4)
    for call, ids in ((ours.gather, [-1, 0]), (ours.gather_nd, [[-1], [0]]), (ours.gather_elements, [-1, 0])):
        given = torch.tensor(ids)
        assert call(table, given, padding_index=-1).tolist() == [0, 1]
        assert call(table, given, padding_index=-1, fill_value=9).tolist() == [9, 1]
        assert call(table, ids, padding_index=-1, fill_value=9, bounds="clamp").tolist() == [9, 1]
        with pytest.raises(libgather.IndexError):
            call(table, given + 7, padding_index=6, fill_value=9)
    with pytest.raises(libgather.DTypeError, match="fill_value"):
        ours.gather(table.int(), torch.tensor([-1]), padding_index=-1, fill_value=0.5)
    with pytest.raises(libgather.DTypeError, match="include_self"):
        ours.scatter(table, torch.tensor([0]), table[:1], reduction="add", include_self=0)  # type: ignore[arg-type]


@pytest.mark.parametrize("accumulate", [None, "dtype", "float32", "float64"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_accumulation_is_that_of_the_plain_function(dtype: torch.dtype, accumulate: Any) -> None:
    updates, ids = torch.cat([torch.full((1,), 4096.0), torch.full((3000,), 2e-4)]).to(dtype), torch.zeros(3001).long()
    given: Any = {"reduction": "mean", "include_self": False}
    result = ours.scatter(torch.zeros(1, dtype=dtype), ids, updates, accumulate=accumulate, **given)
    own = accumulate or ("float32" if dtype == torch.float16 else "dtype")
    assert torch.equal(result, libgather.scatter(torch.zeros(1, dtype=dtype), ids, updates, accumulate=own, **given))


@pytest.mark.parametrize("shape", [(), (2,), (3, 2)], ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_one_row_or_one_number_as_updates(reduction: Any, shape: tuple[int, ...]) -> None:
    target, ids = torch.arange(1.0, 11, dtype=torch.float64).reshape(5, 2), torch.tensor([[4, 1, 1], [0, 4, 1]])
    updates = torch.arange(0.5, 6, dtype=torch.float64)[: torch.Size(shape).numel()].reshape(shape)

    def run(target: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
        return ours.scatter(target, ids, updates, reduction=reduction)

    expected = run(target, updates.expand(2, 3, 2).contiguous())
    assert torch.equal(run(target, updates), expected)
    assert torch.equal(torch.vmap(run, (None, 0))(target, updates[None])[0], expected)
    torch._dynamo.reset()
    assert torch.equal(torch.compile(run, fullgraph=True, backend="aot_eager")(target, updates), expected)
    if reduction not in ("max", "min"):  # repeated updates are equal
        assert torch.autograd.gradcheck(run, (target.requires_grad_(), updates.requires_grad_()), check_forward_ad=True)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_complex_products_have_the_gradient_of_products(zeros: int) -> None:
    """The product of the rows in a loop is differentiated by torch."""
    target, updates = torch.randn(3, 2, dtype=torch.complex128), torch.randn(5, 2, dtype=torch.complex128)
    ids = torch.tensor([1, 0, 1, 1, 0])
    updates[: 2 * zeros : 2] = 0
    upstream, found = torch.randn(3, 2, dtype=torch.complex128), []
    for loop in (False, True):
        leaves = target.clone().requires_grad_(), updates.clone().requires_grad_()
        if loop:
            rows = [leaves[0][i] for i in range(3)]
            for k, i in enumerate(ids.tolist()):
                rows[i] = rows[i] * leaves[1][k]
            result = torch.stack(rows)
        else:
            result = ours.scatter(leaves[0], ids, leaves[1], reduction="mul")
        result.backward(upstream)
        found.append((result.detach(), leaves[0].grad, leaves[1].grad))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("padding_idx", [None, 2])
def test_complex_embeddings_have_the_gradient_of_index_select(padding_idx: int | None) -> None:
    ids = torch.tensor([[2, 0, 2], [1, 1, 3]])
    leaves = [torch.arange(8).reshape(4, 2).to(torch.complex64).requires_grad_() for _ in range(2)]
    upstream = torch.randn(2, 3, 2, dtype=torch.complex64)
    ours.embedding(ids, leaves[0], padding_idx).backward(upstream)
    leaves[1].index_select(0, ids.reshape(-1)).backward(upstream.reshape(6, 2))
    if padding_idx is not None:
        leaves[1].grad[padding_idx] = 0
    torch.testing.assert_close(leaves[0].grad, leaves[1].grad)


def test_gradients_of_replaced_updates_are_zero_beside_infinities() -> None:
    updates = torch.ones(4, 2, requires_grad=True)
    result = ours.scatter(torch.zeros(3, 2), torch.tensor([1, 0, 1, 1]), updates)
    (gradient,) = torch.autograd.grad(result, updates, torch.full((3, 2), torch.inf), create_graph=True)
    again = torch.full((3, 2), torch.inf)
    result.backward(again)
    for given in (gradient, updates.grad):
        assert given[:, 0].tolist() == [0, torch.inf, 0, torch.inf]


def test_only_the_last_update_of_a_place_has_a_gradient() -> None:
    updates = torch.ones(4, 2, requires_grad=True)
    ours.scatter(torch.zeros(3, 2), torch.tensor([1, 0, 1, 1]), updates).sum().backward()
    assert updates.grad[:, 0].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("width", [2, 40])  # narrow and wide rows
@pytest.mark.parametrize("shape", [(), (5,), (2, 3)], ids=str)
@pytest.mark.parametrize("call", ["scatter", "scatter_nd"])
def test_gradients_of_replaced_rows(call: str, shape: tuple[int, ...], width: int) -> None:
    target, updates = torch.zeros(3, width, requires_grad=True), torch.ones(*shape, width, requires_grad=True)
    indices, gradient = torch.randint(0, 3, shape), torch.randn(width, 3).t()
    given = indices if call == "scatter" else indices[..., None]
    getattr(ours, call)(target, given, updates).backward(gradient)
    last = {int(row): number for number, row in enumerate(indices.flatten())}
    for row in range(3):
        assert target.grad[row].tolist() == ([0] * width if row in last else gradient[row].tolist())
    for number, row in enumerate(indices.flatten()):
        expected = gradient[row].tolist() if last[int(row)] == number else [0] * width
        assert updates.grad.reshape(-1, width)[number].tolist() == expected


def test_skipped_updates_of_an_empty_target_have_no_gradient() -> None:
    for width in (3, 40):
        updates = torch.ones(2, width, requires_grad=True)
        ours.scatter(torch.zeros(0, width), torch.tensor([5, 1]), updates, bounds="skip").sum().backward()
        assert updates.grad.tolist() == [[0] * width] * 2


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_added_in_float32(dtype: torch.dtype) -> None:
    ones = torch.ones(5000, dtype=dtype)
    exact = torch.tensor([5000.0]).to(dtype)
    indices = torch.zeros(5000, dtype=torch.long)
    assert torch.equal(ours.scatter(torch.zeros(1, dtype=dtype), indices, ones, reduction="add"), exact)


def test_lists_integers_and_numbers() -> None:
    table = torch.arange(6).reshape(3, 2)
    assert ours.gather(table, 2).tolist() == [4, 5]
    assert ours.gather(table, [2, 0]).tolist() == [[4, 5], [0, 1]]
    assert ours.gather(table, []).shape == (0, 2)
    assert ours.scatter(table, [1], [[7, 8]]).tolist() == [[0, 1], [7, 8], [4, 5]]
    with pytest.raises(libgather.DTypeError, match="params: list"):
        ours.gather([1], [0])  # type: ignore[arg-type]


def test_switches_are_those_of_the_plain_functions() -> None:
    table, ids = torch.arange(1.0, 4), torch.tensor([-1, 0, 7])
    for switches in (
        {"fill_value": 9},
        {"fill_value": "zero"},
        {"fill_value": "by_dtype"},
        {"fill_value": b"\0\0\x80\x3f"},
        {"profile": "numpy_wrap"},
        {"profile": "numpy_clip"},
        {"profile": "jax_fill"},
        {"profile": "tensorflow_gpu"},
    ):
        expected = libgather.gather(table, ids, **switches)  # type: ignore[call-overload]
        assert torch.equal(ours.gather(table, ids, **switches).nan_to_num(5), expected.nan_to_num(5)), switches
    with pytest.raises(libgather.OptionError, match="fill"):
        ours.gather(table, ids, bounds="clamp", fill_value=1)


@pytest.mark.parametrize("profile", ["jax_fill", "tensorflow_gpu", "numpy_clip"])
def test_gradients_with_a_profile(profile: Any) -> None:
    table = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    ids = torch.tensor([1, 7, 0])
    gradient = libgather.gather_gradient(torch.ones(3, 2, dtype=torch.float64), ids, (3, 2), profile=profile)
    ours.gather(table, ids, profile=profile).backward(torch.ones(3, 2, dtype=torch.float64))
    assert torch.equal(table.grad, gradient)


def test_errors_have_fields() -> None:
    table, ids = torch.zeros(3, 2, requires_grad=True), torch.tensor([[0, 1], [2, 3]])
    for call in (
        lambda: ours.gather(table, ids),
        lambda: ours.gather(table, ids.tolist()),
        lambda: ours.embedding(ids, table, 0),
        lambda: ours.scatter(table, ids, torch.zeros(2, 2, 2)),
        lambda: torch.func.grad(lambda p: ours.gather(p, ids).sum())(table),
    ):
        with pytest.raises(libgather.IndexError) as caught:
            call()
        error = caught.value
        assert (error.status_name, error.operand, error.position) == ("GTH_E_INDEX", "indices", 3)
        assert (error.value, error.limit) == (3, 3)
    with pytest.raises(libgather.IndexError) as caught:
        ours.gather(table, ids)
    assert (caught.value.index, caught.value.axis) == ((1, 1), 0)
    with pytest.raises(IndexError, match="component 0 of tuple 3"):
        torch.ops.libgather.gather(table, ids, 0, 0, [], 0)
    with pytest.raises(libgather.ShapeError, match="updates"):
        ours.scatter(table, ids, torch.zeros(2, 2, 3))
    with pytest.raises(libgather.DTypeError, match="updates"):
        ours.scatter(table, ids, torch.zeros(2, 2, 2).int())


def test_wrong_updates_are_refused_without_values() -> None:
    with torch._subclasses.FakeTensorMode():
        target, ids = torch.empty(3, 2), torch.zeros(4, dtype=torch.long)
        assert ours.scatter(target, ids, torch.empty(4, 2)).shape == (3, 2)
        with pytest.raises(libgather.ShapeError, match="updates: dim 1"):
            ours.scatter(target, ids, torch.empty(4, 3))
        with pytest.raises(libgather.RankError, match="updates: rank"):
            ours.scatter(target, ids, torch.empty(4))


def test_export_with_open_extents() -> None:
    class Module(torch.nn.Module):
        def forward(self, t: torch.Tensor, i: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
            return ours.scatter(t, i, u, reduction="add") * 2

    count = torch.export.Dim("count", min=2)
    operands = torch.zeros(3, 2), torch.tensor([0, 1, 1]), torch.ones(3, 2)
    program = torch.export.export(Module(), operands, dynamic_shapes=(None, {0: count}, {0: count}))
    found = program.module()(torch.zeros(3, 2), torch.tensor([0, 0, 2, 2]), torch.ones(4, 2))
    assert found.tolist() == [[4, 4], [0, 0], [4, 4]]


def test_compiled_autograd() -> None:
    torch._dynamo.reset()
    table, updates = torch.randn(5, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
    ids = torch.tensor([2, 0, 2])
    loss = (ours.scatter(table, ids, updates, reduction="mul") + ours.scatter(table, ids, updates)).sum()
    loss = loss + ours.gather(table, ids).sum() + ours.embedding(ids, table, 2).sum()
    expected = torch.autograd.grad(loss, (table, updates), retain_graph=True)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager")):
        loss.backward()
    torch.testing.assert_close((table.grad, updates.grad), expected)


def test_modes_and_subclasses() -> None:
    table, ids = torch.randn(5, 3), torch.tensor([2, 0, 2])

    class Own(torch.Tensor):
        pass

    assert type(ours.gather(table.as_subclass(Own), ids)) is Own
    assert type(ours.scatter(table.as_subclass(Own), ids, table[:3])) is Own
    assert torch.equal(torch.func.functionalize(lambda t: ours.gather(t, ids))(table), table[ids])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ours.gather(table, ids).dtype == torch.float32
    with torch.inference_mode():
        assert ours.gather(table, ids).is_inference()
    conjugate = torch.randn(5, 3, dtype=torch.complex64).conj()
    assert torch.equal(ours.gather(conjugate, ids), conjugate[ids])
    traced = torch.jit.trace(lambda t, i: ours.gather(t, i), (table, ids))
    assert torch.equal(traced(table, ids[:1]), table[ids[:1]])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("padding_idx", [None, 1, -1])
def test_modules_are_those_of_torch(padding_idx: int | None, sparse: bool) -> None:
    theirs = torch.nn.Embedding(7, 4, padding_idx=padding_idx, sparse=sparse)
    own = ours.Embedding(7, 4, padding_idx=padding_idx, sparse=sparse)
    own.load_state_dict(theirs.state_dict())
    ids = torch.tensor([[1, 6, 0], [6, 6, 2]])
    assert torch.equal(own(ids), theirs(ids))
    weights = torch.randn(2, 3, 4)
    for module in (own, theirs):
        (module(ids) * weights).sum().backward()
        assert module.weight.grad.is_sparse == sparse
    torch.testing.assert_close(own.weight.grad.to_dense(), theirs.weight.grad.to_dense())


#: Transforms of the gradient of `score`, and the dims of vmap of the table and of the ids that they are for.
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "vmap of grad": lambda score, dims: torch.vmap(torch.func.grad(score), dims),
    "grad of vmap": lambda score, dims: torch.func.grad(lambda *both: torch.vmap(score, dims)(*both).sum()),
    "autograd of vmap": lambda score, dims: (
        lambda table, ids: torch.autograd.grad(
            torch.vmap(score, dims)(leaf := table.clone().requires_grad_(), ids).sum(), leaf
        )[0].to_dense()
    ),
    "compiled": lambda score, dims: torch.compile(
        torch.func.grad(lambda *both: torch.vmap(score, dims)(*both).sum()), backend="aot_eager", fullgraph=True
    ),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("padding_idx", [None, 1, -2])
@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0)], ids=str)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_embedding_under_transforms(name: str, dims: Any, padding_idx: int | None, sparse: bool) -> None:
    """The row `padding_idx` of each table has no gradient. In torch's vmap, only that of the first one has none."""
    torch._dynamo.reset()
    tables, ids = torch.randn(3, 7, 4), torch.randint(0, 7, (3, 90))
    upstream = torch.randn(90, 4)
    operands = [each if dim == 0 else each[1] for each, dim in zip((tables, ids), dims, strict=True)]

    def expected(table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        kept = ids.ne(7 if padding_idx is None else padding_idx % 7)
        return torch.zeros_like(table).index_add_(0, ids[kept], upstream[kept])

    def score(table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return (ours.embedding(ids, table, padding_idx, sparse=sparse) * upstream).sum()

    found = TRANSFORMS[name](score, dims)(*operands)
    each = [expected(*(o if d is None else o[i] for o, d in zip(operands, dims, strict=True))) for i in range(3)]
    is_summed = dims[0] is None and name != "vmap of grad"
    torch.testing.assert_close(found, sum(each) if is_summed else torch.stack(each))


@pytest.mark.parametrize("sparse", [False, True])
def test_embedding_under_nested_vmap(sparse: bool) -> None:
    tables, ids = torch.randn(2, 7, 4), torch.randint(0, 7, (3, 9))

    def rows(table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return ours.embedding(ids, table, 2, sparse=sparse)

    both = torch.vmap(torch.vmap(rows, (None, 0)), (0, None))
    assert torch.equal(both(tables, ids), tables[:, ids])
    _, tangent = torch.func.jvp(lambda t: both(t, ids), (tables,), (tables + 1,))
    assert torch.equal(tangent, (tables + 1)[:, ids])  # as in torch, forward mode has no padding
    gradient = torch.func.grad(lambda t: both(t, ids).sum())(tables)
    assert not gradient[:, 2].any() and gradient[:, :, 0].sum() == 2 * ids.ne(2).sum()


FOLLOWED: dict[str, Callable[..., Any]] = {
    "embedding": lambda table, ids: ours.embedding(ids, table, -2, sparse=True),
    "embedding_bag": lambda table, ids: ours.embedding_bag(ids, table, padding_idx=-2, mode="sum"),
    "gather": lambda table, ids: ours.gather(table, ids, padding_index=1),
    "gather_nd": lambda table, ids: ours.gather_nd(table, ids[..., None], bounds="fill"),
    "gather_elements": lambda table, ids: ours.gather_elements(table, ids, 0),
    "gather_bags": lambda table, ids: ours.gather_bags(table, ids, padding_index=1, sparse=True),
    "scatter": lambda table, ids: ours.scatter(table, ids, 2.0, reduction="mul"),
    "scatter_nd": lambda table, ids: ours.scatter_nd(table, ids[..., None], 2.0, include_self=False),
    "scatter_elements": lambda table, ids: ours.scatter_elements(table, ids, table[:2], 0),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_traced_by_fx(name: str) -> None:
    table, ids = torch.randn(7, 3), torch.tensor([[1, 6, 5], [6, 6, 2]])
    traced = torch.fx.symbolic_trace(FOLLOWED[name])
    assert getattr(ours, name) in [node.target for node in traced.graph.nodes]
    assert torch.equal(traced(table, ids), FOLLOWED[name](table, ids))


@pytest.mark.parametrize("name", FOLLOWED)
def test_arguments_with_their_own_functions_are_not_read(name: str) -> None:
    """An argument has neither a shape nor a length."""

    class Own:
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, *_: Any) -> Any:
            return function, types

        def __getitem__(self, _: Any) -> Own:
            return self

    for arguments in ((Own(), torch.tensor([[0]])), (torch.zeros(7, 3), Own()), (Own(), Own())):
        function, types = FOLLOWED[name](*arguments)
        assert function is getattr(ours, name) and Own in types


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("module", [ours.Embedding, ours.EmbeddingBag])
def test_modules_are_traced_by_fx(module: Any, sparse: bool) -> None:
    own = module(7, 4, padding_idx=-2, sparse=sparse)
    ids = torch.tensor([[1, 6, 5], [6, 6, 2]])
    assert torch.equal(torch.fx.symbolic_trace(own)(ids), own(ids))


@pytest.mark.parametrize("given", [{}, {"padding_idx": 0}, {"sparse": True}], ids=str)
@pytest.mark.parametrize("shape", [(), (6,), (6, 2, 2)])
def test_table_that_is_no_matrix_is_refused(shape: tuple[int, ...], given: Any) -> None:
    table, ids = torch.ones(shape), torch.tensor([1, 2])
    for calls in (ours, torch.nn.functional):
        for call in (
            lambda of=calls: of.embedding(ids, table, **given),
            lambda of=calls: of.embedding_bag(ids[None], table, **given),
            lambda of=calls: of.embedding_bag(ids, table, ids - 1, **given),
        ):
            if calls is not ours:
                with pytest.raises((RuntimeError, ValueError, IndexError)):
                    call()
                continue
            with pytest.raises(libgather.RankError, match=f"params: rank is {len(shape)}, needed is 2") as caught:
                call()
            assert (caught.value.value, caught.value.limit) == (len(shape), 2)


@pytest.mark.parametrize(
    ("ids", "offsets", "message"),
    [
        (torch.tensor(1), None, "indices: rank is 0, needed is 2 without offsets"),
        (torch.tensor([1, 2]), None, "indices: rank is 1, needed is 2 without offsets"),
        (torch.tensor([[[1, 2]]]), None, "indices: rank is 3, needed is 2 without offsets"),
        (torch.tensor([[[1, 2]]]), torch.tensor([0]), "indices: rank is 3, needed is 1"),
        (torch.tensor([[1, 2]]), torch.tensor([0]), "indices: rank is 2, needed is 1"),
        (torch.tensor([1, 2]), torch.tensor([[0]]), "bags: rank is 2, needed is 1"),
        (torch.tensor([1, 2]), torch.tensor(0), "bags: rank is 0, needed is 1"),
    ],
    ids=str,
)
def test_bags_of_another_rank_are_refused(ids: torch.Tensor, offsets: torch.Tensor | None, message: str) -> None:
    table = torch.ones(4, 2)
    with pytest.raises(ValueError, match=r"dimension|1D|2D"):
        torch.nn.functional.embedding_bag(ids, table, offsets)
    with pytest.raises(libgather.RankError, match=message):
        ours.embedding_bag(ids, table, offsets)
    with (
        torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True),
        pytest.raises(libgather.RankError, match=message),
    ):
        ours.embedding_bag(ids, table, offsets)


def test_padding_that_is_no_row_is_refused() -> None:
    with pytest.raises(libgather.RankError, match="padding_idx is 3"):
        ours.embedding(torch.tensor([0]), torch.zeros(3, 2), 3)
    with pytest.raises(libgather.UnsupportedError, match="max_norm"):
        ours.Embedding(3, 2, max_norm=1.0)


class Model(torch.nn.Module):
    """A table, bags of its rows, and a layer."""

    def __init__(self, rows: Any, bags: Any) -> None:
        super().__init__()
        self.rows = rows(50, 8, padding_idx=0)
        self.bags = bags(50, 8, mode="sum")
        self.layer = torch.nn.Linear(48, 50)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.layer(torch.cat([self.rows(ids).flatten(1), self.bags(ids)], 1))


def gradients_of(model: Model, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Returns the loss, and sets the gradients by torch.func."""

    def loss_of(parameters: Any) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(torch.func.functional_call(model, parameters, (ids,)), targets)

    gradients, loss = torch.func.grad_and_value(loss_of)(dict(model.named_parameters()))
    for name, parameter in model.named_parameters():
        parameter.grad = gradients[name]
    return loss


def checkpointed(model: Model) -> Callable[..., Any]:
    return lambda ids: torch.utils.checkpoint.checkpoint(model, ids, use_reentrant=False)


#: The ways to train. Each returns what runs the model.
WAYS: dict[str, Callable[[Model], Any]] = {
    "eager": lambda model: model,
    "compiled": lambda model: torch.compile(model, backend="aot_eager", fullgraph=True),
    "dynamic": lambda model: torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True),
    "checkpointed": checkpointed,
    "functional": lambda model: model,
    "compiled autograd": lambda model: model,
}


def losses_of(way: str, rows: Any, bags: Any, ids: torch.Tensor, targets: torch.Tensor) -> list[float]:
    torch.manual_seed(1)
    torch._dynamo.reset()
    model = Model(rows, bags)
    run = WAYS[way](model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        if way == "functional":
            loss = gradients_of(model, ids, targets)
        else:
            loss = torch.nn.functional.cross_entropy(run(ids), targets)
            compiled = torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager"))
            with compiled if way == "compiled autograd" else contextlib.nullcontext():
                loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("way", WAYS)
def test_twenty_steps_of_adamw_have_the_losses_of_torch(way: str) -> None:
    torch.manual_seed(5)  # rounding differs by data
    ids, targets = torch.randint(0, 50, (16, 5)), torch.randint(0, 50, (16,))
    own = losses_of(way, ours.Embedding, ours.EmbeddingBag, ids, targets)
    expected = losses_of("eager", torch.nn.Embedding, torch.nn.EmbeddingBag, ids, targets)
    torch.testing.assert_close(own, expected, rtol=1e-6, atol=0)
    assert own[-1] < own[0] / 2
