"""The primitives of libgather.jax in jax.shard_map. test_jax.py runs this file with four devices.

The expected values are those of JAX's own functions in the same program.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import libgather.jax as operators

P: Any = jax.sharding.PartitionSpec
MESH = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
RANDOM = np.random.default_rng(5)
#: The table has 8 rows on each device if it is split. The first ids of each device are equal, and others differ.
TABLE = RANDOM.standard_normal((32, 5)).astype("f4")
IDS = np.concatenate([np.append([3, 3], RANDOM.permutation(8)) for _ in range(4)]).astype("i4")
UPDATES = RANDOM.standard_normal((40, 5)).astype("f4")
LENGTHS = np.array([4, 0, 3, 3], "i4")  # the bags of the ids of a device


def pairs(ids: Any) -> Any:
    return jnp.stack([ids, ids % 5], -1)


def bags(table: Any, ids: Any, updates: Any, **options: Any) -> Any:
    return operators.gather_bags(table, ids, **options)


def lengths_of(ids: Any) -> Any:
    return jnp.asarray(LENGTHS) * (ids.size // 10)


def numbers(ids: Any) -> Any:
    return jnp.repeat(jnp.arange(4), lengths_of(ids), total_repeat_length=ids.size)


def plain_bags(table: Any, ids: Any, updates: Any) -> Any:
    return jax.ops.segment_sum(table[ids] * updates[:, :1], numbers(ids), 4)


def plain_means(table: Any, ids: Any, updates: Any) -> Any:
    return jax.ops.segment_sum(table[ids], numbers(ids), 4) / jnp.maximum(lengths_of(ids), 1)[:, None]


def dense(ids: Any) -> Any:
    return ids.reshape(-1, 5)


#: libgather's function and JAX's own of the table, the ids and the updates.
CASES: dict[str, tuple[Any, Any]] = {
    "gather": (lambda t, i, u: operators.gather(t, i), lambda t, i, u: t[i]),
    "columns": (lambda t, i, u: operators.gather(t, i % 5, 1).T, lambda t, i, u: t[:, i % 5].T),
    "fill": (
        lambda t, i, u: operators.gather(t, i * 9, fill_value=2.0),
        lambda t, i, u: t.at[i * 9].get(mode="fill", fill_value=2.0),
    ),
    "gather_nd": (lambda t, i, u: operators.gather_nd(t, pairs(i)), lambda t, i, u: t[i, i % 5]),
    "gather_elements": (
        lambda t, i, u: operators.gather_elements(t, i[:, None] + jnp.zeros(5, int), 0),
        lambda t, i, u: jnp.take_along_axis(t, i[:, None] + jnp.zeros(5, int), 0),
    ),
    "scatter": (lambda t, i, u: operators.scatter(t, i[2:10], u[2:10]), lambda t, i, u: t.at[i[2:10]].set(u[2:10])),
    "add": (lambda t, i, u: operators.scatter(t, i, u, reduction="add"), lambda t, i, u: t.at[i].add(u)),
    "mul": (
        lambda t, i, u: operators.scatter(t, i[2:10], u[2:10], reduction="mul"),
        lambda t, i, u: t.at[i[2:10]].mul(u[2:10], unique_indices=True),
    ),
    "max": (lambda t, i, u: operators.scatter(t, i, u, reduction="max"), lambda t, i, u: t.at[i].max(u)),
    "min": (lambda t, i, u: operators.scatter(t, i, u, reduction="min"), lambda t, i, u: t.at[i].min(u)),
    "scatter_nd": (
        lambda t, i, u: operators.scatter_nd(t, pairs(i), u[:, 0], reduction="add"),
        lambda t, i, u: t.at[i, i % 5].add(u[:, 0]),
    ),
    "scatter_elements": (
        lambda t, i, u: operators.scatter_elements(t, i[:, None] + jnp.zeros(5, int), u, 0, reduction="add"),
        lambda t, i, u: t.at[i].add(u),
    ),
    "segment_sum": (
        lambda t, i, u: operators.segment_sum(t[i] * u, i, 8),
        lambda t, i, u: jax.ops.segment_sum(t[i] * u, i, 8),
    ),
    "bags": (
        lambda t, i, u: bags(t, i, u, lengths=lengths_of(i), weights=u[:, 0]),
        plain_bags,
    ),
    "segments": (
        lambda t, i, u: bags(t, i, u, segments=numbers(i), count=4, weights=u[:, 0]),
        plain_bags,
    ),
    "means": (lambda t, i, u: bags(t, i, u, lengths=lengths_of(i), pool="mean"), plain_means),
    "dense": (
        lambda t, i, u: bags(t, dense(i), u, weights=dense(u[:, 0])),
        lambda t, i, u: (t[dense(i)] * dense(u[:, 0])[..., None]).sum(1),
    ),
    "weighted means": (
        lambda t, i, u: bags(t, dense(i), u, weights=1 + dense(u[:, 0]) ** 2, pool="mean"),
        lambda t, i, u: (
            (t[dense(i)] * (1 + dense(u[:, 0]) ** 2)[..., None]).sum(1) / (1 + dense(u[:, 0]) ** 2).sum(1)[:, None]
        ),
    ),
    "largest": (
        lambda t, i, u: bags(t, dense(i)[:, 2:], u, pool="max"),
        lambda t, i, u: t[dense(i)[:, 2:]].max(1),
    ),
}
#: The partition of the table, of the ids and of the updates.
SPLITS = {
    "ids": (P(), P("x"), P("x")),
    "table": (P("x"), P(), P()),
    "all": (P("x"), P("x"), P("x")),
    "none": (P(), P(), P()),
}
OPERANDS = jnp.asarray(TABLE), jnp.asarray(IDS), jnp.asarray(UPDATES)


def mapped(function: Any, split: str, result: Any, check: bool) -> Any:
    return jax.shard_map(function, mesh=MESH, in_specs=SPLITS[split], out_specs=result, check_vma=check)


def energy(function: Any, table: Any, ids: Any, updates: Any) -> Any:
    return (jnp.sin(function(table, ids, updates)) ** 2).sum()


def forward(function: Any, split: str, check: bool) -> Any:
    """Returns the results of all devices."""
    return mapped(function, split, P("x"), check)


def backward(function: Any, split: str, check: bool) -> Any:
    """Returns the gradients that each device computes."""
    whole = SPLITS[split][0], SPLITS[split][2]
    return mapped(jax.grad(partial(energy, function), (0, 2)), split, whole, check)


def outside(function: Any, split: str, check: bool) -> Any:
    """Returns the gradients of the sum over all devices."""

    def total(*operands: Any) -> Any:
        return mapped(lambda *o: energy(function, *o)[None], split, P("x"), check)(*operands).sum()

    return jax.grad(total, (0, 2))


def jvp(function: Any, split: str, check: bool) -> Any:
    def pushed(table: Any, ids: Any, updates: Any) -> Any:
        return jax.jvp(lambda t, u: function(t, ids, u), (table, updates), (jnp.cos(table), jnp.cos(updates)))[1]

    return mapped(pushed, split, P("x"), check)


def second(function: Any, split: str, check: bool) -> Any:
    """Returns the derivative of a gradient."""

    def curved(table: Any, ids: Any, updates: Any) -> Any:
        def slope(t: Any, u: Any) -> Any:
            of_table, of_updates = jax.grad(partial(energy, function), (0, 2))(t, ids, u)
            return (of_table * jnp.cos(t)).sum() + (of_updates**2).sum()

        return jax.grad(slope, (0, 1))(table, updates)

    return mapped(curved, split, (SPLITS[split][0], SPLITS[split][2]), check)


def batches(function: Any, split: str, check: bool) -> Any:
    def many(table: Any, ids: Any, updates: Any) -> Any:
        both = jax.vmap(function, (0, None, None))(jnp.stack([table, 2 * table]), ids, updates)
        return both + jax.vmap(function, (None, 0, 0))(table, jnp.stack([ids, ids]), jnp.stack([updates, -updates]))

    return mapped(lambda *o: jnp.moveaxis(many(*o), 0, 1), split, P("x"), check)


def loop(function: Any, split: str, check: bool) -> Any:
    def step(table: Any, ids: Any, updates: Any) -> Any:
        return jax.grad(partial(energy, function))(table, ids, updates)

    def train(table: Any, ids: Any, updates: Any) -> Any:
        def body(state: Any, _: Any) -> Any:
            return state - 0.1 * step(state, ids, updates), None

        return jax.lax.scan(body, table, None, length=3)[0]

    return mapped(train, split, SPLITS[split][0], check)


WAYS = [forward, backward, outside, jvp, second, batches, loop]


def compared(name: str, split: str, check: bool, ways: list[Any]) -> None:
    def run(function: Any) -> Any:
        return jax.jit(lambda *operands: [way(function, split, check)(*operands) for way in ways])(*OPERANDS)

    results, expected = map(run, CASES[name])
    for result, each in zip(jax.tree.leaves(results), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(result, each, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_split_ids(name: str) -> None:
    compared(name, "ids", True, WAYS)


@pytest.mark.parametrize("split", ["table", "all", "none"])
@pytest.mark.parametrize("name", ["gather", "add", "max", "weighted means"])
def test_other_splits(name: str, split: str) -> None:
    compared(name, split, True, [forward, backward])


@pytest.mark.parametrize("name", ["gather_nd", "scatter", "bags"])
def test_unchecked(name: str) -> None:
    compared(name, "ids", False, [forward, backward, outside])  # a sum over devices is that of the program


@pytest.mark.parametrize("name", ["gather", "add", "bags"])
def test_mapped_without_jit(name: str) -> None:
    results, expected = (backward(function, "ids", True)(*OPERANDS) for function in CASES[name])
    for result, each in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, each, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_results_that_differ_are_no_copies(name: str) -> None:
    for function in CASES[name]:
        with pytest.raises(ValueError, match="out_specs"):
            jax.jit(mapped(function, "ids", P(), True)).lower(*OPERANDS)
