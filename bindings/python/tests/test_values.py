"""Specs, plans, contexts and tensors as values: equality, hashes, copies, pickles and weak references."""

from __future__ import annotations

import copy
import pickle
import typing
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import libgather

PARAMS = np.arange(12.0).reshape(4, 3)


def test_specs() -> None:
    specs = [
        libgather.Spec("int64", (2, -1)),
        libgather.Spec("int64", (2, 3)),
        libgather.Spec("int32", (2, 3)),
        libgather.Spec("int64", (2, 3), (24, 8)),
        libgather.Spec("int64", (2, 3), device="cuda:0"),
        libgather.Spec(None, (2, 3)),
    ]
    assert len({*specs}) == len(specs)
    for spec in specs:
        spec._operand()
        for other in (pickle.loads(pickle.dumps(spec)), copy.copy(spec), copy.deepcopy(spec)):
            assert other == spec and hash(other) == hash(spec) and repr(other) == repr(spec)
        assert weakref.ref(spec)() is spec
    assert specs[0] != "int64"
    for strides in ((8,), (24, 8, 1)):
        with pytest.raises(libgather.RankError, match="shape and strides of different rank"):
            libgather.Spec("int64", (2, 3), strides)


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"axis": 1, "bounds": "clamp"},
        {"fill_value": 2.5},
        {"fill_value": "by_dtype"},
        {"profile": "jax_fill"},
        {"op": "gather_elements", "axis": 0, "extents": "prefix"},
    ],
    ids=str,
)
def test_plans(keywords: Any) -> None:
    indices = np.array([2, 7]) if "axis" not in keywords or keywords["axis"] else np.array([[2, 0, 1]])
    indices = indices if keywords.get("bounds") or "fill" in str(keywords) else indices % 3
    plan = libgather.Plan(PARAMS, indices, **keywords)
    again = pickle.loads(pickle.dumps(plan))
    np.testing.assert_array_equal(again(PARAMS, indices), plan(PARAMS, indices))
    assert repr(again) == repr(plan) and copy.copy(plan) is plan and copy.deepcopy(plan) is plan
    assert weakref.ref(plan)() is plan


def test_plans_of_times() -> None:
    params = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
    plan = libgather.Plan(params, libgather.Spec("int64", (-1,)), fill_value="NaT")
    assert np.isnat(plan(params, np.array([9]))).all()
    with pytest.raises(libgather.DTypeError, match=r"params: dtype is datetime64\[s\], datetime64\[D\] is planned"):
        plan(params.astype("M8[s]"), np.array([9]))


def test_values_have_no_other_attributes() -> None:
    plan, out = libgather.Plan(PARAMS, np.array([1])), np.zeros((1, *PARAMS.shape[1:]))
    bound = plan.bind(PARAMS, np.array([1]), out)
    parts = libgather.partition([1, 0], 4, shards=2)
    for value in (libgather.Tensor([1]), libgather.Spec("int64", (2,)), bound, parts):
        with pytest.raises(AttributeError):
            value.shap = 1  # type: ignore[union-attr]


def test_contexts_and_tensors_cannot_be_pickled() -> None:
    context, tensor = libgather.Context(), libgather.Tensor(PARAMS)
    for value in (context, tensor, libgather.Plan(PARAMS, [0], context=context)):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(value)
    assert copy.copy(context) is context and copy.deepcopy(context) is context


def test_bound_plans() -> None:
    bound = libgather.Plan(PARAMS, np.array([0])).bind(PARAMS, np.array([1]), np.empty_like(PARAMS[:1]))
    assert repr(bound).startswith("libgather.BoundPlan of libgather.Plan(Spec(")
    assert copy.copy(bound) is bound
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(bound)
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(bound)


def test_copies_of_tensors() -> None:
    source = bytearray(b"abc")
    tensor = libgather.Tensor(source)
    shared, copied = copy.copy(tensor), copy.deepcopy(tensor)
    source[0] = ord("x")
    assert bytes(shared.memory()) == b"xbc" and bytes(copied.memory()) == b"abc"
    tensor.close()
    assert bytes(shared.memory()) == b"xbc"
    assert copy.deepcopy(libgather.Tensor(["a"])).tolist() == ["a"]


FUNCTIONS = [
    *(getattr(libgather, name) for name in libgather.__all__ if callable(getattr(libgather, name))),
    *(getattr(module, name) for module in (libgather.tf, libgather.onnx) for name in module.__all__ if name != "raw"),
]


@pytest.mark.parametrize("thing", FUNCTIONS, ids=lambda thing: thing.__name__)
def test_hints_can_be_read(thing: Any) -> None:
    members = [member for member in vars(thing).values() if callable(member)] if isinstance(thing, type) else [thing]
    for member in members:
        if hasattr(member, "__annotations__"):
            typing.get_type_hints(member)


def test_literals_of_switches_are_accepted() -> None:
    assert "clamp" in typing.get_args(libgather.types.Bounds)
    hints = typing.get_type_hints(libgather.gather)
    assert hints["bounds"] == libgather.types.Bounds | None
    for bounds in typing.get_args(libgather.types.Bounds):
        libgather.gather(pa.array([1.5]) if bounds in ("null", "promote") else PARAMS, [0], bounds=bounds)
    for profile in typing.get_args(libgather.types.Profile):
        libgather.gather(PARAMS, np.array([0]), profile=profile)
    with pytest.raises(AttributeError):
        libgather.types.Nothing  # noqa: B018


def test_dir_has_the_public_names() -> None:
    assert {*libgather.__all__} <= {*dir(libgather)}
    assert not [name for name in dir(libgather) if name.startswith("_") and name != "__version__"]
