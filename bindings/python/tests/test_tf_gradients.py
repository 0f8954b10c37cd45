"""The gradients of the gathers of libgather.tf, which TensorFlow's own gathers give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import libgather

#: The function, the shapes of params and indices, and the keywords. All indices are below 3.
CASES: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("gather", (3, 2), (5,), {}),
    ("gather", (3, 2), (), {}),
    ("gather", (2, 3, 2), (2, 4), {"axis": 1}),
    ("gather", (2, 3), (4,), {"axis": -1}),
    ("gather", (2, 3, 2), (2, 5), {"axis": 1, "batch_dims": 1}),
    ("gather", (2, 2, 3), (2, 5), {"axis": 2, "batch_dims": 1}),
    ("gather_nd", (3, 3, 2), (6, 2), {}),
    ("gather_nd", (2, 3, 2), (2, 4, 1), {"batch_dims": 1}),
    ("gather_nd", (3, 3), (6, 2), {}),
    ("gather_nd", (3, 2), (70, 1), {}),
    ("gather_nd", (3,), (6, 1), {}),
    ("gather_nd", (3, 2), (2, 4, 1), {}),
]


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


def gradients_of(tf: Any, run: Any, params: Any, upstream: Any) -> list[Any]:
    """Returns the result, the gradient of a sum of squares, and the second gradient."""
    with tf.GradientTape() as outer:
        outer.watch(params)
        with tf.GradientTape() as inner:
            inner.watch(params)
            result = run(params)
            total = tf.reduce_sum(result * result * upstream)
        first = tf.convert_to_tensor(inner.gradient(total, params))
        squares = tf.reduce_sum(first * first)
    return [result, first, tf.convert_to_tensor(outer.gradient(squares, params))]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("name", "shape", "index", "keywords"), CASES, ids=str)
def test_against_tensorflow(
    tf: Any, name: str, shape: tuple[int, ...], index: tuple[int, ...], keywords: dict[str, Any], traced: bool
) -> None:
    random = np.random.default_rng(3)
    params, indices = tf.constant(random.standard_normal(shape)), tf.constant(random.integers(0, 3, index, np.int32))
    upstream = tf.constant(random.standard_normal(getattr(tf, name)(params, indices, **keywords).shape))

    def call(module: Any) -> list[Any]:
        def both(params: Any) -> list[Any]:
            return gradients_of(tf, lambda p: getattr(module, name)(p, indices, **keywords), params, upstream)

        results: list[Any] = (tf.function(both) if traced and module is not tf else both)(params)
        return results

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = call(libgather.tf)
    for own, expected in zip(ours, call(tf), strict=True):
        assert own.dtype == expected.dtype and own.shape == expected.shape
        np.testing.assert_allclose(own, expected, rtol=1e-12)


def test_the_gradient_of_rows_has_slices(tf: Any) -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        rows = libgather.tf.gather(table, tf.constant([1, 1, 0]))
    gradient = tape.gradient(rows, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [[1, 1], [2, 2]]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", ["gather_nd", "GatherNd"])
@pytest.mark.parametrize(("index", "has_slices"), [([[2], [0], [2]], True), ([[[2], [0]]], False), ([[2, 0]], False)])
def test_the_gradient_of_tuples_of_one_component_has_slices(
    tf: Any, index: Any, has_slices: bool, name: str, traced: bool
) -> None:
    def gradient_by(module: Any) -> Any:
        gather = getattr(module, "raw", tf.raw_ops).GatherNd if name == "GatherNd" else module.gather_nd

        def gradient(params: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(params)
                result = gather(params=params, indices=tf.constant(index))
            return tape.gradient(result, params)

        return (tf.function(gradient) if traced else gradient)(tf.constant([[1.0, 2], [3, 4], [5, 6]]))

    own, expected = gradient_by(libgather.tf), gradient_by(tf)
    assert isinstance(own, tf.IndexedSlices) == isinstance(expected, tf.IndexedSlices) == has_slices
    if has_slices:
        assert own.indices.numpy().tolist() == expected.indices.numpy().tolist() == [2, 0, 2]
    assert tf.convert_to_tensor(own).numpy().tolist() == tf.convert_to_tensor(expected).numpy().tolist()


@pytest.mark.parametrize(("batch_dims", "axes"), [(0, [0, 1, 2, -1, -3]), (1, [1, 2, -1])])
def test_axis_that_a_function_computes(tf: Any, batch_dims: int, axes: list[int]) -> None:
    random = np.random.default_rng(4)
    params, indices = tf.constant(random.standard_normal((2, 3, 3))), tf.constant(random.integers(0, 2, (2, 70)))
    upstream = tf.constant(random.standard_normal((2, 3, 3, 2, 70)).ravel())

    def results(module: Any) -> Any:
        @tf.function  # type: ignore[untyped-decorator]
        def both(params: Any, axis: Any) -> Any:
            def run(params: Any) -> Any:
                return module.gather(params, indices, axis=axis, batch_dims=batch_dims)

            weights = tf.reshape(upstream[: tf.size(run(params))], tf.shape(run(params)))
            return gradients_of(tf, run, params, weights)

        return both

    own, expected = results(libgather.tf), results(tf)
    for axis in axes:
        for kind in (tf.int32, tf.int64):
            for one, other in zip(
                own(params, tf.constant(axis, kind)), expected(params, tf.constant(axis, kind)), strict=True
            ):
                np.testing.assert_allclose(one, other, rtol=1e-12)
    assert own.experimental_get_tracing_count() == 2


def test_axis_that_is_known_while_tracing_is_a_constant(tf: Any) -> None:
    params = tf.constant([[1.0, 2], [3, 4]])

    @tf.function  # type: ignore[untyped-decorator]
    def call(params: Any) -> Any:
        result = libgather.tf.gather(params, [1, 0, 0], axis=tf.rank(params[0]))
        assert result.shape == (2, 3)
        return result

    assert call(params).numpy().tolist() == [[2, 1, 1], [4, 3, 3]]


def test_axis_that_is_out_of_range_while_a_function_runs(tf: Any) -> None:
    call = tf.function(lambda axis: libgather.tf.gather(tf.constant([[1.0, 2]]), [0], axis=axis))
    with pytest.raises(tf.errors.OpError, match="axis"):
        call(tf.constant(2))


def test_ignored_tuples_have_no_gradient(tf: Any) -> None:
    params = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        rows = libgather.tf.gather_nd(params, tf.constant([[1], [9], [1]]), bad_indices_policy="IGNORE")
    assert rows.numpy().tolist() == [2, 0, 2]
    assert tape.gradient(rows, params).numpy().tolist() == [0, 2]


def test_forward_mode(tf: Any) -> None:
    params, ids = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 0, 1])
    with tf.autodiff.ForwardAccumulator(params, tf.constant([[1.0, 0.0], [0.0, 5.0]])) as accumulator:
        rows = libgather.tf.gather(params * params, ids)
    assert accumulator.jvp(rows).numpy().tolist() == [[0, 40], [2, 0], [0, 40]]


def test_unknown_shapes(tf: Any) -> None:
    signature = [tf.TensorSpec(None), tf.TensorSpec([None], tf.int32)]
    traced = tf.function(libgather.tf.gather, input_signature=signature)
    assert traced(tf.constant([[1.0, 2.0]]), tf.constant([0])).numpy().tolist() == [[1, 2]]
    concrete = tf.function(libgather.tf.batch_gather).get_concrete_function(
        tf.TensorSpec([2, None, 3]), tf.TensorSpec([2, 4], tf.int32)
    )
    assert concrete.output_shapes == (2, 4, 3)
    with pytest.raises(tf.errors.OpError, match="component 0 of tuple 0 is 7"):
        tf.function(libgather.tf.gather_nd)(tf.zeros(3), tf.constant([[7]]))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int64", "bfloat16", "bool"])
def test_eager_tensors_of_any_dtype(tf: Any, dtype: str) -> None:
    """Their memory is read in place, and that of results is aligned for the kernels of TensorFlow."""
    table = tf.cast(tf.constant([[1, 0, 3], [4, 5, 0]]), dtype)
    for ids in ([1], [[0, 1], [1, 1]], []):
        indices = tf.constant(ids, tf.int64)
        assert bool(tf.reduce_all(libgather.tf.gather(table, indices) == tf.gather(table, indices)))
        assert bool(tf.reduce_all(libgather.tf.gather(table, indices, axis=1) == tf.gather(table, indices, axis=1)))
    cells = tf.constant([[1, 2], [0, 1], [1, 2]])
    assert bool(tf.reduce_all(libgather.tf.gather_nd(table, cells) == tf.gather_nd(table, cells)))
    assert libgather.tf.gather_nd(table, [1, 0]).shape == ()
    assert libgather.tf.gather(table[:0], tf.zeros([0], tf.int32)).shape == (0, 3)
    updates = tf.gather_nd(table, cells[::-1])
    result = libgather.tf.tensor_scatter_nd_update(table, cells, updates)
    assert bool(tf.reduce_all(result == tf.tensor_scatter_nd_update(table, cells, updates)))
    for made in (result, libgather.tf.gather(table, tf.constant([1]))):
        memory = np.asarray(memoryview(made)) if dtype != "bfloat16" else made.numpy()
        assert memory.shape == made.shape and (dtype in ("bfloat16", "bool") or memory.ctypes.data % 64 == 0)
    before = table[0, 0].numpy()
    libgather.tf.tensor_scatter_nd_update(table, tf.constant([[0, 0]]), table[1, 1][None])
    assert table[0, 0].numpy() == before


@pytest.mark.parametrize("index", [7, -1])
def test_errors_of_eager_tensors_have_fields(tf: Any, index: int) -> None:
    table, cells = tf.ones([3, 2]), tf.constant([[1], [index]])
    for call in (
        lambda: libgather.tf.gather_nd(table, cells),
        lambda: libgather.tf.tensor_scatter_nd_add(table, cells, tf.ones([2, 2])),
    ):
        with pytest.raises(libgather.IndexError) as caught:
            call()
        assert (caught.value.position, caught.value.value, caught.value.limit) == (1, index, 3)
    with pytest.raises(libgather.ShapeError):
        libgather.tf.tensor_scatter_nd_add(table, tf.constant([[1]]), tf.ones([2, 2]))
    with pytest.raises(libgather.RankError):
        libgather.tf.gather(table, tf.constant([1]), axis=2)
    with pytest.raises(libgather.Error):
        libgather.tf.gather_nd(table, tf.constant([[0, 0, 0]]))
