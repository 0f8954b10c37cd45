"""Small tensors for the cases: contents, index values and memory layouts."""

import itertools
import math
from dataclasses import replace

from . import dtypes, numbers
from .format import Tensor, row_major_strides
from .numbers import limits

WORDS = (b"", b"a", b"gather", b"\xc3\xa4\xc3\xb6", b"row 3", b"\xe2\x82\xac", b"xyz", b"0")
BACKGROUND = b"\xee"  # memory between the elements of a strided tensor


def params(dtype, shape):
    """Returns elements that differ as far as the dtype allows, without NaN."""
    count = math.prod(shape)
    kind = dtypes.ALL[dtype].kind
    if kind == "string":
        return Tensor(dtype, shape, tuple(WORDS[i % len(WORDS)] for i in range(count)))
    if kind == "float8":
        # Below 0x65 every float8 format has ordinary positive numbers.
        return Tensor(dtype, shape, bytes(1 + i * 37 % 100 for i in range(count)))
    if kind == "bool":
        values = [i * 5 % 7 < 3 for i in range(count)]
    elif kind == "complex":
        values = [complex(i + 0.5, -(i + 1)) for i in range(count)]
    else:
        factor = 3 if kind in ("float", "bfloat16") else 7
        values = [numbers.rounded(dtype, (i + 1) * factor) for i in range(count)]
    return Tensor(dtype, shape, numbers.pack(dtype, values))


def array(dtype, shape, values):
    """Returns a tensor of the values. Elements of strings are bytes."""
    if dtype == "string":
        return Tensor(dtype, tuple(shape), tuple(values))
    return Tensor(dtype, tuple(shape), numbers.pack(dtype, values))


def indices(dtype, shape, values):
    size, signed = dtypes.ALL[dtype].size, dtypes.ALL[dtype].kind == "int"
    memory = b"".join(v.to_bytes(size, "little", signed=signed) for v in values)
    return Tensor(dtype, tuple(shape), memory)


def good_index(rng, dtype, size, wraps):
    lowest = -size if wraps and limits(dtype)[0] < 0 else 0
    return rng.randrange(lowest, size)


def bad_index(rng, dtype, size, wraps, far):
    """Returns an index that is out of bounds under `reject` or `wrap`. `far` allows the ends of the dtype."""
    low, high = limits(dtype)
    below = -size - 1 if wraps else -1
    candidates = [size, size + 1, size + 3, below, below - 1, below - 4]
    if far:
        candidates += [low, high, high - 1]
    return rng.choice([c for c in candidates if low <= c <= high and not below < c < size])


def strided(rng, t):
    """Returns the same tensor in permuted, padded, reversed memory with an offset of any alignment."""
    size = dtypes.ALL[t.dtype].size
    strides, lead, step = [0] * len(t.shape), rng.choice([0, 1, size, 3]), size
    offset = lead
    for d in rng.sample(range(len(t.shape)), len(t.shape)):
        reverse = rng.random() < 0.4
        strides[d] = -step if reverse else step
        offset += step * (t.shape[d] - 1) if reverse else 0
        step = step * t.shape[d] + rng.choice([0, 0, 1, size])
    return scattered(t, offset, tuple(strides))


def repeated(rng, dtype, shape):
    """Returns a tensor that repeats along one dim by a stride of 0."""
    d = rng.randrange(len(shape))
    once = params(dtype, tuple(1 if i == d else n for i, n in enumerate(shape)))
    strides = list(row_major_strides(once.shape, dtypes.ALL[dtype].size))
    strides[d] = 0
    return replace(once, shape=shape, strides=tuple(strides))


def scattered(t, offset, strides):
    size = dtypes.ALL[t.dtype].size
    starts = [offset + sum(c * s for c, s in zip(at, strides)) for at in itertools.product(*map(range, t.shape))]
    memory = bytearray(BACKGROUND * (max(starts, default=0) + size))
    for start, element in zip(starts, t.elements()):
        memory[start : start + size] = element
    return Tensor(t.dtype, t.shape, bytes(memory), offset, strides)
