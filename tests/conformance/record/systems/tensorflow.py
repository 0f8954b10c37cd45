"""TensorFlow on the CPU: the raw kernels, and the Python functions where only they have batch_dims.

gather_elements is Gather with the axis moved to the end and all other dims as batch dims. For the zeros of the GPU, it
is GatherNd with IGNORE over whole coordinates. NumPy's take_along_axis in TensorFlow is the profile with two switches:
indices wrap, extents broadcast.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

from .. import elements, policy, profiles
from . import common

SOURCE = f"tensorflow-cpu {tf.__version__}"

# TensorFlow does not have these types, so there is no kernel.
FLOAT8_WITHOUT_TYPE = frozenset({"float8_e3m4", "float8_e4m3", "float8_e8m0fnu"})
TAKE_ALONG_AXIS = ("wrap", "error", "zero"), "broadcast"
INT64_EXTREMES = (-(2**63), 2**63 - 1)


def expresses(case):
    if case.params.dtype in FLOAT8_WITHOUT_TYPE:
        return False
    if case.op == "gather_elements":
        return _expresses_elements(case)
    if case.op == "gather_nd":
        gpu_has_it = case.indices.dtype in profiles.index_dtypes(case.profile, case.op)
        return case.axis is None and _policy(case) is not None and (case.profile == "tensorflow" or gpu_has_it)
    return case.profile == "tensorflow" and common.keeps_switches(case)


def _expresses_elements(case):
    if is_take_along_axis(case):
        ranked = case.params.shape and len(case.params.shape) == len(case.indices.shape)
        return bool(ranked) and case.batch_dims == 0 and case.indices.dtype in ("int32", "int64")
    if not common.keeps_switches(case) or case.indices.dtype not in profiles.index_dtypes(case.profile, case.op):
        return False
    if case.params.dtype not in profiles.params_dtypes(case.profile, case.op, case.opset):
        return False  # the CPU has kernels for strings that stand in for no kernel of a GPU
    try:
        params, _ = elements.ranked_shapes(case)
        elements.attributes(case, len(params))
        if case.profile == "tensorflow":
            return True
        elements.lower(case)
    except policy.Refused:
        return False
    # GatherNd has its own errors for empty params and long tuples.
    return 0 not in params and len(params) <= 7


def is_take_along_axis(case):
    asked = policy.switches(case), policy.extents(case)
    return case.op == "gather_elements" and case.profile == "tensorflow" and asked == TAKE_ALONG_AXIS


def _policy(case):
    """The bad_indices_policy. IGNORE on the CPU has the same result as every GPU build."""
    if case.variant is not None:
        return case.variant.removeprefix("policy=") if case.variant.startswith("policy=") else "DEFAULT"
    switches = policy.switches(case)
    return {("reject", "error", "zero"): "DEFAULT", ("reject", "fill", "zero"): "IGNORE"}.get(switches)


def risky(case):
    return case.axis in INT64_EXTREMES or (case.indices.dtype == "int16" and case.indices.size > 32767)


def run(case):
    return _array(call(case, _constant(case.params), _constant(case.indices)))


def call(case, params, indices):
    if case.op == "gather_elements":
        return _elements(case, params, indices)
    if case.op == "gather_nd":
        return _gather_nd(case, params, indices)
    if case.variant == "batch_gather":
        return tf.compat.v1.batch_gather(params, indices)
    if case.variant == "python":
        return tf.gather(params, indices, axis=case.axis, batch_dims=case.batch_dims)
    axis = case.batch_dims if case.axis is None else case.axis
    axis = tf.constant(axis, tf.int64)
    return tf.raw_ops.GatherV2(params=params, indices=indices, axis=axis, batch_dims=case.batch_dims)


def _elements(case, params, indices):
    axis, rank = case.axis or 0, len(case.params.shape)
    if is_take_along_axis(case):
        return tf.experimental.numpy.take_along_axis(params, indices, axis)
    if case.profile == "tensorflow_gpu":
        coordinates = list(np.indices(case.indices.shape, case.indices.numpy().dtype))
        coordinates[axis] = case.indices.numpy()
        tuples = tf.constant(np.stack(coordinates, -1))
        return tf.raw_ops.GatherNd(params=params, indices=tuples, bad_indices_policy="IGNORE")
    # The axis is swapped with the last dim before the call, and swapped back after it.
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    batched = {"axis": tf.constant(rank - 1, tf.int64), "batch_dims": rank - 1}
    params, indices = tf.transpose(params, order), tf.transpose(indices, order)
    return tf.transpose(tf.raw_ops.GatherV2(params=params, indices=indices, **batched), order)


def _gather_nd(case, params, indices):
    policy = _policy(case)
    if case.batch_dims == 0:
        return tf.raw_ops.GatherNd(params=params, indices=indices, bad_indices_policy=policy)
    return tf.gather_nd(params, indices, batch_dims=case.batch_dims, bad_indices_policy=policy)


def _constant(t):
    if t.dtype == "string":
        return tf.constant(t.numpy().tolist(), tf.string, t.shape)
    return tf.constant(np.array(t.numpy(), order="C"))


def _array(result):
    if result.dtype != tf.string:
        return result.numpy()
    array = np.empty(result.shape, dtype=object)
    array[...] = result.numpy()
    return array
