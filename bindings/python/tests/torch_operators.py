"""The operators of libgather.torch, without other large libraries. test_torch.py runs this file."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

import libgather
import libgather.torch as operators

torch.manual_seed(3)
#: The numbers of words in the argument `switches` of torch.ops.
NUMBERS = {"reject": 1, "wrap": 2, "error": 1, "fill": 2, "clamp": 3}
needs_extension = pytest.mark.skipif(not operators.is_compiled(), reason="the extension is not built")

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
    "elements": ("gather_elements", (4, 5), (4, 7), {}, (5,)),
    "prefix": ("gather_elements", (4, 5, 2), (6, 3, 1), {"axis": 0}, (4,)),
}
SWITCHES: list[dict[str, Any]] = [
    {},
    {"negative": "wrap"},
    {"bounds": "clamp"},
    {"bounds": "modulo"},
    {"bounds": "fill", "fill_value": 2.0},
    {"bounds": "fill", "negative": "wrap"},
]
PADDED: list[dict[str, Any]] = [{"padding_index": 1}, {"padding_index": -1, "bounds": "modulo", "fill_value": 2.0}]
if operators.is_compiled():
    SWITCHES += PADDED


def drawn(
    name: str, switches: dict[str, Any], dtype: Any = torch.float64
) -> tuple[Any, Any, torch.Tensor, torch.Tensor]:
    """Returns the operator and the function of a case with its attributes, and its operands."""
    call, shape, index_shape, attributes, extents = CASES[name]
    low, beyond = int("negative" in switches), int("bounds" in switches)
    parts = [
        torch.randint(
            -extent * low - beyond, extent + 2 * beyond, index_shape[: len(index_shape) - (call == "gather_nd")]
        )
        for extent in extents
    ]
    indices = torch.stack(parts, -1) if call == "gather_nd" else parts[0]
    keywords = {**attributes, **switches}
    extra = {"extents": "prefix"} if call == "gather_elements" else {}
    operator, plain = (
        partial(getattr(operators, call), **keywords),
        partial(getattr(libgather, call), **keywords, **extra),
    )
    return operator, plain, torch.randn(shape, dtype=dtype), indices


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("name", CASES)
class TestOperators:
    def test_values(self, name: str, switches: dict[str, Any]) -> None:
        operator, plain, params, indices = drawn(name, switches)
        assert torch.equal(operator(params, indices), plain(params, indices))
        if "fill_value" in switches:
            plain = partial(plain, fill_value=int(switches["fill_value"]))
        assert torch.equal(operator(params.int(), indices), plain(params.int(), indices))

    def test_gradients(self, name: str, switches: dict[str, Any]) -> None:
        operator, _, params, indices = drawn(name, switches)
        assert torch.autograd.gradcheck(lambda p: operator(p, indices), params.requires_grad_(), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(lambda p: operator(p, indices), params, fast_mode=True)

    def test_transforms(self, name: str, switches: dict[str, Any]) -> None:
        operator, _, params, indices = drawn(name, switches)

        def squares(p: torch.Tensor) -> torch.Tensor:
            return operator(p * p, indices)

        forward, backward = torch.func.jacfwd(squares)(params), torch.func.jacrev(squares)(params)
        expected = torch.autograd.functional.jacobian(squares, params)
        assert torch.equal(forward, expected) and torch.equal(backward, expected)
        gradient = torch.func.grad(lambda p: squares(p).sum())
        assert torch.equal(torch.vmap(gradient)(torch.stack([params, params]))[1], gradient(params))

    def test_vmap(self, name: str, switches: dict[str, Any]) -> None:
        operator, _, params, indices = drawn(name, switches)
        many, each = (
            torch.stack([params, params + 1], -1),
            torch.stack([indices, indices.flip(0) if indices.dim() else indices]),
        )
        for dims, arguments in (((None, 0), (params, each)), ((-1, None), (many, indices)), ((-1, 0), (many, each))):
            expected = [
                operator(*(a if d is None else a.select(d, i) for a, d in zip(arguments, dims, strict=True)))
                for i in (0, 1)
            ]
            assert torch.equal(torch.vmap(operator, dims)(*arguments), torch.stack(expected))


@pytest.mark.parametrize("name", CASES)
def test_compiled_whole(name: str) -> None:
    """One program has the calls with all switches, because its compilation takes longer than all of its calls."""
    cases = [drawn(name, switches) for switches in SWITCHES]

    def results(*operands: torch.Tensor) -> list[torch.Tensor]:
        half = len(operands) // 2
        pairs = zip(cases, operands[:half], operands[half:], strict=True)
        return [operator(params * 2, indices).sin() for (operator, *_), params, indices in pairs]

    torch._dynamo.reset()  # clears its count of recompilations
    compiled = torch.compile(results, fullgraph=True, backend="aot_eager")
    indices = [case[3] for case in cases]
    first, second = ([case[2].clone().requires_grad_() for case in cases] for _ in range(2))
    found, expected = compiled(*first, *indices), results(*second, *indices)
    assert all(map(torch.equal, found, expected))
    sum(each.sum() for each in found).backward()
    sum(each.sum() for each in expected).backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(first, second, strict=True))


def dispatched(name: str, params: torch.Tensor, indices: torch.Tensor, *switches: Any) -> tuple[Any, tuple[Any, ...]]:
    """Returns the operator of a case in torch.ops, and its arguments."""
    call, _, _, attributes, _ = CASES[name]
    axis, batch = attributes.get("axis", 0), attributes.get("batch_dims", 0) % max(1, indices.dim())
    axis = axis % params.dim() if "axis" in attributes else params.dim() - 1 if call == "gather_elements" else batch
    batch = 0 if call == "gather_elements" else batch
    negative, bounds, fill = switches or ("reject", "error", 0.0)
    extents = libgather._base.constants.EXTENTS_PREFIX if call == "gather_elements" else 0
    filling = libgather._base.constants.FILL_VALUE if bounds == "fill" else 0
    numbers = [0, 0, NUMBERS[negative], NUMBERS[bounds], filling, extents]
    return getattr(torch.ops.libgather, call).default, (params, indices, axis, batch, numbers, fill)


@pytest.mark.parametrize("name", CASES)
def test_opcheck(name: str) -> None:
    _, _, params, indices = drawn(name, {})
    torch.library.opcheck(*dispatched(name, params.requires_grad_(), indices))


@pytest.mark.parametrize("switches", [("wrap", "clamp", 0.0), ("reject", "fill", 2.0)], ids=str)
@pytest.mark.parametrize("name", CASES)
class TestDispatched:
    """Calls of torch.ops, which bypass the functions of libgather.torch."""

    def test_gradients(self, name: str, switches: Any) -> None:
        _, _, params, indices = drawn(name, {"negative": "wrap", "bounds": "clamp"})
        operator, (_, *rest) = dispatched(name, params, indices, *switches)
        both = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
        assert torch.autograd.gradcheck(lambda p: operator(p, *rest), params.requires_grad_(), **both)
        assert torch.autograd.gradgradcheck(
            lambda p: operator(p, *rest), params, check_fwd_over_rev=True, fast_mode=True
        )

    @needs_extension
    def test_torch_func(self, name: str, switches: Any) -> None:
        _, _, params, indices = drawn(name, {"negative": "wrap", "bounds": "clamp"})
        operator, (_, *rest) = dispatched(name, params, indices, *switches)
        expected = torch.autograd.functional.jacobian(lambda p: operator(p, *rest), params)
        assert torch.equal(torch.func.jacfwd(lambda p: operator(p, *rest))(params), expected)
        assert torch.equal(torch.func.jacrev(lambda p: operator(p, *rest))(params), expected)

    @pytest.mark.skipif(operators.is_compiled(), reason="the extension supports torch.func")
    def test_torch_func_is_refused(self, name: str, switches: Any) -> None:
        """torch.func would treat the operator as one without derivatives."""
        _, _, params, indices = drawn(name, {"negative": "wrap", "bounds": "clamp"})
        operator, (_, *rest) = dispatched(name, params, indices, *switches)
        for call in (
            lambda: torch.func.jvp(lambda p: operator(p, *rest), (params,), (params,)),
            lambda: torch.func.grad(lambda p: operator(p, *rest).sum())(params),
            lambda: torch.vmap(torch.func.grad(lambda p: operator(p, *rest).sum()))(torch.stack([params, params])),
        ):
            with pytest.raises(libgather.UnsupportedError, match=r"no forward mode .* call libgather\.torch\.gather"):
                call()

    def test_params_without_derivative_are_accepted(self, name: str, switches: Any) -> None:
        _, _, params, indices = drawn(name, {"negative": "wrap", "bounds": "clamp"})
        operator, arguments = dispatched(name, params, indices, *switches)
        expected, one = operator(*arguments).sum(), torch.ones((), dtype=params.dtype)
        assert torch.func.grad(lambda x: x * operator(*arguments).sum())(one) == expected
        assert torch.func.jvp(lambda x: x * operator(*arguments).sum(), (one,), (one,))[1] == expected
        assert torch.equal(torch.vmap(lambda x: x * operator(*arguments).sum())(one.repeat(2)), expected.repeat(2))


@pytest.mark.parametrize("name", ["rows", "tuples", "prefix"])
def test_export_with_an_open_extent(name: str) -> None:
    operator, plain, params, indices = drawn(name, {})

    class Module(torch.nn.Module):
        def forward(self, p: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return operator(p, i) + 1

    count = torch.export.Dim("count", min=2)
    dims = (None, {0: count})
    program = torch.export.export(Module(), (params, indices), dynamic_shapes=dims)
    assert "libgather" in str(program.graph)
    more = torch.cat([indices, indices])
    assert torch.equal(program.module()(params, more), plain(params, more) + 1)


def test_tensors_without_values() -> None:
    with torch._subclasses.FakeTensorMode():
        result = operators.gather(torch.empty(5, 3), torch.zeros(2, 4, dtype=torch.long), 1)
        assert result.shape == (5, 2, 4)
        with pytest.raises(libgather.DTypeError, match=r"FakeTensor .* libgather\.torch"):
            libgather.gather(torch.empty(3), [0])
    assert operators.gather(torch.empty(5, 3, device="meta"), torch.zeros(2, dtype=torch.long, device="meta")).is_meta


WRONG: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("gather", (5, 3), (4,), {"axis": 2}),
    ("gather", (5, 3), (4,), {"axis": -3}),
    ("gather", (5, 3), (4,), {"axis": -5}),
    ("gather", (), (4,), {}),
    ("gather", (2, 3), (3, 4), {"batch_dims": 1}),
    ("gather", (2, 3), (2, 4), {"axis": 0, "batch_dims": 1}),
    ("gather", (2, 3), (2, 4), {"batch_dims": 3}),
    ("gather", (2, 3), (2, 4), {"batch_dims": -3}),
    ("gather_nd", (5, 3), (4, 3), {}),
    ("gather_nd", (5, 3), (), {}),
    ("gather_nd", (5, 3), (4, 1), {"batch_dims": 1}),
    ("gather_nd", (5, 3), (5, 2), {"batch_dims": 1}),
    ("gather_nd", (5, 3), (5, 2), {"batch_dims": -1}),
    ("gather_elements", (5, 3), (4,), {}),
    ("gather_elements", (5, 3), (6, 3), {}),
    ("gather_elements", (5, 3), (5, 3), {"axis": 2}),
    ("gather_elements", (5, 3), (5, 3), {"axis": -3}),
]


@pytest.mark.parametrize(("call", "shape", "index_shape", "attributes"), WRONG)
def test_wrong_shapes_are_refused_without_values(
    call: str, shape: tuple[int, ...], index_shape: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    operator = partial(getattr(operators, call), **attributes)

    def refused(run: Any, kind: Any) -> str:
        with pytest.raises(kind) as caught:
            run()
        return str(caught.value)

    def operands(device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros(shape, device=device), torch.zeros(index_shape, dtype=torch.long, device=device)

    def without_values() -> torch.Tensor:
        with torch._subclasses.FakeTensorMode():
            return operator(*operands())

    class Module(torch.nn.Module):
        def forward(self, p: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return operator(p, i)

    library = (libgather.ShapeError, libgather.RankError)
    message = refused(lambda: operator(*operands()), library)
    # The plain function raises the same error. torch.gather has the extents "prefix".
    extents = {"extents": "prefix"} if call == "gather_elements" else {}
    with pytest.raises(library):
        getattr(libgather, call)(*operands(), **attributes, **extents)
    assert refused(without_values, library) == message
    assert refused(lambda: operator(*operands("meta")), library) == message
    assert message in refused(lambda: torch.export.export(Module(), operands()), Exception)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_wrong_indices_are_refused_without_values(dtype: torch.dtype) -> None:
    for device in ("cpu", "meta"):
        params, indices = torch.zeros(3, device=device), torch.zeros(2, dtype=dtype, device=device)
        with pytest.raises(libgather.DTypeError, match="indices: dtype"):
            operators.gather(params, indices)


@pytest.mark.parametrize(
    ("call", "shape", "index_shape", "attributes"),
    [
        ("gather", (4, 5), (4, 2), {"batch_dims": 1}),
        ("gather_nd", (4, 5), (4, 2, 1), {"batch_dims": 1}),
        ("gather_elements", (4, 5), (4, 2), {}),
    ],
)
def test_open_extents_that_must_be_equal_have_guards(
    call: str, shape: tuple[int, ...], index_shape: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    operator = partial(getattr(operators, call), **attributes)

    class Module(torch.nn.Module):
        def forward(self, p: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return operator(p, i)

    def operands(rows: int, of: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros(of, *shape[1:]), torch.zeros((rows, *index_shape[1:]), dtype=torch.long)

    auto = torch.export.Dim.AUTO
    program = torch.export.export(Module(), operands(4, 4), dynamic_shapes=({0: auto}, {0: auto})).module()
    assert program(*operands(6, 6)).shape[0] == 6
    with pytest.raises((AssertionError, RuntimeError)):
        program(*operands(7, 6))
    compiled = torch.compile(operator, fullgraph=True, backend="aot_eager", dynamic=True)
    assert compiled(*operands(6, 6)).shape[0] == 6
    with pytest.raises(Exception, match="indices: "):
        compiled(*operands(7, 6))


def test_sums_do_not_depend_on_threads() -> None:
    params, indices = torch.zeros(7, 33), torch.randint(0, 7, (20_000,))
    gradient, sums = torch.randn(20_000, 33), []
    for threads in (1, 2, 4, 2):
        torch.set_num_threads(threads)
        leaf = params.clone().requires_grad_()
        operators.gather(leaf, indices).backward(gradient)
        sums.append(leaf.grad)
    assert all(torch.equal(sums[0], other) for other in sums)
    torch.testing.assert_close(sums[0], torch.zeros_like(params).index_add(0, indices, gradient), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.complex64])
def test_gradients_of_other_dtypes(dtype: torch.dtype) -> None:
    params = torch.randn(4, 3).to(dtype).requires_grad_()
    operators.gather(params, torch.tensor([2, 2, 0])).sum().real.backward()
    assert params.grad.real.tolist() == [[1] * 3, [0] * 3, [2] * 3, [0] * 3]


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
@pytest.mark.parametrize(("shape", "count"), [((4, 3), 0), ((0, 3), 0), ((4, 0), 2)])
def test_gradients_of_empty_indices(shape: tuple[int, ...], count: int, dtype: torch.dtype) -> None:
    indices = torch.zeros(count, dtype=torch.long)
    for operator, index in (
        (operators.gather, indices),
        (operators.gather_nd, indices[:, None]),
        (operators.gather_elements, torch.zeros(min(shape[0], count), 0, dtype=torch.long)),
    ):
        params = torch.ones(shape, dtype=dtype, requires_grad=True)
        operator(params, index).sum().abs().backward()
        assert torch.equal(params.grad, torch.zeros(shape, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_in_half_precision(dtype: torch.dtype) -> None:
    """The dtype cannot represent the partial sums. The result is the exact sum, rounded once."""
    count = 5000
    indices = torch.arange(count) % 2
    upstream = torch.full((count, 3), 0.5, dtype=dtype)
    upstream[indices == 0] = 1
    expected = torch.tensor([[count / 2] * 3, [count / 4] * 3]).to(dtype)
    for operator, index in (
        (operators.gather, indices),
        (operators.gather_nd, indices[:, None]),
        (operators.gather_elements, indices[:, None].expand(count, 3)),
    ):
        params = torch.zeros(2, 3, dtype=dtype, requires_grad=True)
        keywords = {"axis": 0} if operator is operators.gather_elements else {}
        operator(params, index, **keywords).backward(upstream)
        assert params.grad.dtype == dtype and torch.equal(params.grad, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.complex64])
@pytest.mark.parametrize(
    ("call", "shape", "index_shape", "attributes"),
    [
        ("gather", (0,), (4,), {}),
        ("gather", (0, 3), (2, 2), {}),
        ("gather", (2, 0, 3), (2,), {"axis": 1}),
        ("gather", (2, 0, 3), (2, 2), {"axis": 1, "batch_dims": 1}),
        ("gather_nd", (0, 3), (4, 1), {}),
        ("gather_nd", (3, 0, 2), (4, 2), {}),
        ("gather_elements", (0,), (4,), {}),
        ("gather_elements", (2, 0), (2, 4), {}),
    ],
)
def test_gradients_of_an_empty_table(
    call: str, shape: tuple[int, ...], index_shape: tuple[int, ...], attributes: dict[str, Any], dtype: torch.dtype
) -> None:
    params = torch.ones(shape, dtype=dtype, requires_grad=True)
    indices = torch.zeros(index_shape, dtype=torch.long)
    filled = getattr(operators, call)(params, indices, bounds="fill", fill_value=2, **attributes)
    assert filled.numel() and (filled == 2).all()
    weights = torch.ones_like(filled).requires_grad_()
    (gradient,) = torch.autograd.grad(filled, params, weights, create_graph=True)
    assert torch.equal(gradient, torch.zeros(shape, dtype=dtype))
    gradient.real.sum().backward()
    assert torch.equal(weights.grad, torch.zeros_like(filled))


@pytest.mark.parametrize("compiled", [False, True])
def test_fill_values_are_exact(compiled: bool) -> None:
    fills = [
        (torch.int64, 2**53 + 1),
        (torch.int64, -(2**63)),
        (torch.int64, 2**63 - 1),
        (torch.uint64, 2**64 - 1),
        (torch.int32, 7.0),
        (torch.bool, True),
        (torch.float64, 0.1),
        (torch.complex128, 1 + 2j),
    ]

    def results(*tables: torch.Tensor) -> list[torch.Tensor]:
        pairs = zip(tables, fills, strict=True)
        return [operators.gather(table, ids, bounds="fill", fill_value=value) for table, (_, value) in pairs]

    ids = torch.tensor([1, 9])
    torch._dynamo.reset()
    run = torch.compile(results, fullgraph=True, backend="aot_eager") if compiled else results
    found = run(*(torch.zeros(3, dtype=dtype) for dtype, _ in fills))
    assert [each.tolist() for each in found] == [[0, value] for _, value in fills]


@pytest.mark.parametrize(
    ("dtype", "value"), [(torch.int32, 2**31), (torch.int64, 1.5), (torch.int64, 2**70), (torch.bool, 0.5)]
)
def test_fill_values_that_the_dtype_cannot_represent(dtype: torch.dtype, value: Any) -> None:
    with pytest.raises(libgather.DTypeError, match="options: fill_value"):
        operators.gather(torch.zeros(3, dtype=dtype), torch.tensor([9]), bounds="fill", fill_value=value)


def test_errors() -> None:
    params, indices = torch.zeros(3, 2), torch.tensor([0, 3])
    with pytest.raises(IndexError, match=r"indices\[1\]"):
        operators.gather(params, indices)
    with pytest.raises(libgather.UnsupportedError, match="skip"):
        operators.gather(params, indices, bounds="skip")
    with pytest.raises(libgather.OptionError, match="bounds"):
        operators.gather(params, indices, bounds="never")  # type: ignore[arg-type]


@pytest.mark.skipif(operators.is_compiled(), reason="the extension supports forward mode")
def test_forward_mode_of_compiled_code_is_refused() -> None:
    params, indices = torch.randn(4, 3), torch.tensor([1, 0])
    compiled = torch.compile(
        lambda p: torch.func.jvp(lambda q: operators.gather(q, indices), (p,), (p,)), fullgraph=True, backend="eager"
    )
    with pytest.raises(torch._dynamo.exc.Unsupported, match="no forward mode"):
        compiled(params)


def test_plain_functions_break_the_graph() -> None:
    params, indices = torch.randn(4, 3), torch.tensor([1, 0])
    compiled = torch.compile(lambda p, i: libgather.gather(p * 2, i).sin(), backend="eager")
    assert torch.equal(compiled(params, indices), (params * 2)[indices].sin())


DTYPES = sorted({dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}, key=str)


@pytest.mark.filterwarnings("ignore::UserWarning")  # many of these dtypes are experimental or deprecated
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_errors_name_dtypes_as_torch_does(dtype: torch.dtype) -> None:
    values, table = torch.empty(1, dtype=dtype), torch.arange(3.0)
    if dtype.is_floating_point or dtype.is_complex or not str(dtype).startswith(("torch.int", "torch.uint")):
        with pytest.raises(libgather.DTypeError, match=rf"^indices: (dtype )?{dtype} is no"):
            operators.gather(table, values)
    if str(dtype).removeprefix("torch.") not in libgather._base.dtypes.NUMBERS:
        with pytest.raises(libgather.DTypeError, match=f"^params: {dtype} is no dtype$"):
            operators.gather(values, torch.tensor([0]))
    elif operators.is_compiled() and dtype != torch.float32:
        message = f"updates: dtype is {dtype}, needed is torch.float32"
        for device in ("cpu", "meta"):
            with pytest.raises(libgather.DTypeError, match=f"^{message}$"):
                operators.scatter(table.to(device), torch.tensor([0], device=device), values.to(device))
        if dtype == torch.bfloat16:
            with pytest.raises(torch._dynamo.exc.TorchRuntimeError, match=message):
                torch.compile(operators.scatter, backend="eager")(table, torch.tensor([0]), values)
