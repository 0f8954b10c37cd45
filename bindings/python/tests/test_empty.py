"""Empty arrays of each kind as params, as indices and as the result."""

from __future__ import annotations

import array
import ctypes
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest

import libgather


def torch_of(values: Any) -> Any:
    return pytest.importorskip("torch", reason="torch is not installed").tensor(values)


def jax_of(values: Any) -> Any:
    return pytest.importorskip("jax.numpy", reason="JAX is not installed").asarray(values)


def tensorflow_of(values: Any) -> Any:
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed").constant(values)


# Functions that create an array of one dim from a list of small integers, by kind of array.
NUMBERS: dict[str, Callable[[list[int]], Any]] = {
    "list": lambda v: v,
    "tuple": tuple,
    "numpy": lambda v: np.array(v, "i8"),
    "numpy big-endian": lambda v: np.array(v, ">i4"),
    "numpy view": lambda v: np.array(v, "i8")[::-1],
    "array.array": lambda v: array.array("q", v),
    "memoryview": lambda v: memoryview(array.array("i", v)),
    "ctypes": lambda v: (ctypes.c_int * len(v))(*v),
    "bytes": bytes,
    "bytearray": bytearray,
    "Tensor": lambda v: libgather.Tensor(np.array(v, "i8")),
    "arrow": lambda v: pa.array(v, pa.int64()),
    "arrow slice": lambda v: pa.array([9, *v], pa.int64())[1:],
    "arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]], pa.int64()),
    "arrow no chunk": lambda v: pa.chunked_array([v] if v else [], pa.int64()),
    "arrow dictionary": lambda v: pa.array(v, pa.int64()).dictionary_encode(),
    "arrow tensor": lambda v: pa.Tensor.from_numpy(np.array(v, "i8")),
    "torch": lambda v: torch_of(np.array(v, "i8")),
    "jax": lambda v: jax_of(np.array(v, "i4")),
    "tensorflow": lambda v: tensorflow_of(np.array(v, "i8")),
}

# Kinds of arrays that cannot be indices.
OTHERS: dict[str, Callable[[list[int]], Any]] = {
    "float64": lambda v: np.array(v, "f8"),
    "bfloat16": lambda v: np.array(v, ml_dtypes.bfloat16),
    "bool": lambda v: np.array(v, "?"),
    "datetime64": lambda v: np.array(v, "M8[s]"),
    "longdouble": lambda v: np.array(v, "g"),
    "records": lambda v: np.array([(n, n) for n in v], [("a", "i2"), ("b", "i1")]),
    "objects": lambda v: np.array(list(map(str, v)), object),
    "U": lambda v: np.array(list(map(str, v)), "U3"),
    "S": lambda v: np.array(list(map(str, v)), "S3"),
    "StringDType": lambda v: np.array(list(map(str, v)), np.dtypes.StringDType()),
    "Tensor of strings": lambda v: libgather.Tensor(np.array(list(map(str, v)), "U3")),
    "arrow bool": lambda v: pa.array(list(map(bool, v)), pa.bool_()),
    "arrow string": lambda v: pa.array(list(map(str, v)), pa.string()),
    "arrow view": lambda v: pa.array(list(map(str, v)), pa.string_view()),
    "arrow dictionary of strings": lambda v: pa.array(list(map(str, v)), pa.string()).dictionary_encode(),
    "arrow bool chunks": lambda v: pa.chunked_array([list(map(bool, v))], pa.bool_()),
    "tensorflow strings": lambda v: tensorflow_of(np.array(list(map(str, v)), object)),
}
PARAMS = NUMBERS | OTHERS
NO_INDICES = ["list", "numpy", "array.array", "arrow", "torch"]


def length_of(result: Any) -> int:
    return int(result.shape[0]) if hasattr(result, "shape") else len(result)


def of_its_kind(result: Any, params: Any) -> None:
    kind = np.ndarray if isinstance(params, (list, tuple)) else type(params)
    expected = memoryview if isinstance(params, ctypes.Array) else kind
    assert isinstance(result, expected), (type(result), expected)
    if isinstance(params, (pa.Array, pa.ChunkedArray)):
        assert result.type == params.type
        result.validate(full=True)


@pytest.mark.parametrize("indices", NO_INDICES)
@pytest.mark.parametrize("kind", PARAMS)
def test_no_indices(kind: str, indices: str) -> None:
    for values in ([1, 2, 3], []):
        params = PARAMS[kind](values)
        result = libgather.gather(params, NUMBERS[indices]([]))
        of_its_kind(result, params)
        assert length_of(result) == 0


@pytest.mark.parametrize("kind", PARAMS)
def test_no_tuples(kind: str) -> None:
    params = PARAMS[kind]([1, 2, 3])
    result = libgather.gather_nd(params, np.zeros((0, 1), "i8"))
    of_its_kind(result, params)
    assert length_of(result) == 0


@pytest.mark.parametrize("kind", NUMBERS)
def test_every_kind_of_no_indices(kind: str) -> None:
    assert libgather.gather(np.arange(3.0), NUMBERS[kind]([])).shape == (0,)
    assert libgather.gather(np.zeros((0, 2)), NUMBERS[kind]([])).shape == (0, 2)


@pytest.mark.parametrize("kind", NUMBERS)
def test_index_into_empty_dim_is_out_of_bounds(kind: str) -> None:
    with pytest.raises(libgather.IndexError):
        libgather.gather(NUMBERS[kind]([]), NUMBERS[kind]([0]))


@pytest.mark.parametrize("kind", [kind for kind in NUMBERS if kind not in ("list", "tuple")])
def test_plans(kind: str) -> None:
    params, indices = NUMBERS[kind]([1, 2, 3]), NUMBERS[kind]([])
    plan = libgather.Plan(params, libgather.Spec(libgather.Tensor(indices).dtype, (-1,)))
    result = plan(params, indices)
    of_its_kind(result, params)
    assert length_of(result) == 0
    out = np.zeros(0, libgather.Tensor(params).dtype)
    assert plan(params, indices, out) is out
    if kind != "numpy big-endian":  # A bound plan would not see changes of it.
        assert plan.bind(params, indices, out)() is out


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (2, 0, 3), (0, 0)])
@pytest.mark.parametrize("kind", ["arrow", "arrow bool", "arrow string", "arrow dictionary", "arrow chunks"])
def test_arrow_of_more_dims(kind: str, shape: tuple[int, ...]) -> None:
    result = libgather.gather(PARAMS[kind]([1, 2, 3]), np.zeros(shape, "i8"))
    assert len(result) == shape[0] and result.to_pylist() == np.zeros(shape).tolist()
    result.validate(full=True)


def test_empty_memory_has_an_address() -> None:
    """Some consumers of buffers crash on a NULL address, so the test runs in a new process."""
    code = """
import libgather, pyarrow
assert pyarrow.py_buffer(libgather.Tensor.zeros((0, 3)).memory()).size == 0
assert libgather.gather(pyarrow.array([1, 2, 3]), []).to_pylist() == []
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
