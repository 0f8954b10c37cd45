"""Positions of maxima and minima of libgather.torch: compares them with loops, and with those that torch and
torch_scatter return. test_torch.py runs this with the extension."""

from __future__ import annotations

import json
import math
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_scatter_positions import naive
from torch_bags import FORMATS, IDS, OFFSETS, RULES, SEGMENTS, bags_of

import libgather
import libgather.torch as ours

#: The operation, the shapes of target and indices, and the attributes. Most indices are equal to others.
CASES: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "rows": ("scatter", (4, 3), (7,), {}),
    "scalar": ("scatter", (4, 3), (), {}),
    "columns": ("scatter", (2, 4, 3), (2, 3), {"axis": 1}),
    "last": ("scatter", (3, 4), (9,), {"axis": -1}),
    "batch": ("scatter", (2, 4, 3), (2, 5), {"batch_dims": 1}),
    "none": ("scatter", (4, 3), (0,), {}),
    "tuples": ("scatter_nd", (4, 4, 2), (9, 2), {}),
    "batch of tuples": ("scatter_nd", (2, 4, 2), (2, 5, 1), {"batch_dims": 1}),
    "elements": ("scatter_elements", (3, 4), (3, 7), {}),
    "prefix": ("scatter_elements", (4, 5, 2), (6, 3, 1), {"axis": 0}),
}
#: The rules, and the indices that they are for. Four is the extent of each indexed dim.
SWITCHES: dict[str, tuple[dict[str, Any], int, int]] = {
    "strict": ({}, 0, 4),
    "wrap": ({"negative": "wrap"}, -4, 4),
    "skip": ({"bounds": "skip"}, -2, 6),
    "clamp": ({"bounds": "clamp"}, -2, 6),
    "modulo": ({"bounds": "modulo"}, -5, 9),
    "padding": ({"padding_index": 7, "bounds": "skip"}, 0, 8),
}


def resolved(index: int, switches: dict[str, Any]) -> int | None:
    """Returns the place of an index in four, or None."""
    if index == switches.get("padding_index"):
        return None
    if switches.get("bounds") == "clamp":
        return min(max(index, 0), 3)
    if switches.get("bounds") == "modulo" or "negative" in switches:
        return index % 4
    return index if 0 <= index < 4 else None


def numbers(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Returns numbers with equal ones, and with NaN if the dtype has it."""
    values = torch.from_numpy(np.random.default_rng(seed).integers(0, 5, shape))
    made = values.to(dtype)
    if dtype.is_floating_point:
        made.view(-1)[::7] = math.nan
    return made


def drawn(name: str, rule: str, dtype: torch.dtype = torch.float32) -> tuple[dict[str, Any], list[torch.Tensor], Any]:
    """Returns the keywords of a case, its operands, and the place in the target of each update, or None."""
    op, shape, index_shape, attributes = CASES[name]
    switches, low, high = SWITCHES[rule]
    indices = np.random.default_rng(len(name)).integers(low, high, index_shape)
    place = np.vectorize(
        lambda index: -1 if resolved(index, switches) is None else resolved(index, switches), otypes=[int]
    )
    at, flat = place(indices), np.arange(math.prod(shape)).reshape(shape)
    axis, batch = attributes.get("axis", -1 if op == "scatter_elements" else 0), attributes.get("batch_dims", 0)
    safe = np.maximum(at, 0)
    if op == "scatter_elements":
        grid = list(np.indices(index_shape))
        grid[axis] = safe
        chosen, is_read = flat[tuple(grid)], at >= 0
    elif op == "scatter":
        own = [(flat[b], safe[b]) for b in range(shape[0])] if batch else [(flat, safe)]
        chosen = np.stack([np.take(table, ids, 0 if batch else axis) for table, ids in own])
        chosen = chosen if batch else chosen[0]
        behind = chosen.ndim - (axis % len(shape) if not batch else 1) - (at.ndim - batch)
        is_read = np.broadcast_to(np.expand_dims(at >= 0, tuple(range(-behind, 0))), chosen.shape)
    else:
        own = [(flat[b], safe[b]) for b in range(shape[0])] if batch else [(flat, safe)]
        chosen = np.stack([table[tuple(np.moveaxis(ids, -1, 0))] for table, ids in own])
        chosen = chosen if batch else chosen[0]
        whole = (at >= 0).all(-1)
        is_read = np.broadcast_to(whole.reshape(whole.shape + (1,) * (chosen.ndim - whole.ndim)), chosen.shape)
    places = [
        np.unravel_index(number, shape) if read else None
        for number, read in zip(chosen.reshape(-1), is_read.reshape(-1), strict=True)
    ]
    operands = [numbers(shape, dtype, 1), torch.from_numpy(indices), numbers(chosen.shape, dtype, 2)]
    return {"op": op, **attributes, **switches}, operands, places


def expected_of(operands: list[torch.Tensor], places: Any, reduction: str, include_self: bool) -> torch.Tensor:
    target, _, updates = (each.double().numpy() for each in operands)
    return torch.from_numpy(naive(target, places, updates, reduction, include_self))


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduction", ["max", "min"])
@pytest.mark.parametrize("rule", SWITCHES)
@pytest.mark.parametrize("name", CASES)
def test_scatters(name: str, rule: str, reduction: Any, include_self: bool) -> None:
    keywords, operands, places = drawn(name, rule)
    options = {"reduction": reduction, "include_self": include_self}
    expected = expected_of(operands, places, reduction, include_self)
    operands[2].requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ours.scatter_positions(*operands, **keywords, **options)
    assert torch.equal(found, expected) and not found.requires_grad
    # The element at a position is the one that the scatter writes.
    call = getattr(ours, keywords.pop("op"))
    result, updates = call(*operands, **keywords, **options).detach(), operands[2].detach().reshape(-1)
    if updates.numel():
        written = torch.where(found < 0, operands[0], updates[found])
        assert torch.equal(written.nan_to_num(-9), result.nan_to_num(-9))


REALS = [getattr(torch, f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
REALS += [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool]


@pytest.mark.parametrize("dtype", REALS, ids=str)
def test_dtypes(dtype: torch.dtype) -> None:
    for name in ("columns", "tuples", "elements"):
        keywords, operands, places = drawn(name, "strict", dtype)
        for include_self in (True, False):
            found = ours.scatter_positions(*operands, **keywords, reduction="max", include_self=include_self)
            assert torch.equal(found, expected_of(operands, places, "max", include_self))
    table = numbers((8, 3), dtype, 3)
    if dtype == torch.bool:
        with pytest.raises(libgather.DTypeError, match=r"torch\.bool"):
            ours.gather_bags_positions(table, IDS, offsets=OFFSETS, pool="min")
        return
    rows = table.double().numpy()[IDS.numpy()]
    found = ours.gather_bags_positions(table, IDS, offsets=OFFSETS, pool="min")
    for bag, (begin, end) in enumerate(pairwise(OFFSETS.tolist())):
        want = begin + rows[begin:end].argmin(0) if begin < end else np.full(3, -1)
        assert found[bag].tolist() == want.tolist()


def test_dtypes_without_an_order_are_refused() -> None:
    for dtype in (torch.complex64, torch.complex128):
        operands = torch.zeros(3, dtype=dtype), torch.tensor([1]), torch.ones(1, dtype=dtype)
        with pytest.raises(libgather.DTypeError, match=r"torch\.complex"):
            ours.scatter_positions(*operands, reduction="max")


@pytest.mark.parametrize("rule", ["strict", "skip"])
def test_compiled_whole(rule: str) -> None:
    """One program has all cases, because its compilation takes longer than all of its calls."""
    cases = [drawn(name, rule) for name in CASES]

    def results(*operands: torch.Tensor) -> list[torch.Tensor]:
        three = zip(cases, operands[::3], operands[1::3], operands[2::3], strict=True)
        return [
            ours.scatter_positions(t, i, u * 1, **keywords, reduction="max") + 1 for (keywords, *_), t, i, u in three
        ]

    torch._dynamo.reset()
    flat = [operand for case in cases for operand in case[1]]
    found = torch.compile(results, fullgraph=True, backend="aot_eager")(*flat)
    assert all(map(torch.equal, found, [expected_of(case[1], case[2], "max", True) + 1 for case in cases]))


@pytest.mark.parametrize("dims", [(0, 0, 0), (None, 0, 0), (0, None, None), (None, None, -1), (0, 0, None)], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_vmap_of_scatters(name: str, dims: tuple[Any, ...]) -> None:
    keywords, operands, _ = drawn(name, "strict")
    for rows in (operands[2], operands[2][0] if name in ("rows", "tuples") else operands[2]):
        given = [*operands[:2], rows]
        many = [
            each if dim is None else torch.stack([each, each.roll(1), each.flip(0) if each.dim() else each], dim)
            for each, dim in zip(given, dims, strict=True)
        ]

        def find(*operands: torch.Tensor) -> torch.Tensor:
            return ours.scatter_positions(*operands, **keywords, reduction="max", include_self=False)

        each = [
            find(*(a if dim is None else a.select(dim, i) for a, dim in zip(many, dims, strict=True))) for i in range(3)
        ]
        assert torch.equal(torch.vmap(find, dims)(*many), torch.stack(each))


def oracle_of_bags(table: np.ndarray[Any, Any], form: str, pool: str, rule: str) -> np.ndarray[Any, Any]:
    """Returns the positions of a loop over the ids of each bag."""
    switches, ids = RULES[rule]
    number = np.arange(9) // 3 if form == "dense" else SEGMENTS.numpy()
    found = np.full((3 if form == "dense" else 4, table.shape[1]), -1)
    best = np.zeros(found.shape)
    for position, index in enumerate(ids.tolist()):
        bounds = switches.get("bounds", "error")
        if index == switches.get("padding_index"):
            continue
        index = index + 8 if index < 0 and "negative" in switches else index
        index = min(max(index, 0), 7) if bounds == "clamp" else index % 8 if bounds == "modulo" else index
        if not 0 <= index < 8 and bounds == "skip":
            continue
        row = table[index] if 0 <= index < 8 else np.full(table.shape[1], switches.get("fill_value", 0))
        bag = number[position]
        for column, value in enumerate(row):
            held, old = found[bag, column], best[bag, column]
            wins = (np.isnan(value) and not np.isnan(old)) or (value > old if pool == "max" else value < old)
            if held < 0 or wins:
                found[bag, column], best[bag, column] = position, value
    return found


@pytest.mark.parametrize("rule", [rule for rule in RULES if "profile" not in rule])
@pytest.mark.parametrize("pool", ["max", "min"])
@pytest.mark.parametrize("form", FORMATS)
def test_bags(form: str, pool: Any, rule: str) -> None:
    switches, ids = RULES[rule]
    table = torch.from_numpy(np.random.default_rng(8).integers(-3, 4, (8, 5)).astype("f4"))
    table[3, 1] = table[1, 2] = table[1, 3] = math.nan
    table[7, 4], table[4, 4] = -math.inf, math.inf
    given: dict[str, Any] = {**FORMATS[form], **switches, "pool": pool}
    expected = torch.from_numpy(oracle_of_bags(table.numpy(), form, pool, rule))
    assert torch.equal(ours.gather_bags_positions(table, bags_of(form, ids), **given), expected)


@pytest.mark.parametrize("padding", [None, 4])
def test_rows_of_maxima_are_those_of_torch(padding: int | None) -> None:
    """torch returns the number of the row, and 0 for a bag without an id. It ignores each NaN but the first number."""
    table = numbers((8, 5), torch.int32, 4).float()
    rows = torch.ops.aten.embedding_bag(table, IDS, OFFSETS, False, 2, False, None, True, padding)[3]
    found = ours.gather_bags_positions(table, IDS, offsets=OFFSETS, pool="max", padding_index=padding)
    assert (found < 0).any() and (found > 0).any()
    assert torch.equal(torch.where(found < 0, 0, IDS[found]), rows)


@pytest.mark.parametrize("form", FORMATS)
def test_compiled_and_mapped_bags(form: str) -> None:
    table, ids, given = numbers((8, 5), torch.float64, 6), bags_of(form, IDS), FORMATS[form]

    def find(table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return ours.gather_bags_positions(table, ids, **given, pool="min", padding_index=4)

    torch._dynamo.reset()
    assert torch.equal(torch.compile(find, fullgraph=True, backend="aot_eager")(table, ids), find(table, ids))
    tables, many = torch.stack([table, table.flip(0)], 1), torch.stack([ids, ids.flip(0)])
    for dims in ((1, None), (None, 0), (1, 0)):
        each = [
            find(table if d is None else tables[:, i], ids if e is None else many[i]) for i in (0, 1) for d, e in [dims]
        ]
        arguments = table if dims[0] is None else tables, ids if dims[1] is None else many
        assert torch.equal(torch.vmap(find, dims)(*arguments), torch.stack(each))
    if form in ("offsets", "lengths"):
        bags = torch.stack(
            [next(iter(given.values())), torch.tensor([1, 2, 2, 3, 8][-len(next(iter(given.values()))) :])]
        )

        def divided(bags: torch.Tensor) -> torch.Tensor:
            return ours.gather_bags_positions(table, ids, **{form: bags}, pool="max")

        bags[1] = torch.tensor([0, 1, 1, 8, 9]) if form == "offsets" else torch.tensor([1, 0, 7, 1])
        assert torch.equal(torch.vmap(divided)(bags), torch.stack(list(map(divided, bags))))


def test_opcheck_and_open_extents() -> None:
    switches = [*(0,) * 6, 4]
    operands = torch.zeros(4, 3), torch.tensor([1, 3, 1]), numbers((3, 3), torch.float32, 9).requires_grad_()
    torch.library.opcheck(torch.ops.libgather.scatter_positions.default, (*operands, 0, 0, switches))
    table = numbers((8, 3), torch.float32, 9).requires_grad_()
    torch.library.opcheck(
        torch.ops.libgather.gather_bags_positions.default, (table, IDS, OFFSETS, 0, [*(0,) * 8, 1, 4], 0)
    )

    class Module(torch.nn.Module):
        def forward(self, target: torch.Tensor, ids: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
            return ours.scatter_positions(target, ids, updates, reduction="max")

    count, rows = torch.export.Dim("count", min=2), torch.export.Dim("rows", min=2)
    program = torch.export.export(Module(), operands, dynamic_shapes=({0: rows}, {0: count}, {0: count}))
    more = torch.zeros(6, 3), torch.tensor([5, 5, 0, 1, 5]), numbers((5, 3), torch.float32, 2)
    assert torch.equal(program.module()(*more), Module()(*more))


def test_positions_select_the_gradient_of_torch_scatter() -> None:
    """There, one of several equal maxima has the whole gradient."""
    updates = torch.tensor([[1.0, 7.0], [4.0, 7.0], [4.0, 2.0]], requires_grad=True)
    found = ours.scatter_positions(torch.zeros(2, 2), torch.tensor([1, 1, 1]), updates, reduction="max")
    best = updates.reshape(-1)[found[1]]
    (best * torch.tensor([10.0, 100.0])).sum().backward()
    assert updates.grad.tolist() == [[0, 100], [10, 0], [0, 0]]
    gradient = torch.func.grad(
        lambda u: (
            u.reshape(-1)[ours.scatter_positions(torch.zeros(2, 2), torch.tensor([1, 1, 1]), u, reduction="max")[1]]
            * torch.tensor([10.0, 100.0])
        ).sum()
    )
    assert torch.equal(gradient(updates.detach()), updates.grad)


def test_lists_subclasses_and_traces() -> None:
    class Own(torch.Tensor):
        pass

    target = torch.tensor([1.0, 5.0, 2.0])
    assert ours.scatter_positions(target, [1, 0, 1], [4, 2, 7], reduction="max").tolist() == [1, 2, -1]
    assert ours.scatter_positions(target, [2, 2], 6, reduction="max").tolist() == [-1, -1, 0]
    rows = torch.zeros(3, 2), [2, 0], torch.tensor([4.0, -1.0])
    assert ours.scatter_positions(*rows, reduction="max").tolist() == [[0, -1], [-1, -1], [0, -1]]
    assert type(ours.scatter_positions(target.as_subclass(Own), [1], [9.0], reduction="max")) is Own
    assert type(ours.gather_bags_positions(target.as_subclass(Own), [[1, 0]], pool="max")) is Own
    traced = torch.fx.symbolic_trace(
        lambda t: ours.scatter_positions(t, [0], [9.0], -1, op="scatter_elements", reduction="min")
    )
    assert traced(target).tolist() == [-1, -1, -1]
    traced = torch.fx.symbolic_trace(lambda t: ours.gather_bags_positions(t, [[1, 0]], pool="min", padding_index=0))
    assert traced(target).tolist() == [0]
    assert ours.gather_bags_positions(target, [[7, 2, 9]], pool="max", bounds="fill", fill_value=3).tolist() == [0]


def test_errors() -> None:
    target, updates = torch.zeros(3, 2), torch.ones(2, 2)
    find = ours.scatter_positions
    with pytest.raises(libgather.IndexError) as caught:
        find(target, torch.tensor([0, 3]), updates, reduction="max")
    assert (caught.value.position, caught.value.index, caught.value.value, caught.value.limit) == (1, (1,), 3, 3)
    with pytest.raises(libgather.IndexError) as caught:
        find(target, torch.tensor([[0, 1], [2, 2]]), updates[0], op="scatter_nd", reduction="max")
    assert (caught.value.position, caught.value.component) == (1, 1)
    with pytest.raises(libgather.OptionError, match="reduction must be max or min"):
        find(target, torch.tensor([0, 1]), updates, reduction="add")
    with pytest.raises(libgather.OptionError, match="op 'gather' is none of scatter, scatter_nd, scatter_elements"):
        find(target, torch.tensor([0, 1]), updates, op="gather", reduction="max")  # type: ignore[arg-type]
    with pytest.raises(libgather.DTypeError, match="op is int"):
        find(target, torch.tensor([0, 1]), updates, op=1, reduction="max")  # type: ignore[arg-type]
    with pytest.raises(libgather.RankError, match="scatter_nd has no axis"):
        find(target, torch.tensor([[0, 1]]), updates[0], 1, op="scatter_nd", reduction="max")
    with pytest.raises(libgather.OptionError, match="pool must be max or min"):
        ours.gather_bags_positions(target, torch.tensor([[0, 1]]), pool="sum")
    with pytest.raises(libgather.IndexError) as caught:
        ours.gather_bags_positions(target, torch.tensor([0, 1, 5]), lengths=[1, 2], pool="max")
    assert (caught.value.index, caught.value.value) == ((2,), 5)
    with torch._subclasses.FakeTensorMode(), pytest.raises(libgather.ShapeError, match="updates"):
        find(torch.zeros(3, 2), torch.zeros(2).long(), torch.ones(3, 2), reduction="max")


def test_row_that_is_read_has_the_gradient_and_not_padding() -> None:
    """An index of padding in front of a row of the lowest number is not the first maximum."""
    table = torch.tensor([[-math.inf], [2.0]], requires_grad=True)
    ids = torch.tensor([[1, 0]])
    assert ours.gather_bags_positions(table, ids, pool="max", padding_index=1).tolist() == [[1]]
    _, tangent = torch.func.jvp(
        lambda table: ours.gather_bags(table, ids, pool="max", padding_index=1),
        (table.detach(),),
        (torch.eye(2)[:, :1] + 4,),
    )
    assert tangent.tolist() == [[5]]


RECORDED = json.loads(Path(__file__).with_name("torch_scatter.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(len(RECORDED["cases"])))
def test_results_of_torch_scatter(number: int) -> None:
    case = RECORDED["cases"][number]
    dtype = getattr(torch, case["dtype"])
    updates, dim = torch.tensor(case["src"], dtype=dtype), case["dim"]
    index = torch.tensor(case["index"])
    shape = list(updates.shape)
    shape[dim] = case["dim_size"]
    target = torch.zeros(shape, dtype=dtype) if case["out"] is None else torch.tensor(case["out"], dtype=dtype)
    name = "scatter_elements" if index.dim() > 1 else "scatter"
    options: Any = {"reduction": case["reduction"], "include_self": case["out"] is not None}
    assert getattr(ours, name)(target, index, updates, dim, **options).tolist() == case["result"]
    found = ours.scatter_positions(target, index, updates, dim, op=name, **options)
    behind, extent = math.prod(updates.shape[dim % updates.dim() + 1 :]), updates.shape[dim]
    assert torch.where(found < 0, extent, found // behind % extent).tolist() == case["arg"]
