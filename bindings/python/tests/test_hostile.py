"""Invalid arguments of each kind raise an error of this package that names the argument, and never crash."""

from __future__ import annotations

import mmap
import pickle
from typing import Any

import numpy as np
import pytest

import libgather

closed_tensor = libgather.Tensor([1, 2, 3])
closed_tensor.close()
closed_context = libgather.Context()
closed_context.close()
closed_map = mmap.mmap(-1, 8)
closed_map.close()
released_view = memoryview(b"abc")
released_view.release()

NO_ARRAYS = [
    None,
    {},
    {1: 2},
    set(),
    object(),
    int,
    libgather,
    lambda: None,
    "text",
    NotImplemented,
    Ellipsis,
    1j,
    closed_tensor,
    closed_map,
    released_view,
]
NO_ARRAYS += [np.dtype("f4"), range, type, iter([1]), libgather.Context()]
NO_INTEGERS = [1.0, "1", [1], None, {}, 1j, b"1", np.float32(1), np.array([1]), object(), 2**63, -(2**63) - 1, 10**30]


def call(**changes: Any) -> Any:
    arguments = {"params": np.arange(6.0).reshape(3, 2), "indices": np.array([1, 0]), **changes}
    params, indices = arguments.pop("params"), arguments.pop("indices")
    return libgather.gather(params, indices, **arguments)


@pytest.mark.parametrize("value", NO_ARRAYS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["params", "indices", "out"])
def test_no_arrays(name: str, value: Any) -> None:
    if name == "out" and value is None:
        return
    with pytest.raises(libgather.Error):
        call(**{name: value})
    with pytest.raises(libgather.Error):
        libgather.Plan(np.arange(3.0), np.array([1]))(
            *{"params": np.arange(3.0), "indices": np.array([1]), "out": np.zeros(1), name: value}.values()
        )


@pytest.mark.parametrize("value", NO_INTEGERS, ids=repr)
@pytest.mark.parametrize("name", ["axis", "batch_dims", "threads", "opset"])
def test_no_integers(name: str, value: Any) -> None:
    if value is None and name != "batch_dims":
        return
    for function in (call, lambda **k: libgather.Plan(np.arange(3.0), np.array([1]), **k)):
        with pytest.raises(libgather.Error):
            function(**{name: value})


@pytest.mark.parametrize("value", ["", "no", 1, True, b"error", object(), ["error"]], ids=repr)
@pytest.mark.parametrize("name", ["negative", "bounds", "profile"])
def test_no_switches(name: str, value: Any) -> None:
    with pytest.raises(libgather.Error):
        call(**{name: value})


@pytest.mark.parametrize("value", ["x", [1, 2], {}, object(), 1j, b"x" * 17, np.zeros(3)], ids=repr)
def test_no_fill_values(value: Any) -> None:
    with pytest.raises(libgather.Error):
        call(bounds="fill", fill_value=value)


@pytest.mark.parametrize("value", [1, "cpu", object(), closed_context, libgather], ids=repr)
def test_no_contexts(value: Any) -> None:
    for changes in ({}, {"threads": 1}):
        with pytest.raises(libgather.Error):
            call(context=value, **changes)
    with pytest.raises(libgather.Error):
        libgather.Plan(np.arange(3.0), np.array([1]), context=value)(np.arange(3.0), np.array([1]), np.zeros(1))


@pytest.mark.parametrize(
    "indices", [[0.0], [True], ["0"], [None], [1j], [[0], [1, 2]], np.zeros(2, "m8[s]"), np.zeros(2, "V8")]
)
def test_no_indices(indices: Any) -> None:
    with pytest.raises(libgather.Error):
        call(indices=indices)


def test_closed_handles() -> None:
    with pytest.raises(libgather.Error) as caught:
        libgather.gather(closed_tensor, [0])
    assert caught.value.status_name == "GTH_E_HANDLE"
    for use in (lambda: closed_tensor.shape, closed_tensor.memory, closed_tensor.tolist, closed_tensor.strings):
        with pytest.raises(libgather.Error):
            use()
    with pytest.raises((libgather.Error, BufferError)):
        np.from_dlpack(closed_tensor)
    closed_tensor.close()
    assert "closed" in repr(closed_tensor)
    with pytest.raises(libgather.Error):
        closed_context.sync()
    closed_context.close()
    plan = libgather.Plan(np.arange(3.0), np.array([1]))
    bound = plan.bind(np.arange(3.0), np.array([1]), np.zeros(1))
    plan.close()
    plan.close()
    for use in (bound, lambda: plan(np.arange(3.0), np.array([1]), np.zeros(1)), plan.output_shape):
        with pytest.raises(libgather.Error) as caught:
            use()
        assert caught.value.status_name == "GTH_E_HANDLE"


def test_tensor_of_another_context() -> None:
    with libgather.Context(threads=1) as context:
        tensor = libgather.Tensor.zeros((3, 2), "int32", context=context)
    assert libgather.gather(tensor, [1]).tolist() == [[0, 0]]
    assert libgather.gather(tensor, [1], context=libgather.Context()).tolist() == [[0, 0]]


def test_wrong_outputs() -> None:
    for out, kind in (
        (np.zeros((2, 3)), libgather.ShapeError),
        (np.zeros(4), libgather.RankError),
        (np.zeros((2, 2), "f"), libgather.DTypeError),
        (np.zeros((2, 2), ">f8"), libgather.DTypeError),
        (np.broadcast_to(np.zeros(2), (2, 2)), libgather.Error),
        (np.lib.stride_tricks.as_strided(np.zeros(2), (2, 2), (8, 8)), libgather.ShapeError),
        ([[0.0, 0.0]] * 2, libgather.Error),
        (np.zeros((2, 2), object), libgather.Error),
    ):
        with pytest.raises(kind) as caught:
            call(out=out)
        assert caught.value.operand == "out"
    params = np.arange(6.0).reshape(3, 2)
    with pytest.raises(libgather.Error) as caught:
        libgather.gather(params, [1, 0], out=params[:2])
    assert caught.value.status_name == "GTH_E_ALIAS"


def test_errors_name_the_first_bad_index() -> None:
    with pytest.raises(IndexError) as caught:
        libgather.gather_nd(np.zeros((2, 3)), [[0, 0], [1, 3], [2, 0]])
    error = caught.value
    assert isinstance(error, libgather.IndexError) and isinstance(error, libgather.Error)
    fields = (error.operand, error.component, error.position, error.value, error.limit, error.wraps)
    assert fields == ("indices", 1, 1, 3, 3, False)
    assert error.status == -16 and error.status_name == "GTH_E_INDEX" and "3" in str(error)
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather([1, 2], np.array([2**64 - 1], "u8"), negative="wrap")
    assert caught.value.value == 2**64 - 1 and caught.value.wraps


def test_errors_are_of_builtin_classes() -> None:
    for kind, base in (
        (libgather.IndexError, IndexError),
        (libgather.ShapeError, ValueError),
        (libgather.RankError, ValueError),
        (libgather.DTypeError, TypeError),
        (libgather.OptionError, ValueError),
        (libgather.OutOfMemoryError, MemoryError),
        (libgather.DeviceError, RuntimeError),
    ):
        assert issubclass(kind, base) and issubclass(kind, libgather.Error)


def test_errors_can_be_pickled() -> None:
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather([1], [5])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (
        type(again) is libgather.IndexError
        and again.__dict__ == caught.value.__dict__
        and str(again) == str(caught.value)
    )


def test_out_of_memory() -> None:
    huge = np.broadcast_to(np.zeros(1), (1, 2**40))
    with pytest.raises(libgather.OutOfMemoryError):
        libgather.gather(huge, np.zeros(2**10, "i1"))
    with pytest.raises(libgather.ShapeError):
        libgather.gather(np.broadcast_to(np.zeros(1), (1, 2**58)), np.broadcast_to(np.zeros(1, "i1"), 2**20))


def test_unchanged_after_an_error() -> None:
    out = np.full((2, 2), 7.0)
    with pytest.raises(libgather.IndexError):
        call(indices=np.array([0, 9]), out=out)
    assert (out == 7).all()
