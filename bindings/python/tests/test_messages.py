"""What a wrong argument is told: the operand, what came, and what would do."""

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
        (gather(indices=1.5), TypeError, "indices: dtype float64 .* is no integer type"),
        (gather(indices=np.array([1], object)), TypeError, r"indices: an array of objects of type int .* astype\(\)"),
        (gather(indices=[1, -1]), IndexError, r"indices: component 0 of tuple 1 is -1, valid are \[0, 4\)"),
        (gather(indices=[-5], negative="wrap"), IndexError, r"is -5, valid are \[-4, 4\)"),
        (gather(axis="0"), TypeError, "options: axis is str, not an integer"),
        (gather(axis=9), ValueError, r"options: axis is 9, valid are \[-2, 2\)"),
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
