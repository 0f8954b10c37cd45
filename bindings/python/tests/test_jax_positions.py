"""Positions of maxima and minima of libgather.jax: compares them with loops and with JAX's argmax."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from test_scatter_positions import naive

import libgather

jax = pytest.importorskip("jax")
jnp = jax.numpy
operators: Any = libgather.jax

RANDOM = np.random.default_rng(9)
IDS = np.array([4, 1, 1, 2, 0, 3, 4, 2, 3])
LENGTHS = np.array([3, 0, 1, 5])
SEGMENTS = np.repeat(np.arange(4), LENGTHS)
FORMATS: dict[str, dict[str, Any]] = {
    "offsets": {"offsets": np.array([0, 3, 3, 4, 9])},
    "starts": {"starts": np.array([0, 3, 3, 4])},
    "lengths": {"lengths": LENGTHS},
    "segments": {"segments": SEGMENTS, "count": 4},
    "dense": {},
}


def numbers(*shape: int, dtype: str = "float32") -> Any:
    """Returns numbers with equal ones, and with NaN if the dtype has it."""
    made = RANDOM.integers(0, 5, shape).astype("f4")
    if "float" in dtype:
        made.reshape(-1)[::7] = np.nan
    return made.astype(dtype)


def places_of(op: str, shape: tuple[int, ...], ids: Any) -> list[Any]:
    """Returns the place in the target of each update. Indices are along axis 1, or the last one for elements."""
    flat = np.arange(np.prod(shape)).reshape(shape)
    if op == "scatter":
        chosen = flat[:, ids]
    else:
        chosen = flat[tuple(np.moveaxis(ids, -1, 0))] if op == "scatter_nd" else np.take_along_axis(flat, ids, -1)
    return [np.unravel_index(number, shape) for number in chosen.reshape(-1)]


#: The indices, the shape of the updates, and the attributes of a target of shape (3, 5, 2).
CASES: dict[str, tuple[Any, tuple[int, ...], dict[str, Any]]] = {
    "scatter": (IDS, (3, 9, 2), {"axis": 1}),
    "scatter_nd": (np.stack([IDS % 3, IDS], -1), (9, 2), {}),
    "scatter_elements": (RANDOM.integers(0, 2, (3, 5, 6)), (3, 5, 6), {}),
}


def searching(op: str, **options: Any) -> Any:
    return partial(operators.scatter_positions, op=op, **CASES[op][2], **{"reduction": "max", **options})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8", "uint32", "bool"])
@pytest.mark.parametrize("op", CASES)
def test_scatters(op: str, dtype: str) -> None:
    ids, shape, _ = CASES[op]
    target, updates = (numbers(*each, dtype=dtype) for each in ((3, 5, 2), shape))
    for reduction in ("max", "min"):
        for include_self in (True, False):
            find = searching(op, reduction=reduction, include_self=include_self)
            wide = target.astype("f8"), places_of(op, target.shape, ids), updates.astype("f8")
            expected = naive(*wide, reduction, include_self)
            for run in (find, jax.jit(find)):
                found = run(jnp.asarray(target), jnp.asarray(ids), jnp.asarray(updates))
                assert found.dtype == "int32"
                np.testing.assert_array_equal(found, expected)


def test_rules_of_indices() -> None:
    target, rows = jnp.zeros(4), jnp.array([3.0, 9.0, 4.0, 1.0])
    find = partial(operators.scatter_positions, target, reduction="max")
    assert find(jnp.array([-3, -1, 1, 0]), rows, negative="wrap").tolist() == [3, 2, -1, 1]
    assert find(jnp.array([9, 7, 1, -1]), rows, bounds="skip").tolist() == [-1, 2, -1, -1]
    assert find(jnp.array([9, 7, 1, -1]), rows, bounds="clamp").tolist() == [3, 2, -1, 1]
    assert find(jnp.array([9, 7, 1, -1]), rows, bounds="modulo").tolist() == [-1, 2, -1, 1]
    assert find(jnp.array([0, 7, 1, 3]), rows, padding_index=7).tolist() == [0, 2, -1, 3]
    assert find(jnp.zeros(0, int), rows[:0]).tolist() == [-1] * 4
    assert find(jnp.array([2, 2]), 5.0).tolist() == [-1, -1, 0, -1]
    wide = operators.scatter_positions(jnp.zeros((2, 3)), [1, 1], jnp.array([4.0, -1.0, 2.0]), reduction="max")
    assert wide.tolist() == [[-1, -1, -1], [0, -1, 2]]


@pytest.mark.parametrize("case", list(product(CASES, range(1, 8))), ids=str)
def test_vmap_of_scatters(case: tuple[str, int]) -> None:
    """Each pair is a value of its own, so that every run has all of them."""
    op, mask = case
    ids, shape, _ = CASES[op]
    operands = numbers(3, 5, 2), ids, numbers(*shape)
    dims = [(-1, 0, 1)[place] if mask >> place & 1 else None for place in range(3)]
    many = [
        each if dim is None else np.stack([each, np.roll(each, 1, 0), each[::-1]], dim)
        for each, dim in zip(operands, dims, strict=True)
    ]
    find = searching(op, include_self=False)
    each = [
        find(*(a if dim is None else np.take(a, i, dim) for a, dim in zip(many, dims, strict=True))) for i in range(3)
    ]
    np.testing.assert_array_equal(jax.jit(jax.vmap(find, dims))(*many), np.stack(each))


def expected_of(table: Any, form: str, pool: str, counted: Any) -> Any:
    """Returns the positions by JAX's argmax and argmin of each bag."""
    bags = np.arange(9) // 3 if form == "dense" else SEGMENTS
    found = np.full((3 if form == "dense" else 4, table.shape[1]), -1)
    for bag in range(len(found)):
        own = np.flatnonzero((bags == bag) & counted)
        if own.size:
            found[bag] = own[np.asarray(getattr(jnp, f"arg{pool}")(table[IDS[own]], 0))]
    return found


@pytest.mark.parametrize("pool", ["max", "min"])
@pytest.mark.parametrize("form", FORMATS)
def test_bags(form: str, pool: str) -> None:
    ids, given = IDS.reshape(3, 3) if form == "dense" else IDS, FORMATS[form]
    table = jnp.asarray(numbers(5, 4))

    def find(table: Any, ids: Any) -> Any:
        return operators.gather_bags_positions(table, ids, **given, pool=pool, padding_index=2)

    expected = expected_of(table, form, pool, IDS != 2)
    for run in (find, jax.jit(find)):
        np.testing.assert_array_equal(run(table, ids), expected)
    tables, many = np.stack([table, table[::-1]], 1), np.stack([ids, ids[::-1]])
    for dims in ((1, None), (None, 0), (1, 0)):
        arguments = table if dims[0] is None else tables, ids if dims[1] is None else many
        each = [find(table if dims[0] is None else tables[:, i], ids if dims[1] is None else many[i]) for i in (0, 1)]
        np.testing.assert_array_equal(jax.vmap(find, dims)(*arguments), np.stack(each))


def test_fill_of_bags_has_the_dtype_of_the_table() -> None:
    table, ids = jnp.array([[1.0], [8.0]], "bfloat16"), jnp.array([[0, 7, 1], [0, 9, 0]])
    options: Any = {"pool": "max", "bounds": "fill", "fill_value": 4}
    assert operators.gather_bags_positions(table, ids, **options).tolist() == [[2], [4]]
    weights = jnp.ones((2, 3), "float32")
    rules: Any = {"bounds": "fill", "fill_value": 4}
    gradient = jax.grad(lambda weights: operators.gather_bags(table, ids, weights=weights, **rules).sum())(weights)
    assert gradient.tolist() == [[1, 4, 8], [1, 4, 1]]


def test_positions_have_no_derivatives() -> None:
    target, ids, updates = jnp.zeros((2, 2)), jnp.array([1, 1, 1]), jnp.array([[1.0, 7.0], [4.0, 7.0], [4.0, 2.0]])

    def best(updates: Any) -> Any:
        found = operators.scatter_positions(target, ids, updates, reduction="max")
        return (updates.reshape(-1)[found[1]] * jnp.array([10.0, 100.0])).sum() + found.sum()

    assert jax.jit(jax.grad(best))(updates).tolist() == [[0, 100], [10, 0], [0, 0]]
    assert jax.jvp(best, (updates,), (updates,))[1] == 740
    with pytest.raises(TypeError, match="int32"):
        jax.grad(lambda u: operators.scatter_positions(target, ids, u, reduction="max").sum())(updates)


def test_int64_and_limits() -> None:
    find = partial(operators.scatter_positions, reduction="max")

    def shape_of(count: int) -> Any:
        specs = [((3,), "float32"), ((count,), "int32"), ((count,), "float32")]
        return jax.eval_shape(find, *(jax.ShapeDtypeStruct(*spec) for spec in specs))

    assert shape_of(2**31).dtype == "int32"
    with pytest.raises(libgather.UnsupportedError, match="updates: positions beyond int32: set jax_enable_x64"):
        shape_of(2**31 + 1)
    with jax.enable_x64(True):
        assert shape_of(2**31 + 1).dtype == "int64"
        found = jax.jit(find)(jnp.zeros(3), jnp.array([2, 2]), jnp.array([1.0, 5.0]))
        assert (found.dtype, found.tolist()) == ("int64", [-1, -1, 1])


def test_open_extents_of_an_exported_program() -> None:
    export = pytest.importorskip("jax.export")
    count, rows = export.symbolic_shape("count, rows")
    specs = [((rows, 2), "float32"), ((count,), "int32"), ((count, 2), "float32")]
    run = jax.jit(lambda *operands: operators.scatter_positions(*operands, reduction="max", include_self=False))
    exported = export.export(run, disabled_checks=operators.export_checks())(
        *(jax.ShapeDtypeStruct(*spec) for spec in specs)
    )
    program = export.deserialize(exported.serialize())
    for size in (1, 6):
        operands = numbers(4, 2), RANDOM.integers(0, 4, size).astype("i4"), numbers(size, 2)
        np.testing.assert_array_equal(program.call(*operands), run(*operands))
    bags = jax.jit(lambda t, i, s: operators.gather_bags_positions(t, i, segments=s, count=4, pool="max"))
    specs = [((rows, 2), "float32"), ((count,), "int32"), ((count,), "int32")]
    exported = export.export(bags, disabled_checks=operators.export_checks())(
        *(jax.ShapeDtypeStruct(*spec) for spec in specs)
    )
    operands = numbers(5, 2), IDS.astype("i4"), SEGMENTS.astype("i4")
    np.testing.assert_array_equal(export.deserialize(exported.serialize()).call(*operands), bags(*operands))


def test_errors() -> None:
    target, updates = jnp.zeros((3, 2)), jnp.ones((2, 2))
    find = operators.scatter_positions
    with pytest.raises(jax.errors.JaxRuntimeError, match="component 0 of tuple 1 is 3"):
        find(target, jnp.array([0, 3]), updates, reduction="max").block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="reduction must be max or min"):
        find(target, jnp.array([0, 1]), updates, reduction="add").block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="pool must be max or min"):
        operators.gather_bags_positions(target, jnp.array([[0, 1]]), pool="mean").block_until_ready()
    with pytest.raises(libgather.OptionError, match="op 'gather' is none of scatter"):
        find(target, jnp.array([0, 1]), updates, op="gather", reduction="max")
    with pytest.raises(libgather.RankError, match="scatter_nd has no axis"):
        find(target, jnp.array([[0, 1]]), updates[0], 1, op="scatter_nd", reduction="max")
    with pytest.raises(libgather.ShapeError, match="updates"):
        find(target, jnp.array([0, 1]), jnp.ones((3, 2)), reduction="max")
    with pytest.raises(libgather.DTypeError, match="updates"):
        find(target, jnp.array([0, 1]), updates.astype("int32"), reduction="max")
