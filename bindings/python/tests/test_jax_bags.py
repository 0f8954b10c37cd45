"""libgather.jax.gather_bags: compares values with the function on NumPy arrays, and derivatives with those of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import libgather

jax = pytest.importorskip("jax")
jnp = jax.numpy
operators: Any = libgather.jax

ROWS, IDS = 5, np.array([1, 4, 2, 2, 0, 3, 2], np.int32)
#: The indices and the bags of each format, and the number of the bag of each index.
FORMATS: dict[str, tuple[Any, dict[str, Any], Any, int]] = {
    "dense": (np.array([[1, 4, 2], [2, 0, 3]], np.int32), {}, np.array([0, 0, 0, 1, 1, 1]), 2),
    "offsets": (IDS, {"offsets": np.array([0, 3, 3, 7])}, np.array([0, 0, 0, 2, 2, 2, 2]), 3),
    "starts": (IDS, {"starts": np.array([0, 3, 3])}, np.array([0, 0, 0, 2, 2, 2, 2]), 3),
    "lengths": (IDS, {"lengths": np.array([3, 0, 4])}, np.array([0, 0, 0, 2, 2, 2, 2]), 3),
    "segments": (
        IDS,
        {"segments": np.array([0, 0, 0, 2, 2, 2, 2]), "count": 4},
        np.array([0, 0, 0, 2, 2, 2, 2]),
        4,
    ),
}
SUMS = ["sum", "mean", "sqrtn"]
POOLS = [*SUMS, "max", "min"]
RULES: list[dict[str, Any]] = [
    {},
    {"padding_index": 2},
    {"bounds": "skip"},
    {"bounds": "clamp"},
    {"bounds": "fill", "negative": "wrap"},
]


def drawn(form: str, rules: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Returns a table, indices and bags. Indices are out of bounds if the rules allow that."""
    indices, bags, _, _ = FORMATS[form]
    indices = indices + 2 * (indices == 4) - 2 * (indices == 1) if "bounds" in rules else indices
    table = np.random.default_rng(3).permutation(ROWS * 2).reshape(ROWS, 2).astype("f4") + 1
    return table, indices, bags


def composed(table: Any, weights: Any, form: str, pool: str, rules: dict[str, Any]) -> Any:
    """Returns the result as a composition of JAX's own functions."""
    _, indices, _ = drawn(form, rules)
    _, _, numbers, count = FORMATS[form]
    ids = indices.reshape(-1)
    bounds = rules.get("bounds")
    if rules.get("negative") == "wrap":
        ids = np.where(ids < 0, ids + ROWS, ids)
    is_inside = (ids >= 0) & (ids < ROWS)
    kept = ids != rules["padding_index"] if "padding_index" in rules else np.ones(ids.shape, bool)
    kept = kept & is_inside if bounds == "skip" else kept
    rows = jnp.where(is_inside[:, None] | (bounds == "clamp"), table[np.clip(ids, 0, ROWS - 1)], 0)[kept]
    numbers = numbers[kept]
    if pool in ("max", "min"):
        best = getattr(jax.ops, f"segment_{pool}")(rows, numbers, count)
        return jnp.where(jnp.bincount(numbers, length=count)[:, None] > 0, best, 0)
    factors = weights.reshape(-1)[kept]
    sums = jax.ops.segment_sum(rows * factors[:, None], numbers, count)
    powers = {"sum": factors * 0, "mean": factors, "sqrtn": factors**2}[pool]
    totals = jax.ops.segment_sum(powers, numbers, count)
    totals = jnp.where(totals == 0, 1, totals)
    return sums / (jnp.sqrt(totals) if pool == "sqrtn" else totals)[:, None]


#: Each pool and format without rules, and each rule with two of them.
CASES = [(form, pool, {}) for form in FORMATS for pool in POOLS] + [
    (form, pool, rules) for form, pool in (("dense", "mean"), ("lengths", "max")) for rules in RULES
]


@pytest.mark.parametrize(("form", "pool", "rules"), CASES, ids=str)
class TestBags:
    def test_values(self, form: str, pool: str, rules: dict[str, Any]) -> None:
        table, indices, bags = drawn(form, rules)
        expected = libgather.gather_bags(table, indices, **bags, pool=pool, **rules)
        result = operators.gather_bags(table, indices, **bags, pool=pool, **rules)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)

    def test_derivatives(self, form: str, pool: str, rules: dict[str, Any]) -> None:
        """No two elements of a column are equal, so that each extreme has one row."""
        table, indices, bags = drawn(form, rules)
        weights = np.linspace(0.5, 2, indices.size, dtype="f4").reshape(indices.shape)
        places = (0, 1) if pool in SUMS else (0,)

        def ours(table: Any, weights: Any) -> Any:
            named = {"weights": weights} if pool in SUMS else {}
            return operators.gather_bags(table * table, indices, **bags, pool=pool, **rules, **named)

        def theirs(table: Any, weights: Any) -> Any:
            return composed(table * table, weights, form, pool, rules)

        def derivatives(call: Any, find: Any) -> Any:
            def energy(table: Any, weights: Any) -> Any:
                return (call(table, weights) ** 2).sum()

            return jax.jit(lambda *a: (call(*a), find(call, places)(*a), find(jax.grad(energy, places), places)(*a)))

        expected = jax.tree.leaves(derivatives(theirs, jax.jacrev)(table, weights))
        for find in (jax.jacrev, jax.jacfwd):
            found = jax.tree.leaves(derivatives(ours, find)(table, weights))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4 * max(1, np.abs(other).max()))


@pytest.mark.parametrize(
    ("form", "pool"), [("dense", "mean"), ("dense", "max"), ("lengths", "sum"), ("segments", "min")]
)
def test_vmap(form: str, pool: str) -> None:
    table, indices, bags = drawn(form, {})
    weights = np.linspace(0.5, 2, indices.size, dtype="f4").reshape(indices.shape)

    def run(table: Any, indices: Any, weights: Any) -> Any:
        named = {"weights": weights} if pool in SUMS else {}
        return operators.gather_bags(table, indices, **bags, pool=pool, **named)

    def gradients(table: Any, indices: Any, weights: Any) -> Any:
        return jax.grad(lambda table, weights: (run(table, indices, weights) ** 2).sum(), (0, 1))(table, weights)

    operands = table, indices, weights
    for mask in (1, 2, 4, 7):
        dims = [0 if mask >> place & 1 else None for place in range(3)]
        dims[0] = -1 if dims[0] == 0 else None
        many = [
            each if dim is None else np.stack([each, each[::-1]], dim) for each, dim in zip(operands, dims, strict=True)
        ]
        each = [[a if dim is None else np.take(a, i, dim) for a, dim in zip(many, dims, strict=True)] for i in range(2)]
        np.testing.assert_array_equal(jax.jit(jax.vmap(run, dims))(*many), np.stack([run(*a) for a in each]))
        for result, *expected in zip(
            jax.jit(jax.vmap(gradients, dims))(*many), *(gradients(*a) for a in each), strict=True
        ):
            np.testing.assert_allclose(result, np.stack(expected), rtol=1e-5)


def test_first_of_equal_elements_has_the_gradient() -> None:
    table, ids = jnp.array([[1.0], [3.0], [3.0], [jnp.nan]]), jnp.array([[0, 2, 1], [1, 3, 2]])
    gradient = jax.grad(lambda table: operators.gather_bags(table, ids, pool="max").sum())(table)
    assert gradient[:, 0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_added_in_float32(dtype: str) -> None:
    table, ids = jnp.ones((1, 1), dtype), jnp.zeros((1, 5000), int)
    assert operators.gather_bags(table, ids).item() == jnp.asarray(5000, dtype).item()
    gradient = jax.grad(lambda table: operators.gather_bags(table, ids, weights=jnp.ones(ids.shape)).sum())(table)
    assert gradient.item() == jnp.asarray(5000, dtype).item()
    rows = jax.grad(lambda table: operators.gather(table, ids).sum())(table)
    assert rows.item() == jnp.asarray(5000, dtype).item()


@pytest.mark.parametrize("pool", SUMS)
def test_gradient_of_weights_of_half_precision_is_computed_in_float32(pool: str) -> None:
    random = np.random.default_rng(5)
    ids, weights = random.integers(0, 20, (6, 9), "i4"), random.uniform(0.5, 2, (6, 9)).astype("f4")
    for dtype in ("float16", "bfloat16"):
        table, upstream = (jnp.asarray(random.standard_normal(shape), dtype) for shape in ((20, 30), (6, 30)))
        _, pull = jax.vjp(lambda w, table=table: operators.gather_bags(table, ids, weights=w, pool=pool), weights)
        wide = np.asarray(upstream, "f8"), ids, np.asarray(table, "f8")
        expected = libgather.gather_bags_weight_gradient(*wide, weights=weights.astype("f8"), pool=pool)
        np.testing.assert_allclose(*pull(upstream), expected, rtol=1e-5, atol=1e-6)


def test_fill_of_empty_bags_has_no_derivatives() -> None:
    table, ids, weights = jnp.array([[1.0], [4.0]]), jnp.array([1, 0]), jnp.array([1.0, 2.0])
    options: Any = {"lengths": jnp.array([0, 2]), "empty": "fill", "fill_value": 7}

    def run(table: Any, weights: Any = None, **others: Any) -> Any:
        return operators.gather_bags(table, ids, weights=weights, **options, **others)

    for pool, expected in (("sum", [4, 1]), ("mean", [2 / 3, -1 / 3])):
        jacobian = jax.jacfwd(lambda weights, pool=pool: run(table, weights, pool=pool)[:, 0])(weights)
        np.testing.assert_allclose(jacobian, [[0, 0], expected], rtol=1e-6)
    for bounds in ("clamp", "modulo", "skip"):
        jacobian = jax.jacfwd(lambda table, bounds=bounds: run(table, pool="max", bounds=bounds)[:, 0])(table)
        assert jacobian[..., 0].tolist() == [[0, 0], [0, 1]]


def test_empty_bags() -> None:
    table, ids, lengths = jnp.ones((3, 2)), jnp.array([1]), jnp.array([0, 1])
    fill = operators.gather_bags(table, ids, lengths=lengths, empty="fill", fill_value=7)
    assert fill.tolist() == [[7, 7], [1, 1]]
    with pytest.raises(jax.errors.JaxRuntimeError, match="bag 0"):
        operators.gather_bags(table, ids, lengths=lengths, empty="error").block_until_ready()


def test_refusals() -> None:
    table, ids = jnp.ones((3, 2)), jnp.array([0, 1])
    with pytest.raises(jax.errors.JaxRuntimeError, match="is 9, valid are"):
        operators.gather_bags(table, jnp.array([[0, 9]])).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="bags"):
        operators.gather_bags(table, ids, offsets=jnp.array([0, 9])).block_until_ready()
    with pytest.raises(libgather.OptionError, match="count"):
        operators.gather_bags(table, ids, segments=jnp.array([0, 1]))
    with pytest.raises(libgather.OptionError, match="one format"):
        operators.gather_bags(table, ids, lengths=ids, starts=ids)
    with pytest.raises(libgather.ShapeError, match="weights"):
        operators.gather_bags(table, ids, lengths=jnp.array([2]), weights=jnp.ones(3))
    with pytest.raises(libgather.DTypeError, match="indices"):
        operators.gather_bags(table, jnp.ones((2, 2)))
    with pytest.raises(libgather.RankError):
        operators.gather_bags(jnp.array(1.0), jnp.zeros((1, 1), int))


@pytest.mark.parametrize("form", ["dense", "offsets", "segments"])
def test_exported_program_of_symbolic_shapes(form: str) -> None:
    import jax.export

    table, indices, bags = drawn(form, {})
    scope = jax.export.SymbolicScope()

    def symbolic(array: Any, shape: str) -> Any:
        return jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), array.dtype)

    arrays = {name: jnp.asarray(array) for name, array in bags.items() if name != "count"}
    shapes = {name: symbolic(array, "k" if name == "segments" else "b") for name, array in arrays.items()}

    def gradient(table: Any, indices: Any, given: Any) -> Any:
        def total(table: Any) -> Any:
            count = {"count": table.shape[0]} if form == "segments" else {}
            return (operators.gather_bags(table, indices, **given, **count, pool="mean") ** 2).sum()

        return jax.grad(total)(table)

    rows = "b, k" if form == "dense" else "k"
    operands = symbolic(table, "n, m"), symbolic(indices, rows), shapes
    program = jax.export.export(jax.jit(gradient), disabled_checks=operators.export_checks())(*operands)
    result = jax.export.deserialize(program.serialize()).call(table, indices, arrays)
    np.testing.assert_allclose(result, gradient(table, indices, arrays), rtol=1e-6)
