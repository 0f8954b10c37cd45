"""Arrays of pyarrow, and of torch, JAX and TensorFlow where they are installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import libgather


class Producer:
    """Any other library: DLPack, and the namespace that its result is asked from."""

    def __init__(self, array: Any, versioned: bool) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return tuple(map(int, self.array.__dlpack_device__()))  # type: ignore[return-value]

    def __dlpack__(self, **keywords: Any) -> Any:
        if self.versioned:
            return self.array.__dlpack__(**keywords)
        if keywords:
            raise TypeError("from before versions")
        return self.array.__dlpack__()

    def __array_namespace__(self) -> Any:
        return np


@pytest.mark.parametrize("versioned", [True, False])
def test_any_producer_of_dlpack(versioned: bool) -> None:
    params = np.arange(12.0).reshape(3, 4)[:, ::-1]
    result = libgather.gather(Producer(params, versioned), [2, 0])
    assert type(result) is np.ndarray and (result == params[[2, 0]]).all()
    target = np.zeros((2, 4))
    libgather.gather(params, [2, 0], out=Producer(target, versioned))
    assert (target == params[[2, 0]]).all()
    if versioned:
        target.setflags(write=False)
        with pytest.raises(libgather.Error) as caught:
            libgather.gather(params, [2, 0], out=Producer(target, versioned))
        assert caught.value.status_name == "GTH_E_READONLY"


class TestTorch:
    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch", reason="torch is not installed")

    def test_in_and_out(self, torch: Any) -> None:
        for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int16, torch.bool, torch.complex64):
            params = torch.arange(12).reshape(3, 4).to(dtype)
            indices = torch.tensor([2, 0])
            result = libgather.gather(params, indices)
            assert type(result) is torch.Tensor and result.dtype == dtype
            assert torch.equal(result.to(torch.complex64), params[indices].to(torch.complex64))
        transposed = torch.arange(12.0).reshape(3, 4).T
        assert torch.equal(libgather.gather(transposed, [3, 1]), transposed[[3, 1]])
        assert libgather.gather(torch.tensor([1, 2]), torch.tensor(1)).shape == ()

    def test_out(self, torch: Any) -> None:
        out = torch.zeros(2, 2)
        assert libgather.gather(torch.eye(2), [1, 0], out=out) is out
        assert out.tolist() == [[0, 1], [1, 0]]
        libgather.gather(np.eye(2, dtype="f"), [0, 0], out=out)
        assert out.tolist() == [[1, 0], [1, 0]]

    def test_plans(self, torch: Any) -> None:
        params, indices, out = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 1]), torch.zeros(2, 2)
        plan = libgather.Plan(params, libgather.Spec("int64", (-1,)))
        assert plan(params, indices, out) is out and out.tolist() == [[4, 5], [2, 3]]
        bound = plan.bind(params, indices, out)
        indices[0] = 0
        assert bound().tolist() == [[0, 1], [2, 3]]
        assert type(plan(params, indices)) is torch.Tensor

    def test_refusals(self, torch: Any) -> None:
        with pytest.raises(libgather.DTypeError, match="detach"):
            libgather.gather(torch.ones(2, requires_grad=True), [0])
        for bad in (
            torch.ones(2).to_sparse(),
            torch.ones(2, device="meta"),
            torch.ones(2, dtype=torch.complex64).conj(),
        ):
            with pytest.raises(libgather.Error):
                libgather.gather(bad, [0])

    def test_no_leak_through_the_exchange(self, torch: Any) -> None:
        import gc
        import weakref

        params = torch.zeros(4, 4)
        gone = weakref.ref(params)
        libgather.gather(params, torch.tensor([1]))
        libgather.Tensor(params).close()
        del params
        gc.collect()
        assert gone() is None


class TestJax:
    @pytest.fixture
    def jnp(self) -> Any:
        return pytest.importorskip("jax.numpy", reason="JAX is not installed")

    def test_in_and_out(self, jnp: Any) -> None:
        for dtype in ("float32", "bfloat16", "int8", "bool", "complex64"):
            params = jnp.arange(12).reshape(3, 4).astype(dtype)
            result = libgather.gather(params, jnp.array([2, 0]))
            assert type(result) is type(params) and result.dtype == params.dtype
            assert (result == params[jnp.array([2, 0])]).all()

    def test_nothing_writes_to_them(self, jnp: Any) -> None:
        with pytest.raises(libgather.Error, match="in place"):
            libgather.gather(np.zeros(2, "f"), [0], out=jnp.zeros(1))


class TestArrow:
    def test_numbers(self) -> None:
        for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.float64()):
            params = pa.array([1, 2, 3, 4], kind)
            result = libgather.gather(params, pa.array([3, 0]))
            assert result.type == kind and result.to_pylist() == params.take(pa.array([3, 0])).to_pylist()
            assert libgather.gather(params[1:], [0]).to_pylist() == [2]
        flags = libgather.gather(pa.array([True, False, True]), [1, 2])
        assert flags.type == pa.bool_() and flags.to_pylist() == [False, True]

    def test_strings(self) -> None:
        for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()):
            values = ["", "one", "zwei", "\u00e4"]
            params = pa.array(values).cast(kind)
            result = libgather.gather(params, [3, 1])
            assert result.type == kind and result.equals(pa.array([values[3], values[1]]).cast(kind))
            assert libgather.gather(params[1:], [0])[0].as_py() in ("one", b"one")
        words = pa.array(["a", "b", "a"]).dictionary_encode()
        assert libgather.gather(words, [2, 1]).to_pylist() == ["a", "b"]

    def test_ranks(self) -> None:
        params = pa.array(["a", "b", "c"])
        assert libgather.gather(params, [[2, 0], [1, 1]]).to_pylist() == [["c", "a"], ["b", "b"]]
        assert libgather.gather(params, 1).as_py() == "b"
        chunked = pa.chunked_array([["a"], ["b", "c"]])
        assert isinstance(libgather.gather(chunked, [2]), pa.ChunkedArray)
        matrix = pa.Tensor.from_numpy(np.arange(6.0).reshape(3, 2))
        assert libgather.gather(matrix, [2]).to_numpy().tolist() == [[4, 5]]

    def test_nulls_and_other_types_are_refused(self) -> None:
        for bad in (pa.array([1, None]), pa.array(["a", None]), pa.array([[1], [2]]), pa.scalar(1), pa.array([None])):
            with pytest.raises(libgather.DTypeError):
                libgather.gather(bad, [0])

    def test_tensors_as_arrow(self) -> None:
        words = libgather.gather(libgather.Tensor(["a", "bc"]), [1, 1, 0])
        assert pa.array(words).to_pylist() == ["bc", "bc", "a"]


class TestTensorFlow:
    @pytest.fixture
    def tf(self) -> Any:
        return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

    def test_in_and_out(self, tf: Any) -> None:
        for dtype in (
            tf.float32,
            tf.bfloat16,
            tf.int64,
            tf.bool,
            tf.complex128,
            tf.dtypes.experimental.float8_e5m2,
            tf.qint8,
        ):
            params = tf.cast(tf.constant([[1.0, 0.0], [2.0, 1.0]]), tf.float32 if dtype == tf.qint8 else dtype)
            params = tf.bitcast(tf.cast(params, tf.int8), tf.qint8) if dtype == tf.qint8 else params
            result = libgather.gather(params, tf.constant([1]))
            assert tf.is_tensor(result) and result.dtype == params.dtype
            assert (result.numpy().tobytes()) == params.numpy()[[1]].tobytes()

    def test_strings_are_never_asked_for_dlpack(self, tf: Any) -> None:
        result = libgather.gather(tf.constant(["a", "b\0c"]), tf.constant([1]))
        assert result.numpy().tolist() == [b"b\0c"]

    def test_variables_and_graphs(self, tf: Any) -> None:
        assert libgather.gather(tf.Variable([1.0, 2.0]), [1]).numpy().tolist() == [2]

        @tf.function(autograph=False)
        def traced(x: Any) -> Any:
            return libgather.gather(x, [0])

        with pytest.raises(TypeError, match="value"):
            traced(tf.constant([1.0]))

    def test_nothing_writes_to_them(self, tf: Any) -> None:
        with pytest.raises(libgather.Error, match="in place"):
            libgather.gather(np.zeros(2, "f"), [0], out=tf.zeros(1))
