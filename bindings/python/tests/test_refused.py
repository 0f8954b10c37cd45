"""Values that are not arrays, as each operand of each function: the error names the operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import libgather

#: Each function with a value as one of its operands, and the name of the operand in the error.
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "params": (lambda bad: libgather.gather(bad, [0]), "params"),
    "indices": (lambda bad: libgather.gather(np.arange(3.0), bad), "indices"),
    "take": (lambda bad: libgather.take(bad, [0]), "params"),
    "take along an axis": (lambda bad: libgather.take(bad, [0], 0), "params"),
    "Tensor": (lambda bad: libgather.Tensor(bad), "tensor"),
    "gradient": (lambda bad: libgather.gather_gradient(bad, [0], (3,)), "updates"),
    "target": (lambda bad: libgather.scatter(bad, [0], np.zeros(1)), "target"),
    "updates": (lambda bad: libgather.scatter(np.zeros(3), [0], bad), "updates"),
    "out": (lambda bad: libgather.gather(np.zeros(3), [0], out=bad), "out"),
    "plan": (lambda bad: libgather.Plan(bad, [0]), "params"),
    "partition": (lambda bad: libgather.partition(bad, 10, shards=2), "indices"),
    "shape": (lambda bad: libgather.output_shape(bad, [0]), "params"),
    "arr": (lambda bad: libgather.put_along_axis(bad, [0], 1, 0), "target"),
    "values": (lambda bad: libgather.put_along_axis(np.zeros(2), [0], bad, 0), "updates"),
    "tf.params": (lambda bad: libgather.tf.gather(bad, [0]), "params"),
    "tf.indices": (lambda bad: libgather.tf.gather([1.0, 2.0, 3.0], bad), "indices"),
    "onnx": (lambda bad: libgather.onnx.Gather(bad, [0]), "params"),
}


def check_refused(bad: Any, kind: type[libgather.Error] = libgather.DTypeError) -> None:
    for name, (call, operand) in CALLS.items():
        # An output that cannot be written is rejected before it is read. NumPy converts the values of put_along_axis.
        other = {"out": libgather.OutputError, "target": libgather.OutputError, "updates": libgather.DTypeError}
        kinds = (kind, other.get(operand, kind))
        with pytest.raises(kinds) as caught:
            call(bad)
        assert caught.value.operand == operand, name


#: Each function with NumPy's rules with a value as one of its options.
OPTIONS: list[Callable[[Any], Any]] = [
    lambda bad: libgather.take(np.arange(3), [0], bad),
    lambda bad: libgather.take(np.array([None, 1]), [0], bad),
    lambda bad: libgather.take(np.array(3), [0], bad),
    lambda bad: libgather.take(np.arange(3), [0], mode=bad),
    lambda bad: libgather.take(np.arange(3), [0], out=bad),
    lambda bad: libgather.take_along_axis(np.arange(3), [0], bad),
    lambda bad: libgather.take_along_axis([5, 6], [0], bad),
    lambda bad: libgather.put_along_axis(np.arange(3), [0], [1], bad),
    lambda bad: libgather.put_along_axis(bytearray(3), [0], [1], bad),
    lambda bad: libgather.put_along_axis(np.array([None, 1]), [0], [1], bad),
]


def check_options(bad: Any) -> None:
    for number, call in enumerate(OPTIONS):
        with pytest.raises(libgather.Error) as caught:
            call(bad)
        assert caught.value.operand in ("options", "out", None), number


def test_columns_of_pandas_as_options() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for bad in (pd.Categorical(["a", "b"]), pd.Series([1, 2]), pd.date_range("2020", periods=2), pd.NA):
        check_options(bad)


def test_tensors_of_torch_as_options() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for bad in (torch.zeros(2), torch.eye(2).to_sparse(), torch.zeros((), requires_grad=True), torch.zeros(1)[0] * 1j):
        check_options(bad)
        check_options(bad.to("meta"))


@pytest.mark.parametrize("name", ["uint1", "uint2", "uint4", "uint7", "int1", "int4"])
def test_tensors_of_few_bits(name: str) -> None:
    """torch exports them as bytes, so a result would have another dtype."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    dtype = getattr(torch, name, None)
    if dtype is None:
        pytest.skip(f"this torch has no {name}")
    bad = torch.zeros(4, dtype=torch.uint8).view(dtype)
    for call in (
        lambda: libgather.gather(bad, [0]),
        lambda: libgather.gather(bad, torch.tensor([0])),
        lambda: libgather.gather(torch.zeros(4), bad),
        lambda: libgather.gather(torch.zeros(4, dtype=torch.uint8), [0] * 4, out=bad),
        lambda: libgather.scatter(bad, [0], torch.zeros(1, dtype=torch.uint8)),
        lambda: libgather.scatter(torch.zeros(4, dtype=torch.uint8), [0] * 4, bad),
        lambda: libgather.Tensor(bad),
    ):
        with pytest.raises(libgather.DTypeError, match=f"elements of dtype torch.{name} are no dtype of this library"):
            call()


def test_exception_of_an_array_is_the_cause() -> None:
    class Broken:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise LookupError("there is\nnothing")

    check_refused(Broken())
    with pytest.raises(libgather.DTypeError, match=r"^params: Broken: there is$") as caught:
        libgather.gather(Broken(), [0])
    assert isinstance(caught.value.__cause__, LookupError)


@pytest.mark.parametrize("name", ["Int128", "UInt128"])
def test_columns_of_polars(name: str) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    column = pl.Series("a", [1, 2], dtype=getattr(pl, name))
    for bad in (column, pl.DataFrame([column, column.alias("b")])):
        with pytest.raises(libgather.DTypeError, match="tensor"):
            libgather.Tensor(bad)
        with pytest.raises(libgather.DTypeError, match="params"):
            libgather.gather(bad, [0], profile="torch")
    check_refused(pl.LazyFrame({"a": [1, 2]}))


def test_tensors_of_several_parts() -> None:
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    for bad in (
        tf.ragged.constant([[1.0, 2.0], [3.0]]),
        tf.ragged.constant([[1, 2], [0]]),
        tf.sparse.from_dense([[1.0, 0.0]]),
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([1, 1])),
        tf.TensorArray(tf.float32, 2),
        tf.Variable([1.0]).handle,
        tf.data.Dataset.range(3),
        tf.TensorSpec([2]),
    ):
        check_refused(bad)
    with pytest.raises(libgather.DTypeError, match=r"options: .* resource"):
        libgather.tf.gather([1.0, 2.0], [0], axis=tf.Variable([1.0]).handle)


class TestJax:
    @pytest.fixture
    def jax(self) -> Any:
        return pytest.importorskip("jax", reason="JAX is not installed")

    def test_keys(self, jax: Any) -> None:
        key = jax.random.key(0)
        for bad in (key, jax.random.split(key, 3)):
            check_refused(bad)
            for params, indices, operand in ((bad, [0], "params"), (jax.numpy.arange(3.0), bad, "indices")):
                for gather in (libgather.gather, libgather.jax.gather, jax.jit(libgather.jax.gather)):
                    with pytest.raises(libgather.DTypeError, match=f"^{operand}: ") as caught:
                        gather(params, jax.numpy.asarray(indices))
                    assert caught.value.operand == operand

    def test_deleted_arrays(self, jax: Any) -> None:
        deleted, params = jax.numpy.arange(3), jax.numpy.arange(3.0)
        deleted.delete()
        check_refused(deleted, libgather.ClosedError)
        for operands, operand in (((deleted, jax.numpy.array([0])), "params"), ((params, deleted), "indices")):
            for gather in (libgather.gather, libgather.jax.gather, libgather.jax.gather_elements):
                with pytest.raises(libgather.ClosedError, match=f"{operand}: the array has been deleted"):
                    gather(*operands)
