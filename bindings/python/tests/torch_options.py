"""Values of options of libgather.torch. torch's own functions show which ones are accepted. test_torch.py runs this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import libgather
import libgather.torch as ours

TABLE = torch.arange(12.0).reshape(3, 4)
ROWS = TABLE[:2] + 20
IDS, STARTS = torch.tensor([2, 0]), torch.tensor([0, 1])
COLUMNS = TABLE[:, :2] + 50
ELEMENTS = torch.tensor([[0, 1, 2, 0], [2, 1, 0, 2]])

VALUES: list[Any] = [
    *(True, np.True_, np.array(True), torch.tensor(True)),
    *(1, np.int64(1), np.array(1), torch.tensor(1), torch.tensor(1, dtype=torch.int32)),
    *(torch.tensor(1, dtype=torch.uint8), torch.tensor([1]), torch.tensor([1, 0]), np.array([1]), np.array([1, 0])),
    *(1.0, np.float32(1), torch.tensor(1.0), torch.tensor([1.0, 2.0]), "1", b"1", [1], None),
]

#: For each option of a function of torch: the call of libgather.torch, and that of torch.
OPTIONS: dict[str, tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    "index_select": (
        "dim",
        lambda t, v: ours.index_select(t, v, IDS),
        lambda t, v: torch.index_select(t, v, IDS),
    ),
    "take_along_dim": (
        "dim",
        lambda t, v: ours.take_along_dim(t, ELEMENTS.T[:3], v),
        lambda t, v: torch.take_along_dim(t, ELEMENTS.T[:3], v),
    ),
    "index_add": (
        "dim",
        lambda t, v: ours.index_add(t, v, IDS, t[:, :2]),
        lambda t, v: torch.index_add(t, v, IDS, t[:, :2]),
    ),
    "index_add by alpha": (
        "alpha",
        lambda t, v: ours.index_add(t, 0, IDS, ROWS, alpha=v),
        lambda t, v: torch.index_add(t, 0, IDS, ROWS, alpha=v),
    ),
    "gather_elements": (
        "axis",
        lambda t, v: ours.gather_elements(t, ELEMENTS % 3, v),
        lambda t, v: torch.gather(t, v, ELEMENTS % 3),
    ),
    "scatter_elements": (
        "axis",
        lambda t, v: ours.scatter_elements(t, ELEMENTS % 3, ROWS, v, reduction="add"),
        lambda t, v: torch.scatter_add(t, v, ELEMENTS % 3, ROWS),
    ),
    "scatter_elements without target": (
        "include_self",
        lambda t, v: ours.scatter_elements(t, ELEMENTS % 3, ROWS, 0, reduction="add", include_self=v),
        lambda t, v: torch.scatter_reduce(t, 0, ELEMENTS % 3, ROWS, "sum", include_self=v),
    ),
    "embedding with sparse": (
        "sparse",
        lambda t, v: ours.embedding(IDS, t, sparse=v),
        lambda t, v: functional.embedding(IDS, t, sparse=v),
    ),
    "embedding_bag with sparse": (
        "sparse",
        lambda t, v: ours.embedding_bag(IDS, t, STARTS, mode="sum", sparse=v),
        lambda t, v: functional.embedding_bag(IDS, t, STARTS, mode="sum", sparse=v),
    ),
    "embedding_bag with padding": (
        "padding_idx",
        lambda t, v: ours.embedding_bag(IDS, t, STARTS, mode="sum", padding_idx=v),
        lambda t, v: functional.embedding_bag(IDS, t, STARTS, mode="sum", padding_idx=v),
    ),
    "embedding_bag with the end": (
        "include_last_offset",
        lambda t, v: ours.embedding_bag(IDS, t, STARTS, mode="sum", include_last_offset=v),
        lambda t, v: functional.embedding_bag(IDS, t, STARTS, mode="sum", include_last_offset=v),
    ),
    "embedding_bag by mode": (
        "mode",
        lambda t, v: ours.embedding_bag(IDS, t, STARTS, mode=v),
        lambda t, v: functional.embedding_bag(IDS, t, STARTS, mode=v),
    ),
}
#: Options that torch does not have, with an option of torch that takes the same values.
OTHERS: dict[str, tuple[str, Callable[..., Any], str]] = {
    "gather": ("axis", lambda t, v: ours.gather(t, IDS, v), "index_select"),
    "gather with batch": ("batch_dims", lambda t, v: ours.gather(t, ELEMENTS[:, :3].T, 1, v), "index_select"),
    "gather_nd": ("batch_dims", lambda t, v: ours.gather_nd(t, IDS.new_zeros(3, 1), v), "index_select"),
    "scatter": ("axis", lambda t, v: ours.scatter(t, IDS, t[:, :2], v), "index_select"),
    "gather with padding": ("padding_index", lambda t, v: ours.gather(t, IDS, padding_index=v), "index_select"),
    "scatter_nd with padding": (
        "padding_index",
        lambda t, v: ours.scatter_nd(t, IDS[:, None], ROWS, padding_index=v),
        "index_select",
    ),
    "gather by opset": ("opset", lambda t, v: ours.gather(t, IDS, profile="onnx", opset=v), "index_select"),
    "bags by segments": ("count", lambda t, v: ours.gather_bags(t, IDS * 0, segments=IDS * 0, count=v), "index_select"),
    # torch.embedding takes arrays and tensors of one element too, which torch.embedding_bag refuses.
    "embedding with padding": (
        "padding_idx",
        lambda t, v: ours.embedding(IDS, t, v),
        "embedding_bag with padding",
    ),
    "bags with sparse": ("sparse", lambda t, v: ours.gather_bags(t, IDS[None], sparse=v), "embedding with sparse"),
    "scatter without target": (
        "include_self",
        lambda t, v: ours.scatter(t, IDS, ROWS, reduction="add", include_self=v),
        "embedding with sparse",
    ),
    "gather with a fill": ("fill_value", lambda t, v: ours.gather(t, IDS, fill_value=v), "index_add by alpha"),
    "gather by bounds": ("bounds", lambda t, v: ours.gather(t, IDS, bounds=v), "embedding_bag by mode"),
    "gather by negative": ("negative", lambda t, v: ours.gather(t, IDS, negative=v), "embedding_bag by mode"),
    "gather_elements by extents": (
        "extents",
        lambda t, v: ours.gather_elements(t, ELEMENTS, extents=v),
        "embedding_bag by mode",
    ),
    "gather by profile": ("profile", lambda t, v: ours.gather(t, IDS, profile=v), "embedding_bag by mode"),
    "scatter by reduction": (
        "reduction",
        lambda t, v: ours.scatter(t, IDS, ROWS, reduction=v),
        "embedding_bag by mode",
    ),
    "bags by pool": ("pool", lambda t, v: ours.gather_bags(t, IDS[None], pool=v), "embedding_bag by mode"),
    "bags by empty": ("empty", lambda t, v: ours.gather_bags(t, IDS[None], empty=v), "embedding_bag by mode"),
    "gather by order": ("order", lambda t, v: ours.gather(t, IDS, order=v), "embedding_bag by mode"),
    "scatter by order": ("order", lambda t, v: ours.scatter(t, IDS, ROWS, order=v), "embedding_bag by mode"),
    "bags by order": ("order", lambda t, v: ours.gather_bags(t, IDS[None], order=v), "embedding_bag by mode"),
}


def outcome_of(call: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the result of a call, or its exception."""
    try:
        return call(*arguments)
    except Exception as error:
        return error


def is_own_case(name: str, value: Any) -> bool:
    """Returns whether the library has a meaning for a value that torch refuses. It takes NumPy's arrays of rank 0."""
    takes_numbers = name in ("index_add by alpha", "gather with a fill")
    return value is None or (takes_numbers and isinstance(value, (bytes, np.ndarray)))


def require_refused(option: str, error: Any) -> None:
    assert isinstance(error, libgather.Error), error
    assert str(error).startswith(f"options: {option} ") and error.operand == "options", error


@pytest.mark.parametrize("name", OPTIONS)
def test_values_that_torch_takes(name: str) -> None:
    option, call, theirs = OPTIONS[name]
    taken = 0
    for value in VALUES:
        if is_own_case(name, value):
            continue
        found, expected = outcome_of(call, TABLE, value), outcome_of(theirs, TABLE, value)
        if isinstance(expected, Exception):
            require_refused(option, found)
        else:
            assert torch.equal(found, expected), (value, found)
            taken += 1
    assert taken > 0 or option == "mode"


@pytest.mark.parametrize("name", OTHERS)
def test_values_that_torch_takes_for_another_option(name: str) -> None:
    option, call, model = OTHERS[name]
    for value in VALUES:
        if is_own_case(name, value):
            continue
        found = outcome_of(call, TABLE, value)
        if isinstance(outcome_of(OPTIONS[model][2], TABLE, value), Exception):
            require_refused(option, found)
        else:
            assert isinstance(found, torch.Tensor), (value, found)


#: A call for each kind of option, a value that it takes, and values that it refuses.
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "gather": (1, [True, torch.tensor([1, 0]), 1.0]),
    "index_select": (1, [True, torch.tensor([1, 0]), None]),
    "gather with padding": (1, [False, torch.tensor([1, 0]), "1"]),
    "embedding with padding": (1, [True, torch.tensor([1])]),
    "embedding with sparse": (False, [1, torch.tensor([1, 0]), None]),
    "bags with sparse": (False, [1, torch.tensor(True)]),
    "embedding_bag with the end": (True, [1, torch.tensor([1, 0])]),
    "bags by segments": (1, [True, torch.tensor([1, 0])]),
    "scatter without target": (False, [0, torch.tensor([1, 0])]),
    "scatter by reduction": ("add", [1, torch.tensor([1, 0])]),
    "gather by bounds": ("clamp", [1, torch.tensor([1, 0])]),
    "bags by empty": ("zero", [1, torch.tensor([1, 0])]),
    "gather with a fill": (7.0, ["a", torch.tensor([1.0, 2.0])]),
    "index_add by alpha": (0.5, ["a", torch.tensor([1.0, 2.0])]),
}


def compiled(call: Callable[..., Any]) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(call, backend="eager")


def with_value(call: Callable[..., Any], value: Any) -> Callable[..., Any]:
    return lambda table: call(table, value)


def mapped(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda table: torch.vmap(call)(torch.stack([table, table]))


@pytest.mark.parametrize("path", [compiled, mapped, torch.fx.symbolic_trace])
@pytest.mark.parametrize("name", KINDS)
def test_all_paths_refuse_the_same_values(name: str, path: Any) -> None:
    option, call = (OPTIONS.get(name) or OTHERS[name])[:2]
    for value in KINDS[name][1][: 1 if path is compiled else None]:  # a compilation takes half a second
        expected = outcome_of(call, TABLE, value)
        require_refused(option, expected)
        found = outcome_of(lambda given: path(given)(TABLE), with_value(call, value))
        assert (type(found), str(found)) == (type(expected), str(expected))


@pytest.mark.parametrize("name", KINDS)
def test_options_are_read_without_a_graph_break(name: str) -> None:
    call, value = (OPTIONS.get(name) or OTHERS[name])[1], KINDS[name][0]
    graphs: list[Any] = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    torch._dynamo.reset()
    run = torch.compile(lambda table: call(table, value), backend=backend, fullgraph=True)
    for table in (TABLE, TABLE + 3, TABLE.flip(0).contiguous()):
        assert torch.equal(run(table), call(table, value))
    assert len(graphs) == 1


@pytest.mark.parametrize("name", ["scatter", "scatter_nd"])
def test_profiles_that_repeat_updates(name: str) -> None:
    """NumPy and JAX write one row for each index. TensorFlow, ONNX and torch refuse updates of another rank."""
    ids = IDS[:, None] if name == "scatter_nd" else IDS
    expected = TABLE.clone()
    for row in IDS:
        expected[row] += torch.arange(4.0)
    for profile in ("numpy_raise", "numpy_wrap", "numpy_clip", "jax_fill", "jax_clip"):
        row = torch.arange(4.0, requires_grad=True)
        keywords: Any = {"reduction": "add", "profile": profile}
        found = getattr(ours, name)(TABLE, ids, row, **keywords)
        assert torch.equal(found, expected)
        (found * found.detach()).sum().backward()
        assert torch.equal(row.grad, expected[IDS].sum(0))
        assert torch.equal(
            torch.vmap(lambda row, keywords=keywords: getattr(ours, name)(TABLE, ids, row, **keywords))(
                torch.stack([row.detach(), row.detach()])
            )[1],
            expected,
        )
        with torch._subclasses.FakeTensorMode():
            made = torch.empty(3, 4), torch.empty(ids.shape, dtype=torch.int64), torch.empty(4)
            assert getattr(ours, name)(*made, **keywords).shape == (3, 4)
    for profile in ("tensorflow", "tensorflow_gpu", "onnx", "ort", "torch"):
        with pytest.raises(libgather.RankError, match="updates"):
            getattr(ours, name)(TABLE, ids, torch.arange(4.0), profile=profile)
