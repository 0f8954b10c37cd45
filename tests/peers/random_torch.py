"""Compares random calls of libgather.torch with torch, forward and backward: random_torch.py [CASES [SEED]]

The elements are small integers, so that sums are exact in each dtype and in any order. Quotients are compared with a
tolerance. Sizes are around the limits of the library. The operands have strides.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as peer

import libgather.torch as ours

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
FEW = [1, 1, 2, 3, 5, 8, 16, 17]
MANY = [*FEW, 33, 63, 64, 65, 129, 255, 257, 513]
PEER_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "mean": "mean"}

Case = tuple[Callable[[Any], Any], Callable[[Any], Any], dict[str, torch.Tensor]]


class Draws(random.Random):
    def strided(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns equal elements with other strides."""
        kind = self.choice(["dense", "dense", "transposed", "sliced"])
        if kind == "transposed" and tensor.dim() > 1:
            return tensor.transpose(0, -1).contiguous().transpose(0, -1)
        if kind == "sliced":
            wide = tensor.repeat_interleave(2, -1) if tensor.dim() else tensor
            return wide[..., ::2] if tensor.dim() else tensor
        return tensor

    def elements(self, dtype: torch.dtype, shape: tuple[int, ...], highest: int = 2) -> torch.Tensor:
        lowest = 0 if dtype in (torch.uint8, torch.bool) else -highest
        made = torch.randint(lowest, highest + 1, shape, generator=self.torch)
        return self.strided(made.to(dtype))

    def ids(self, rows: int, shape: tuple[int, ...], kinds: tuple[torch.dtype, ...] = (torch.int64,)) -> torch.Tensor:
        return self.strided(torch.randint(0, rows, shape, generator=self.torch).to(self.choice(kinds)))

    def begin(self, seed: int) -> None:
        self.seed(seed)
        self.torch = torch.Generator().manual_seed(seed)


def selected(r: Draws) -> Case:
    """A gather along an axis."""
    shape = tuple(r.choice(FEW) for _ in range(r.randint(1, 4)))
    axis = r.randrange(-len(shape), len(shape))
    x = r.elements(r.choice(FLOATS + INTEGERS), shape)
    ids = r.ids(shape[axis], (r.choice(MANY),), (torch.int64, torch.int32))
    call = r.choice([ours.index_select, lambda x, axis, ids: ours.gather(x, ids, axis)])
    return lambda o: call(o["x"], axis, ids), lambda o: torch.index_select(o["x"], axis, ids), {"x": x}


def tuples(r: Draws) -> Case:
    """A gather_nd, or a scatter_nd with add."""
    shape = tuple(r.choice(FEW) for _ in range(r.randint(1, 4)))
    components = r.randint(1, len(shape))
    x, count = r.elements(r.choice(FLOATS), shape), r.choice(MANY)
    places = tuple(r.ids(extent, (count,)) for extent in shape[:components])
    ids = r.strided(torch.stack(places, -1))
    if r.random() < 0.5:
        return lambda o: ours.gather_nd(o["x"], ids), lambda o: o["x"][places], {"x": x}
    u = r.elements(x.dtype, (count, *shape[components:]), 1)
    return (
        lambda o: ours.scatter_nd(o["x"], ids, o["u"], reduction="add"),
        lambda o: o["x"].index_put(places, o["u"], accumulate=True),
        {"x": x, "u": u},
    )


def elements(r: Draws) -> Case:
    """A gather of elements, or a scatter of elements with a reduction."""
    shape = tuple(r.choice(FEW) for _ in range(r.randint(1, 3)))
    axis = r.randrange(-len(shape), len(shape))
    longer = list(shape)
    longer[axis] = r.choice(MANY)
    ids = r.ids(shape[axis], tuple(longer))
    if r.random() < 0.4:
        x = r.elements(r.choice(FLOATS + INTEGERS), shape)
        return lambda o: ours.gather_elements(o["x"], ids, axis), lambda o: torch.gather(o["x"], axis, ids), {"x": x}
    reduction, include = r.choice([*PEER_REDUCTIONS]), r.random() < 0.5
    x, u = (r.elements(r.choice(FLOATS[:2]), each, 1) for each in (shape, tuple(longer)))
    u = u.to(x.dtype)
    if not include:  # torch also divides the gradient of a maximum by excluded elements that are equal to it.
        x = x + 0.5
    return (
        lambda o: ours.scatter_elements(o["x"], ids, o["u"], axis, reduction=reduction, include_self=include),
        lambda o: o["x"].scatter_reduce(axis, ids, o["u"], PEER_REDUCTIONS[reduction], include_self=include),
        {"x": x, "u": u},
    )


def added(r: Draws) -> Case:
    """An index_add."""
    shape = [r.choice(FEW) for _ in range(r.randint(1, 3))]
    axis, count = r.randrange(len(shape)), r.choice(MANY)
    x = r.elements(r.choice(FLOATS), tuple(shape))
    ids = r.ids(shape[axis], (count,), (torch.int64, torch.int32))
    u = r.elements(x.dtype, (*shape[:axis], count, *shape[axis + 1 :]), 1)
    alpha = r.choice([1, 2])
    return (
        lambda o: ours.index_add(o["x"], axis, ids, o["u"], alpha=alpha),
        lambda o: torch.index_add(o["x"], axis, ids, o["u"], alpha=alpha),
        {"x": x, "u": u},
    )


def embedded(r: Draws) -> Case:
    rows, width = r.choice(MANY), r.choice(MANY)
    x, ids = r.elements(r.choice(FLOATS), (rows, width)), r.ids(rows, (r.choice(FEW), r.choice(FEW)))
    padding = r.choice([None, 0, rows - 1, -1])
    return (
        lambda o: ours.embedding(ids, o["x"], padding),
        lambda o: peer.embedding(ids, o["x"], padding),
        {"x": x},
    )


def pooled(r: Draws) -> Case:
    rows, width, bags = r.choice(MANY), r.choice(MANY), r.choice(FEW)
    mode = r.choice(["sum", "mean", "max"])
    x = r.elements(r.choice(FLOATS[:2]), (rows, width))
    lengths = [r.choice([0, 1, 2, 7, 64, 65, 130]) for _ in range(bags)]
    offsets = torch.tensor([sum(lengths[:i]) for i in range(bags + 1)])
    given: dict[str, Any] = {"mode": mode, "include_last_offset": True, "padding_idx": r.choice([None, 0, rows - 1])}
    ids = r.ids(rows, (sum(lengths),)).contiguous()
    operands = {"x": x}
    if mode == "sum" and r.random() < 0.5:
        operands["per_sample_weights"] = r.elements(x.dtype, tuple(ids.shape)).contiguous()

    def call(function: Any, o: dict[str, Any]) -> Any:
        return function(ids, o["x"], offsets, **given, **{name: o[name] for name in o if name != "x"})

    return lambda o: call(ours.embedding_bag, o), lambda o: call(peer.embedding_bag, o), operands


KINDS = [selected, tuples, elements, added, embedded, pooled]


def result(call: Callable[[Any], Any], operands: dict[str, torch.Tensor], weights: torch.Tensor | None) -> list[Any]:
    """Returns the output and the gradients, whose cotangent is drawn from `weights`."""
    tracked = {name: o.detach().requires_grad_(o.is_floating_point()) for name, o in operands.items()}
    output = call(tracked)
    found = [output.detach()]
    if output.requires_grad and weights is not None:
        cotangent = weights[torch.arange(output.numel()) % len(weights)].reshape(output.shape).to(output.dtype)
        found += torch.autograd.grad(output, [*tracked.values()], cotangent, allow_unused=True)
    return found


def main(cases: int = 2000, seed: int = 1) -> int:
    r, weights, wrong = Draws(), torch.tensor([1.0, -1.0, 2.0, 0.0, -2.0]), 0
    for number in range(cases):
        r.begin(seed + number)
        kind = r.choice(KINDS)
        mine, theirs, operands = kind(r)
        try:
            expected = result(theirs, operands, weights)
            found = result(mine, operands, weights)
            for f, e in zip(found, expected, strict=True):
                torch.testing.assert_close(f, e, equal_nan=True)
        except Exception as error:
            wrong += 1
            forms = {name: (o.dtype, tuple(o.shape), o.stride()) for name, o in operands.items()}
            print(f"seed {seed + number}: {kind.__name__} of {forms}: {str(error)[:300]}")
    print(f"{cases - wrong} of {cases} random calls of libgather.torch are equal to those of torch")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
