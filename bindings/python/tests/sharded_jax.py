"""Arrays of JAX on several devices of the CPU. test_jax.py runs this file with four devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import libgather
import libgather.jax as operators

P: Any = jax.sharding.PartitionSpec
ROWS = jax.sharding.NamedSharding(
    jax.sharding.Mesh(np.array(jax.devices()), ("rows",)), jax.sharding.PartitionSpec("rows")
)
COPIES = jax.sharding.NamedSharding(ROWS.mesh, jax.sharding.PartitionSpec())
TABLE = np.arange(16.0, dtype=np.float32).reshape(8, 2)


@pytest.mark.parametrize("sharding", [ROWS, COPIES])
def test_sharded_params(sharding: jax.sharding.Sharding) -> None:
    params = jax.device_put(TABLE, sharding)
    for indices in (jnp.array([7, 0]), np.array([7, 0]), [7, 0]):
        result = libgather.gather(params, indices)
        assert isinstance(result, jax.Array)
        assert result.tolist() == TABLE[[7, 0]].tolist()
    for bad in (jnp.array([1, 8]), np.array([1, 8]), [1, 8]):
        with pytest.raises(libgather.IndexError, match="component 0 of tuple 1 is 8"):
            libgather.gather(params, bad)
    with pytest.raises(libgather.IndexError, match="component 1 of tuple 0 is 2"):
        libgather.gather_nd(params, jnp.array([[7, 2]]))
    assert libgather.scatter(params, jnp.array([1]), jnp.ones((1, 2))).tolist()[1] == [1, 1]
    assert libgather.Tensor(params).tolist() == TABLE.tolist()


def test_sharded_indices() -> None:
    indices = jax.device_put(jnp.array([7, 0, 1, 9]), ROWS)
    with pytest.raises(libgather.IndexError, match="component 0 of tuple 3 is 9"):
        libgather.gather(jnp.asarray(TABLE), indices)
    assert libgather.gather(jnp.asarray(TABLE), indices % 8).tolist() == TABLE[[7, 0, 1, 1]].tolist()
    assert libgather.partition(indices, rows=10, shards=2).counts.tolist() == [2, 2]


def test_indices_on_another_device() -> None:
    indices = jax.device_put(jnp.array([7, 0]), jax.devices()[1])
    for params in (jax.device_put(TABLE, ROWS), jax.device_put(TABLE, jax.devices()[2]), jnp.asarray(TABLE)):
        assert libgather.gather(params, indices).tolist() == TABLE[[7, 0]].tolist()
        with pytest.raises(libgather.IndexError, match="component 0 of tuple 0 is 8"):
            libgather.gather(params, indices + 1)


IDS = np.random.default_rng(1).integers(0, 8, 40).astype("i4")
WIDE = np.random.default_rng(2).standard_normal((8, 4)).astype("f4")
#: libgather's function and JAX's own of a table and ids, and how the result of ids that are divided is divided.
PRIMITIVES: dict[str, tuple[Any, Any, Any]] = {
    "gather": (operators.gather, lambda t, i: t[i], P("rows", None)),
    "gather_nd": (
        lambda t, i: operators.gather_nd(t, jnp.stack([i, i % 4], -1)),
        lambda t, i: t[i, i % 4],
        P("rows"),
    ),
    "gather_elements": (
        lambda t, i: operators.gather_elements(t, i[:, None] + jnp.zeros(4, int), 0),
        lambda t, i: t[i],
        P("rows", None),
    ),
    "bags": (
        lambda t, i: operators.gather_bags(t, i.reshape(8, 5)),
        lambda t, i: t[i.reshape(8, 5)].sum(1),
        P("rows", None),
    ),
    "batches": (
        lambda t, i: jax.vmap(operators.gather, (None, 0))(t, i.reshape(8, 5)),
        lambda t, i: t[i.reshape(8, 5)],
        P("rows", None, None),
    ),
    "scatter": (
        lambda t, i: operators.scatter(t, i, jnp.sin(i)[:, None] * jnp.arange(1.0, 5), reduction="add"),
        lambda t, i: t.at[i].add(jnp.sin(i)[:, None] * jnp.arange(1.0, 5)),
        P(None, None),
    ),
    "lengths": (
        lambda t, i: operators.gather_bags(t, i, lengths=jnp.array([40, 0]), weights=jnp.sin(i), pool="mean"),
        lambda t, i: jnp.stack([(t[i] * jnp.sin(i)[:, None]).sum(0) / jnp.sin(i).sum(), t[0] * 0]),
        P(None, None),
    ),
}


def energy(function: Any, table: Any, ids: Any) -> Any:
    return (jnp.sin(function(table, ids)) ** 2).sum()


@pytest.mark.parametrize("place", ["ids", "columns", "table"])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_compiled_program_divides_the_work(name: str, place: str) -> None:
    ours, theirs, divided = PRIMITIVES[name]
    kinds = jax.sharding.Mesh(ROWS.mesh.devices, ("rows",))
    of_table = {"ids": P(), "columns": P(None, "rows"), "table": P("rows")}[place]
    table = jax.device_put(WIDE, jax.sharding.NamedSharding(kinds, of_table))
    ids = jax.device_put(IDS, ROWS if place == "ids" else COPIES)
    result = jax.jit(ours)(table, ids)
    np.testing.assert_allclose(result, theirs(jnp.asarray(WIDE), IDS), rtol=1e-5, atol=1e-6)
    if place == "ids":
        assert result.sharding.is_equivalent_to(jax.sharding.NamedSharding(kinds, divided), result.ndim)
        assert name in ("scatter", "lengths", "bags", "batches") or "all-gather" not in text_of(ours, table, ids)
    if place == "columns" and name not in ("gather_nd", "gather_elements"):
        assert not result.sharding.is_fully_replicated
        assert "all-gather" not in text_of(ours, table, ids)
    gradient = jax.jit(jax.grad(lambda t, i: energy(ours, t, i)))(table, ids)
    expected = jax.grad(lambda t: energy(theirs, t, IDS))(jnp.asarray(WIDE))
    np.testing.assert_allclose(gradient, expected, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("place", [P("rows"), P(None, "rows"), P()], ids=str)
def test_positions_count_all_updates(place: Any) -> None:
    """Positions in a part of the updates would be too small."""
    rows = np.random.default_rng(3).standard_normal((40, 4)).astype("f4")
    given = [jax.device_put(each, jax.sharding.NamedSharding(ROWS.mesh, place)) for each in (WIDE, rows)]
    ids = jax.device_put(IDS, ROWS)

    def find(target: Any, ids: Any, updates: Any) -> Any:
        return operators.scatter_positions(target, ids, updates, reduction="max")

    np.testing.assert_array_equal(jax.jit(find)(given[0], ids, given[1]), find(WIDE, IDS, rows))
    best = jax.jit(lambda t, i: operators.gather_bags_positions(t, i.reshape(8, 5), pool="max"))
    expected = 5 * np.arange(8)[:, None] + WIDE[IDS.reshape(8, 5)].argmax(1)
    np.testing.assert_array_equal(best(given[0], ids), expected)


def text_of(function: Any, *operands: Any) -> str:
    return jax.jit(function).lower(*operands).compile().as_text()


@pytest.mark.parametrize("of_table", [P(), P(None, "x"), P("x")], ids=str)
@pytest.mark.parametrize("name", ["gather", "scatter", "lengths"])
def test_types_state_how_results_are_divided(name: str, of_table: Any) -> None:
    ours, theirs, _ = PRIMITIVES[name]
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    expected = jax.grad(lambda t: energy(theirs, t, IDS))(jnp.asarray(WIDE))
    with jax.set_mesh(mesh):
        table, ids = jax.device_put(WIDE, of_table), jax.device_put(IDS, P() if of_table == P(None, "x") else P("x"))
        if name == "gather":
            is_split = of_table == P(None, "x")
            assert jax.typeof(ours(table, ids)).sharding.spec == (P(None, "x") if is_split else P("x", None))
            assert jax.typeof(jax.jit(ours)(table, ids)) == jax.typeof(ours(table, ids))
        gradient = jax.jit(jax.grad(lambda t: energy(ours, t, ids)))(table)
        assert jax.typeof(gradient).sharding == jax.typeof(table).sharding
        np.testing.assert_allclose(gradient, expected, rtol=2e-4, atol=1e-5)
