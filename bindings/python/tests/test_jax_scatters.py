"""The scatters of libgather.jax: compares values with NumPy, and derivatives with JAX's own scatters."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import libgather

jax = pytest.importorskip("jax")
jnp = jax.numpy
operators: Any = libgather.jax

#: The function, the shapes of target, indices and updates, and the attributes. Many indices are equal.
CASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "rows": ("scatter", (4, 3), (6,), (6, 3), {}),
    "scalar": ("scatter", (4, 3), (), (3,), {}),
    "columns": ("scatter", (2, 4, 3), (2, 3), (2, 2, 3, 3), {"axis": 1}),
    "last": ("scatter", (2, 5), (6,), (2, 6), {"axis": -1}),
    "batch": ("scatter", (2, 4, 3), (2, 5), (2, 5, 3), {"batch_dims": 1}),
    "tuples": ("scatter_nd", (3, 3, 2), (8, 2), (8, 2), {}),
    "batch of tuples": ("scatter_nd", (2, 3, 2), (2, 4, 1), (2, 4, 2), {"batch_dims": 1}),
    "elements": ("scatter_elements", (3, 4), (3, 7), (3, 7), {}),
    "none": ("scatter", (4, 3), (0,), (0, 3), {}),
}
REDUCTIONS = ["none", "add", "mul", "max", "min", "mean"]
BOUNDS: list[dict[str, Any]] = [{"negative": "wrap"}, {"bounds": "skip"}, {"bounds": "clamp"}, {"bounds": "modulo"}]
BOUNDS += [{"padding_index": 4, "bounds": "clamp", "include_self": False}]
SWITCHED: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in CASES] + [
    (name, switches) for name in ("rows", "tuples", "elements") for switches in BOUNDS
]


def drawn(name: str, switches: dict[str, Any], reduction: str) -> tuple[Any, Any, Any, Any, Any]:
    """Returns the primitive and the function of a case with its attributes, and its operands."""
    call, shape, index_shape, update_shape, attributes = CASES[name]
    random = np.random.default_rng(3)
    low, beyond = int("negative" in switches), int("bounds" in switches)
    indices = random.integers(-2 * low - beyond, 2 + 3 * beyond, index_shape, np.int32)
    target, updates = (random.integers(-4, 5, part).astype(np.float32) for part in (shape, update_shape))
    keywords = {**attributes, **switches, "reduction": reduction}
    primitive, plain = (partial(getattr(module, call), **keywords) for module in (operators, libgather))
    return primitive, plain, target, indices, updates


def linear(plain: Any, target: Any, indices: Any, updates: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the Jacobians of a scatter that sets or adds, by scatters of unit vectors."""
    units = [
        [
            plain(np.where(np.arange(target.size).reshape(target.shape) == i, 1, 0).astype("f4"), indices, 0 * updates)
            for i in range(target.size)
        ],
        [
            plain(0 * target, indices, np.where(np.arange(updates.size).reshape(updates.shape) == i, 1, 0).astype("f4"))
            for i in range(updates.size)
        ],
    ]
    of_target, of_updates = (
        np.array(each, "f4").reshape(len(each), target.size).T.reshape(target.shape + operand.shape)
        for each, operand in zip(units, (target, updates), strict=True)
    )
    return of_target, of_updates


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "switches"), SWITCHED, ids=str)
def test_values(name: str, reduction: str, switches: dict[str, Any]) -> None:
    primitive, plain, target, indices, updates = drawn(name, switches, reduction)
    expected = plain(target, indices, updates)
    kept = jnp.asarray(target)
    for result in (primitive(kept, indices, updates), jax.jit(primitive)(kept, indices, updates)):
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(kept, target)


@pytest.mark.parametrize("reduction", REDUCTIONS[:2])
@pytest.mark.parametrize(("name", "switches"), SWITCHED, ids=str)
def test_derivatives(name: str, reduction: str, switches: dict[str, Any]) -> None:
    primitive, plain, target, indices, updates = drawn(name, switches, reduction)

    def squares(target: Any, updates: Any) -> Any:
        return primitive(target * target, indices, updates * updates)

    backward, forward = (find(squares, (0, 1))(target, updates) for find in (jax.jacrev, jax.jacfwd))
    for operand, unit, back, fore in zip(
        (target, updates), linear(plain, target, indices, updates), backward, forward, strict=True
    ):
        np.testing.assert_array_equal(back, unit * 2 * operand)
        np.testing.assert_array_equal(fore, back)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_vmap(name: str, reduction: str) -> None:
    primitive, plain, *operands = drawn(name, {}, reduction)
    for mask in range(1, 8):
        dims = [0 if mask >> place & 1 else None for place in range(3)]
        dims[0] = -1 if dims[0] == 0 else None
        many = [
            np.stack([each, each[::-1] if each.ndim else each], d or 0) if d is not None else each
            for each, d in zip(operands, dims, strict=True)
        ]
        expected = [
            plain(*(each if d is None else np.take(each, i, d) for each, d in zip(many, dims, strict=True)))
            for i in (0, 1)
        ]
        np.testing.assert_array_equal(jax.jit(jax.vmap(primitive, dims))(*many), np.stack(expected))


@pytest.mark.parametrize("shape", [(), (2,), (3, 2)], ids=str)
@pytest.mark.parametrize("reduction", ["none", "add", "mean"])
def test_one_row_or_one_number_as_updates(reduction: Any, shape: tuple[int, ...]) -> None:
    target, ids = np.arange(1, 11, dtype=np.float32).reshape(5, 2), np.array([[4, 1, 1], [0, 4, 1]], np.int32)
    updates = np.arange(6, dtype=np.float32)[: int(np.prod(shape))].reshape(shape)
    whole = np.broadcast_to(updates, (2, 3, 2))

    def run(target: Any, updates: Any) -> Any:
        return operators.scatter(target, ids, updates, reduction=reduction)

    np.testing.assert_array_equal(run(target, updates), libgather.scatter(target, ids, whole, reduction=reduction))
    given, wanted = (jax.grad(lambda u: (run(target, u) ** 2).sum())(each) for each in (updates, whole))
    lead = tuple(range(3 - len(shape)))
    np.testing.assert_allclose(given, wanted.sum(lead), rtol=1e-6)


@pytest.mark.parametrize("reduction", ["add", "mul", "mean", "max", "min"])
def test_gradients_without_self_are_those_of_torch(reduction: Any) -> None:
    torch = pytest.importorskip("torch")
    theirs = {"add": "sum", "mul": "prod", "mean": "mean", "max": "amax", "min": "amin"}[reduction]
    random = np.random.default_rng(5)
    target, updates = np.split(random.permutation(33).astype(np.float32) + 1, [15])
    target, updates = target.reshape(5, 3), updates.reshape(6, 3) / 8
    ids, factors = random.integers(0, 4, (6, 3)), random.standard_normal((5, 3)).astype(np.float32)

    def score(target: Any, updates: Any) -> Any:
        rules: Any = {"reduction": reduction, "include_self": False}
        return (operators.scatter_elements(target, ids, updates, 0, **rules) * factors).sum()

    leaves = [torch.tensor(each, requires_grad=True) for each in (target, updates)]
    result = torch.scatter_reduce(leaves[0], 0, torch.tensor(ids), leaves[1], theirs, include_self=False)
    result.backward(torch.tensor(factors))
    for given, leaf in zip(jax.grad(score, (0, 1))(target, updates), leaves, strict=True):
        np.testing.assert_allclose(given, leaf.grad, rtol=1e-4)


def test_gradients_equal_those_of_jax() -> None:
    random = np.random.default_rng(5)
    target, updates = (random.standard_normal(shape).astype(np.float32) for shape in ((50, 4), (200, 4)))
    ids = random.integers(0, 50, 200)

    def ours(target: Any, updates: Any) -> Any:
        return (operators.scatter(target, ids, updates, reduction="add") ** 3).sum()

    def theirs(target: Any, updates: Any) -> Any:
        return (target.at[ids].add(updates) ** 3).sum()

    for find in (lambda f: jax.grad(f, (0, 1)), lambda f: jax.jit(jax.grad(f, (0, 1)))):
        for result, expected in zip(find(ours)(target, updates), find(theirs)(target, updates), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-4)


def test_reduction_of_none_has_the_gradients_of_jax() -> None:
    target, indices, updates = jnp.ones((3, 2)), jnp.array([2, 0]), jnp.full((2, 2), 2.0)
    sums = (
        lambda t, u: libgather.jax.scatter(t, indices, u, reduction=None).sum(),
        lambda t, u: t.at[indices].set(u).sum(),
    )
    given, expected = (jax.grad(call, (0, 1))(target, updates) for call in sums)
    assert [part.tolist() for part in given] == [part.tolist() for part in expected]


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_segment_sum_equals_that_of_jax(shape: tuple[int, ...], dtype: str) -> None:
    ids = jnp.array([1, 0, 7, 1, -1, 3]).reshape(shape)
    data = jnp.arange(12).reshape(*shape, 2).astype(dtype)
    flat = jax.ops.segment_sum(data.reshape(6, 2), ids.reshape(6), 4)
    for call in (operators.segment_sum, jax.jit(operators.segment_sum, static_argnums=2)):
        result = call(data, ids, 4)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, flat)
    with pytest.raises(jax.errors.JaxRuntimeError, match="is 7, valid are"):
        operators.segment_sum(data, ids, 4, mode="promise_in_bounds").block_until_ready()


def test_refusals() -> None:
    target, ids, rows = jnp.zeros((3, 2)), jnp.array([0, 7]), jnp.ones((2, 2))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"component 0 of tuple 1 is 7, valid are \[0, 3\)"):
        jax.jit(operators.scatter)(target, ids, rows).block_until_ready()
    with pytest.raises(libgather.ShapeError, match="updates"):
        jax.jit(operators.scatter)(target, ids, rows[:1])
    with pytest.raises(libgather.DTypeError, match="updates"):
        operators.scatter(target, ids, rows.astype(int))
    with pytest.raises(libgather.RankError, match="axis"):
        operators.scatter(target, ids, rows, 5)
    with pytest.raises(libgather.OptionError, match="bounds"):
        operators.scatter(target, ids, rows, bounds="fill")


@pytest.mark.parametrize("reduction", ["max", "min"])
@pytest.mark.parametrize("is_tied", [False, True])
def test_gradients_of_extremes_equal_those_of_jax(reduction: str, is_tied: bool) -> None:
    random = np.random.default_rng(5)
    target, updates = (random.integers(0, 3, shape).astype(np.float32) for shape in ((6, 4), (20, 4)))
    if not is_tied:
        target, updates = (each + random.uniform(0, 0.5, each.shape).astype(np.float32) for each in (target, updates))
    ids, factors = random.integers(0, 6, 20), random.standard_normal((6, 4)).astype(np.float32)

    def ours(target: Any, updates: Any) -> Any:
        return (operators.scatter(target, ids, updates, reduction=reduction) * factors).sum()

    def theirs(target: Any, updates: Any) -> Any:
        return (getattr(target.at[ids], reduction)(updates) * factors).sum()

    for result, expected in zip(*(jax.grad(f, (0, 1))(target, updates) for f in (ours, theirs)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", ["mul", "max", "min", "mean"])
@pytest.mark.parametrize(("name", "switches"), SWITCHED, ids=str)
def test_derivatives_equal_differences(name: str, reduction: str, switches: dict[str, Any]) -> None:
    primitive, _, target, indices, updates = drawn(name, switches, reduction)
    random = np.random.default_rng(7)
    target, updates = (random.permutation(each.size).reshape(each.shape) / 10 + 0.55 for each in (target, updates))
    updates = updates + 0.03
    with jax.enable_x64(True):
        from jax.test_util import check_grads

        check_grads(lambda t, u: primitive(t, indices, u), (target, updates), order=2, eps=1e-4)


@pytest.mark.parametrize("zeros", [(0,), (1, 4), (0, 1), (5,)], ids=str)
def test_product_with_zeros_has_the_gradient_of_torch(zeros: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    target, updates, ids = np.arange(2.0, 5), np.arange(1.0, 7), np.array([0, 0, 1, 1, 2, 0])
    updates[list(zeros)] = 0
    target[0] = 0 if zeros == (5,) else target[0]
    ours = jax.grad(lambda t, u: (operators.scatter(t, ids, u, reduction="mul") ** 1).sum(), (0, 1))
    leaves = [torch.tensor(each, requires_grad=True) for each in (target, updates)]
    torch.scatter_reduce(leaves[0], 0, torch.tensor(ids), leaves[1], "prod").sum().backward()
    with jax.enable_x64(True):
        for result, leaf in zip(ours(target, updates), leaves, strict=True):
            np.testing.assert_allclose(result, leaf.grad)


def test_call_that_is_not_in_place_is_refused() -> None:
    """The handler writes the memory of the target, so a result elsewhere would not be written."""
    from libgather._base.request_fields import Request
    from libgather._operations.jax_programs.primitive import RUN, attribute
    from libgather._requests.operation_table import SCATTER

    roles = ("table", "indices", "rows")
    request = attribute(SCATTER, RUN, roles, Request(reduction="none"), libgather.Spec("float32", ())._dtype)
    call = jax.ffi.ffi_call("libgather", jax.ShapeDtypeStruct((3,), jnp.float32))
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a call"):
        call(jnp.zeros(3), jnp.array([0]), jnp.ones(1), request=request).block_until_ready()
