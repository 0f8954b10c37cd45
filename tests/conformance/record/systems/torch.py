"""torch on the CPU: index_select for gather, x[i, j] for gather_nd, torch.gather for gather_elements.

torch.take_along_dim is the profile with two switches: bounds are modulo, extents broadcast.
"""

import numpy as np
import torch

from .. import dtypes, policy
from . import common

SOURCE = f"torch {torch.__version__.split('+')[0]}"

TAKE_ALONG_DIM = ("reject", "modulo", "zero"), "broadcast"

TYPES = {n: getattr(torch, n) for n in dtypes.NUMERIC if hasattr(torch, n)}


def expresses(case):
    if case.params.dtype not in TYPES or case.indices.dtype not in TYPES:
        return False
    if case.op == "gather_elements" and is_take_along_dim(case):
        ranked = case.params.shape and len(case.params.shape) == len(case.indices.shape)
        return bool(ranked) and case.batch_dims == 0 and case.indices.dtype == "int64"
    if not common.keeps_switches(case) or not common.composes_batches(case):
        return False
    if case.op in ("gather", "gather_elements"):
        return True
    if case.axis is not None or case.batch_dims < 0 or not case.indices.shape:
        return False
    return case.indices.shape[-1] > 0


def is_take_along_dim(case):
    return (policy.switches(case), policy.extents(case)) == TAKE_ALONG_DIM


def risky(case):
    return False


def run(case):
    if case.variant == "index_select":
        selected = torch.index_select(
            _tensor(case.params.numpy(), case.params.dtype), case.axis, _index(case.indices.numpy())
        )
        return _array(selected, case.params.dtype)
    if case.op == "gather":
        axis, batches = common.axis_and_batches(case)
        indices = case.indices.numpy()
        return common.take_by_batch(
            lambda p, i, a: _take(case.params.dtype, p, i, a), case.params.numpy(), indices, axis, batches
        )
    if case.op == "gather_elements":
        function = torch.take_along_dim if is_take_along_dim(case) else _gather
        params = _tensor(case.params.numpy(), case.params.dtype)
        return _array(function(params, _index(case.indices.numpy()), case.axis or 0), case.params.dtype)
    components = common.tuple_components(case.indices.numpy(), case.batch_dims)
    result = _tensor(case.params.numpy(), case.params.dtype)[tuple(map(_index, components))]
    return _array(result, case.params.dtype)


def _gather(params, indices, axis):
    return torch.gather(params, axis, indices)


def _take(dtype, params, indices, axis):
    """index_select accepts only a list of indices. The shape of the indices is restored, as embedding does."""
    source = _tensor(params, dtype)
    selected = torch.index_select(source, axis, _index(indices.reshape(-1)))
    axis = axis % source.dim() if source.dim() else axis
    shape = (*source.shape[:axis], *indices.shape, *source.shape[axis + 1 :])
    return _array(selected, dtype).reshape(shape)


def _index(array):
    return torch.from_numpy(np.array(array))


def _tensor(array, dtype):
    """The elements are converted by bytes, because torch does not read ml_dtypes."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.size == 0:
        return torch.empty(array.shape, dtype=TYPES[dtype])
    flat = torch.frombuffer(bytearray(array.tobytes()), dtype=torch.uint8)
    return flat.view(TYPES[dtype]).reshape(array.shape)


def _array(result, dtype):
    numpy_dtype = dtypes.ALL[dtype].numpy
    if result.numel() == 0:
        return np.empty(tuple(result.shape), numpy_dtype)
    raw = result.contiguous().reshape(-1).view(torch.uint8).numpy()
    return raw.view(numpy_dtype).reshape(tuple(result.shape))
