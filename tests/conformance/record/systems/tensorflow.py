"""TensorFlow on the CPU: the raw kernels, and the Python functions where only they have batch_dims."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

from .. import oracle, profiles
from . import common

SOURCE = f"tensorflow-cpu {tf.__version__}"

# Unknown to TensorFlow even as types, so there is no kernel to ask.
FLOAT8_WITHOUT_TYPE = frozenset({"float8_e3m4", "float8_e4m3", "float8_e8m0fnu"})
INT64_EXTREMES = (-(2**63), 2**63 - 1)


def expresses(case):
    if case.params.dtype in FLOAT8_WITHOUT_TYPE:
        return False
    if case.op == "gather_nd":
        gpu_has_it = case.indices.dtype in profiles.index_dtypes(case.profile, case.op)
        return case.axis is None and _policy(case) is not None and (case.profile == "tensorflow" or gpu_has_it)
    return case.profile == "tensorflow" and common.keeps_switches(case)


def _policy(case):
    """bad_indices_policy; IGNORE on the CPU is also what every GPU build does."""
    if case.variant is not None:
        return case.variant.removeprefix("policy=") if case.variant.startswith("policy=") else "DEFAULT"
    switches = oracle.switches(case)
    return {("reject", "error", "zero"): "DEFAULT", ("reject", "fill", "zero"): "IGNORE"}.get(switches)


def risky(case):
    return case.axis in INT64_EXTREMES or (case.indices.dtype == "int16" and case.indices.size > 32767)


def run(case):
    params, indices = _constant(case.params), _constant(case.indices)
    if case.op == "gather_nd":
        return _array(_gather_nd(case, params, indices))
    if case.variant == "batch_gather":
        return _array(tf.compat.v1.batch_gather(params, indices))
    if case.variant == "python":
        return _array(tf.gather(params, indices, axis=case.axis, batch_dims=case.batch_dims))
    axis = case.batch_dims if case.axis is None else case.axis
    axis = tf.constant(axis, tf.int64)
    return _array(tf.raw_ops.GatherV2(params=params, indices=indices, axis=axis, batch_dims=case.batch_dims))


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
