"""Gradients of gathers: compares them with NumPy's sums and the gradients of torch, JAX and TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_properties import gathers, same

import libgather
from libgather._base.constants import OP_GATHER_GRADIENT
from libgather._base.request_fields import Request
from libgather._objects import run_buffers

SWITCHES: list[dict[str, Any]] = [
    {"negative": "wrap"},
    {"bounds": "clamp"},
    {"bounds": "modulo"},
    {"bounds": "skip"},
    {"bounds": "fill"},
    {"profile": "jax_fill"},
    {"profile": "numpy_wrap"},
]


def is_transpose(
    gather: Callable[..., Any],
    gradient: Callable[..., Any],
    indices: np.ndarray,
    shape: tuple[int, ...],
    switches: dict[str, Any],
    *attributes: int,
    **more: Any,
) -> None:
    """A gather is linear, so <gather(p), g> equals <p, gradient(g)> for all p and g. Integers make the test exact."""
    rng = np.random.default_rng(11)
    params = rng.integers(-9, 9, shape)
    filling = {"fill_value": 0} if switches.get("profile") == "jax_fill" else {}
    taken = gather(params, indices, *attributes, **switches, **filling, **more)
    given_back = rng.integers(-9, 9, taken.shape)
    for threads in (1, 3):
        found = gradient(given_back, indices, params, *attributes, threads=threads, **switches, **more)
        assert found.shape == shape and found.dtype == given_back.dtype
        assert (found * params).sum() == (taken * given_back).sum()


@pytest.mark.parametrize("shape", [(4, 3), [4, 3], np.empty((4, 3))], ids=["tuple", "list", "array"])
def test_gradient_of_buffers_is_one_call_of_the_c_half(shape: Any) -> None:
    """A gradient of buffers is one call of the C code."""
    gradient, options = np.ones((2, 3), "f4"), Request()
    libgather.Tensor(gradient)  # configures the C code to read NumPy arrays
    total = run_buffers(OP_GATHER_GRADIENT, shape, np.array([2, 2]), gradient, *options)
    assert total.dtype == np.float32 and total.tolist() == [[0] * 3, [0] * 3, [2] * 3, [0] * 3]
    for wrong in ((-4, 3), (4.0, 3), 4, "ab", (2**70, 3), [-4, 3], [4.0, 3], [[4], [3]]):
        assert run_buffers(OP_GATHER_GRADIENT, wrong, np.array([2, 2]), gradient, *options) is NotImplemented


@pytest.mark.parametrize("switches", SWITCHES, ids=lambda switches: "-".join(switches.values()))
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_transposes(switches: dict[str, Any], data: Any) -> None:
    low, high = (-3, 2) if "negative" in switches else (-7, 7)
    indices = data.draw(hnp.arrays("int64", (2, 4), elements=st.integers(low, high)))
    is_transpose(libgather.gather, libgather.gather_gradient, indices, (2, 3, 2), switches, 1, 1)
    is_transpose(libgather.gather, libgather.gather_gradient, indices, (3, 4), switches, 0)
    tuples = indices.reshape(4, 2)
    is_transpose(libgather.gather_nd, libgather.gather_nd_gradient, tuples, (3, 3, 2), switches)
    batched = indices.reshape(2, 2, 2)
    is_transpose(libgather.gather_nd, libgather.gather_nd_gradient, batched, (2, 3, 3), switches, 1)
    names = libgather.gather_elements, libgather.gather_elements_gradient
    is_transpose(*names, indices, (2, 3), switches, 1)
    is_transpose(*names, indices, (3, 4), switches, 0, extents="prefix")
    is_transpose(*names, indices[:1], (2, 3), switches, 1, extents="broadcast")


@settings(deadline=None, max_examples=100)
@given(gathers())
def test_sums(case: tuple[np.ndarray, np.ndarray, int, int]) -> None:
    params, indices, axis, batch = case
    if params.dtype.kind != "i" and params.dtype != "f4":
        params = np.ones(params.shape, "f4")
    result = libgather.gather(params, indices, axis, batch)
    gradient = np.arange(result.size).reshape(result.shape).astype(params.dtype)
    places = np.broadcast_to(np.arange(params.size, dtype="i8").reshape(params.shape), params.shape)
    expected = np.zeros(params.size, params.dtype)
    np.add.at(expected, libgather.gather(places, indices, axis, batch).reshape(-1), gradient.reshape(-1))
    assert same(libgather.gather_gradient(gradient, indices, params.shape, axis, batch), expected.reshape(params.shape))


def test_accumulation() -> None:
    ones, indices = np.ones(4096, "f2"), np.zeros(4096, "i8")
    assert libgather.gather_gradient(ones, indices, (1,)).tolist() == [2048]
    assert libgather.gather_gradient(ones, indices, (1,), accumulate="float32").tolist() == [4096]
    assert libgather.gather_nd_gradient(ones, indices[:, None], (1,), accumulate="float32").tolist() == [4096]
    assert libgather.gather_elements_gradient(ones, indices, (1,), accumulate="float32").tolist() == [4096]


def test_kinds() -> None:
    swapped = libgather.gather_gradient(np.array([1, 2], ">f4"), [1, 1], (3,))
    assert swapped.tolist() == [0, 3, 0]
    tensor = libgather.gather_gradient(libgather.Tensor(np.ones((2, 2))), [1, 1], (3, 2))
    assert type(tensor) is libgather.Tensor and tensor.tolist() == [[0, 0], [2, 2], [0, 0]]
    assert libgather.gather_gradient([1.0], [0], np.zeros(2)).tolist() == [1, 0]
    assert libgather.gather_gradient(np.zeros((0, 2)), [], (3, 2)).tolist() == [[0, 0]] * 3
    assert libgather.gather_gradient(np.zeros((0, 2)), [], (0, 2)).shape == (0, 2)


def test_errors() -> None:
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather_gradient(np.ones((2, 2)), [0, 3], (3, 2))
    error = caught.value
    assert (error.position, error.value, error.limit, error.index, error.axis) == (1, 3, 3, (1,), 0)
    gradient, times = libgather.gather_gradient, np.ones(2, "M8[s]")
    calls: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: gradient(np.ones((3, 2)), [0, 1], (3, 2)), ValueError, "updates: dim 0 is 3, needed is 2"),
        (lambda: gradient(np.ones(2), [0, 1], ()), ValueError, "target: rank is 0"),
        (lambda: gradient(np.ones(2), [0, 1], (-1,)), ValueError, "target: "),
        (lambda: gradient(np.ones(2), [0, 1], 3), TypeError, "shape 3 is no sequence of integers"),
        (lambda: gradient(times, [0, 1], (3,)), TypeError, r"updates: dtype datetime64\[s\]"),
        (lambda: gradient(["a", "b"], [0, 1], (3,)), TypeError, "(updates|target): dtype"),
        (lambda: gradient(None, [0, 1], (3,)), TypeError, "updates: NoneType is not an array"),
        (lambda: libgather.gather_nd_gradient(np.ones(1), [[0, 1]], (3,)), ValueError, "indices: "),
        (lambda: libgather.gather_elements_gradient(np.ones(2), [0, 1], (3,), 1), ValueError, "options: axis is 1"),
    ]
    for call, kind, message in calls:
        with pytest.raises(kind, match=message) as refused:
            call()
        assert isinstance(refused.value, libgather.Error)


# ------------------------------------------------------------------------------------ of the frameworks, bit by bit

RNG = np.random.default_rng(5)
TABLE, IDS = RNG.integers(-9, 9, (6, 5)).astype("f4"), RNG.integers(0, 6, (40,))
ROWS = RNG.integers(-9, 9, (40, 5)).astype("f4")
PAIRS = np.stack([IDS, RNG.integers(0, 5, 40)], -1)
COLUMNS, BESIDE = RNG.integers(0, 5, (6, 7)), RNG.integers(-9, 9, (6, 7)).astype("f4")


def ours(convert: Callable[[Any], Any]) -> list[Any]:
    rows, ids, pairs, columns, beside = map(convert, (ROWS, IDS, PAIRS, COLUMNS, BESIDE))
    return [
        libgather.gather_gradient(rows, ids, TABLE.shape),
        libgather.gather_nd_gradient(rows[:, 0], pairs, TABLE.shape),
        libgather.gather_elements_gradient(beside, columns, TABLE.shape),
    ]


def test_gradients_equal_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rows, ids, pairs, columns, beside = map(torch.tensor, (ROWS, IDS, PAIRS, COLUMNS, BESIDE))

    def theirs(gather: Callable[[Any], Any], gradient: Any) -> Any:
        table = torch.tensor(TABLE, requires_grad=True)
        gather(table).backward(gradient)
        return table.grad

    expected = [
        theirs(lambda table: torch.index_select(table, 0, ids), rows),
        theirs(lambda table: table[pairs[:, 0], pairs[:, 1]], rows[:, 0]),
        theirs(lambda table: torch.gather(table, 1, columns), beside),
    ]
    for found, wanted in zip(ours(torch.tensor), expected, strict=True):
        assert type(found) is torch.Tensor and torch.equal(found, wanted)


def test_gradients_equal_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jnp = jax.numpy
    gathers_of: list[tuple[Callable[[Any], Any], Any]] = [
        (lambda table: jnp.take(table, IDS, 0), ROWS),
        (lambda table: table[PAIRS[:, 0], PAIRS[:, 1]], ROWS[:, 0]),
        (lambda table: jnp.take_along_axis(table, COLUMNS, 1), BESIDE),
    ]
    for found, (gather, gradient) in zip(ours(jnp.asarray), gathers_of, strict=True):
        (wanted,) = jax.vjp(gather, jnp.asarray(TABLE))[1](jnp.asarray(gradient))
        assert isinstance(found, jax.Array) and (found == wanted).all()


def test_gradients_equal_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    gathers_of: list[tuple[Callable[[Any], Any], Any]] = [
        (lambda table: tf.gather(table, IDS), ROWS),
        (lambda table: tf.gather_nd(table, PAIRS), ROWS[:, 0]),
        (lambda table: tf.gather(table, COLUMNS, axis=1, batch_dims=1), BESIDE),
    ]
    for found, (gather, gradient) in zip(ours(tf.constant), gathers_of, strict=True):
        table = tf.Variable(TABLE)
        with tf.GradientTape() as tape:
            taken = gather(table)
        wanted = tf.convert_to_tensor(tape.gradient(taken, table, gradient))
        assert tf.is_tensor(found) and bool(tf.reduce_all(found == wanted))
