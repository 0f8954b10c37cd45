"""libgather.jax: compares the primitives under jit, vmap, grad and jvp with the functions on NumPy arrays."""

from __future__ import annotations

import gc
import sys
import weakref
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
    {"padding_index": 1},
    {"padding_index": -1, "bounds": "clamp", "fill_value": 2.0},
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


def derivatives_of(primitive: Any, params: Any, indices: Any) -> tuple[Any, ...]:
    """Returns the derivatives of the slices of the squares in reverse and forward mode, and the second derivatives."""

    def squares(p: Any) -> Any:
        return primitive(p * p, indices)

    return (
        jax.jacrev(squares)(params),
        jax.jacfwd(squares)(params),
        jax.hessian(lambda p: squares(p).sum())(params),
    )


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    """One program has the calls with all switches, because its compilation takes longer than all of its calls."""
    cases = [drawn(name, switches) for switches in SWITCHES]
    compiled = jax.jit(lambda operands: [case[0](*pair) for case, pair in zip(cases, operands, strict=True)])
    results = compiled([case[2:] for case in cases])
    for (primitive, plain, params, indices), result in zip(cases, results, strict=True):
        expected = plain(params, indices)
        for each in (primitive(params, indices), result):
            assert each.dtype == expected.dtype
            np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    cases = [drawn(name, switches) for switches in SWITCHES]
    compiled = jax.jit(
        lambda operands: [derivatives_of(case[0], *pair) for case, pair in zip(cases, operands, strict=True)]
    )
    results = compiled([case[2:] for case in cases])
    for switches, (primitive, _, params, indices), (backward, forward, twice) in zip(
        SWITCHES, cases, results, strict=True
    ):
        # Gathers the numbers of the elements, so that the source of each result is known. 0 means a filled element.
        numbers = np.arange(1, params.size + 1, dtype=np.float32).reshape(params.shape)
        source = np.asarray(primitive(numbers, indices)).astype(int)
        if "fill_value" in switches:
            filled = np.asarray(primitive(numbers + 100, indices)) == switches["fill_value"]
            source = np.where(filled, 0, source)
        ones = (source[..., None] == np.arange(1, params.size + 1)).reshape(source.shape + params.shape)
        np.testing.assert_allclose(backward, ones * 2 * params, rtol=1e-6)
        np.testing.assert_allclose(forward, backward, rtol=1e-6)
        diagonal = np.diag(2 * ones.sum(tuple(range(source.ndim))).reshape(-1))
        np.testing.assert_allclose(np.reshape(twice, diagonal.shape), diagonal)


def test_traced_fill_of_padding() -> None:
    table, ids = jnp.arange(1.0, 7).reshape(3, 2), jnp.array([2, 9, 0])

    def score(fill: Any, ids: Any = ids) -> Any:
        return operators.gather(table, ids, padding_index=9, fill_value=fill)

    assert jax.jit(score)(7.0).tolist() == [[5, 6], [7, 7], [1, 2]]
    assert jax.grad(lambda fill: score(fill).sum())(7.0) == 2
    with pytest.raises(jax.errors.JaxRuntimeError, match="is 8, valid are"):
        jax.jit(score)(7.0, ids - 1).block_until_ready()


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


def test_repeated_call_runs_its_program_from_the_c_half() -> None:
    params, indices = jnp.arange(12.0).reshape(4, 3), jnp.array([3, 0])
    called: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    for _ in range(3):
        sys.setprofile(note)
        result = libgather.gather(params, indices)
        sys.setprofile(None)
        assert result.tolist() == params[indices].tolist()
        last, called = called, []
    assert {*last} <= {"sharding", "dtype"}  # attributes of JAX


def test_context_of_the_last_call_is_released() -> None:
    params, indices = jnp.arange(4), jnp.array([1, 2])
    libgather.gather(params, indices)
    context = libgather.Context()
    seen = weakref.ref(context)
    libgather.gather(params, indices, context=context)
    del context
    gc.collect()
    assert seen() is None


def test_repeated_calls_with_other_arguments_are_validated() -> None:
    params, indices = jnp.arange(12.0).reshape(4, 3), jnp.array([3, 0])
    for _ in range(3):
        assert libgather.gather(params, indices).tolist() == params[indices].tolist()
        assert libgather.gather(params, indices - 1, 1, bounds="clamp").shape == (4, 2)
        assert libgather.gather(indices, jnp.array([-1]), negative="wrap").tolist() == [0]
        assert libgather.gather(params, indices, fill_value=None).tolist() == params[indices].tolist()
        assert isinstance(libgather.gather(params, [3, 0]), jax.Array)
        with pytest.raises(libgather.IndexError, match=r"indices\[0\]"):
            libgather.gather(params, indices + 1)
        with pytest.raises(libgather.DTypeError, match="axis"):
            libgather.gather(params, indices, [0])
        with pytest.raises(libgather.DTypeError, match="indices"):
            libgather.gather(params, params)
        deleted = params + 1
        deleted.delete()
        with pytest.raises(libgather.ClosedError):
            libgather.gather(deleted, indices)


def test_call_without_a_valid_request_is_refused() -> None:
    from libgather._base.request_fields import Request
    from libgather._operations.jax_programs.primitive import attribute
    from libgather._requests.operation_table import GATHER

    valid = attribute(GATHER, 0, ("table", "indices"), Request(), libgather.Spec("float32", ())._dtype)
    longer, unknown = np.append(valid, 0), np.where(np.arange(len(valid)) == 1, 99, valid)
    other_size = np.where(np.arange(len(valid)) == 2, 8, valid)
    call = jax.ffi.ffi_call("libgather", jax.ShapeDtypeStruct((2,), jnp.float32))
    refused = np.zeros(3, np.int64), np.full(len(valid), 99), np.zeros(len(valid), int), 1, longer, unknown, other_size
    for attributes in ({}, *({"request": request} for request in refused)):
        with pytest.raises(jax.errors.JaxRuntimeError, match="not a call"):
            call(jnp.zeros(3), jnp.array([0, 1]), **attributes).block_until_ready()
    with pytest.raises(jax.errors.JaxRuntimeError, match="not a call"):
        call(jnp.zeros(3), request=valid).block_until_ready()


def test_attribute_of_a_release_with_fewer_options_runs() -> None:
    from libgather._base.request_fields import Request
    from libgather._operations.jax_programs.primitive import attribute
    from libgather._requests.operation_table import GATHER

    first = 128  # GTH_OPTIONS_FIRST
    whole = attribute(GATHER, 0, ("table", "indices"), Request(), libgather.Spec("float32", ())._dtype).tobytes()
    shorter = bytearray(whole[: 16 + min(first, len(whole) - 16)])
    shorter[16:20] = (len(shorter) - 16).to_bytes(4, "little")
    call = jax.ffi.ffi_call("libgather", jax.ShapeDtypeStruct((2,), jnp.float32))
    assert call(jnp.arange(3.0), jnp.array([2, 1]), request=np.frombuffer(shorter, np.int64)).tolist() == [2, 1]


@pytest.mark.parametrize("name", CASES)
def test_traced_fill_value(name: str) -> None:
    primitive, plain, params, indices = drawn(name, {"fill_value": 2.0})
    call = partial(primitive.func, **{**primitive.keywords, "fill_value": None})
    expected = plain(params, indices)

    def filled(params: Any, fill: Any) -> Any:
        return call(params, indices, fill_value=fill)

    np.testing.assert_array_equal(jax.jit(filled)(params, 2.0), expected)
    many = jax.vmap(filled, (None, 0))(params, jnp.array([2.0, 3.0]))
    np.testing.assert_array_equal(many, [filled(params, 2.0), filled(params, 3.0)])
    changed = np.asarray(plain.func(params, indices, **{**plain.keywords, "fill_value": 3.0})) - np.asarray(expected)
    for find in (jax.jacrev, jax.jacfwd):
        np.testing.assert_array_equal(find(filled, 1)(params, 2.0), changed)
        rows = find(filled)(params, 2.0)
        np.testing.assert_array_equal(rows, find(lambda p: primitive(p, indices))(params))


def test_traced_fill_value_of_another_kind_is_refused() -> None:
    integers, index = jnp.arange(3), jnp.array([7])
    with pytest.raises(libgather.DTypeError, match="fill_value"):
        jax.jit(lambda fill: operators.gather(integers, index, fill_value=fill))(1.5)
    with pytest.raises(libgather.DTypeError, match="fill_value"):
        jax.jit(lambda fill: operators.gather(integers, index, fill_value=fill))(jnp.array([1]))
    assert jax.jit(lambda fill: operators.gather(integers, index, fill_value=fill))(9).tolist() == [9]


def exported(function: Any, *operands: Any) -> Any:
    """Returns the function of a program that was serialised."""
    program = jax.export.export(jax.jit(function), disabled_checks=operators.export_checks())(*operands)
    return jax.export.deserialize(program.serialize()).call


def spec(scope: Any, shape: str, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), dtype)


def test_exported_programs_of_symbolic_shapes() -> None:
    import jax.export

    scope = jax.export.SymbolicScope()
    with pytest.raises(ValueError, match="custom call"):
        jax.export.export(jax.jit(operators.gather))(spec(scope, "n, m"), spec(scope, "k", jnp.int32))
    table, ids = np.arange(12, dtype="f4").reshape(4, 3), np.array([3, 0, 3], "i4")

    def gradient(table: Any, ids: Any) -> Any:
        return jax.grad(lambda table: (operators.gather(table, ids) ** 2).sum())(table)

    shapes = spec(scope, "n, m"), spec(scope, "k", jnp.int32)
    np.testing.assert_array_equal(exported(operators.gather, *shapes)(table, ids), table[ids])
    np.testing.assert_array_equal(exported(gradient, *shapes)(table, ids), gradient(table, ids))
    with pytest.raises(jax.errors.JaxRuntimeError, match="is 4, valid"):
        exported(operators.gather, *shapes)(table, ids + 1).block_until_ready()
    columns = exported(partial(operators.gather, axis=-1), *shapes)
    np.testing.assert_array_equal(columns(table, ids % 3), table[:, ids % 3])
    batches = exported(partial(operators.gather, batch_dims=1), spec(scope, "b, n, m"), spec(scope, "b, k", jnp.int32))
    many, each = np.stack([table, -table]), np.stack([ids, ids[::-1]])
    np.testing.assert_array_equal(batches(many, each), np.stack([t[i] for t, i in zip(many, each, strict=True)]))
    tuples = exported(operators.gather_nd, spec(scope, "n, m, j"), spec(scope, "k, 2", jnp.int32))
    np.testing.assert_array_equal(tuples(many, np.array([[1, 3], [0, 2]], "i4")), many[[1, 0], [3, 2]])
    elements = exported(operators.gather_elements, spec(scope, "n, m"), spec(scope, "n, k", jnp.int32))
    places = np.array([[0, 2], [1, 1], [2, 0], [0, 0]], "i4")
    np.testing.assert_array_equal(elements(table, places), np.take_along_axis(table, places, 1))
    operands = *shapes, spec(scope, "k, m")
    added = exported(partial(operators.scatter, reduction="add"), *operands)
    np.testing.assert_array_equal(added(table, ids, table[:3]), jnp.asarray(table).at[ids].add(table[:3]))
    with pytest.raises(libgather.ShapeError, match="updates"):
        exported(operators.scatter, *shapes, spec(scope, "n, m"))


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


def test_packed_rows_are_an_error() -> None:
    table = libgather.Packed(None, np.ones((3, 4), np.int8))
    with pytest.raises(libgather.UnsupportedError, match="params: JAX has no packed rows"):
        operators.gather(table, jnp.array([0, 2]))


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


def test_primitives_in_shard_map() -> None:
    run_alone("mapped_jax.py", XLA_FLAGS="--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0")
