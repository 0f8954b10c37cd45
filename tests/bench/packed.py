"""Times packed rows beside float32 rows, torch, ONNX Runtime and gguf, and prints the tables of docs/packed.md.

    packed.py [--kinds gathers bags torch others] [--columns N...] [--megabytes N...] [--rounds N]

It times the Python package on one core. The results of peers are compared with ours before they are timed. A size is
that of the float32 table, and each call reads rows of 4 MB of float32 numbers. Contestants take turns in each round.
"""

import argparse
import datetime
import functools
import statistics
import time

import numpy as np

import libgather

GROUP = 20  # the ids of a bag
NUMBERS = 1 << 20  # of the rows that a call reads

#: The numbers of a block, its bytes, and the bytes at which its float16 scales begin.
BLOCKS = {
    "q8_0": (32, 34, [0]),
    "q4_0": (32, 18, [0]),
    "q4_k": (256, 144, [0, 2]),
    "q6_k": (256, 210, [208]),
}
ROWWISE = {"rowwise8": 8, "rowwise4": 4}
#: The bits of a code and the numbers of a block (0: the row) of formats whose scales are operands.
OPERANDS = {"int4": (4, 32), "fp8_e4m3fn": (8, 0), "nf4": (4, 64)}
FORMATS = [*ROWWISE, *BLOCKS, *OPERANDS]


def table_of(name, rows, columns, r):
    """Returns a packed table and its arrays, or None if rows cannot have the columns. It repeats rows of 16 MB."""
    least = min(rows, max(1, (4 << 20) // columns))
    if name in ROWWISE:
        tail = np.array([0.01, -1], np.float32 if name == "rowwise8" else np.float16).view(np.uint8)
        codes = r.integers(0, 256, (least, columns * ROWWISE[name] // 8), np.uint8)
        data = np.concatenate([codes, np.broadcast_to(tail, (least, tail.size))], axis=1)
        return libgather.Packed(name, repeated(data, rows)), {"data": repeated(data, rows)}
    if name in BLOCKS:
        values, size, places = BLOCKS[name]
        if columns % values:
            return None
        data = r.integers(0, 256, (least, columns // values, size), np.uint8)
        for place in places:
            data[..., place : place + 2] = np.array([0.01], np.float16).view(np.uint8)
        data = repeated(data.reshape(least, -1), rows)
        return libgather.Packed(name, data), {"data": data}
    bits, block = OPERANDS[name]
    data = repeated(r.integers(0, 256 if bits == 4 else 120, (least, columns * bits // 8), np.uint8), rows)
    scales = r.random((rows, columns // (block or columns)), np.float32)
    packed = libgather.Packed(name, data, columns, scales=scales, block=block or None)
    return packed, {"data": data, "scales": scales}


def repeated(part, rows):
    return np.resize(part, (rows, part.shape[1]))


def rows_of(columns, megabytes):
    return max(1, megabytes * (1 << 20) // (4 * columns))


def compare(contestants, rounds):
    """Returns the median seconds of each. All run in the calling thread, so other programs do not count."""
    times = [[] for _ in contestants]
    for turn in range(rounds + 1):
        for k in np.random.default_rng(turn).permutation(len(contestants)):
            begin = time.thread_time()
            contestants[k](turn)
            if turn:
                times[k].append(time.thread_time() - begin)
    return [statistics.median(each) for each in times]


def drawn(r, rows, count, rounds):
    return [r.integers(0, rows, count) for _ in range(rounds + 1)]


def gather_into(table, ids, out, k):
    libgather.gather(table, ids[k], out=out)


def bags_of(table, ids, out, **options):
    offsets = np.arange(0, len(ids[0]) + 1, len(ids[0]) // len(out))
    return lambda k: libgather.gather_bags(table, ids[k], offsets=offsets, out=out, **options)


def print_table(given, title, names, ratios_of):
    print(f"\n{title}\n\n| |" + "".join(f" {size} MB |" for size in given.megabytes))
    print("|---|" + "---|" * len(given.megabytes))
    for name in names:
        cells = []
        for size in given.megabytes:
            ratios = [ratios_of(name, rows_of(columns, size), columns) for columns in given.columns]
            cells.append(", ".join("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_gathers(given, r):
    def ratio(name, rows, columns):
        found = table_of(name, rows, columns, r)
        if found is None:
            return None
        dense, count = repeated(r.random((min(rows, 1 << 12), columns), np.float32), rows), NUMBERS // columns
        ids, out = drawn(r, rows, count, given.rounds), np.empty((count, columns), np.float32)
        calls = [functools.partial(gather_into, table, ids, out) for table in (found[0], dense)]
        ours, theirs = compare(calls, given.rounds)
        return ours / theirs

    print_table(given, "Gathers: the time beside that of float32 rows", FORMATS, ratio)


def print_bags(given, r):
    def ratio(name, rows, columns):
        found = table_of(name, rows, columns, r)
        if found is None:
            return None
        dense, bags = repeated(r.random((min(rows, 1 << 12), columns), np.float32), rows), NUMBERS // columns // GROUP
        ids, out = drawn(r, rows, bags * GROUP, given.rounds), np.empty((bags, columns), np.float32)
        ours, theirs = compare([bags_of(found[0], ids, out), bags_of(dense, ids, out)], given.rounds)
        return ours / theirs

    print_table(given, f"Bags of {GROUP}: the time beside that of float32 rows", FORMATS, ratio)


def print_torch(given, r):
    import torch

    torch.set_num_threads(1)
    of_torch = {
        "rowwise8": torch.ops.quantized.embedding_bag_byte_rowwise_offsets,
        "rowwise4": torch.ops.quantized.embedding_bag_4bit_rowwise_offsets,
    }

    def ratio(name, rows, columns, group):
        packed, arrays = table_of(name, rows, columns, r)
        bags = NUMBERS // columns // group
        ids, out = drawn(r, rows, bags * group, given.rounds), np.empty((bags, columns), np.float32)
        table, theirs_ids = torch.from_numpy(arrays["data"]), [torch.from_numpy(each) for each in ids]
        offsets = torch.arange(0, bags * group + 1, group)
        operator = functools.partial(of_torch[name], include_last_offset=True)
        ours = bags_of(packed, ids, out, profile="torch")
        if group == 1:
            ours = functools.partial(gather_into, packed, ids, out)
        ours(0)
        assert np.array_equal(out, operator(table, theirs_ids[0], offsets).numpy()), name
        our_time, their_time = compare([ours, lambda k: operator(table, theirs_ids[k], offsets)], given.rounds)
        return their_time / our_time

    for group, ours in ((1, "of a gather"), (GROUP, "of bags")):
        title = f"The time of bags of {group} of torch {torch.__version__} divided by that {ours}"
        print_table(given, title, ROWWISE, functools.partial(ratio, group=group))


# ---- Peers that decode all rows after a gather


def gguf_peer(name, arrays, ids):
    import gguf

    kind = gguf.GGMLQuantizationType[name.upper()]
    return lambda k: gguf.quants.dequantize(np.take(arrays["data"], ids[k], axis=0), kind)


def ort_peer(arrays, ids):
    import onnx
    import onnxruntime

    helper, kinds = onnx.helper, onnx.TensorProto
    rows, size = arrays["data"].shape
    codes = helper.make_tensor("data", kinds.INT4, [rows, size * 2], arrays["data"].tobytes(), raw=True)
    scales = onnx.numpy_helper.from_array(arrays["scales"], "scales")
    options = {"domain": "com.microsoft", "gather_axis": 0, "quantize_axis": 1, "block_size": OPERANDS["int4"][1]}
    node = helper.make_node("GatherBlockQuantized", ["data", "ids", "scales"], ["out"], **options)
    given = [helper.make_tensor_value_info("ids", kinds.INT64, [None])]
    made = [helper.make_tensor_value_info("out", kinds.FLOAT, [None, None])]
    graph = helper.make_graph([node], "gather", given, made, [codes, scales])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    session_options = onnxruntime.SessionOptions()
    session_options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), session_options)
    return lambda k: session.run(None, {"ids": ids[k]})[0]


def fp8_peer(arrays, ids):
    import torch

    torch.set_num_threads(1)
    codes, scales = torch.from_numpy(arrays["data"]), torch.from_numpy(arrays["scales"])
    theirs = [torch.from_numpy(each) for each in ids]
    return lambda k: (codes[theirs[k]].view(torch.float8_e4m3fn).to(torch.float32) * scales[theirs[k]]).numpy()


def print_others(given, r):
    peers = {
        "q8_0, gguf": ("q8_0", functools.partial(gguf_peer, "q8_0")),
        "q4_0, gguf": ("q4_0", functools.partial(gguf_peer, "q4_0")),
        "q6_k, gguf": ("q6_k", functools.partial(gguf_peer, "q6_k")),
        "int4, ONNX Runtime": ("int4", ort_peer),
        "fp8_e4m3fn, torch": ("fp8_e4m3fn", fp8_peer),
    }

    def ratio(line, rows, columns):
        name, peer_of = peers[line]
        found = table_of(name, rows, columns, r)
        if found is None:
            return None
        packed, arrays = found
        count = NUMBERS // columns
        ids, out = drawn(r, rows, count, given.rounds), np.empty((count, columns), np.float32)
        peer, ours = peer_of(arrays, ids), functools.partial(gather_into, packed, ids, out)
        ours(0)
        assert np.array_equal(out, peer(0)), line
        our_time, their_time = compare([ours, peer], given.rounds)
        return their_time / our_time

    print_table(given, "Gathers: the time of a peer divided by ours", peers, ratio)


def main():
    kinds = {"gathers": print_gathers, "bags": print_bags, "torch": print_torch, "others": print_others}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=list(kinds))
    parser.add_argument("--columns", type=int, nargs="+", default=[64, 256, 1024, 4096])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 32, 1024])
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    print(f"{datetime.date.today()}, columns {given.columns}")
    for kind in given.kinds:
        kinds[kind](given, np.random.default_rng(1))


if __name__ == "__main__":
    main()
