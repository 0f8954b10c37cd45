"""The lookups of sparse ids of libgather.tf: compares results and gradients with TensorFlow if that is installed."""

from __future__ import annotations

import inspect
import sys
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather

#: Rows of ids: rows 2 and 5 are empty, and ids appear several times.
ROWS = [[4, 1, 1], [7], [], [0, 3, 4, 2], [6], []]
WEIGHTS = [[0.5, 2, 1], [4], [], [0.25, 1, 8, 2], [0.5], []]
COMBINERS = ["mean", "sum", "sqrtn"]
lookup, safe_lookup = libgather.tf.embedding_lookup_sparse, libgather.tf.safe_embedding_lookup_sparse


def table(dtype: Any = "f4", shape: tuple[int, ...] = (8, 3)) -> np.ndarray:
    return (np.arange(np.prod(shape)) * 5 % 13 - 6).reshape(shape).astype(dtype)


def sparse_of(rows: list[list[Any]], dtype: Any, make: Any = SimpleNamespace) -> Any:
    cells = [[row, place] for row, values in enumerate(rows) for place in range(len(values))]
    values = np.array([value for row in rows for value in row], dtype)
    return make(indices=np.array(cells, "i8").reshape(-1, 2), values=values, dense_shape=np.array([len(rows), 4], "i8"))


def test_without_tensorflow() -> None:
    params, ids, weights = table("f8"), sparse_of(ROWS, "i8"), sparse_of(WEIGHTS, "f8")
    result = lookup(params, ids, weights, "sum")
    expected = [
        sum((w * params[i] for i, w in zip(*row, strict=True)), np.zeros(3)) for row in zip(ROWS, WEIGHTS, strict=True)
    ]
    assert (result == expected[:5]).all()  # the last row has no ids
    assert (safe_lookup(params, ids, weights, "sum") == expected).all()
    means = safe_lookup(params, ids, default_id=3)
    np.testing.assert_allclose(means, [params[row or [3]].mean(axis=0) for row in ROWS])
    assert lookup(params, sparse_of([], "i4"), None).shape == (0, 3)


def test_safe_ids_and_weights() -> None:
    params, ids = table("f8"), sparse_of([[4, -1], [-3], [2, 5]], "i8")
    weights = sparse_of([[2, 9], [1], [0, 3]], "f8")
    assert (safe_lookup(params, ids, combiner="sum") == [params[4], [0, 0, 0], params[2] + params[5]]).all()
    assert (safe_lookup(params, ids, weights) == [params[4], [0, 0, 0], params[5]]).all()
    assert (safe_lookup(params, ids, weights, default_id=1) == [params[4], params[1], params[5]]).all()


def test_refusals() -> None:
    params, ids = table(), sparse_of(ROWS, "i8")
    with pytest.raises(libgather.OptionError, match="combiner 'max'"):
        lookup(params, ids, None, "max")
    with pytest.raises(libgather.DTypeError, match="neither a SparseTensor nor a RaggedTensor"):
        lookup(params, ids.values, None)
    with pytest.raises(libgather.IndexError) as error:
        lookup(params, sparse_of([[1], [8]], "i8"), None)
    assert (error.value.position, error.value.value, error.value.limit) == (1, 8, 8)
    ids.indices = ids.indices[::-1]
    with pytest.raises(libgather.OffsetsError):
        lookup(params, ids, None)


# ----------------------------------------------------------------------------------------------------- TensorFlow


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


def test_against_tensorflow_signatures(tf: Any) -> None:
    for ours, theirs in ((lookup, tf.nn.embedding_lookup_sparse), (safe_lookup, tf.nn.safe_embedding_lookup_sparse)):
        parts = [
            [(part.name, part.default) for part in inspect.signature(each).parameters.values()]
            for each in (ours, theirs)
        ]
        assert parts[0] == parts[1]


def given(tf: Any, form: str, dtype: Any, ids: Any = ROWS, weights: Any = WEIGHTS) -> tuple[Any, Any]:
    """Returns ids and weights as sparse or ragged tensors."""
    if form == "sparse":
        return sparse_of(ids, "i8", tf.SparseTensor), sparse_of(weights, dtype, tf.SparseTensor)
    return tf.ragged.constant(ids, tf.int64), tf.ragged.constant(weights, tf.as_dtype(np.dtype(dtype)))


def close(ours: Any, theirs: Any, rtol: float) -> None:
    ours, theirs = (np.asarray(each) for each in (ours, theirs))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_allclose(ours.astype("f8"), theirs.astype("f8"), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("form", ["sparse", "ragged"])
def test_against_tensorflow_values(tf: Any, form: str, combiner: str) -> None:
    tolerances = [("f4", 1e-6), ("f8", 1e-14), ("f2", 2e-3), (ml_dtypes.bfloat16, 2e-2)]
    for dtype, rtol in tolerances:
        ids, weights = given(tf, form, dtype)
        for shape in ((8, 3), (8, 2, 5)):
            params = tf.constant(table(dtype, shape))
            for each in (None, weights):
                for norm in (None, 4.0):
                    expected = tf.nn.embedding_lookup_sparse(params, ids, each, combiner, norm)
                    close(lookup(params, ids, each, combiner, norm), expected, rtol)
            shards = [params[:4], params[4:]]
            expected = tf.nn.embedding_lookup_sparse(shards, ids, weights, combiner)
            close(lookup(shards, ids, weights, combiner), expected, rtol)
    close(lookup(table(), ids, None, combiner), tf.nn.embedding_lookup_sparse(table(), ids, None, combiner), 1e-6)


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("form", ["sparse", "ragged"])
def test_against_tensorflow_safe_values(tf: Any, form: str, combiner: str) -> None:
    rows = [[4, -1, 1], [-2], [], [0, 3, 4, 2], [6], []]
    params = tf.constant(table())
    ids, weights = given(tf, form, "f4", rows, [[1, 2, 0], [1], [], [0.5, -1, 2, 1], [-3], []])
    for each in (None, weights):
        for default in (None, 0, 5):
            expected = tf.nn.safe_embedding_lookup_sparse(params, ids, each, combiner, default)
            close(safe_lookup(params, ids, each, combiner, default), expected, 1e-6)


def test_against_tensorflow_ranks(tf: Any) -> None:
    params = tf.constant(table())
    for shape in ((4,), (3, 4), (2, 3, 4), (2, 0, 4)):
        ids = tf.sparse.from_dense(np.arange(np.prod(shape)).reshape(shape) * 3 % 8 * (np.ones(shape, "i8")))
        expected = tf.nn.safe_embedding_lookup_sparse(params, ids)
        close(safe_lookup(params, ids), expected, 1e-6)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("name", ["embedding_lookup_sparse", "safe_embedding_lookup_sparse"])
def test_against_tensorflow_gradients(tf: Any, name: str, combiner: str, traced: bool) -> None:
    """Compares gradients and the gradients of their squares.

    TensorFlow has second gradients only with weights, so the reference has weights of 1. Its safe function has none.
    """
    params, cells = tf.constant(table("f8")), sparse_of(ROWS, "i8", tf.SparseTensor)
    weights = tf.constant([weight for row in WEIGHTS for weight in row], tf.float64)
    upstream = tf.constant(np.cos(np.arange(18.0)).reshape(6, 3))

    def results(module: Any, weighted: bool) -> Any:
        function = getattr(module, name)

        def run(params: Any, weights: Any) -> Any:
            sources = [params, weights] if weighted else [params]
            with tf.GradientTape() as outer:
                outer.watch(sources)
                with tf.GradientTape() as inner:
                    inner.watch(sources)
                    values = weights if weighted else tf.ones_like(weights)
                    given = tf.SparseTensor(cells.indices, values, cells.dense_shape)
                    given = given if weighted or module is tf.nn else None
                    result = function(params, cells, given, combiner=combiner)
                    total = tf.reduce_sum(result * result * upstream[: tf.shape(result)[0]])
                first = [tf.convert_to_tensor(part) for part in inner.gradient(total, sources)]
                if name.startswith("safe"):
                    return [result, *first]
                squares = tf.add_n([tf.reduce_sum(part * part) for part in first])
            return [result, *first, *map(tf.convert_to_tensor, outer.gradient(squares, sources))]

        return (tf.function(run) if traced and module is not tf.nn else run)(params, weights)

    for weighted in (False, True):
        for ours, theirs in zip(results(libgather.tf, weighted), results(tf.nn, weighted), strict=True):
            close(ours, theirs, 1e-12)


def test_variables_have_sparse_gradients(tf: Any) -> None:
    ids, weights = given(tf, "sparse", "f4")
    for half in (tf.float32, tf.float16):
        variable = tf.Variable(tf.cast(table(), half))
        parts = []
        for module in (libgather.tf, tf.nn):
            with tf.GradientTape() as tape:
                total = tf.reduce_sum(module.embedding_lookup_sparse(variable, ids, weights, "sum", 5.0) ** 2)
            parts.append(tape.gradient(total, variable))
        assert all(isinstance(part, tf.IndexedSlices) for part in parts)
        close(*map(tf.convert_to_tensor, parts), rtol=1e-5 if half is tf.float32 else 1e-2)


def test_traced_ragged_ids_of_unknown_extent(tf: Any) -> None:
    ids, weights = given(tf, "ragged", "f4")
    kinds = [tf.RaggedTensorSpec([None, None], each.dtype) for each in (ids, weights)]
    for name in ("embedding_lookup_sparse", "safe_embedding_lookup_sparse"):
        traced = tf.function(getattr(libgather.tf, name), input_signature=[tf.TensorSpec([None, 3]), *kinds])
        close(traced(table(), ids, weights), getattr(tf.nn, name)(table(), ids, weights), 1e-6)


def test_autograph_converts_no_function(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    callers = []

    def combined(params: Any, *others: Any) -> Any:
        callers.append(sys._getframe(1).f_code.co_filename)
        return params

    module = sys.modules["libgather.tf._embeddings"]
    monkeypatch.setattr(module, "combined", combined)
    ids = sparse_of(ROWS, "i8", tf.SparseTensor)
    tf.function(lambda params, ids: lookup(params, ids, None))(tf.constant(table()), ids)
    tf.function(lambda params, ids: safe_lookup(params, ids))(tf.constant(table()), ids)
    assert callers == [module.__file__] * 2


def test_default_id_is_one_integer() -> None:
    """TensorFlow refuses them too, except for the bool."""
    ids = sparse_of(ROWS, "i8")
    assert (safe_lookup(table(), ids, default_id=np.array(3)) == safe_lookup(table(), ids, default_id=3)).all()
    for value in (1.0, "1", [1], np.array([1]), np.array([1, 0]), True, np.float32(1), 2**31):
        with pytest.raises(libgather.Error, match="options: default_id "):
            safe_lookup(table(), ids, default_id=value)
