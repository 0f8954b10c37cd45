"""NumPy has take for gather, and take_along_axis, which only raises, for gather_elements.

gather_nd is x[i, j], or ravel_multi_index and take.
"""

import math

import numpy as np

from .. import policy
from . import common

SOURCE = f"numpy {np.__version__}"

MODES = {"numpy_raise": "raise", "numpy_wrap": "wrap", "numpy_clip": "clip"}
# np.take(mode="wrap") adds or subtracts the size once per turn of a loop.
SLOW_INDEX = 10**6


def expresses(case):
    if not common.keeps_switches(case) or not common.composes_batches(case):
        return False
    if case.op == "gather_elements":
        return case.profile == "numpy_raise"
    if case.op == "gather":
        return True
    return case.axis is None and case.batch_dims >= 0 and _expresses_tuples(case)


def _expresses_tuples(case):
    indices, params = case.indices.shape, case.params.shape
    if not indices or indices[-1] == 0:
        return False
    if case.profile == "numpy_raise":
        return True
    # ravel_multi_index has no batch dims and no empty dims, and accepts no numbers above int64.
    fits = all(i <= policy.INT64_MAX for i in case.indices.integers())
    return case.batch_dims == 0 and fits and indices[-1] <= len(params) and 0 not in params[: indices[-1]]


def risky(case):
    if case.profile != "numpy_wrap" or case.op != "gather":
        return False
    far = any(abs(i) > SLOW_INDEX for i in case.indices.integers())
    axis, _ = common.axis_and_batches(case)
    empty_axis = -len(case.params.shape) <= axis < len(case.params.shape) and case.params.shape[axis] == 0
    return far or (empty_axis and case.params.shape.count(0) > 1)


def run(case):
    params, indices, mode = _array(case.params), case.indices.numpy(), MODES[case.profile]
    if case.op == "gather_elements":
        result = np.take_along_axis(params, indices, axis=case.axis or 0)
    elif case.op == "gather":
        axis, batches = common.axis_and_batches(case)
        result = common.take_by_batch(lambda p, i, a: np.take(p, i, axis=a, mode=mode), params, indices, axis, batches)
    elif mode == "raise":
        result = params[tuple(common.tuple_components(indices, case.batch_dims))]
    else:
        result = _ravelled(params, indices, mode)
    return _objects(result) if case.params.dtype == "string" else np.asarray(result)


def _ravelled(params, indices, mode):
    k = indices.shape[-1]
    components = tuple(indices[..., i].astype(np.intp) for i in range(k))
    flat = np.ravel_multi_index(components, params.shape[:k], mode=mode)
    return params.reshape(math.prod(params.shape[:k]), *params.shape[k:])[flat]


def _array(t):
    if t.dtype != "string":
        return t.numpy()
    width = max(map(len, t.memory), default=1) or 1
    return np.array(list(t.memory), dtype=f"S{width}").reshape(t.shape)


def _objects(result):
    result = np.asarray(result)
    objects = np.empty(result.shape, dtype=object)
    objects.reshape(-1)[:] = result.reshape(-1).tolist()
    return objects
