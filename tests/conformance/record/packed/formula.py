"""Formats without a system that can be asked, by exact arithmetic. Each number is rounded once.

MLX has rows of affine codes, but it rounds their products, too. faiss has columns with a scale and a bias.
"""

import math
import random
import struct
from fractions import Fraction

from .. import data, numbers
from . import call

SOURCE = "fractions exact"
OPERAND, FUSED, UINT8 = 3, 1, 1  # GTH_PLACE_*, GTH_RULE_*, GTH_CODE_*


def cases():
    for bits in (8, 4, 2):
        for turn, (block, values, dtype) in enumerate(
            ((32, 64, "float32"), (64, 64, "float16"), (128, 128, "bfloat16"), (32, 96, "float32"))
        ):
            yield affine(bits, turn, block, values, dtype)
    for turn, values in enumerate((1, 5, 33)):
        yield columns(turn, values)
    for turn, (block, values) in enumerate(((64, 128), (0, 33), (32, 40))):
        yield groups(turn, block, values)


def affine(bits, turn, block, values, dtype):
    rng = random.Random(f"affine {bits} {turn}")
    rows = [rng.randbytes(values * bits // 8) for _ in range(3)]
    shape = (3, values // block)
    kind = "float32" if turn == 3 else ("float16", "bfloat16")[turn % 2]
    scales, zeros = call.scales(rng, kind, shape), call.scales(rng, kind, shape)
    codec = f"affine{bits} block_values={block}"
    return call.gather(
        rng, f"formula/affine{bits}/random_{turn}", codec, rows, values, [2, 1], dtype, scales=scales, zeros=zeros
    )


def columns(turn, values):
    rng = random.Random(f"columns {turn}")
    rows = [rng.randbytes(values) for _ in range(4)]
    scales, zeros = (call.scales(rng, "float32", (1, values)) for _ in range(2))
    codec = f". code={UINT8} rule={FUSED} scale_place={OPERAND} zero_place={OPERAND} block_values=1"
    return call.gather(
        rng, f"formula/columns/random_{turn}", codec, rows, values, [3, 0, 2], scales=scales, zeros=zeros
    )


def groups(turn, block, values):
    """int8 with a scale and a zero point for a row or a group."""
    rng = random.Random(f"groups {turn}")
    rows = [rng.randbytes(values) for _ in range(3)]
    shape = (3, -(-values // block) if block else 1)
    zeros = data.indices("int8", shape, [rng.randint(-128, 127) for _ in range(math.prod(shape))])
    codec = f"int8 block_values={block} zero_place={OPERAND}"
    scales = call.scales(rng, ("float32", "bfloat16", "float16")[turn], shape)
    return call.gather(rng, f"formula/int8/random_{turn}", codec, rows, values, [1, 2], scales=scales, zeros=zeros)


def ask(case):
    import numpy as np

    name, fields = call.fields(case.codec)
    values = case.params.shape[1]
    block = int(fields.get("block_values", 0)) or values
    bits = int(name.removeprefix("affine")) if name.startswith("affine") else 8
    scales, zeros = rows_of(case.scales), rows_of(case.zeros)
    out = []
    for i in case.indices.integers():
        row = call.rows_of(case)[i]
        for j in range(values):
            code = row[j * bits // 8] >> j * bits % 8 & (1 << bits) - 1
            scale, zero = (each[i % len(each)][j // block] for each in (scales, zeros))
            if name == "int8":
                code = code - 256 if code > 127 else code
                out.append(rounded(Fraction(code - zero) * Fraction(scale)) or (code - zero) * scale)
            else:
                out.append(rounded(code * Fraction(scale) + Fraction(zero)))
    shape = (len(case.indices.integers()), values)
    return SOURCE, call.as_dtype(np.array(out, np.float32).reshape(shape), case)


def rows_of(tensor):
    found, width = tensor.numbers(), tensor.shape[1]
    return [found[i : i + width] for i in range(0, len(found), width)]


def rounded(exact):
    """Returns the nearest float32. The double in between is rounded to odd, so that it does not decide a tie."""
    size = abs(exact)
    bits = struct.unpack("<q", struct.pack("<d", float(size)))[0]
    if Fraction(float(size)) > size:
        bits -= 1
    if Fraction(float(size)) != size:
        bits |= 1
    number = struct.unpack("<d", struct.pack("<q", bits))[0]
    return numbers.unpack("float32", numbers.pack("float32", [math.copysign(number, exact)]))[0]
