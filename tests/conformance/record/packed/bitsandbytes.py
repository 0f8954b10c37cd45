"""NF4 and FP4 of bitsandbytes on the CPU."""

import random

from . import call

NAMES = ("nf4", "fp4")


def cases():
    for name in NAMES:
        for turn, (block, values, dtype) in enumerate(
            ((64, 128, "float32"), (128, 128, "float16"), (64, 64, "bfloat16"))
        ):
            yield decoded(name, turn, block, values, dtype)
        yield codes(name)


def decoded(name, turn, block, values, dtype):
    rng = random.Random(f"bitsandbytes {name} {turn}")
    rows = [rng.randbytes(values // 2) for _ in range(3)]
    scales = call.scales(rng, "float32", (3, values // block))
    codec = f"{name} block_values={block}"
    return call.gather(rng, f"bitsandbytes/{name}/random_{turn}", codec, rows, values, [2, 0], dtype, scales=scales)


def codes(name):
    """Every code occurs in both halves of a byte, with scales of both signs."""
    rng = random.Random(f"bitsandbytes {name} codes")
    row = bytes(i * 16 + (i * 7 + 3) % 16 for i in range(16)) * 2
    codec = f"{name} block_values=64"
    scales = call.Tensor("float32", (2, 1), call.numbers.pack("float32", [1.0, -0.3]))
    return call.gather(rng, f"bitsandbytes/{name}/codes", codec, [row, row], 64, [0, 1], scales=scales)


def ask(case):
    import bitsandbytes
    import numpy as np
    import torch
    from bitsandbytes.functional import dequantize_4bit

    name, fields = call.fields(case.codec)
    packed = torch.from_numpy(np.frombuffer(case.params.memory, np.uint8).copy())
    absmax = torch.from_numpy(np.array(case.scales.numpy()).reshape(-1))
    dtype = getattr(torch, case.params.dtype)
    state = bitsandbytes.functional.QuantState(
        absmax,
        shape=torch.Size(case.params.shape),
        code=bitsandbytes.functional.get_4bit_type(name, device="cpu"),
        blocksize=int(fields["block_values"]),
        quant_type=name,
        dtype=dtype,
    )
    rows = dequantize_4bit(packed.reshape(-1, 1), state)[torch.from_numpy(case.indices.numpy().astype(np.int64))]
    found = call.as_dtype(rows.to(torch.float32).numpy(), case)
    return f"bitsandbytes {bitsandbytes.__version__}", found
