"""gather_bags, embedding_bag and EmbeddingBag of libgather.torch. test_torch.py runs this with the extension."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

import libgather
import libgather.torch as ours

torch.manual_seed(7)

IDS = torch.tensor([4, 1, 1, 7, 0, 3, 4, 2, 6])
OFFSETS = torch.tensor([0, 3, 3, 4, 9])
LENGTHS = OFFSETS.diff()
SEGMENTS = torch.repeat_interleave(torch.arange(4), LENGTHS)
FORMATS: dict[str, dict[str, Any]] = {
    "offsets": {"offsets": OFFSETS},
    "starts": {"starts": OFFSETS[:-1]},
    "lengths": {"lengths": LENGTHS},
    "segments": {"segments": SEGMENTS, "count": 4},
    "dense": {},
}
POOLS = ["sum", "mean", "sqrtn", "max", "min"]
#: Rules, with the ids that they are for.
RULES: dict[str, tuple[dict[str, Any], torch.Tensor]] = {
    "strict": ({}, IDS),
    "padding": ({"padding_index": 4}, IDS),
    "padding out of bounds": ({"padding_index": -1}, torch.where(IDS == 4, -1, IDS)),
    "skip": ({"bounds": "skip"}, torch.where(IDS == 7, 99, IDS)),
    "skip and wrap": ({"bounds": "skip", "negative": "wrap"}, IDS - 9),
    "fill": ({"bounds": "fill"}, torch.where(IDS == 7, 99, IDS)),
    "fill value": ({"fill_value": 1.1011}, torch.where(IDS == 7, 99, IDS)),
    "clamp": ({"bounds": "clamp"}, IDS + 3),
    "modulo and padding": ({"bounds": "modulo", "padding_index": 12}, IDS + 8),
    "profile": ({"profile": "jax_fill", "fill_value": "zero"}, torch.where(IDS == 7, 99, IDS)),
    "skip and profile": ({"bounds": "skip", "profile": "jax_clip"}, torch.where(IDS == 7, -3, IDS)),
}


def bags_of(form: str, ids: torch.Tensor) -> torch.Tensor:
    """Returns ids for a format. Dense bags have one row of ids each."""
    return ids.reshape(3, 3) if form == "dense" else ids


def drawn(*shape: int) -> torch.Tensor:
    """Returns numbers that all differ."""
    return torch.randperm(1000, dtype=torch.float64)[: torch.Size(shape).numel()].reshape(shape) / 500 + 0.25


BOTH = {"check_forward_ad": True, "check_batched_grad": True}


@pytest.mark.parametrize(
    ("rule", "shape"), [*((rule, (8, 3)) for rule in RULES), ("strict", (8,)), ("padding", (8, 2, 2))], ids=str
)
@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
def test_values_and_gradients(form: str, pool: Any, rule: str, shape: tuple[int, ...]) -> None:
    switches, ids = RULES[rule]
    ids, table = bags_of(form, ids), drawn(*shape).requires_grad_()
    given: dict[str, Any] = {**FORMATS[form], **switches, "pool": pool}

    def run(table: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
        return ours.gather_bags(table, ids, **given, weights=weights)

    expected = libgather.gather_bags(table.detach(), ids, **given)
    assert torch.equal(run(table), expected)
    if "profile" in rule and pool in ("max", "min"):  # an empty bag is -infinity or infinity
        with pytest.raises(libgather.UnsupportedError, match="vmap"):
            torch.vmap(run)(table.detach()[None])
        return
    torch.testing.assert_close(torch.vmap(run)(table.detach()[None])[0], expected)
    if pool in ("max", "min"):
        assert torch.autograd.gradcheck(run, table, **BOTH)
        return
    weights = drawn(*ids.shape).requires_grad_()
    weighted = libgather.gather_bags(table.detach(), ids, weights=weights.detach(), **given)
    assert torch.equal(run(table, weights), weighted)
    assert torch.autograd.gradcheck(run, (table, weights), **BOTH)
    assert shape != (8, 3) or torch.autograd.gradgradcheck(run, (table, weights))


def as_of_torch(mode: str, **switches: Any) -> tuple[torch.nn.EmbeddingBag, ours.EmbeddingBag]:
    theirs = torch.nn.EmbeddingBag(8, 5, mode=mode, dtype=torch.float64, **switches)
    own = ours.EmbeddingBag(8, 5, mode=mode, dtype=torch.float64, **switches)
    own.load_state_dict(theirs.state_dict())
    return theirs, own


@pytest.mark.parametrize("padding_idx", [None, 4, -1])
@pytest.mark.parametrize("include_last_offset", [False, True])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("is_dense", [False, True])
@pytest.mark.parametrize("kind", [torch.int64, torch.int32])
def test_modules_are_those_of_torch(
    kind: torch.dtype, is_dense: bool, mode: str, include_last_offset: bool, padding_idx: int | None
) -> None:
    if is_dense and include_last_offset:
        include_last_offset = False
    modules = as_of_torch(mode, padding_idx=padding_idx, include_last_offset=include_last_offset)
    for module in modules:
        torch.nn.init.normal_(module.weight, generator=torch.Generator().manual_seed(1))
    offsets = (OFFSETS if include_last_offset else OFFSETS[:-1]).to(kind)
    arguments = (IDS.reshape(3, 3).to(kind),) if is_dense else (IDS.to(kind), offsets)
    weights = drawn(*arguments[0].shape) if mode == "sum" else None
    found = []
    for module in modules:
        factors = None if weights is None else weights.clone().requires_grad_()
        result = module(*arguments, **({} if weights is None else {"per_sample_weights": factors}))
        (result * torch.arange(result.numel()).reshape(result.shape)).sum().backward()
        found.append((result, module.weight.grad, None if factors is None else factors.grad))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize(
    ("pool", "weighted"), [*((pool, False) for pool in POOLS), *((pool, True) for pool in POOLS[:3])]
)
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_gradients_are_the_dense_ones(form: str, pool: Any, weighted: bool) -> None:
    ids, found = bags_of(form, IDS), []
    weights = drawn(*ids.shape) if weighted else None
    for sparse in (True, False):
        table = (found[0][1].detach() if found else drawn(8, 3)).clone().requires_grad_()
        rules: Any = {"pool": pool, "padding_index": 4, "weights": weights, "sparse": sparse}
        result = ours.gather_bags(table, ids, **FORMATS[form], **rules)
        upstream = torch.arange(result.numel(), dtype=table.dtype).reshape(result.shape)
        found.append((result, table, *torch.autograd.grad(result, table, upstream)))
    (result, _, gradient), (expected, _, dense) = found
    assert torch.equal(result, expected) and gradient.is_sparse and gradient.is_coalesced()
    assert torch.equal(gradient.to_dense(), dense)
    rows = gradient.indices()[0]
    assert torch.equal(rows, rows.unique()) and 4 not in rows and len(rows) <= 7


@pytest.mark.parametrize(("mode", "weighted"), [("sum", False), ("sum", True), ("mean", False)])
@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.SparseAdam, torch.optim.Adagrad])
def test_twenty_steps_with_sparse_gradients_have_the_losses_of_torch(optimizer: Any, mode: str, weighted: bool) -> None:
    modules = as_of_torch(mode, sparse=True, padding_idx=0, include_last_offset=True)
    targets, losses = drawn(4, 5), []
    weights = drawn(9) if weighted else None
    for module in modules:
        steps = optimizer(module.parameters(), lr=0.01)
        losses.append([])
        for _ in range(20):
            steps.zero_grad()
            loss = (module(IDS, OFFSETS, weights) - targets).square().sum()
            loss.backward()
            assert module.weight.grad.is_sparse
            steps.step()
            losses[-1].append(loss.item())
    theirs, own = losses
    torch.testing.assert_close(own, theirs, rtol=1e-9, atol=0)
    assert own[-1] < own[0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_dtypes_are_those_of_torch(mode: Any, dtype: torch.dtype) -> None:
    """Small integers are exact in halves."""
    offsets, found = torch.tensor([0, 2, 2, 9]), []
    for call in (ours.embedding_bag, functional.embedding_bag):
        weight = (torch.arange(40).reshape(8, 5) * 7 % 11 - 5).to(dtype).requires_grad_()
        result = call(IDS, weight, offsets, mode=mode, include_last_offset=True)
        (result * 4).sum().backward()
        found.append((result, weight.grad))
    torch.testing.assert_close(*found)


def test_the_first_of_equal_maxima_has_the_gradient() -> None:
    found = []
    for call in (ours.embedding_bag, functional.embedding_bag):
        weight = torch.ones(8, 2, requires_grad=True)
        call(IDS, weight, OFFSETS[:-1], mode="max").sum().backward()
        found.append(weight.grad)
    assert torch.equal(*found)


def test_lists_and_numbers() -> None:
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [4.0, 2.0]])
    assert ours.gather_bags(table, [0, 2, 1], offsets=[0, 2, 3]).tolist() == [[5, 2], [0, 1]]
    assert ours.gather_bags(table, [[0, 2], [1, 1]], weights=[[2, 1], [1, 3]]).tolist() == [[6, 2], [0, 4]]
    assert ours.gather_bags(table, [0], offsets=[0, 0, 1], empty="fill", fill_value=7).tolist() == [[7, 7], [1, 0]]
    assert ours.gather_bags(table.half(), [0, 2], lengths=[2], weights=[1, 2]).dtype == torch.float16


def test_errors_have_fields() -> None:
    table = torch.zeros(3, 2, requires_grad=True)
    with pytest.raises(libgather.IndexError) as caught:
        ours.gather_bags(table, torch.tensor([0, 9]), offsets=torch.tensor([0, 2]))
    assert (caught.value.index, caught.value.value, caught.value.limit) == ((1,), 9, 3)
    with pytest.raises(libgather.OffsetsError) as offsets:
        ours.gather_bags(table, torch.tensor([0, 1]), offsets=torch.tensor([0, 3]))
    assert offsets.value.operand == "bags"
    with pytest.raises(libgather.ShapeError, match="weights"):
        ours.gather_bags(table, torch.tensor([[0, 1]]), weights=torch.ones(1, 3))
    with pytest.raises(libgather.OptionError, match="count"):
        ours.gather_bags(table, torch.tensor([0, 1]), segments=torch.tensor([0, 0]))
    with pytest.raises(libgather.OptionError, match="pool"):
        ours.gather_bags(table, torch.tensor([[0, 1]]), pool="most")  # type: ignore[arg-type]
    with pytest.raises(libgather.DTypeError, match="fill_value 18446744073709551615 is no"):
        ours.gather_bags(table, torch.tensor([[0, 9]]), pool="max", fill_value=2**64 - 1)
    for switch in ("max_norm", "scale_grad_by_freq"):
        with pytest.raises(libgather.UnsupportedError, match=switch):
            ours.EmbeddingBag(3, 2, **{switch: 1})
    with torch._subclasses.FakeTensorMode(), pytest.raises(libgather.ShapeError, match="weights"):
        ours.gather_bags(torch.zeros(3, 2), torch.zeros(1, 2).long(), weights=torch.ones(1, 3))


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
def test_compiled_whole(form: str, pool: Any) -> None:
    torch._dynamo.reset()
    given, ids = FORMATS[form], bags_of(form, torch.where(IDS == 7, 99, IDS))

    def score(table: torch.Tensor) -> torch.Tensor:
        return ours.gather_bags(table * 2, ids, **given, pool=pool, padding_index=4, fill_value=21).sin()

    tables = [torch.arange(24, dtype=torch.float64).reshape(8, 3).requires_grad_() for _ in range(2)]
    for run, table in zip((torch.compile(score, fullgraph=True, backend="aot_eager"), score), tables, strict=True):
        run(table).sum().backward()
    torch.testing.assert_close(tables[0].grad, tables[1].grad)


def test_compiled_programs_and_compiled_autograd_have_any_fill_value() -> None:
    torch._dynamo.reset()
    ids, first = torch.tensor([[0, 9], [9, 1]]), torch.tensor([[1.0, 5.0], [4.0, 2.0]])

    def score(table: torch.Tensor, fill: float) -> torch.Tensor:
        best = ours.gather_bags(table * 2, ids, pool="max", fill_value=fill)
        means = ours.gather_bags(table, ids, weights=table, pool="mean", fill_value=fill)
        return ((best + means) / fill).square().sum()

    compiled = torch.compile(score, fullgraph=True, backend="aot_eager")
    for fill in (3.0, 9.0, 4.5, 7, 2**63):
        tables = [first.clone().requires_grad_() for _ in range(3)]
        score(tables[0], fill).backward()
        compiled(tables[1], fill).backward()
        loss = score(tables[2], fill)
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager")):
            loss.backward()
        for table in tables[1:]:
            torch.testing.assert_close(table.grad, tables[0].grad)


@pytest.mark.parametrize("pool", ["sum", "mean", "max"])
@pytest.mark.parametrize("form", FORMATS)
def test_opcheck(form: str, pool: str) -> None:
    number = {"sum": 1, "mean": 2, "max": 4}[pool]
    formats = {"offsets": 1, "starts": 2, "lengths": 3, "segments": 4, "dense": 5}
    bags = next(iter(FORMATS[form].values()), None)
    switches = [*(0,) * 8, formats[form], number]
    table, ids = drawn(8, 3).requires_grad_(), bags_of(form, IDS)
    count = 4 if form == "segments" else 0
    torch.library.opcheck(torch.ops.libgather.gather_bags.default, (table, ids, bags, None, count, switches, 0))


def test_export_with_open_extents() -> None:
    class Module(torch.nn.Module):
        def forward(self, table: torch.Tensor, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            return ours.gather_bags(table, ids, lengths=lengths, pool="mean")

    ids, bags = torch.export.Dim("ids", min=2), torch.export.Dim("bags", min=2)
    operands = drawn(8, 3), IDS, LENGTHS
    program = torch.export.export(Module(), operands, dynamic_shapes=(None, {0: ids}, {0: bags}))
    more = drawn(8, 3), IDS[:4], torch.tensor([2, 0, 2])
    expected = libgather.gather_bags(more[0], more[1], lengths=more[2], pool="mean")
    assert torch.equal(program.module()(*more), expected)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("pool", ["sum", "mean", "max"])
def test_vmap_over_indices(form: str, pool: Any) -> None:
    table, given = drawn(8, 3), FORMATS[form]
    many = torch.stack([bags_of(form, IDS), bags_of(form, IDS.flip(0))])

    def score(ids: torch.Tensor) -> torch.Tensor:
        return ours.gather_bags(table, ids, **given, pool=pool)

    torch.testing.assert_close(torch.vmap(score)(many), torch.stack([score(ids) for ids in many]))
    each = torch.func.vmap(torch.func.grad(lambda t, i: ours.gather_bags(t, i, **given, pool=pool).sum()), (None, 0))
    gradients = each(table, many)
    for ids, gradient in zip(many, gradients, strict=True):
        leaf = table.clone().requires_grad_()
        ours.gather_bags(leaf, ids, **given, pool=pool).sum().backward()
        torch.testing.assert_close(leaf.grad, gradient)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
def test_no_ids_and_no_bags(form: str, pool: Any) -> None:
    empty = torch.zeros(0, dtype=torch.long)
    given = {"offsets": {"offsets": [0]}, "segments": {"segments": empty, "count": 0}, "dense": {}}
    bags = given.get(form, {form: empty})
    for ids in (
        (torch.zeros(2, 0, dtype=torch.long), torch.zeros(0, 3, dtype=torch.long)) if form == "dense" else (empty,)
    ):
        table = torch.ones(3, 2, requires_grad=True)
        result = ours.gather_bags(table, ids, **bags, pool=pool)
        assert result.shape == (len(ids) if form == "dense" else 0, 2) and not result.any()
        result.sum().backward()
        assert not table.grad.any()


def test_subclasses() -> None:
    class Own(torch.Tensor):
        pass

    table = torch.ones(8, 2)
    assert type(ours.embedding_bag(IDS, table.as_subclass(Own), OFFSETS[:-1])) is Own
    assert type(ours.gather_bags(table.as_subclass(Own), IDS, segments=SEGMENTS, count=4)) is Own
