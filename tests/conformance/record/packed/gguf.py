"""The formats of GGUF, decoded by the Python package gguf."""

import random
import struct

from . import call
from .call import SPECIAL, bits

#: The numbers and the bytes of a block, and the places of its float16 scales.
BLOCKS = {
    "q8_0": (32, 34, (0,)),
    "q4_0": (32, 18, (0,)),
    "q4_1": (32, 20, (0, 2)),
    "q5_0": (32, 22, (0,)),
    "q5_1": (32, 24, (0, 2)),
    "iq4_nl": (32, 18, (0,)),
    "q2_k": (256, 84, (80, 82)),
    "q3_k": (256, 110, (108,)),
    "q4_k": (256, 144, (0, 2)),
    "q5_k": (256, 176, (0, 2)),
    "q6_k": (256, 210, (208,)),
    "iq4_xs": (256, 136, (0,)),
    "mxfp4": (32, 17, ()),
    "nvfp4": (64, 36, ()),
}
#: The byte at which the codes of small blocks begin, and whether two codes share a byte.
CODES = {
    "q8_0": (2, 1),
    "q4_0": (2, 2),
    "q4_1": (4, 2),
    "q5_0": (6, 2),
    "q5_1": (8, 2),
    "iq4_nl": (2, 2),
    "mxfp4": (1, 2),
}
#: -0, the smallest number, the largest one and infinity.
FEW = (0x8000, 0x0001, 0xFBFF, 0x7C00)


def block(rng, name, given=()):
    """Returns a random block. `given` has the bits of its first scales."""
    _, size, places = BLOCKS[name]
    found = bytearray(rng.randbytes(size))
    if name == "mxfp4":
        found[0] = given[0] if given else rng.randint(110, 140)
    if name == "nvfp4":
        found[:4] = given or bytes(rng.randint(0, 126) for _ in range(4))
    for i, place in enumerate(places):
        found[place : place + 2] = bits("float16", given[i]) if i < len(given) else call.scale(rng, "float16")
    return bytes(found)


def cases():
    for name in BLOCKS:
        yield from plain(name)
        yield special(name)
    yield from (codes(name) for name in CODES)
    yield from many()


def plain(name):
    for turn, dtype in enumerate(("float32", "float16", "bfloat16", "float32")):
        rng = random.Random(f"gguf {name} {turn}")
        values = BLOCKS[name][0]
        count = rng.randint(2, 3) if values == 32 else 1
        rows = [b"".join(block(rng, name) for _ in range(count)) for _ in range(4)]
        ids = [rng.randrange(-4, 4) for _ in range(2)] if turn == 3 else None
        more = {"negative": "wrap"} if turn == 3 else {}
        found = call.gather(rng, f"gguf/{name}/random_{turn}", name, rows, count * values, ids, dtype, **more)
        yield call.strided(rng, found) if turn == 3 else found


def special(name):
    """Each block has another special scale."""
    rng = random.Random(f"gguf {name} special")
    values, _, _ = BLOCKS[name]
    if name == "mxfp4":
        given = [(e,) for e in (0, 1, 2, 3, 127, 128, 252, 253, 254, 255)]
    elif name == "nvfp4":
        given = [bytes(four) for four in ((0, 1, 7, 8), (0x7E, 0x7F, 0x80, 0x81), (0xFE, 0xFF, 0x38, 0xB8))]
    else:
        found = FEW if values == 256 else SPECIAL["float16"]
        given = [(d, found[(i * 5 + 2) % len(found)]) for i, d in enumerate(found)]
    row = b"".join(block(rng, name, scales) for scales in given)
    return call.gather(rng, f"gguf/{name}/special", name, [row], values * len(given), [0])


def codes(name):
    """Every code occurs in each place."""
    rng = random.Random(f"gguf {name} codes")
    at, shared = CODES[name]
    row = bytearray()
    for i in range(16 if shared == 2 else 8):
        found = bytearray(block(rng, name))
        for j in range(len(found) - at):
            found[at + j] = (i + j) % 16 * 17 if shared == 2 else i * 32 + j
        if name.startswith("q5"):
            found[at - 4 : at] = struct.pack("<I", 0xFFFF0000 if i % 2 else 0x0000FFFF)
        row += found
    ids = [0]
    return call.gather(rng, f"gguf/{name}/codes", name, [bytes(row)], len(row) // BLOCKS[name][1] * 32, ids)


def many():
    """Yields calls whose answers are recorded as digests: every scale of some formats, and many random blocks."""
    for name in ("q4_0", "q5_1"):
        rng = random.Random(f"gguf {name} scales")
        second = [rng.randrange(1 << 16) for _ in range(1 << 16)]
        yield from_blocks(rng, name, "scales", [(d, m) for d, m in enumerate(second)], 1024)
    for name in ("q8_0", "q4_1", "q5_0", "iq4_nl", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_xs"):
        rng = random.Random(f"gguf {name} scales")
        count = len(BLOCKS[name][2])
        found = [tuple(rng.randrange(1 << 16) for _ in range(count)) for _ in range(1024)]
        yield from_blocks(rng, name, "scales", found, 16)
    yield from_blocks(random.Random("mxfp4"), "mxfp4", "scales", [(e,) for e in range(256)], 64)
    fours = [bytes((4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3)) for i in range(64)]
    yield from_blocks(random.Random("nvfp4"), "nvfp4", "scales", fours, 16)


def from_blocks(rng, name, what, given, in_row):
    found = [block(rng, name, each) for each in given]
    rows = [b"".join(found[i : i + in_row]) for i in range(0, len(found), in_row)]
    ids = list(range(len(rows)))[::-1]
    return call.gather(rng, f"gguf/{name}/{what}", name, rows, in_row * BLOCKS[name][0], ids)


def ask(case):
    """Returns (source, array)."""
    import importlib.metadata

    import numpy as np
    from gguf import quants
    from gguf.constants import GGMLQuantizationType

    kind = GGMLQuantizationType[case.codec.upper()]
    values, size, _ = BLOCKS[case.codec]
    width = case.params.shape[1] // values * size
    table = np.array([list(row[:width]) for row in call.rows_of(case)], np.uint8)
    with np.errstate(all="ignore"):
        decoded = quants.dequantize(table, kind)
        rows = decoded[case.indices.numpy().astype(np.int64)]
        return f"gguf {importlib.metadata.version('gguf')}", call.as_dtype(rows, case)
