"""Parts of the calls: random rows, scales, ids, and memory layouts. Rows are bytes, and shapes count numbers."""

import math
import struct
from dataclasses import replace

from .. import data, numbers
from ..format import Case, Tensor

#: Zeros, subnormal, largest and other special numbers, by their bits.
SPECIAL = {
    "float16": (
        *(0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00),
        *(0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00),
    ),
    "float32": (
        *(0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000),
        *(0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000),
    ),
}
SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}
INDICES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def bits(dtype, number):
    return number.to_bytes(SIZES[dtype], "little")


def scale(rng, dtype):
    """Returns an ordinary number of any sign. Most of its bits are in use."""
    return numbers.pack(dtype, [rng.gauss(0, 1) * 10 ** rng.uniform(-2, 1)])


def scales(rng, dtype, shape):
    """Returns an operand of scales or biases."""
    count = math.prod(shape)
    if dtype == "float8_e8m0fnu":
        return Tensor(dtype, shape, bytes(rng.randint(110, 140) for _ in range(count)))
    return Tensor(dtype, shape, b"".join(scale(rng, dtype) for _ in range(count)))


def gather(rng, name, codec, rows, values, ids=None, dtype="float32", **more):
    """Returns the call that gathers some of the rows."""
    ids = [rng.randrange(len(rows)) for _ in range(rng.randint(1, 3))] if ids is None else ids
    lowest = min(ids, default=0)
    allowed = [d for d in INDICES if data.limits(d)[0] <= lowest and max(ids, default=0) <= data.limits(d)[1]]
    indices = data.indices(rng.choice(allowed), (len(ids),), ids)
    return Case(name, "gather", Tensor(dtype, (len(rows), values), b"".join(rows)), indices, codec=codec, **more)


def strided(rng, case):
    """Returns the same call with rows in reverse order, and with gaps between them."""
    t = case.params
    width = len(t.memory) // t.shape[0]
    step, lead = width + rng.randint(1, 9), rng.randint(0, 5)
    offset = lead + step * (t.shape[0] - 1)
    memory = bytearray(data.BACKGROUND * (offset + width))
    for i in range(t.shape[0]):
        memory[offset - i * step : offset - i * step + width] = t.memory[i * width : (i + 1) * width]
    return replace(case, params=replace(t, memory=bytes(memory), offset=offset, strides=(-step, 0)))


def rows_of(case):
    """Returns the rows as bytes. Rows with gaps end with the bytes of a gap."""
    t = case.params
    count = math.prod(t.shape[:-1])
    if t.strides is None:
        width = len(t.memory) // count
        return [t.memory[i * width : (i + 1) * width] for i in range(count)]
    starts = [t.offset + i * t.strides[0] for i in range(count)]
    width = min([abs(t.strides[0]), *(len(t.memory) - start for start in starts)])
    return [t.memory[start : start + width] for start in starts]


def fields(codec):
    """Returns the name and the fields of a codec, as numbers."""
    name, *others = codec.split(" ")
    return name, {key: float(value) for key, value in (other.split("=") for other in others)}


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def as_dtype(array, case):
    """Returns the float32 numbers of a system, rounded once to the dtype of the call."""
    from .. import dtypes

    return array.astype(dtypes.ALL[case.params.dtype].numpy)
