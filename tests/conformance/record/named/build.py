"""Short functions for writing cases by hand."""

import math

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
    return data.array(dtype, *flattened(nested))


def strings(nested):
    return data.array("string", *flattened(nested))


def index(nested, dtype="int64"):
    return data.indices(dtype, *flattened(nested))


def flattened(nested):
    """Returns the shape of nested lists and their numbers in order."""
    if not isinstance(nested, list):
        return (), [nested]
    parts = [flattened(part) for part in nested]
    shape = parts[0][0] if parts else ()
    return (len(nested), *shape), [number for _, numbers in parts for number in numbers]


def same_index(value, *shape, dtype="int64"):
    """Returns indices of any shape that all have one value. The shape may be empty."""
    return data.indices(dtype, shape, [value] * math.prod(shape))


def stretched(*shape, dtype="uint8"):
    """Returns a tensor of any size over one element. Every stride is 0."""
    once = data.params(dtype, (1,))
    return Tensor(dtype, shape, once.memory, 0, (0,) * len(shape))


def stretched_index(*shape, dtype="int64"):
    return Tensor(dtype, shape, bytes(dtypes.ALL[dtype].size), 0, (0,) * len(shape))
