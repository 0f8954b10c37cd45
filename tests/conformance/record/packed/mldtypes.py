"""float8 and float4 numbers as ml_dtypes converts them, times their scale in float32."""

import random

from ..format import Tensor
from . import call

CODECS = {"fp8_e4m3fn": "float8_e4m3fn", "fp8_e5m2": "float8_e5m2", "e2m1": "float4_e2m1fn"}
#: The dtype of scales, and the numbers in a block. 0: a row.
FORMS = (("float32", 0), ("float16", 32), ("bfloat16", 64), ("float8_e8m0fnu", 32), ("float32", 128))


def cases():
    for name in CODECS:
        for turn, (dtype, block) in enumerate(FORMS):
            yield decoded(name, turn, dtype, block)
        yield of_table(name)
        yield codes(name)
    for dtype in ("float8_e8m0fnu", "float8_e4m3fn"):
        yield every_scale(dtype, 0)
        yield every_scale(dtype, 0.3)
    yield of_factor()


def width_of(name):
    return 4 if name == "e2m1" else 8


def decoded(name, turn, dtype, block):
    rng = random.Random(f"ml_dtypes {name} {turn}")
    values = {0: 50, 32: 96, 64: 72, 128: 128}[block]
    rows = [rng.randbytes(values * width_of(name) // 8) for _ in range(4)]
    scales = call.scales(rng, dtype, (4, -(-values // block) if block else 1))
    codec = f"{name} block_values={block}"
    out = ("float32", "float32", "bfloat16", "float32", "float16")[turn]
    return call.gather(rng, f"ml_dtypes/{name}/random_{turn}", codec, rows, values, [2, 3], out, scales=scales)


def of_table(name):
    rng = random.Random(f"ml_dtypes {name} table")
    rows = [rng.randbytes(20) for _ in range(3)]
    scales = call.scales(rng, "float32", (1, 1))
    return call.gather(rng, f"ml_dtypes/{name}/table", name, rows, 160 // width_of(name), [1], scales=scales)


def codes(name):
    """Each row has every code, and a special scale."""
    rng = random.Random(f"ml_dtypes {name} codes")
    row = bytes(range(256)) if name != "e2m1" else bytes(i * 16 + (i * 7 + 3) % 16 for i in range(16))
    found = (0x3F800000, 0x80000000, 0x00000001, 0x7F800000)
    scales = Tensor("float32", (len(found), 1), b"".join(call.bits("float32", each) for each in found))
    ids = list(range(len(found)))
    return call.gather(
        rng, f"ml_dtypes/{name}/codes", name, [row] * 4, len(row) * 8 // width_of(name), ids, scales=scales
    )


def every_scale(dtype, factor):
    """Each block has another scale. Only a digest of the answer is recorded."""
    rng = random.Random(f"ml_dtypes {dtype} {factor}")
    rows = [rng.randbytes(16 * 8) for _ in range(16)]
    scales = Tensor(dtype, (16, 16), bytes(range(256)))
    name = f"ml_dtypes/e2m1/{dtype}" + ("_and_factor" if factor else "")
    codec = f"e2m1 block_values=16 factor={factor}"
    return call.gather(rng, name, codec, rows, 256, list(range(16))[::-1], scales=scales)


def of_factor():
    """Rows of NVFP4 with blocks apart: a scale for each block, and a factor of the table."""
    rng = random.Random("ml_dtypes factor")
    rows = [rng.randbytes(40) for _ in range(3)]
    scales = Tensor("float8_e4m3fn", (3, 5), bytes(rng.choice((0x00, 0x01, 0x38, 0x7E, 0x7F, 0xB5)) for _ in range(15)))
    return call.gather(
        rng, "ml_dtypes/e2m1/factor", "e2m1 block_values=16 factor=0.0123", rows, 80, [2, 1], scales=scales
    )


def ask(case):
    import ml_dtypes
    import numpy as np

    name, fields = call.fields(case.codec)
    table = np.array([list(row) for row in call.rows_of(case)], np.uint8)
    if name == "e2m1":
        table = np.stack([table & 15, table >> 4], -1).reshape(len(table), -1)
    numbers = table.view(getattr(ml_dtypes, CODECS[name])).astype(np.float32)
    scales = case.scales.numpy().astype(np.float32) * np.float32(fields.get("factor", 0) or 1)
    block = int(fields.get("block_values", 0)) or case.params.shape[1]
    columns = np.arange(case.params.shape[1]) // block
    scales = np.broadcast_to(scales, (len(table), scales.shape[1]))[:, columns]
    with np.errstate(all="ignore"):
        rows = (numbers * scales)[case.indices.numpy().astype(np.int64)]
        return f"ml_dtypes {ml_dtypes.__version__}", call.as_dtype(rows, case)
