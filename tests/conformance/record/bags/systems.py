"""The calls of each system. The other formats of bags are converted to its own, if they are valid."""

import itertools
import math

import numpy as np

from .. import policy
from ..scatter import systems as scatters
from ..scatter.systems import NOT_EXPRESSED
from . import oracle

FLOATS = ("float16", "bfloat16", "float32", "float64")
HALVES = ("float16", "bfloat16")


def ask(case):
    """Returns (source, result). The result is an array, an exception, or NOT_EXPRESSED."""
    name = scatters.OF_PROFILE.get(case.profile)
    if name is None or case.negative or case.bounds or case.empty:
        return None, NOT_EXPRESSED
    return scatters.answer(name, ASK[name], case)


def borders(case):
    """Returns the borders of valid bags, or None."""
    try:
        return oracle.borders(case)
    except policy.Refused:
        return None


def shape_of(case, count):
    leading = case.indices.shape[:-1] if case.bags is None else (count,)
    return (*leading, *case.params.shape[1:])


def ask_torch(module, case):
    import torch

    params, weights, mode = case.params, case.weights, oracle.pool_of(case)
    if params.dtype not in FLOATS or mode not in ("sum", "mean", "max") or case.accumulate == "dtype":
        return NOT_EXPRESSED
    if weights is not None and (mode != "sum" or weights.dtype != params.dtype):
        return NOT_EXPRESSED
    if case.padding_index is not None and not 0 <= case.padding_index < params.shape[0]:
        return NOT_EXPRESSED  # torch counts a negative padding_idx from the end
    if case.indices.dtype not in ("int32", "int64") or not case.indices.size or not math.prod(params.shape):
        return NOT_EXPRESSED
    begin = borders(case)
    if begin is None and not (case.bag_format in ("offsets", "starts") and mode == "sum" and params.dtype == "float32"):
        return NOT_EXPRESSED  # Some wrong offsets end the process.
    table = module._tensor(params.numpy(), params.dtype).reshape(params.shape[0], -1)
    ids = torch.from_numpy(np.array(case.indices.numpy()))
    more = {}
    if case.bags is None:
        ids = ids.reshape(-1, ids.shape[-1])
    else:
        numbers = case.bags.integers() if case.bag_format in ("offsets", "starts") else begin
        more = {"offsets": torch.tensor(numbers, dtype=ids.dtype), "include_last_offset": case.bag_format != "starts"}
    if weights is not None:
        more["per_sample_weights"] = module._tensor(weights.numpy(), weights.dtype).reshape(ids.shape)
    result = torch.nn.functional.embedding_bag(ids, table, mode=mode, padding_idx=case.padding_index, **more)
    return module._array(result, params.dtype).reshape(shape_of(case, len(result)))


def ask_tensorflow(module, case):
    import tensorflow as tf

    params, weights, pool = case.params, case.weights, oracle.pool_of(case)
    if case.accumulate == "dtype" or case.indices.dtype not in ("int32", "int64") or not math.prod(params.shape):
        return NOT_EXPRESSED
    if weights is not None and (params.dtype not in FLOATS or pool in oracle.EXTREMES):
        return NOT_EXPRESSED
    if not oracle.has_pool(params.dtype, pool) or (pool == "mean" and params.dtype not in FLOATS):
        return NOT_EXPRESSED
    table, ids = module._constant(params), module._constant(case.indices)
    bags = ragged(tf, case, tf.reshape(ids, [-1]))
    if case.padding_index is not None:
        result = looked_up(tf, case, table, bags, tf.nn.safe_embedding_lookup_sparse)
    elif weights is not None:
        result = looked_up(tf, case, table, bags, tf.nn.embedding_lookup_sparse)
    elif pool in oracle.EXTREMES:
        function = tf.math.segment_max if pool == "max" else tf.math.segment_min
        rows = bags.value_rowids()
        if not len(rows) or int(rows[-1]) + 1 < int(bags.nrows()):
            return NOT_EXPRESSED  # There are as many results as the last number states.
        result = function(tf.gather(table, bags.values), rows)
    elif params.dtype in FLOATS:
        function = {"sum": tf.sparse.segment_sum, "mean": tf.sparse.segment_mean, "sqrtn": tf.sparse.segment_sqrt_n}[
            pool
        ]
        rows = tf.cast(bags.value_rowids(), ids.dtype)
        result = function(table, bags.values, rows, num_segments=tf.cast(bags.nrows(), ids.dtype))
    else:
        result = tf.math.unsorted_segment_sum(tf.gather(table, bags.values), bags.value_rowids(), bags.nrows())
    if isinstance(result, str):
        return result
    result = np.asarray(result)
    return result.reshape(shape_of(case, len(result))) if len(result) == int(bags.nrows()) else result


def ragged(tf, case, ids):
    """Returns the ids of each bag. TensorFlow validates the numbers of the format."""
    if case.bags is None:
        count, length = math.prod(case.indices.shape[:-1]), case.indices.shape[-1]
        return tf.RaggedTensor.from_row_lengths(ids, tf.constant([length] * count, tf.int64))
    numbers = tf.constant(case.bags.integers(), tf.int64)
    make = {
        "offsets": tf.RaggedTensor.from_row_splits,
        "starts": tf.RaggedTensor.from_row_starts,
        "lengths": tf.RaggedTensor.from_row_lengths,
        "segments": lambda values, rows: tf.RaggedTensor.from_value_rowids(values, rows, nrows=case.bag_count),
    }
    return make[case.bag_format](ids, numbers)


def looked_up(tf, case, table, bags, function):
    """Calls a lookup. Its ids are a sparse matrix with a row for each bag, and its table is a matrix."""
    if oracle.pool_of(case) in oracle.EXTREMES or case.params.dtype not in FLOATS:
        return NOT_EXPRESSED
    if case.padding_index not in (None, -1):
        return NOT_EXPRESSED
    sparse = bags.to_sparse()
    weights = None
    if case.weights is not None:
        flat = tf.reshape(tf.constant(np.array(case.weights.numpy())), [-1])
        weights = tf.SparseTensor(sparse.indices, flat, sparse.dense_shape)
    result = function(tf.reshape(table, [len(table), -1]), sparse, weights, combiner=oracle.pool_of(case))
    return tf.reshape(result, [-1, *case.params.shape[1:]])


def ask_jax(module, case):
    import jax
    import jax.numpy as jnp

    params, weights, pool = case.params, case.weights, oracle.pool_of(case)
    functions = {"sum": jax.ops.segment_sum, "max": jax.ops.segment_max, "min": jax.ops.segment_min}
    if pool not in functions or not oracle.has_pool(params.dtype, pool) or case.padding_index is not None:
        return NOT_EXPRESSED
    if weights is not None and (params.dtype not in ("float32", "float64") or pool != "sum"):
        return NOT_EXPRESSED
    if params.dtype in HALVES and case.accumulate == "float32":
        return NOT_EXPRESSED
    segments = case.bags.integers() if case.bag_format == "segments" else segments_of(borders(case))
    if segments is None:
        return NOT_EXPRESSED
    count = case.bag_count if case.bag_format == "segments" else len(borders(case)) - 1
    with jax.enable_x64(True):
        ids = jnp.asarray(np.array(case.indices.numpy()).reshape(-1))
        rows = jnp.take(jnp.asarray(np.array(params.numpy())), ids, axis=0, mode=module.MODES[case.profile])
        if weights is not None:
            flat = jnp.asarray(np.array(weights.numpy()).reshape(-1))
            rows = rows * flat.reshape(-1, *[1] * (rows.ndim - 1))
        result = np.asarray(functions[pool](rows, jnp.asarray(segments, jnp.int64), num_segments=count))
    return result.reshape(shape_of(case, count))


def segments_of(begin):
    if begin is None:
        return None
    return [bag for bag, (first, end) in enumerate(itertools.pairwise(begin)) for _ in range(first, end)]


ASK = {"jax": ask_jax, "tensorflow": ask_tensorflow, "torch": ask_torch}
