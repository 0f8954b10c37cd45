"""libgather.jax: compares the primitives under jit, vmap, grad and jvp with the functions on NumPy arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import libgather
from conftest import run_alone

jax = pytest.importorskip("jax")
jnp = jax.numpy
operators: Any = libgather.jax

#: The function, the shapes of params and indices, the attributes, and the bounds of the drawn indices.
CASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any], tuple[int, ...]]] = {
    "rows": ("gather", (5, 3), (4,), {}, (5,)),
    "scalar": ("gather", (5, 3), (), {}, (5,)),
    "columns": ("gather", (2, 5, 3), (2, 2), {"axis": 1}, (5,)),
    "last": ("gather", (2, 5, 3), (4,), {"axis": -1}, (3,)),
    "batch": ("gather", (2, 5, 3), (2, 4), {"batch_dims": 1}, (5,)),
    "batch and axis": ("gather", (2, 4, 5, 3), (2, 4), {"axis": 2, "batch_dims": 1}, (5,)),
    "batch from behind": ("gather", (2, 5, 3), (2, 4), {"batch_dims": -1}, (3,)),
    "tuples": ("gather_nd", (4, 5, 3), (6, 2), {}, (4, 5)),
    "whole tuples": ("gather_nd", (4, 5), (2, 3, 2), {}, (4, 5)),
    "batch of tuples": ("gather_nd", (2, 4, 5), (2, 3, 1), {"batch_dims": 1}, (4,)),
    "tuples of none": ("gather_nd", (4, 5), (3, 0), {}, ()),
    "elements": ("gather_elements", (4, 5), (4, 7), {}, (5,)),
    "repeated params": ("gather_elements", (1, 5, 2), (3, 4, 2), {"axis": 1}, (5,)),
    "repeated indices": ("gather_elements", (4, 3, 2), (6, 1, 2), {"axis": 0}, (4,)),
}
SWITCHES: list[dict[str, Any]] = [
    {},
    {"negative": "wrap"},
    {"bounds": "clamp"},
    {"bounds": "modulo"},
    {"fill_value": 2.0},
    {"bounds": "fill", "negative": "wrap"},
]


def drawn(name: str, switches: dict[str, Any], dtype: Any = np.float32) -> tuple[Any, Any, Any, Any]:
    """Returns the primitive and the function of a case with its attributes, and its operands."""
    call, shape, index_shape, attributes, extents = CASES[name]
    random = np.random.default_rng(3)
    low, beyond = int("negative" in switches), int("bounds" in switches or "fill_value" in switches)
    outer = index_shape[:-1] if call == "gather_nd" else index_shape
    parts = [random.integers(-e * low - beyond, e + 2 * beyond, outer, np.int32) for e in extents]
    indices = parts[0] if call != "gather_nd" else np.stack(parts, -1) if parts else np.zeros(index_shape, np.int32)
    keywords = {**attributes, **switches}
    extra = {"extents": "broadcast"} if call == "gather_elements" else {}
    primitive, plain = getattr(operators, call), getattr(libgather, call)
    params = random.standard_normal(shape).astype(dtype)
    return partial(primitive, **keywords), partial(plain, **keywords, **extra), params, np.asarray(indices)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("name", CASES)
class TestPrimitives:
    def test_values(self, name: str, switches: dict[str, Any]) -> None:
        primitive, plain, params, indices = drawn(name, switches)
        expected = plain(params, indices)
        for result in (primitive(params, indices), jax.jit(primitive)(params, indices)):
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)

    def test_derivatives(self, name: str, switches: dict[str, Any]) -> None:
        primitive, _, params, indices = drawn(name, switches)

        def squares(p: Any) -> Any:
            return primitive(p * p, indices)

        backward, forward = jax.jacrev(squares)(params), jax.jacfwd(squares)(params)
        # Gathers the numbers of the elements, so that the source of each result is known. 0 means a filled element.
        numbers = np.arange(1, params.size + 1, dtype=np.float32).reshape(params.shape)
        source = np.asarray(primitive(numbers, indices)).astype(int)
        if "fill_value" in switches:
            filled = np.asarray(primitive(numbers + 100, indices)) == switches["fill_value"]
            source = np.where(filled, 0, source)
        ones = (source[..., None] == np.arange(1, params.size + 1)).reshape(source.shape + params.shape)
        np.testing.assert_allclose(backward, ones * 2 * params, rtol=1e-6)
        np.testing.assert_allclose(forward, backward, rtol=1e-6)
        twice = jax.hessian(lambda p: squares(p).sum())(params)
        diagonal = np.diag(2 * ones.sum(tuple(range(source.ndim))).reshape(-1))
        np.testing.assert_allclose(np.reshape(twice, diagonal.shape), diagonal)


@pytest.mark.parametrize("switches", SWITCHES[:1] + SWITCHES[4:5], ids=str)  # batching does not depend on the others
@pytest.mark.parametrize("name", CASES)
class TestBatches:
    def test_vmap(self, name: str, switches: dict[str, Any]) -> None:
        primitive, _, params, indices = drawn(name, switches)
        many, each = np.stack([params, params + 1], -1), np.stack([indices, indices[::-1] if indices.ndim else indices])
        for dims, arguments in (((None, 0), (params, each)), ((-1, None), (many, indices)), ((-1, 0), (many, each))):
            expected = [
                primitive(*(a if d is None else np.take(a, i, d) for a, d in zip(arguments, dims, strict=True)))
                for i in (0, 1)
            ]
            result = jax.jit(jax.vmap(primitive, dims))(*arguments)
            np.testing.assert_array_equal(result, np.stack(expected))

    def test_gradients_of_batches(self, name: str, switches: dict[str, Any]) -> None:
        primitive, _, params, indices = drawn(name, switches)
        gradient = jax.grad(lambda p: (primitive(p, indices) ** 2).sum())
        many = np.stack([params, 3 * params])
        np.testing.assert_allclose(jax.vmap(gradient)(many), np.stack([gradient(p) for p in many]), rtol=1e-6)


@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "uint32", "float16", "bfloat16", "float8_e5m2"])
def test_dtypes(name: str) -> None:
    params = jnp.arange(6).astype(name)
    assert operators.gather(params, jnp.array([5, 1])).dtype == name
    assert np.array_equal(operators.gather(params, jnp.array([5, 1])), params[jnp.array([5, 1])])
    extreme = operators.gather(params, jnp.array([9]), fill_value="by_dtype")
    expected = jnp.take(params, jnp.array([9]), mode="fill")
    assert np.asarray(extreme).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_gradients_by_indices_of(name: str) -> None:
    """Some index dtypes cannot represent the number of elements."""
    indices = jnp.array([3, 100, 3], name)
    gradient = jax.grad(lambda p: operators.gather(p, indices, bounds="modulo").sum())(jnp.zeros(300))
    assert gradient[3] == 2 and gradient[100] == 1 and gradient.sum() == 3


def test_index_out_of_bounds_raises_runtime_error() -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"component 0 of tuple 1 is 7, valid are \[0, 3\)"):
        jax.jit(operators.gather)(jnp.zeros((3, 2)), jnp.array([0, 7])).block_until_ready()


def test_shapes_and_dtypes_are_validated_during_tracing() -> None:
    params, indices = jnp.zeros((3, 2)), jnp.array([0])
    with pytest.raises(libgather.RankError, match="axis"):
        jax.jit(partial(operators.gather, axis=5))(params, indices)
    with pytest.raises(libgather.ShapeError):
        jax.jit(partial(operators.gather, batch_dims=1))(params, jnp.zeros((4, 2), int))
    with pytest.raises(libgather.DTypeError, match="indices"):
        jax.jit(operators.gather)(params, jnp.zeros(2))
    with pytest.raises(libgather.UnsupportedError, match="skip"):
        operators.gather(params, indices, bounds="skip")
    with pytest.raises(libgather.OptionError, match="bounds"):
        operators.gather(params, indices, bounds="never")
    with pytest.raises(libgather.DTypeError, match=r"libgather\.jax"):
        jax.jit(libgather.gather)(params, indices)


def test_plain_functions_equal_programs() -> None:
    """They raise the same errors as for other arrays."""
    params, indices = jnp.arange(12.0).reshape(4, 3), jnp.array([[3, 0]])
    assert libgather.gather(params, indices).tolist() == params[indices].tolist()
    assert libgather.take_along_axis(params, jnp.array([[2], [-1], [0], [1]])).tolist() == [[2.0], [5.0], [6.0], [10.0]]
    with pytest.raises(libgather.IndexError, match=r"indices\[0, 1\], axis 1") as caught:
        libgather.gather(params, jnp.array([[0, 5]]), 1)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 5, 3)
    for fill in (None, "by_dtype", 1.5, np.float32(1.5), float("nan")):
        result = libgather.gather(params, jnp.array([9]), bounds="fill", fill_value=fill)
        expected = libgather.gather(np.asarray(params), [9], bounds="fill", fill_value=fill)
        np.testing.assert_array_equal(result, expected)
    assert libgather.gather(params, indices, threads=1).tolist() == params[indices].tolist()


def test_call_without_a_valid_request_is_refused() -> None:
    call = jax.ffi.ffi_call("libgather", jax.ShapeDtypeStruct((2,), jnp.float32))
    for attributes in ({}, {"request": np.zeros(3, np.int64)}, {"request": np.full(10, 99)}, {"request": 1}):
        with pytest.raises(jax.errors.JaxRuntimeError, match="not a call"):
            call(jnp.zeros(3), jnp.array([0, 1]), **attributes).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a call"):
        call(jnp.zeros(3), request=np.zeros(10, np.int64)).block_until_ready()


BIG = 2**32 + 1


@pytest.mark.parametrize(
    ("name", "indices", "value"),
    [
        ("gather", np.array([0, BIG]), BIG),
        ("gather", np.array([BIG], "u8"), BIG),
        ("gather", np.array([-(2**31) - 1]), -(2**31) - 1),
        ("gather", np.int64(BIG), BIG),
        ("gather", [BIG], BIG),
        ("gather", [np.int64(BIG)], BIG),
        ("gather", BIG, BIG),
        ("gather_nd", np.array([[BIG]]), BIG),
        ("gather_elements", np.array([[BIG, 0]]), BIG),
    ],
)
@pytest.mark.parametrize("bounds", ["error", "clamp", "fill"])
def test_index_that_jax_would_narrow_is_an_error(name: str, indices: Any, value: int, bounds: str) -> None:
    params = jnp.arange(6.0).reshape(3, 2)
    call = partial(getattr(operators, name), indices=indices, bounds=bounds)
    for gather in (call, jax.jit(call)):
        with pytest.raises(libgather.DTypeError, match=f"indices: .*{value} .*int32"):
            gather(params)
    with jax.enable_x64(True), pytest.raises((ValueError, jax.errors.JaxRuntimeError), match=str(value)):
        getattr(operators, name)(params, indices).block_until_ready()


def test_integer_of_params_that_jax_would_narrow_is_an_error() -> None:
    with pytest.raises(libgather.DTypeError, match=f"params: {BIG} is beyond int32"):
        operators.gather(np.array([BIG, 1]), jnp.array([0]))
    assert operators.gather(np.array([2**31 - 1, 1]), np.array([0])).tolist() == [2**31 - 1]


def test_fills_that_are_equal_are_different_programs() -> None:
    floats, integers, index = jnp.ones(2), jnp.ones(2, jnp.int32), jnp.array([7])
    for gather in (operators.gather, libgather.gather):
        signs = [np.signbit(gather(floats, index, fill_value=fill)).tolist() for fill in (0.0, -0.0, 0, -0.0)]
        assert signs == [[False], [True], [False], [True]]
        assert np.isnan(gather(floats, index, fill_value=float("nan"))).all()
        assert gather(integers, index, fill_value=1).tolist() == [1]
        with pytest.raises(libgather.DTypeError, match=r"fill_value 1\.0 is no int32"):
            gather(integers, index, fill_value=1.0)
    assert libgather.gather(integers, jnp.array([0]), fill_value=1.5).tolist() == [1]


def test_arrays_on_several_devices() -> None:
    run_alone("sharded_jax.py", XLA_FLAGS="--xla_force_host_platform_device_count=4")
