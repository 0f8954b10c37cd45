"""Messages of invalid arguments name the operand, the given value and the valid values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import libgather

PARAMS, INDICES, PLAN = np.arange(12.0).reshape(4, 3), np.array([1, 2]), libgather.Plan(np.zeros(2), np.array([0]))
CLOSED, CONTEXT = libgather.Tensor(PARAMS), libgather.Context()
for handle in (CLOSED, CONTEXT, PLAN):
    handle.close()


def gather(params: Any = PARAMS, indices: Any = INDICES, **keywords: Any) -> Any:
    return lambda: libgather.gather(params, indices, **keywords)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (gather(params=None), TypeError, "params: NoneType is not an array"),
        (gather(params={}), TypeError, "params: dict is not an array"),
        (gather(params=CLOSED), libgather.Error, "params: it has been closed"),
        (gather(params=["a", 1]), TypeError, "params: a list of strings and int is not an array"),
        (gather(params=[2**70]), TypeError, "params: 1180591620717411303424 is beyond 64 bits"),
        (gather(params=[[1, 2], [3]]), ValueError, "params: .*inhomogeneous shape after 1 dimensions"),
        (gather(params=np.array(3)), ValueError, "params: rank is 0, needed is at least 1"),
        (gather(indices=CLOSED), libgather.Error, "indices: it has been closed"),
        (gather(indices=1.5), TypeError, "indices: dtype float64 is no integer type$"),
        (gather(indices=np.array([1], object)), TypeError, r"indices: an array of objects of type int .* astype\(\)"),
        (gather(indices=[1, -1]), IndexError, r"indices: component 0 of tuple 1 is -1, valid are \[0, 4\)"),
        (gather(indices=[-5], negative="wrap"), IndexError, r"is -5, valid are \[-4, 4\)"),
        (gather(axis="0"), TypeError, "options: axis is str, not an integer"),
        (gather(axis=9), ValueError, r"options: axis is 9, valid are \[-2, 2\)"),
        (gather(axis=-(2**63)), ValueError, r"options: axis is -9223372036854775808, valid are \[-2, 2\)"),
        (gather(axis=2**63 - 1), ValueError, r"options: axis is 9223372036854775807, valid are \[-2, 2\)"),
        (gather(axis=-(2**63) - 1), ValueError, "options: axis -9223372036854775809 is out of range"),
        (gather(axis=2**63), ValueError, "options: axis 9223372036854775808 is out of range"),
        (gather(batch_dims=1.5), TypeError, "options: batch_dims is float, not an integer"),
        (gather(profile="numpy"), ValueError, "options: profile 'numpy' is none of tensorflow, .*jax_clip"),
        (gather(bounds="clip"), ValueError, "options: bounds 'clip' is none of error, fill, clamp, modulo, skip"),
        (gather(threads=2**40), ValueError, "options: threads 1099511627776 is out of range"),
        (gather(out=5), libgather.Error, "out: int cannot be written in place"),
        (gather(out=np.zeros((3, 3))), ValueError, "out: dim 0 is 3, needed is 2"),
        (gather(out=np.zeros((2, 3), "f4")), TypeError, "out: dtype is float32, needed is float64"),
        (gather(out=PARAMS[:2]), libgather.Error, "out: shares memory with params"),
        (gather(context="cpu"), TypeError, "context: str is not a libgather.Context"),
        (gather(context=CONTEXT), libgather.Error, "context: it has been closed"),
        (gather(context=CONTEXT), ValueError, "context: it has been closed"),
        (gather(params=CLOSED), libgather.ClosedError, "params: it has been closed"),
        (gather(out=PARAMS[:2]), libgather.OutputError, "out: shares memory with params"),
        (gather(out=PARAMS[:2]), ValueError, "out: shares memory with params"),
        (gather(params=b"ab", indices=[0], out=b"a"), ValueError, "out: the memory is read-only"),
        (gather(params=["a"], indices=[0], out=np.zeros(1)), NotImplementedError, "out: strings have no place"),
        (gather(indices=PARAMS > 1), TypeError, r"indices: dtype bool is no integer type: nonzero\(\) of a mask"),
        (gather(indices=[True]), TypeError, r"dtype bool is no integer type: nonzero\(\) of a mask"),
        (gather(mode="clip"), TypeError, r"unexpected keyword argument 'mode': .* bounds= .* libgather.take\(\)"),
        (gather(dim=1), TypeError, "gather.* unexpected keyword argument 'dim': the dim is axis="),
        (gather(axle=1), TypeError, r"gather\(\) got an unexpected keyword argument 'axle'$"),
        (gather(indices=0, axis=INDICES), TypeError, r"axis is ndarray, .* gather_elements\(input, index, axis=dim"),
        (gather(indices=[[1, 2], [3, 4]]), IndexError, r"tuple 3 is 4, valid are \[0, 4\): indices\[1, 1\], axis 0$"),
        (gather(indices=[[0], [-1]], axis=-1), IndexError, r"\[1, 0\], axis 1; negative='wrap' counts from the end$"),
        (gather(indices=9), IndexError, r"indices\[\(\)\], axis 0$"),
        (gather(PARAMS[:0], [0]), IndexError, r"is 0, valid are \[0, 0\): indices\[0\], axis 0$"),
        (gather(PARAMS, [-4]), IndexError, r"is -4, .* counts from the end$"),
        (gather(PARAMS, [-5]), IndexError, r"is -5, valid are \[0, 4\): indices\[0\], axis 0$"),
        (lambda: libgather.gather_nd(PARAMS, [[0, 0], [1, 5]]), IndexError, r"is 5, .*: indices\[1, 1\], axis 1$"),
        (lambda: libgather.gather_elements(PARAMS, [[0, 9]] * 4), IndexError, r"is 9, .*: indices\[0, 1\], axis 1$"),
        (lambda: libgather.take_along_axis(PARAMS, [[0, 9]]), IndexError, r"is 9, .*: indices\[0, 1\], axis 1$"),
        (lambda: libgather.Plan(PARAMS, INDICES, 1)(PARAMS, INDICES + 1), IndexError, r"indices\[1\], axis 1$"),
        (lambda: libgather.Plan(PARAMS, INDICES, 1).check(INDICES + 1), IndexError, r"indices\[1\], axis 1$"),
        (
            lambda: libgather.Plan(PARAMS, INDICES, 1).bind(PARAMS, INDICES + 1, np.zeros((4, 2)))(),
            IndexError,
            r"indices\[1\], axis 1$",
        ),
        (lambda: libgather.Plan(PARAMS, INDICES, -(2**63)), ValueError, "options: axis is -9223372036854775808, valid"),
        (lambda: libgather.Plan(PARAMS, INDICES, 2**63 - 1), ValueError, "options: axis is 9223372036854775807, valid"),
        (lambda: libgather.Plan(PARAMS, INDICES, 2**63), ValueError, "options: axis 9223372036854775808 is out of"),
        (lambda: libgather.onnx.Gather([1], [0], opset=0), ValueError, "opset 0 is before"),
        (lambda: PLAN(np.zeros(2), np.array([0]), np.zeros(1)), libgather.Error, "plan: it has been closed"),
        (lambda: libgather.Tensor.zeros(3), TypeError, "shape 3 is no sequence of integers"),
        (lambda: libgather.Tensor.zeros("ab"), TypeError, "shape 'ab' is no sequence of integers"),
        (lambda: libgather.Tensor.zeros((2, -1)), ValueError, "tensor: dim 1 is negative, -1"),
        (lambda: libgather.Context("gpu"), RuntimeError, "options: device 'gpu' is none of 'cpu', 'cuda', .*'cuda:0'"),
        (lambda: libgather.Context(threads="2"), TypeError, "options: threads is str, not an integer"),  # type: ignore
    ],
)
def test_messages(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^.*{message}") as caught:
        call()
    assert isinstance(caught.value, libgather.Error)


@pytest.mark.parametrize("form", ["", "_nd", "_elements"])
@pytest.mark.parametrize(("way", "updates"), [("gather", []), ("scatter", [PARAMS])])
def test_unknown_keywords_are_refused(way: str, form: str, updates: list[Any]) -> None:
    with pytest.raises(TypeError, match=rf"^{way}{form}\(\) got an unexpected keyword argument 'axle'$"):
        getattr(libgather, way + form)(PARAMS, INDICES, *updates, axle=1)


def test_numbers_that_do_not_apply() -> None:
    with pytest.raises(libgather.ClosedError) as caught:
        libgather.gather(CLOSED, INDICES)
    error = caught.value
    assert (error.component, error.position, error.item, error.value, error.limit) == (-1, -1, -1, 0, 0)
    assert (error.index, error.axis, error.wraps) == (None, None, False)
