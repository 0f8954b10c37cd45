"""Arrays of pyarrow, and of torch, JAX and TensorFlow if they are installed."""

from __future__ import annotations

import gc
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest

import libgather


class Producer:
    """An array of another library: it supports DLPack and has an array namespace for results."""

    def __init__(self, array: Any, versioned: bool) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return tuple(map(int, self.array.__dlpack_device__()))  # type: ignore[return-value]

    def __dlpack__(self, **keywords: Any) -> Any:
        if self.versioned:
            return self.array.__dlpack__(**keywords)
        if keywords:
            raise TypeError("the producer is older than DLPack 1.0")
        return self.array.__dlpack__()

    def __array_namespace__(self) -> Any:
        return np


@pytest.mark.parametrize("versioned", [True, False])
def test_other_producers_of_dlpack(versioned: bool) -> None:
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

    def test_gradients_are_not_lost(self, torch: Any) -> None:
        weight = torch.nn.Embedding(4, 2).weight
        with pytest.raises(libgather.DTypeError, match="requires a gradient"):
            libgather.gather(weight, [0])
        for quiet in (torch.no_grad(), torch.inference_mode()):
            with quiet:
                assert torch.equal(libgather.gather(weight, torch.tensor([3, 1])), weight[[3, 1]])
        forward = torch.autograd.forward_ad
        with forward.dual_level():
            dual = forward.make_dual(torch.ones(3), torch.ones(3))
            with pytest.raises(libgather.DTypeError, match="tangent"):
                libgather.gather(dual, [0])
            assert libgather.gather(forward.unpack_dual(dual).primal, [0]).tolist() == [1]
        for transform in (
            lambda f: torch.func.grad(lambda x: f(x).sum())(torch.ones(3)),
            lambda f: torch.func.jvp(f, (torch.ones(3),), (torch.ones(3),)),
            lambda f: torch.func.vmap(f)(torch.ones(2, 3)),
        ):
            with pytest.raises(libgather.DTypeError) as caught:
                transform(lambda x: libgather.gather(x, [0]))
            assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("form", ["gather", "gather_nd", "plan", "bound plan", "copy", "Tensor"])
    def test_write_raises_the_version_of_a_tensor(self, torch: Any, form: str) -> None:
        params, indices, out = torch.ones(3), torch.tensor([0, 1, 2]), torch.full((3,), 2.0)
        plan = libgather.Plan(params, indices)
        bound = plan.bind(params, indices, out)
        write = {
            "gather": lambda: libgather.gather(params, indices, out=out),
            "gather_nd": lambda: libgather.gather_nd(params, indices[:, None], out=out),
            "plan": lambda: plan(params, indices, out),
            "bound plan": bound,
            "copy": lambda: libgather.Tensor(params).copy_to(out),
            "Tensor": lambda: libgather.gather(params, indices, out=libgather.Tensor(out)),
        }[form]
        x = torch.ones(3, requires_grad=True)
        (x * out).sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
        product = (x * out).sum()  # autograd saves out
        write()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()

    def test_held_tensors_cannot_be_resized(self, torch: Any) -> None:
        params, indices, out = torch.arange(4.0), torch.tensor([3]), torch.zeros(1)
        half = params.bfloat16()
        bound = libgather.Plan(params, indices).bind(params, indices, out)
        tensor = libgather.Tensor(half)
        for held in (params, indices, out, half):
            with pytest.raises(RuntimeError, match="not resizable"):
                held[:].resize_(1 << 20)  # torch sets the new shape of the view before it raises the error
            with pytest.raises(RuntimeError, match="not resizable"):
                held.untyped_storage().resize_(0)
        assert bound().tolist() == [3] and tensor.shape == (4,)
        once = torch.arange(4.0)
        assert libgather.gather(once, [1]).tolist() == [1]
        once.resize_(1 << 20)  # a finished call holds no array

    @pytest.mark.parametrize("change", ["data", "set_", "swap_tensors", "half"])
    @pytest.mark.parametrize("form", ["Tensor", "memory", "params", "out", "indices", "target", "updates"])
    def test_held_memory_outlives_a_change_of_its_tensor(self, torch: Any, form: str, change: str) -> None:
        numbers = np.arange(4, dtype=np.int64 if form == "indices" else np.float32)
        alive = weakref.ref(numbers)
        held = torch.from_numpy(numbers)
        module = torch.nn.Module()
        if change == "half":
            held = module.weight = torch.nn.Parameter(held, requires_grad=False)
        del numbers
        run = self.holder(torch, form, held)
        other = torch.zeros(1, dtype=held.dtype)
        if change == "data":
            held.data = other
        elif change == "set_":
            held.set_(other)
        elif change == "swap_tensors":
            torch.utils.swap_tensors(held, other)
            other.data = torch.zeros(1, dtype=held.dtype)
        elif form != "indices":  # half() changes only floats
            module.half()
        gc.collect()
        assert alive() is not None
        assert run() == [0, 1, 2, 3]
        del run
        if form != "indices" or change != "half":
            del held, module
        gc.collect()

    @staticmethod
    def holder(torch: Any, form: str, held: Any) -> Callable[[], Any]:
        """Returns a function that uses the memory of a tensor with the elements 0 to 3, and returns its elements."""
        if form in ("Tensor", "memory"):
            tensor = libgather.Tensor(held)
            memory = tensor.memory()
            return memory.tolist if form == "memory" else tensor.tolist
        ids, rows = torch.arange(4), torch.arange(4.0)
        given = {"params": rows, "target": rows.clone(), "updates": rows, "out": rows.clone(), "indices": ids}
        given[form] = held
        if form in ("params", "out", "indices"):
            gather = libgather.Plan(rows, ids).bind(given["params"], given["indices"], given["out"])
            seen = libgather.Tensor(given["out"])
            return lambda: (gather(), seen.tolist())[1]
        scatter = libgather.ScatterPlan(rows, ids).bind(given["target"], ids, given["updates"])
        seen = libgather.Tensor(given["target"])
        return lambda: (scatter(), seen.tolist())[1]

    @pytest.mark.parametrize("transform", ["vmap", "grad", "jvp"])
    def test_transforms_name_the_operators(self, torch: Any, transform: str) -> None:
        ids = torch.tensor([1, 0])
        ones = torch.ones(2)
        call = {
            "vmap": lambda: torch.vmap(libgather.gather)(torch.ones(2, 3), ids[:, None]),
            "grad": lambda: torch.func.grad(lambda params: libgather.gather(params, ids).sum())(ones),
            "jvp": lambda: torch.func.jvp(lambda params: libgather.gather(params, ids), (ones,), (ones,)),
        }[transform]
        with pytest.raises(libgather.DTypeError, match=r"libgather\.torch") as caught:
            call()
        assert caught.value.operand == "params"

    def test_refused_parameter_names_the_operator(self, torch: Any) -> None:
        with pytest.raises(libgather.DTypeError, match=r"libgather\.torch\.gather keeps it"):
            libgather.gather(torch.nn.Parameter(torch.ones(2)), [0])

    def test_no_leak_through_the_exchange(self, torch: Any) -> None:
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

    def test_output_is_refused(self, jnp: Any) -> None:
        with pytest.raises(libgather.Error, match="in place"):
            libgather.gather(np.zeros(2, "f"), [0], out=jnp.zeros(1))


@pytest.mark.parametrize("method", ["__dlpack__", "__dlpack_device__"])
@pytest.mark.parametrize("kind", [BufferError, AttributeError, ValueError, RuntimeError, TypeError])
def test_error_of_a_producer_has_its_first_line(method: str, kind: type[Exception]) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise kind("no memory\nstack dump")

    with_errors = type("Failing", (Producer,), {method: fail})
    for operand in ("params", "indices", "out"):
        arguments = {"params": np.arange(3.0), "indices": np.array([1]), "out": np.zeros(1)}
        arguments[operand] = with_errors(arguments[operand], True)
        with pytest.raises(libgather.DTypeError, match=f"{operand}: Failing: no memory$") as caught:
            libgather.gather(**arguments)
        assert caught.value.operand == operand and type(caught.value.__cause__) is kind


def test_results_of_paddle_and_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their own functions create the result, of which each module has another one."""
    made = types.SimpleNamespace(from_dlpack=lambda tensor: ("made", tensor.tolist()))
    monkeypatch.setitem(sys.modules, "paddle", types.SimpleNamespace(utils=types.SimpleNamespace(dlpack=made)))
    bare = {name: getattr(Producer, name) for name in ("__init__", "__dlpack__", "__dlpack_device__")}
    like = type("Tensor", (), {**bare, "__module__": "paddle.base"})(np.arange(3.0), True)
    assert libgather.gather(like, [2, 0]) == ("made", [2.0, 0.0])


class TestArrow:
    def test_numbers(self) -> None:
        for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.float64()):
            params = pa.array([1, 2, 3, 4], kind)
            result = libgather.gather(params, pa.array([3, 0]))
            assert result.type == kind and result.to_pylist() == params.take(pa.array([3, 0])).to_pylist()
            assert libgather.gather(params[1:], [0]).to_pylist() == [2]
        flags = libgather.gather(pa.array([True, False, True]), [1, 2])
        assert flags.type == pa.bool_() and flags.to_pylist() == [False, True]

    def test_numbers_run_in_c(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("libgather._arrays.arrow.enter", None)
        assert libgather.gather(pa.array([1.5, 2.5]), pa.array([1])).to_pylist() == [2.5]

    def test_strings(self) -> None:
        for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()):
            values = ["", "one", "zwei", "\u00e4"]
            params = pa.array(values).cast(kind)
            result = libgather.gather(params, [3, 1])
            assert result.type == kind and result.equals(pa.array([values[3], values[1]]).cast(kind))
            assert libgather.gather(params[1:], [0])[0].as_py() in ("one", b"one")
            assert libgather.Tensor(params).tolist() == params.to_pylist()
        words = pa.array(["a", "b", "a"]).dictionary_encode()
        assert libgather.gather(words, [2, 1]).to_pylist() == ["a", "b"]
        for fill in ("", "zero"):
            assert libgather.gather(words, [9, 1], fill_value=fill).to_pylist() == ["", "b"]
        for profile in ("jax_fill", "tensorflow_gpu", "torch"):  # they have no strings
            with pytest.raises(libgather.DTypeError, match="dtype string"):
                libgather.gather(words, [9, 1], profile=profile)

    @pytest.mark.parametrize("name", ["string", "binary", "string_view", "binary_view"])
    def test_tuples_select_strings(self, name: str) -> None:
        kind = getattr(pa, name)()
        params = pa.array(["abc", "defg"]).cast(kind)
        for count in (2, 3):
            indices = [[1]] * count
            assert libgather.gather_nd(params, indices).equals(pa.array(["defg"] * count).cast(kind))
            rows = libgather.gather_nd(params, [indices, indices])
            assert rows.type == pa.list_(kind, count)
            assert rows.flatten().to_pylist() == [params[1].as_py()] * (2 * count)
            filled = libgather.gather_nd(params, [*indices, [9]], bounds="fill")
            assert filled.type == kind and filled[-1].as_py() in ("", b"")

    def test_tuples_select_in_dictionaries(self) -> None:
        for kind in (pa.dictionary(pa.int8(), pa.string(), ordered=True), pa.dictionary(pa.int64(), pa.binary())):
            params = pa.array(["abc", "defg", "abc"]).cast(kind.value_type).dictionary_encode().cast(kind)
            found = libgather.gather_nd(params, [[1], [0], [2], [2], [9]], bounds="fill")
            assert found.type == kind and found.to_pylist()[:4] == params.take(pa.array([1, 0, 2, 2])).to_pylist()

    @pytest.mark.skipif(not os.environ.get("GATHER_LARGE"), reason="GATHER_LARGE=1 tests tables of 1 GB")
    def test_results_too_large_for_32_bit_offsets(self) -> None:
        words = pa.array(["w" * 2**20])
        indices = np.zeros(2049, "i8")
        for params in (words, pa.chunked_array([words])):
            rows = libgather.gather(params, indices)
            assert rows.type == pa.large_string() and len(rows) == 2049 and len(rows[2048].as_py()) == 2**20
            assert isinstance(rows, pa.ChunkedArray) is isinstance(params, pa.ChunkedArray)
            del rows
        table = libgather.gather(pa.table({"a": words}), indices)
        assert table.schema == pa.schema({"a": pa.large_string()}) and table.num_rows == 2049

    def test_outputs_and_skipped_rows_of_packed_arrays(self) -> None:
        for params in (pa.chunked_array([[5, 6], [7]]), pa.array([5, 6, 7]).dictionary_encode()):
            out = np.array([1, 2])
            assert libgather.gather(params, [2, 0], out=out) is out and out.tolist() == [7, 5]
            assert libgather.gather(params, [9, 1], out=out, bounds="skip") is out and out.tolist() == [7, 6]
        flags = libgather.gather(pa.array([True, True]), [9, 1], bounds="skip")
        assert flags.to_pylist() == [False, True]

    def test_indices_that_are_no_buffer(self) -> None:
        class Indices:
            ndim = 1

            def __len__(self) -> int:
                return 2

            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                return np.array([2, 0])

        flags = pa.array([True, False, False])
        result = libgather.gather(flags, Indices())
        assert result.type == pa.bool_() and result.to_pylist() == [False, True]

    def test_ranks(self) -> None:
        params = pa.array(["a", "b", "c"])
        assert libgather.gather(params, [[2, 0], [1, 1]]).to_pylist() == [["c", "a"], ["b", "b"]]
        assert libgather.gather(params, 1).as_py() == "b"
        chunked = pa.chunked_array([["a"], ["b", "c"]])
        assert isinstance(libgather.gather(chunked, [2]), pa.ChunkedArray)
        matrix = pa.Tensor.from_numpy(np.arange(6.0).reshape(3, 2))
        assert libgather.gather(matrix, [2]).to_numpy().tolist() == [[4, 5]]

    def test_nulls_and_other_types_are_refused(self) -> None:
        with_null = pa.DictionaryArray.from_arrays([0, 1], ["a", None])
        others = pa.array([[1], [2]]), pa.scalar(1), pa.array([None])
        for bad in (pa.array([1, None]), pa.array(["a", None]), with_null, *others):
            with pytest.raises(libgather.DTypeError):
                libgather.gather(bad, [0], profile="torch")
        for bad in (pa.scalar(1), pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])):
            with pytest.raises(libgather.DTypeError):
                libgather.gather(bad, [0])

    def test_errors_of_other_producers_name_the_argument(self) -> None:
        class Producer:
            def __init__(self, array: Any) -> None:
                self.__arrow_c_array__ = array.__arrow_c_array__

        for bad in (pa.array(["a"]), pa.array([1.5])):
            with pytest.raises(libgather.DTypeError, match=r"^indices: ") as caught:
                libgather.gather([1], Producer(bad))
            assert caught.value.operand == "indices"

    def test_tensors_as_arrow(self) -> None:
        words = libgather.gather(libgather.Tensor(["a", "bc"]), [1, 1, 0])
        first, second = pa.array(words), pa.array(words)
        assert first.to_pylist() == ["bc", "bc", "a"]
        assert first.buffers()[-1].address == second.buffers()[-1].address  # no copies


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

    def test_strings_are_not_exported_by_dlpack(self, tf: Any) -> None:
        result = libgather.gather(tf.constant(["a", "b\0c"]), tf.constant([1]))
        assert result.numpy().tolist() == [b"b\0c"]

    def test_variables_and_graphs(self, tf: Any) -> None:
        assert libgather.gather(tf.Variable([1.0, 2.0]), [1]).numpy().tolist() == [2]

        variable, number = tf.Variable([1.0, 2.0]), tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(number)
            for followed in (variable, number, tf.square(variable)):
                with pytest.raises(libgather.DTypeError, match="stop_gradient"):
                    libgather.gather(followed, tf.constant([1]))
                assert libgather.gather(tf.stop_gradient(followed), [0]).numpy().tolist() == [1]
            assert libgather.gather(tf.constant([5.0]), [0]).numpy().tolist() == [5]
        assert libgather.gather(variable, [1]).numpy().tolist() == [2]
        with tf.autodiff.ForwardAccumulator(number, tf.ones(2)), pytest.raises(libgather.DTypeError, match="gradient"):
            libgather.gather(number, [0])

        @tf.function(autograph=False)
        def traced(x: Any) -> Any:
            return libgather.gather(x, [0])

        with pytest.raises(TypeError, match="value"):
            traced(tf.constant([1.0]))

    def test_output_is_refused(self, tf: Any) -> None:
        with pytest.raises(libgather.Error, match="in place"):
            libgather.gather(np.zeros(2, "f"), [0], out=tf.zeros(1))


class TestExchange:
    """Tensors of torch that use its exchange table, and tensors that are not plain memory."""

    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch", reason="torch is not installed")

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool", "complex64", "float8_e4m3fn", "uint8"])
    def test_layouts(self, torch: Any, dtype: str) -> None:
        params = (torch.arange(24).reshape(2, 3, 4) % 5).to(getattr(torch, dtype))
        for view in (params, params.mT, params[:, ::2], params[:1].expand(4, 3, 4), params[:0]):
            for axis in range(3):
                indices = torch.tensor([[view.shape[axis] - 1, 0]])[:, : 2 * min(1, view.shape[axis])]
                result = libgather.gather(view, indices, axis)
                assert type(result) is torch.Tensor and result.dtype == params.dtype and result.is_contiguous()
                shape = (*view.shape[:axis], *indices.shape, *view.shape[axis + 1 :])
                expected = torch.index_select(view.to(torch.complex128), axis, indices.reshape(-1)).reshape(shape)
                assert torch.equal(result.to(torch.complex128), expected)

    def test_switches(self, torch: Any) -> None:
        params, indices = torch.arange(6.0).reshape(3, 2), torch.tensor([0, 5, -1])
        for keywords in ({"fill_value": 7}, {"bounds": "clamp"}, {"profile": "jax_fill"}, {"bounds": "skip"}):
            expected = libgather.gather(params.numpy(), indices.numpy(), **keywords)
            result = libgather.gather(params, indices, **keywords)
            np.testing.assert_array_equal(result, expected)
        with pytest.raises(libgather.DTypeError, match="fill_value"):
            libgather.gather(params, indices, fill_value="x")

    def test_tensors_that_are_not_plain_memory_are_refused(self, torch: Any) -> None:
        params, indices = torch.randn(3, 2), torch.tensor([0])
        libgather.gather(params, indices)
        waiting = torch.ones(3, dtype=torch.complex64).conj()
        for refused in (params.clone().requires_grad_(), waiting, waiting.imag):
            with pytest.raises(libgather.DTypeError, match=r"pass (detach|resolve_conj)"):
                libgather.gather(refused, indices)
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(params, params)
            with pytest.raises(libgather.DTypeError, match="tangent"):
                libgather.gather(dual, indices)
            libgather.gather(params, indices)
        with pytest.raises(libgather.DTypeError):
            torch.vmap(lambda i: libgather.gather(params, i))(torch.tensor([[0], [1]]))
        # A tensor that torch.func records has no memory in torch 2.15, and requires a gradient in earlier versions.
        with pytest.raises(libgather.DTypeError, match=r"gradient|torch\.func"):
            torch.func.grad(lambda p: libgather.gather(p, indices).sum())(params)

    def test_outputs(self, torch: Any) -> None:
        params, indices = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0])
        out = torch.zeros(2, 2)
        assert libgather.gather(params, indices, out=out) is out and out._version == 1
        libgather.Plan(params, indices)(params, indices, out)
        assert out._version == 2 and out.tolist() == [[4, 5], [0, 1]]
        with pytest.raises(libgather.IndexError):
            libgather.gather(params, indices + 1, out=out)
        with torch.inference_mode():
            libgather.gather(params, indices, out=torch.zeros(2, 2))
        with pytest.raises(libgather.ShapeError, match="overlap"):
            libgather.gather(params, indices, out=torch.zeros(1, 2).expand(2, 2))

    @pytest.mark.parametrize(
        "way", ["gather", "general", "plan", "bound", "scatter", "scatter general", "scatter plan", "scatter bound"]
    )
    def test_version_of_outputs_when_indices_change_during_the_call(self, torch: Any, way: str) -> None:
        indices = np.zeros(300_000, np.int64)
        rows, out, target = np.ones((2, 2), np.float32), torch.zeros(len(indices), 2), torch.zeros(2, 2)
        updates = np.ones((len(indices), 2), np.float32)
        plan, scatter_plan = libgather.Plan(rows, indices), libgather.ScatterPlan(target, indices)
        bound, scatter_bound = plan.bind(rows, indices, out), scatter_plan.bind(target, indices, updates)
        few, narrow = rows.astype(ml_dtypes.bfloat16), updates.astype(ml_dtypes.bfloat16)
        half, half_target = out.to(torch.bfloat16), target.to(torch.bfloat16)
        ways: dict[str, tuple[Any, Callable[[], object]]] = {
            "gather": (out, lambda: libgather.gather(rows, indices, out=out)),
            "general": (half, lambda: libgather.gather(few, indices, out=half)),
            "plan": (out, lambda: plan(rows, indices, out)),
            "bound": (out, bound),
            "scatter": (target, lambda: libgather.scatter(target, indices, updates, inplace=True)),
            "scatter general": (half_target, lambda: libgather.scatter(half_target, indices, narrow, inplace=True)),
            "scatter plan": (target, lambda: scatter_plan(target, indices, updates)),
            "scatter bound": (target, scatter_bound),
        }
        written, call = ways[way]
        with changing(indices):
            for _ in range(10_000):
                version = written._version
                try:
                    call()
                except libgather.IndexError:
                    assert written._version == version
                except libgather.RaceError:
                    break
                else:
                    assert written._version > version
        assert written._version > version


@contextmanager
def changing(indices: np.ndarray) -> Iterator[None]:
    """Lets another thread alternate the last index between a valid and an invalid value."""
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            indices[-1] = 9
            indices[-1] = 0

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class TestTracing:
    """During tracing, the error names the function that calls with values."""

    @pytest.mark.parametrize("transformation", ["jit", "grad", "vmap"])
    def test_jax(self, transformation: str) -> None:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        traced = getattr(jax, transformation)(lambda x: libgather.gather(x, [0]).sum())
        with pytest.raises(libgather.DTypeError, match=r"params: .*Tracer has no value .* jax\.pure_callback"):
            traced(jax.numpy.ones((3, 2)))
