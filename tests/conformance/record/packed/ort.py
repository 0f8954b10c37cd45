"""GatherBlockQuantized of ONNX Runtime: blocks of integers with scales and zero points apart."""

import random

from .. import data
from ..format import Tensor
from . import call

#: The dtype of the data, the bits of a code, the name of the codec, and the zero point if none is given.
KINDS = {
    "int4": ("int4", 4, "int4", 0),
    "uint4": ("uint4", 4, "uint4", 0),
    "uint8_8": ("uint8", 8, "uint8", 128),
    "uint8_4": ("uint8", 4, "uint4", 8),
    "uint8_2": ("uint8", 2, "uint2", 2),
}
INT4, UINT4 = 4, 260  # GTH_DTYPE_*
OPERAND = 3  # GTH_PLACE_*


def cases():
    for kind in KINDS:
        for turn in range(6):
            yield decoded(kind, turn)
        yield outside(kind)
    yield every_code()


def decoded(kind, turn):
    rng = random.Random(f"ort {kind} {turn}")
    _, width, _, _ = KINDS[kind]
    block = (16, 32, 16, 64, 16, 128)[turn]
    # The last block of some rows is shorter. The blocks of int4 are even, since its zero points have no gaps.
    values = (32, 64, 24, 96, 16 + 8 // width, 130)[turn]
    values -= values % (8 // width)
    dtype = ("float32", "float16")[turn % 2]
    return make(rng, f"ort/{kind}/random_{turn}", kind, block, values, dtype, turn >= 2)


def outside(kind):
    """An index out of bounds gives zeros, and -1 is the last row."""
    rng = random.Random(f"ort {kind} outside")
    found = make(rng, f"ort/{kind}/outside", kind, 16, 32, "float32", True, [1, 3, -1, -4, 0])
    return call.replace(found, negative="wrap", bounds="fill")


def every_code():
    rng = random.Random("ort codes")
    found = make(rng, "ort/uint8_8/codes", "uint8_8", 256, 256, "float32", True)
    return call.replace(found, params=Tensor("float32", (1, 256), bytes(range(256))), **only_row(found))


def only_row(found):
    scales, zeros = found.scales, found.zeros
    first = Tensor(scales.dtype, (1, 1), scales.memory[:4]), Tensor(zeros.dtype, (1, 1), zeros.memory[:1])
    return {"scales": first[0], "zeros": first[1], "indices": data.indices("int64", (1,), [0])}


def make(rng, name, kind, block, values, dtype, has_zeros, ids=None):
    dtype_of_data, width, codec, default = KINDS[kind]
    count, rows = -(-values // block), 3
    table = [rng.randbytes(values * width // 8) for _ in range(rows)]
    text, zeros = f"{codec} block_values={block}", None
    if has_zeros:
        shares = width == 4 and (dtype_of_data == "uint8" or count % 2 == 0)
        zeros = zero_points(rng, dtype_of_data, width, rows, count, shares)
        text += f" zero_place={OPERAND} zero_dtype={(INT4 if dtype_of_data == 'int4' else UINT4) if shares else 0}"
    else:
        text += f" zero={default}"
    scales = call.scales(rng, dtype, (rows, count))
    ids = [rng.randrange(rows) for _ in range(2)] if ids is None else ids
    found = call.gather(rng, name, text, table, values, ids, dtype, scales=scales, zeros=zeros)
    return call.replace(found, indices=data.indices(rng.choice(("int32", "int64")), (len(ids),), ids))


def zero_points(rng, dtype, width, rows, count, shares):
    """Returns the zero points: two of them share a byte, or each has a byte."""
    if shares:
        size = (count + 1) // 2
        pad = 0x0F if count % 2 else 0xFF
        found = b"".join(rng.randbytes(size - 1) + bytes([rng.randrange(256) & pad]) for _ in range(rows))
        return Tensor("uint8", (rows, size), found)
    if dtype == "int4":
        return data.indices("int8", (rows, count), [rng.randint(-8, 7) for _ in range(rows * count)])
    return Tensor("uint8", (rows, count), bytes(rng.randrange(1 << width) for _ in range(rows * count)))


def ask(case):
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper

    kind = case.name.split("/")[1]
    dtype, width, _, _ = KINDS[kind]
    _, fields = call.fields(case.codec)
    rows, values = case.params.shape
    count = case.scales.shape[1]
    number = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4, "uint8": TensorProto.UINT8}[dtype]
    per_byte = 1 if dtype != "uint8" else 8 // width
    constants = [helper.make_tensor("data", number, [rows, values // per_byte], case.params.memory, raw=True)]
    scale = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}[case.scales.dtype]
    constants.append(helper.make_tensor("scales", scale, case.scales.shape, case.scales.memory, raw=True))
    if case.zeros is not None:
        constants.append(zeros_of(case, helper, number, dtype, width, count))
    inputs = ["data", "indices", "scales", "zeros"][: 4 if case.zeros is not None else 3]
    attributes = {"bits": width} if dtype == "uint8" else {}
    node = helper.make_node(
        "GatherBlockQuantized",
        inputs,
        ["out"],
        domain="com.microsoft",
        gather_axis=0,
        quantize_axis=1,
        block_size=int(fields["block_values"]),
        **attributes,
    )
    indices = case.indices.numpy()
    index = {"int32": TensorProto.INT32, "int64": TensorProto.INT64}[case.indices.dtype]
    graph = helper.make_graph(
        [node],
        "packed",
        [helper.make_tensor_value_info("indices", index, indices.shape)],
        [helper.make_tensor_value_info("out", scale, None)],
        constants,
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    (out,) = session.run(None, {"indices": np.array(indices)})
    return f"onnxruntime {onnxruntime.__version__}", call.as_dtype(out, case)


def zeros_of(case, helper, number, dtype, width, count):
    """Returns the zero points as the operator packs them."""
    rows, given = case.zeros.shape[0], case.zeros.memory
    shares = case.codec.endswith(("=4", "=260"))
    if dtype == "uint8":
        per_byte = 8 // width
        packed = (
            given if shares or width == 8 else b"".join(pack(given[i * count :][:count], width) for i in range(rows))
        )
        return helper.make_tensor("zeros", number, [rows, -(-count // per_byte)], packed, raw=True)
    packed = given if shares else pack([byte & 15 for byte in given], 4)
    return helper.make_tensor("zeros", number, [rows, count], packed, raw=True)


def pack(codes, width):
    per_byte = 8 // width
    groups = [codes[i : i + per_byte] for i in range(0, len(codes), per_byte)]
    return bytes(sum(code << width * j for j, code in enumerate(group)) for group in groups)
