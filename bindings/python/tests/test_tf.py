"""libgather.tf: compares it with TensorFlow if that is installed, and with recorded facts otherwise."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import numpy as np
import pytest

import libgather
from libgather.tf._arguments import prepared

gather, gather_nd, batch_gather = libgather.tf.gather, libgather.tf.gather_nd, libgather.tf.batch_gather
PARAMS = np.arange(24, dtype="f4").reshape(2, 3, 4)
INDICES = np.array([[0, 2], [1, 1]], "i4")
TUPLES = np.array([[[0], [1]], [[1], [1]]], "i4")
BAD = np.array([[[0], [2]], [[1], [-1]]], "i4")


class Scalar:
    """A scalar tensor of another framework."""

    def __init__(self, value: int) -> None:
        self.value, self.dtype = value, np.dtype("i4")

    def numpy(self) -> Any:
        return np.int32(self.value)


@pytest.mark.parametrize("dtype", ["f4", ">f4", "i8", "u1"])
def test_arrays_of_numbers_are_passed_on(dtype: str) -> None:
    """A traced function calls with such arrays. A conversion takes a hundred times as long as a small gather."""
    params = PARAMS.astype(dtype)
    table, ids = prepared(params, INDICES)
    assert table is params and ids is INDICES
    assert gather(params, INDICES, axis=1).tolist() == np.take(params, INDICES, 1).tolist()


def test_other_arrays_are_converted() -> None:
    assert prepared(np.array(["a"]), INDICES)[0].tolist() == [b"a"]
    for wrong in (INDICES.astype("i1"), INDICES.astype("u4"), INDICES.astype("f4")):
        with pytest.raises(libgather.DTypeError, match="indices"):
            gather(PARAMS, wrong)


def test_signatures() -> None:
    def signature(function: Any) -> dict[str, Any]:
        return {name: p.default for name, p in inspect.signature(function).parameters.items()}

    given = {"params": inspect.Parameter.empty, "indices": inspect.Parameter.empty}
    assert list(signature(gather).items()) == [
        *given.items(),
        ("validate_indices", None),
        ("axis", None),
        ("batch_dims", 0),
        ("name", None),
    ]
    assert list(signature(gather_nd).items()) == [
        *given.items(),
        ("batch_dims", 0),
        ("name", None),
        ("bad_indices_policy", ""),
    ]
    assert list(signature(batch_gather).items()) == [*given.items(), ("name", None)]
    assert list(signature(libgather.tf.raw.GatherNd).items()) == [*given.items(), ("bad_indices_policy", "")]


@pytest.mark.parametrize("one", [1, np.int32(1), np.int64(1), np.array(1), Scalar(1), libgather.Tensor(1)], ids=repr)
def test_scalars(one: Any) -> None:
    expected = np.take_along_axis(PARAMS, INDICES[:, :, None], 1)
    assert (gather(PARAMS, INDICES, axis=one, batch_dims=1) == expected).all()
    assert (gather(PARAMS, INDICES, axis=1, batch_dims=one) == expected).all()
    assert (gather(PARAMS, INDICES, batch_dims=one) == expected).all()
    assert gather_nd(PARAMS, TUPLES, batch_dims=one).shape == (2, 2, 4)


def test_constant_axis_0_ignores_batch_dims() -> None:
    for dropped in (5, -1, 100):
        assert (gather(PARAMS, INDICES % 2, axis=0, batch_dims=dropped) == PARAMS[INDICES % 2]).all()
    with pytest.raises(libgather.Error):
        libgather.gather(PARAMS, INDICES % 2, axis=0, batch_dims=5, profile="tensorflow")


def test_refusals() -> None:
    for axis in (np.int16(1), np.uint8(1), True, 1.0, "1", [1]):
        with pytest.raises((TypeError, ValueError)):
            gather(PARAMS, INDICES, axis=axis)
    for dtype in ("i1", "u1", "u2", "u4", "u8", "f4", "?"):
        for operation in (gather, gather_nd, batch_gather, libgather.tf.raw.GatherNd):
            with pytest.raises(libgather.DTypeError):
                operation(PARAMS, INDICES.astype(dtype))
    with pytest.raises(libgather.DTypeError):
        gather(PARAMS, [])
    for batch_dims in (None, [1], np.array([1])):
        with pytest.raises(TypeError):
            gather_nd(PARAMS, TUPLES, batch_dims=batch_dims)
    with pytest.raises(libgather.Error, match="policy"):
        gather_nd(PARAMS, TUPLES, bad_indices_policy="CLAMP")


def test_policies() -> None:
    for policy in ("", "DEFAULT", "ERROR"):
        for operation in (gather_nd, libgather.tf.raw.GatherNd):
            with pytest.raises(libgather.IndexError):
                operation(PARAMS, BAD, bad_indices_policy=policy)
    for operation in (gather_nd, libgather.tf.raw.GatherNd):
        result = operation(PARAMS, BAD, bad_indices_policy="IGNORE")
        assert (result[0, 0] == PARAMS[0]).all() and (result[0, 1] == 0).all() and (result[1, 1] == 0).all()
    words = gather_nd(np.array(["a", "b"]), [[1], [7]], bad_indices_policy="IGNORE")
    assert words.tolist() == [b"b", b""]


def test_strings_are_bytes() -> None:
    for params in (
        ["a", "\u00e4"],
        np.array(["a", "\u00e4"]),
        np.array(["a", "\u00e4"], object),
        np.dtypes.StringDType(),
    ):
        params = np.array(["a", "\u00e4"], params) if isinstance(params, np.dtype) else params
        assert gather(params, [1, 0]).tolist() == ["\u00e4".encode(), b"a"]
    assert gather(["a"], 0) == b"a"


def test_lists_have_tensorflows_dtypes() -> None:
    assert gather([1, 2], [1]).dtype == np.int32 and gather([1.0, 2.0], [1]).dtype == np.float32
    assert gather([2**40], [0]).dtype == np.int64 and gather([1j], [0]).dtype == np.complex128
    assert gather(np.array([1.0]), [0]).dtype == np.float64


def test_negative_and_batches() -> None:
    with pytest.raises(libgather.IndexError):
        gather(PARAMS, [-1])
    with pytest.raises(libgather.IndexError):
        batch_gather([[0, 1, 2], [3, 4, 5]], [[0], [-1]])
    assert batch_gather([[0, 1, 2], [3, 4, 5]], [[2], [0]]).tolist() == [[2], [3]]


# ----------------------------------------------------------------------------------------------------- TensorFlow


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


def outcome(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Returns the result of a call. All exceptions are equal."""
    try:
        result = function(*arguments, **keywords)
    except Exception as error:
        return "error" if not isinstance(error, AssertionError) else error
    array = np.asarray(result.numpy() if hasattr(result, "numpy") else result)
    return "O" if array.dtype.kind in "OS" else str(array.dtype), array.shape, array.tolist()


def agree(ours: Any, theirs: Any, *arguments: Any, **keywords: Any) -> None:
    expected = outcome(theirs, *arguments, **keywords)
    assert outcome(ours, *arguments, **keywords) == expected, (arguments, keywords)


def test_against_tensorflow_attributes(tf: Any) -> None:
    numbers = [0, 1, 2, 5, -1, True, False, 0.0, 1.0, 1.5, "1", None, [1], 2**40]
    numbers += [
        np.int16(1),
        np.int32(1),
        np.int64(0),
        np.uint8(0),
        np.array(1),
        np.array([1]),
        tf.constant(1),
        tf.constant(0),
    ]
    for axis, batch_dims in product(numbers, numbers):
        agree(gather, tf.gather, PARAMS, INDICES, axis=axis, batch_dims=batch_dims)
    for batch_dims, policy in product(numbers, ("", "DEFAULT", "ERROR", "IGNORE", "x", None)):
        for indices in (TUPLES, BAD):
            agree(gather_nd, tf.gather_nd, PARAMS, indices, batch_dims=batch_dims, bad_indices_policy=policy)


def test_against_tensorflow_arguments(tf: Any) -> None:
    params = [
        PARAMS,
        [1, 2, 3],
        [1.0, 2.0],
        ["a", "bc"],
        [b"x"],
        np.array(["a"]),
        5,
        [[1, 2]],
        np.zeros((0, 3)),
        [2**40],
    ]
    params += [[True], [1j], None, [[1], [1, 2]], np.zeros((3, 0), "i1"), tf.constant([1, 2]), tf.constant(["a", "b"])]
    indices = [
        INDICES,
        [0],
        0,
        [[0]],
        [],
        [True],
        [0.5],
        "x",
        None,
        [2**33],
        [-1],
        np.zeros((0, 2), "i4"),
        tf.constant([1]),
    ]
    indices += [np.array([0], dtype) for dtype in ("i1", "u1", "i2", "u2", "i8", "u8")]
    pairs = (
        (gather, tf.gather),
        (gather_nd, tf.gather_nd),
        (batch_gather, tf.compat.v1.batch_gather),
        (libgather.tf.raw.GatherNd, lambda p, i: tf.raw_ops.GatherNd(params=p, indices=i)),
    )
    for p, i, (ours, theirs) in product(params, indices, pairs):
        agree(ours, theirs, p, i)


@pytest.mark.parametrize("name", ["qint8", "quint8", "qint16", "quint16", "qint32"])
def test_quantised_dtypes_are_refused_by_name(tf: Any, name: str) -> None:
    quantised = tf.cast(tf.constant([1, 0]), getattr(tf, name))
    with pytest.raises(libgather.DTypeError, match=f"params: dtype tf.{name} is quantised"):
        gather(quantised, [0])
    for operation in (gather, gather_nd, batch_gather):
        with pytest.raises(libgather.DTypeError, match=f"indices: dtype tf.{name} is quantised"):
            operation(PARAMS, quantised)


def test_tensors_in_and_out(tf: Any) -> None:
    for params in (tf.constant(PARAMS), tf.constant(["a", "b"])):
        for operation in (gather, gather_nd):
            result = operation(params, tf.constant([[1]]), name="x")
            assert tf.is_tensor(result) and result.dtype == params.dtype


def test_errors_name_dtypes_as_tensorflow_does(tf: Any) -> None:
    more = tf.dtypes.experimental
    named = {dtype for dtype in vars(tf).values() if isinstance(dtype, tf.DType)} - {tf.resource, tf.variant}
    table, ids = tf.range(3.0), tf.constant([1])
    for dtype in {*named, more.float8_e5m2, more.float8_e4m3fn, more.int4, more.uint4}:
        if dtype == tf.string:
            values = tf.constant(["a"])
        else:
            values = tf.cast([1.0], dtype) if dtype.is_floating else tf.zeros([1], dtype)
        calls = {"updates": lambda v=values: libgather.tf.tensor_scatter_nd_add(table, ids[:, None], v)}
        if dtype not in (tf.int16, tf.int32, tf.int64):
            calls["indices"] = lambda v=values: libgather.tf.gather(table, v)
        for operand, call in calls.items():
            if (operand, dtype) == ("updates", tf.float32):
                continue
            with pytest.raises(libgather.DTypeError, match=rf"^{operand}: .*tf\.{dtype.name}[ ,]"):
                call()
    traced = tf.function(libgather.tf.gather)
    with pytest.raises(tf.errors.OpError, match=r"indices: tf\.bfloat16 is none of tf\.int16, tf\.int32, tf\.int64"):
        traced(table, tf.cast([1], tf.bfloat16))
    with pytest.raises(libgather.DTypeError, match=r"axis is tf\.int16, not tf\.int32 or tf\.int64"):
        libgather.tf.gather(table, ids, axis=tf.constant(0, tf.int16))
