"""The scatters of libgather.tf: compares results and gradients with TensorFlow if that is installed."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather

NAMES = ["tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_update"]
#: The shape of the target, tuples, and the shape of the updates. Tuples appear twice, and are shorter than the rank.
CASES: list[tuple[tuple[int, ...], Any, tuple[int, ...]]] = [
    ((5,), [[1], [4], [1], [1]], (4,)),
    ((5, 3), [[1], [4], [1]], (3, 3)),
    ((3, 4), [[[0, 1]], [[2, 3]], [[0, 1]]], (3, 1)),
    ((2, 3, 4), [[1, 2], [0, 0], [1, 2]], (3, 4)),
    ((2, 3), np.zeros((0, 2), "i4"), (0,)),
]


def numbers(shape: tuple[int, ...], dtype: Any = "f4", seed: int = 0) -> np.ndarray:
    """Returns small integers, of which many are equal and all sums are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def test_without_tensorflow() -> None:
    tensor, updates = numbers((5, 3)), numbers((3, 3), seed=1)
    indices = np.array([[1], [4], [1]], "i8")
    for name, function in zip(NAMES, (np.add, np.maximum, np.minimum, None), strict=True):
        expected = tensor.copy()
        if function is None:
            expected[indices[:, 0]] = updates
        else:
            function.at(expected, indices[:, 0], updates)
        result = getattr(libgather.tf, name)(tensor, indices, updates)
        assert result.dtype == np.float32 and (result == expected).all(), name
    sums = np.zeros((5, 3), "f4")
    np.add.at(sums, indices[:, 0], updates)
    assert (libgather.tf.scatter_nd(indices, updates, [5, 3]) == sums).all()


def test_policies() -> None:
    beyond = np.array([[1], [5]], "i4")
    for name in NAMES:
        function = getattr(libgather.tf, name)
        with pytest.raises(libgather.IndexError) as error:
            function(numbers((5,)), beyond, numbers((2,)))
        assert (error.value.position, error.value.value, error.value.limit) == (1, 5, 5)
        if name != "tensor_scatter_nd_update":
            ignored = function(np.full(5, 1.0), beyond, [1.0, 1.0], bad_indices_policy="IGNORE")
            assert ignored.tolist() == [1, 2 if name.endswith("add") else 1, 1, 1, 1]
    with pytest.raises(libgather.IndexError):
        libgather.tf.scatter_nd(beyond, [1.0, 1.0], [5])
    assert libgather.tf.scatter_nd(beyond, [1.0, 1.0], [5], "IGNORE").tolist() == [0, 1, 0, 0, 0]
    with pytest.raises(libgather.Error, match="policy"):
        libgather.tf.scatter_nd(beyond, [1.0, 1.0], [5], "CLAMP")


def test_refusals() -> None:
    with pytest.raises(libgather.DTypeError):
        libgather.tf.tensor_scatter_nd_add(numbers((5,)), np.array([[1.0]]), numbers((1,)))
    with pytest.raises(libgather.DTypeError):
        libgather.tf.tensor_scatter_nd_add(numbers((5,)), [[1]], numbers((1,), "f8"))
    with pytest.raises(libgather.ShapeError):
        libgather.tf.tensor_scatter_nd_add(numbers((5,)), [[1]], numbers((2,)))
    with pytest.raises(libgather.ShapeError):
        libgather.tf.scatter_nd([[1]], numbers((2,)), [5])


# ----------------------------------------------------------------------------------------------------- TensorFlow


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


def test_against_tensorflow_signatures(tf: Any) -> None:
    for name in ["scatter_nd", *NAMES]:
        ours, theirs = (
            [(part.name, part.default) for part in inspect.signature(getattr(module, name)).parameters.values()]
            for module in (libgather.tf, tf)
        )
        assert ours == theirs, name


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", ml_dtypes.bfloat16, "i4", "i8", "u1", "c8"])
def test_against_tensorflow_values(tf: Any, dtype: Any) -> None:
    for shape, indices, many in CASES:
        tensor, updates = numbers(shape, "i4") % 3, numbers(many, "i4", 1) % 3
        tensor, updates = tensor.astype(dtype), updates.astype(dtype)
        for kind in ("i4", "i8"):
            tuples = np.array(indices, kind)
            expected = tf.scatter_nd(tuples, updates, np.array(shape, kind))
            for operand in (updates, tf.constant(updates)):
                assert_equal(libgather.tf.scatter_nd(tuples, operand, np.array(shape, kind)), expected)
            for name in NAMES:
                if dtype == "c8" and name.endswith(("max", "min")):
                    continue
                expected = getattr(tf, name)(tensor, tuples, updates)
                assert_equal(getattr(libgather.tf, name)(tensor, tuples, updates), expected)
                result = getattr(libgather.tf, name)(tf.constant(tensor), tf.constant(tuples), tf.constant(updates))
                assert tf.is_tensor(result)
                assert_equal(result, expected)


def assert_equal(ours: Any, theirs: Any) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and (ours == theirs).all()


def test_against_tensorflow_strings(tf: Any) -> None:
    words = tf.constant(["a", "b", "c"])
    result = libgather.tf.tensor_scatter_nd_update(words, [[2], [0]], tf.constant(["x", "y"]))
    assert_equal(result, tf.tensor_scatter_nd_update(words, [[2], [0]], ["x", "y"]))


def gradients(tf: Any, function: Any, upstream: Any, *sources: Any) -> list[np.ndarray]:
    """Returns the result, its gradients and the gradients of their squares."""
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            result = function(*sources)
            total = tf.reduce_sum(result * result * upstream)
        first = inner.gradient(total, sources)
        squares = tf.add_n([tf.reduce_sum(part * part) for part in first])
    second = outer.gradient(squares, sources)
    return [result, *first, *second]


@pytest.mark.parametrize("name", ["scatter_nd", *NAMES])
@pytest.mark.parametrize("traced", [False, True])
def test_against_tensorflow_gradients(tf: Any, name: str, traced: bool) -> None:
    for shape, indices, many in CASES:
        tuples = tf.constant(np.array(indices, "i4"))
        tensor, updates = (tf.constant(numbers(part, "f8", seed)) for seed, part in enumerate((shape, many)))
        upstream = tf.constant(numbers(shape, "f8", 2))

        def call(
            module: Any, tuples: Any = tuples, tensor: Any = tensor, updates: Any = updates, upstream: Any = upstream
        ) -> Any:
            function = getattr(module, name)
            if name == "scatter_nd":
                run, sources = lambda updates: function(tuples, updates, tensor.shape.as_list()), [updates]
            else:
                run, sources = lambda tensor, updates: function(tensor, tuples, updates), [tensor, updates]
            both = lambda *given: gradients(tf, run, upstream, *given)  # noqa: E731
            return (tf.function(both) if traced and module is not tf else both)(*sources)

        for ours, theirs in zip(call(libgather.tf), call(tf), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_variables_and_unknown_shapes(tf: Any) -> None:
    variable = tf.Variable(numbers((5, 3)))
    signature = [tf.TensorSpec([None, None]), tf.TensorSpec([None, 1], tf.int32), tf.TensorSpec([None, None])]
    indices, updates = np.array([[1], [4], [1]], "i4"), numbers((3, 3), seed=1)
    for module in (tf, libgather.tf):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(module.tensor_scatter_nd_add(variable, indices, updates) ** 2)
        if module is tf:
            expected = tape.gradient(total, variable)
    assert_equal(tape.gradient(total, variable), expected)
    traced = tf.function(libgather.tf.tensor_scatter_nd_add, input_signature=signature)
    assert_equal(traced(variable, indices, updates), tf.tensor_scatter_nd_add(variable, indices, updates))
    concrete = tf.function(libgather.tf.scatter_nd).get_concrete_function(
        tf.TensorSpec([None, 1], tf.int32), tf.TensorSpec([None, 3]), [5, 3]
    )
    assert concrete.output_shapes == (5, 3)


def test_ignored_tuples_have_no_gradient(tf: Any) -> None:
    updates = tf.constant([1.0, 2.0])
    for name in NAMES[:3]:
        with tf.GradientTape() as tape:
            tape.watch(updates)
            total = tf.reduce_sum(getattr(libgather.tf, name)(tf.zeros(3), [[1], [7]], updates, "IGNORE"))
        assert tape.gradient(total, updates).numpy().tolist() == [0 if name.endswith("min") else 1, 0]


def test_traced_errors(tf: Any) -> None:
    traced = tf.function(libgather.tf.tensor_scatter_nd_add)
    with pytest.raises(tf.errors.OpError, match="component 0 of tuple 0 is 7"):
        traced(tf.zeros(3), tf.constant([[7]]), tf.ones(1))


def test_autograph_converts_no_function(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    callers = []

    def scattered(reduction: str, tensor: Any, *others: Any) -> Any:
        callers.append(sys._getframe(1).f_code.co_filename)
        return tensor

    module = sys.modules["libgather.tf._scatters"]
    monkeypatch.setattr(module, "scattered", scattered)
    for name in NAMES:
        tf.function(getattr(libgather.tf, name))(tf.zeros(3), tf.constant([[0]]), tf.ones(1))
    assert callers == [module.__file__] * len(NAMES)
