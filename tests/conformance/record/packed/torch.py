"""Row-wise tables of torch: unpacked rows, and sums of bags in the profile torch."""

import itertools
import random

from .. import data, numbers
from ..format import Case, Tensor
from . import call
from .call import SPECIAL, bits

#: The bits of a code, and the dtype of scale and bias.
KINDS = {"rowwise8": (8, "float32"), "rowwise4": (4, "float16"), "rowwise2": (2, "float16")}


def cases():
    for name in KINDS:
        yield from unpacked(name)
        yield special(name)
        for turn in range(8):
            yield pooled(name, turn)
    yield every_scale()
    yield per_channel()


def row(rng, name, values, scale=None, bias=None):
    width, dtype = KINDS[name]
    scale, bias = scale or call.scale(rng, dtype), bias or call.scale(rng, dtype)
    return rng.randbytes(values * width // 8) + scale + bias


def unpacked(name):
    # torch rounds twice in the last values of 8 bits that are no group of 8.
    for turn, values in enumerate((8, 16, 64, 136) if name == "rowwise8" else (4, 12, 60, 132)):
        rng = random.Random(f"torch {name} {turn}")
        rows = [row(rng, name, values) for _ in range(5)]
        found = call.gather(
            rng, f"torch/{name}/unpacked_{turn}", name, rows, values, [rng.randrange(5), rng.randrange(5)]
        )
        yield call.strided(rng, found) if turn == 2 else found


def special(name):
    """Each row has another pair of special numbers."""
    rng = random.Random(f"torch {name} special")
    dtype = KINDS[name][1]
    found = SPECIAL[dtype]
    pairs = [(found[i], found[(i * 5 + 2) % len(found)]) for i in range(len(found))]
    rows = [row(rng, name, 8, bits(dtype, scale), bits(dtype, bias)) for scale, bias in pairs]
    return call.gather(rng, f"torch/{name}/special", name, rows, 8, list(range(len(rows))))


def pooled(name, turn):
    rng = random.Random(f"torch {name} bag {turn}")
    width = KINDS[name][0]
    values = (1, 7, 8, 16, 24, 33, 40, 67)[turn]
    values += -values % (8 // width)
    rows = [row(rng, name, values) for _ in range(7)]
    lengths = [0, 1, 3, 11] if turn != 4 else [1, 1]
    ids = [rng.randrange(7) for _ in range(sum(lengths))]
    borders = [0, *itertools.accumulate(lengths)]
    weights = Tensor("float32", (len(ids),), numbers.pack("float32", [rng.gauss(0, 2) for _ in ids]))
    dtype = rng.choice(("int32", "int64"))
    return Case(
        f"torch/{name}/bags_{turn}",
        "gather_bags",
        Tensor("float32", (len(rows), values), b"".join(rows)),
        data.indices(dtype, (len(ids),), ids),
        "torch",
        bag_format="offsets",
        codec=name,
        bags=data.indices(dtype, (len(borders),), borders),
        weights=weights if turn % 2 else None,
    )


def every_scale():
    """Each row has another float16 scale. Only a digest of the answer is recorded."""
    rng = random.Random("torch scales")
    rows = [
        row(rng, "rowwise4", 2, bits("float16", d), bits("float16", rng.randrange(1 << 16))) for d in range(1 << 16)
    ]
    return call.gather(rng, "torch/rowwise4/scales", "rowwise4", rows, 2, list(range(len(rows)))[::-1])


def per_channel():
    """A quantised tensor with a scale and a zero point for each row."""
    rng = random.Random("torch channels")
    rows = [rng.randbytes(64) for _ in range(4)]
    return call.gather(
        rng,
        "torch/int8/channels",
        "int8 zero_place=3",
        rows,
        64,
        [3, 0],
        scales=call.scales(rng, "float32", (4, 1)),
        zeros=data.indices("int8", (4, 1), [rng.randint(-128, 127) for _ in range(4)]),
    )


def ask(case):
    import numpy as np
    import torch

    name = case.codec.split(" ")[0]
    source = f"torch {torch.__version__.split('+')[0]}"
    width = 64 if name == "int8" else case.params.shape[1] * KINDS[name][0] // 8 + (8 if name == "rowwise8" else 4)
    table = torch.from_numpy(np.array([list(each[:width]) for each in call.rows_of(case)], np.uint8))
    ids = torch.from_numpy(case.indices.numpy().astype(np.int64))
    if case.op == "gather_bags":
        return source, bag(torch, case, name, table).numpy()
    if name == "int8":
        scale, zero = (torch.from_numpy(np.array(each.numpy()).reshape(-1)) for each in (case.scales, case.zeros))
        quantised = torch._make_per_channel_quantized_tensor(table.view(torch.int8), scale, zero.to(torch.int32), 0)
        return source, quantised.dequantize()[ids].numpy()
    unpack = {
        "rowwise8": torch.ops.quantized.embedding_bag_byte_unpack,
        "rowwise4": torch.ops.quantized.embedding_bag_4bit_unpack,
        "rowwise2": torch.ops.quantized.embedding_bag_2bit_unpack,
    }[name]
    return source, unpack(table)[ids].numpy()


def bag(torch, case, name, table):
    import numpy as np

    pool = {
        "rowwise8": torch.ops.quantized.embedding_bag_byte_rowwise_offsets,
        "rowwise4": torch.ops.quantized.embedding_bag_4bit_rowwise_offsets,
        "rowwise2": torch.ops.quantized.embedding_bag_2bit_rowwise_offsets,
    }[name]
    ids, offsets = (torch.from_numpy(np.array(each.numpy())) for each in (case.indices, case.bags))
    weights = torch.from_numpy(np.array(case.weights.numpy())) if case.weights is not None else None
    return pool(table, ids, offsets, per_sample_weights=weights, include_last_offset=True)
