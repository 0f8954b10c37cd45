"""libgather.jax against JAX's own functions, with random shapes, dtypes, modes and indices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import libgather

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
operators: Any = libgather.jax

DTYPES = ["float32", "bfloat16", "float16", "int8", "uint8", "int32", "bool", "complex64"]
#: Sizes at the constants of the library: blocks of 64 ids, chunks of 4,096.
COUNTS = [0, 1, 63, 65, 127, 200, 1030, 4095, 4097, 5000]
READS = {
    "clip": {"mode": "clip"},
    "fill": {"mode": "fill"},
    "value": {"mode": "fill", "fill_value": 1},
    "promise_in_bounds": {"mode": "promise_in_bounds"},
}


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def values(random: Any, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "bool":
        return jnp.asarray(random.integers(0, 2, shape), bool)
    if dtype == "complex64":
        return jnp.asarray(random.standard_normal((*shape, 2)) @ [1, 1j], dtype)
    if dtype in ("int8", "uint8", "int32"):
        return jnp.asarray(random.integers(0, 100, shape), dtype)
    return jnp.asarray(random.standard_normal(shape), dtype)


def drawn(seed: int, mode: str) -> tuple[Any, ...]:
    """Returns a table, indices of an axis, the axis, and updates."""
    random = np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    count = COUNTS[(seed // len(DTYPES)) % len(COUNTS)]
    axis, rank = int(random.integers(0, 2)), 2
    shape = [int(each) for each in random.choice([1, 3, 8, 17], rank)]
    shape[axis] = int(random.choice([1, 7, 63, 65, 200]))
    table = values(random, tuple(shape), dtype)
    low, high = (0, shape[axis]) if mode == "promise_in_bounds" else (-2 * shape[axis], 3 * shape[axis])
    kind = random.choice(["int32", "int16", "uint8"])
    ids = jnp.asarray(random.integers(max(low, 0 if kind == "uint8" else low), min(high, 250), count), kind)
    updates = values(random, (*shape[:axis], count, *shape[axis + 1 :]), dtype)
    return table, ids, axis, updates


def same(result: Any, expected: Any, **tolerance: float) -> None:
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    result, expected = (np.asarray(each) for each in (result, expected))
    if result.dtype.name in ("bfloat16", "float16"):
        result, expected = result.astype("f4"), expected.astype("f4")
        tolerance = tolerance and {"rtol": 0.1, "atol": 0.6}
    if tolerance:
        np.testing.assert_allclose(result, expected, **tolerance)
    else:
        np.testing.assert_array_equal(result, expected)


def reading(mode: str, fill: Any) -> dict[str, Any]:
    """Returns the options that are JAX's mode. jnp.take counts negative indices from the end, except to clip them."""
    if mode == "clip":
        return {"bounds": "clamp"}
    if mode == "promise_in_bounds":
        return {}
    return {"negative": "wrap", "fill_value": "by_dtype" if fill is None else fill}


SEEDS = range(0, len(DTYPES) * len(COUNTS), 11)


@pytest.mark.parametrize("mode", READS)
@pytest.mark.parametrize("seed", SEEDS)
def test_gather(seed: int, mode: str) -> None:
    table, ids, axis, _ = drawn(seed, READS[mode]["mode"])
    fill = READS[mode].get("fill_value")
    if fill is not None:
        fill = {"b": True, "i": 1, "u": 1}.get(np.dtype(table.dtype).kind, 1.0) if table.dtype != "bfloat16" else 1.0
    options = {**READS[mode], "fill_value": fill} if "fill_value" in READS[mode] else READS[mode]
    theirs = partial(jnp.take, axis=axis, **options)
    if mode == "promise_in_bounds":
        theirs = partial(jnp.take, axis=axis, mode="clip")
    ours = partial(operators.gather, axis=axis, **reading(READS[mode]["mode"], fill))
    same(ours(table, ids), theirs(table, ids))
    same(jax.vmap(ours, (0, None))(jnp.stack([table, table[::-1]]), ids)[1], theirs(table[::-1], ids))
    same(jax.vmap(ours, (None, 0))(table, jnp.stack([ids, ids[::-1]]))[1], theirs(table, ids[::-1]))
    if jnp.issubdtype(table.dtype, jnp.inexact):
        weights = jnp.cos(jnp.arange(float(ids.size)))

        def energy(function: Any, table: Any) -> Any:
            return jnp.nansum(jnp.moveaxis(function(table, ids), axis, -1).real * weights).astype("float32")

        result, expected = (jax.grad(partial(energy, each))(table) for each in (ours, theirs))
        same(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("mode", ["drop", "clip", "promise_in_bounds"])
@pytest.mark.parametrize("seed", SEEDS)
def test_scatter(seed: int, mode: str, reduction: str) -> None:
    table, ids, axis, updates = drawn(seed, mode)
    if reduction in ("add", "mul") and table.dtype == bool:
        return  # JAX refuses this
    if reduction in ("max", "min") and table.dtype == "complex64":
        with pytest.raises(libgather.DTypeError):  # complex numbers have no order
            operators.scatter(table, ids, updates, axis, reduction=reduction)
        return
    if reduction == "mul":
        ids, updates = ids[:3], updates[:, :3] if axis else updates[:3]
    place = (slice(None),) * axis
    bounds = {"drop": "skip", "clip": "clamp", "promise_in_bounds": "error"}[mode]
    method = "set" if reduction == "none" else reduction

    def theirs(table: Any, ids: Any, updates: Any) -> Any:
        return getattr(table.at[(*place, ids)], method)(updates, mode=mode)

    ours = partial(operators.scatter, axis=axis, reduction=reduction, bounds=bounds, negative="wrap")
    tolerance = {} if reduction in ("none", "max", "min") else {"rtol": 1e-4, "atol": 1e-4}
    expected = theirs(table, ids, updates)
    same(jax.jit(ours)(table, ids, updates), expected, **tolerance)
    both = jax.vmap(ours, (0, None, 0))(jnp.stack([table, table]), ids, jnp.stack([updates[::-1], updates]))
    same(both[1], expected, **tolerance)
    # In JAX, a derivative of an extreme of halves is infinite where no update is counted.
    if table.dtype in ("float32", "complex64") and reduction in ("add", "max", "min"):

        def energy(function: Any, table: Any, updates: Any) -> Any:
            result = function(table, ids, updates).real.astype("float32")
            return (result * jnp.cos(jnp.arange(float(result.size))).reshape(result.shape)).sum()

        pairs = zip(*(jax.grad(partial(energy, each), (0, 1))(table, updates) for each in (ours, theirs)), strict=True)
        for result, derivative in pairs:
            same(result, derivative, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["sum", "max", "min"])
@pytest.mark.parametrize("mode", [None, "drop", "clip", "promise_in_bounds"])
@pytest.mark.parametrize("seed", SEEDS)
def test_segments(seed: int, mode: str | None, name: str) -> None:
    table, ids, _, _ = drawn(seed, mode or "drop")
    data = values(np.random.default_rng(seed), (ids.size, 3), str(table.dtype))
    if data.dtype == bool or (name != "sum" and data.dtype == "complex64"):
        return
    count = table.shape[drawn(seed, mode or "drop")[2]]
    theirs, ours = (getattr(library, f"segment_{name}") for library in (jax.ops, operators))
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if name == "sum" else {}
    same(ours(data, ids, count, mode=mode), theirs(data, ids, count, mode=mode), **tolerance)
    for bucket in (1, 64, 1000) if ids.size else ():  # JAX has no extreme of no bucket
        options = {"bucket_size": bucket, "mode": mode}
        same(
            jax.jit(partial(ours, num_segments=count, **options))(data, ids),
            theirs(data, ids, count, **options),
            **tolerance,
        )
    if ids.size:
        valid = ids % max(1, min(count, 100))
        same(ours(data, valid), theirs(data, valid), **tolerance)
        same(ours(data, valid, None, True, False), theirs(data, valid, None, True, False), **tolerance)


def test_means_of_segments() -> None:
    random = np.random.default_rng(2)
    data, ids = random.standard_normal((5000, 3)).astype("f4"), random.integers(-2, 70, 5000)
    counts = np.maximum(np.bincount(ids[(ids >= 0) & (ids < 65)], minlength=80), 1)[:, None]
    expected = jax.ops.segment_sum(data, jnp.where(ids < 65, ids, 99), 80) / counts
    result = operators.segment_mean(data, jnp.where(ids < 65, ids, 99), 80)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    assert operators.segment_mean(data[:3], jnp.array([0, 2, 2])).tolist()[1] == [0, 0, 0]
    slope = jax.grad(lambda data: operators.segment_mean(data, jnp.array([1, 1, 0]), 4)[1].sum())(data[:3])
    assert slope.tolist() == [[0.5] * 3, [0.5] * 3, [0] * 3]


@pytest.mark.parametrize("option", ["axis", "batch_dims", "padding_index"])
@pytest.mark.parametrize("value", [True, False, np.True_, 1.0, "0"])
def test_options_that_are_no_integers_are_refused(option: str, value: Any) -> None:
    """Python's booleans are equal to 0 and 1, also in a cache of programs."""
    table, ids = jnp.arange(4.0).reshape(2, 2), jnp.array([[0], [1]])
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (operators.gather, (table, ids)),
        (operators.gather_nd, (table, ids)),
        (operators.gather_elements, (table, ids)),
        (operators.scatter, (table, ids, table[:, None])),
        (operators.scatter_nd, (table, ids, table)),
        (operators.scatter_elements, (table, ids, table[:, :1])),
        (operators.gather_bags, (table, ids)),
    ]
    for call, given in calls:
        if option not in call.__annotations__:
            continue
        for _ in range(2):
            with pytest.raises(libgather.DTypeError, match=option):
                call(*given, **{option: value})
            call(*given)  # the refused call has left nothing in a cache


def test_refused_include_self_is_not_cached() -> None:
    table, ids = jnp.arange(4.0), jnp.array([0, 1])
    with pytest.raises(libgather.DTypeError, match="include_self"):
        operators.scatter(table, ids, table[:2], reduction="add", include_self=1)
    assert operators.scatter(table, ids, table[:2], reduction="add").tolist() == [0, 2, 2, 3]
