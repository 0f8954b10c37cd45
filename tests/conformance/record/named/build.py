"""Short functions for writing cases by hand."""

import numpy as np

from .. import data, dtypes
from ..format import Case, Tensor

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
UINT64_MAX = 2**64 - 1


def gather(name, params, indices, **options):
    return Case(name, "gather", params, indices, profile=name.split("/")[0], **options)


def gather_nd(name, params, indices, **options):
    return Case(name, "gather_nd", params, indices, profile=name.split("/")[0], **options)


def gather_elements(name, params, indices, **options):
    return Case(name, "gather_elements", params, indices, profile=name.split("/")[0], **options)


def table(*shape, dtype="float32"):
    """Returns params with any contents."""
    return data.params(dtype, shape)


def values(nested, dtype="float32"):
    array = np.array(nested, dtype=dtypes.ALL[dtype].numpy)
    return Tensor(dtype, array.shape, array.tobytes())


def strings(nested):
    array = np.array(nested, dtype=object)
    return Tensor("string", array.shape, tuple(array.reshape(-1)))


def index(nested, dtype="int64"):
    array = np.array(nested, dtype=object)
    return data.indices(dtype, array.shape, array.reshape(-1).tolist())


def same_index(value, *shape, dtype="int64"):
    """Returns indices of any shape that all have one value. The shape may be empty."""
    return data.indices(dtype, shape, [value] * int(np.prod(shape)))


def stretched(*shape, dtype="uint8"):
    """Returns a tensor of any size over one element. Every stride is 0."""
    once = data.params(dtype, (1,))
    return Tensor(dtype, shape, once.memory, 0, (0,) * len(shape))


def stretched_index(*shape, dtype="int64"):
    return Tensor(dtype, shape, bytes(dtypes.ALL[dtype].size), 0, (0,) * len(shape))
