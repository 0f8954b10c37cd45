"""One-node ONNX models."""

from onnx import TensorProto, helper

from .. import profiles

NEWEST_OPSET = 21
OP_TYPES = {"gather": "Gather", "gather_nd": "GatherND", "gather_elements": "GatherElements"}
TYPES = {
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "complex64": TensorProto.COMPLEX64,
    "complex128": TensorProto.COMPLEX128,
    **{f"int{b}": getattr(TensorProto, f"INT{b}") for b in (8, 16, 32, 64)},
    **{f"uint{b}": getattr(TensorProto, f"UINT{b}") for b in (8, 16, 32, 64)},
}
# The numbers that each release of ONNX would have written. Old readers reject newer numbers.
IR_VERSION = 8


def expresses(case):
    """Returns true if the operator has the attributes, types and opset of the case."""
    if case.params.dtype not in TYPES or case.indices.dtype not in TYPES:
        return False
    if profiles.definition(case.op, case.opset) is None:
        return False
    return case.axis is None if case.op == "gather_nd" else case.batch_dims == 0


def build(case, known_ranks=True, widen_bfloat16=False):
    """Returns a model with unknown extents. So the run validates the case, and not the shape inference.

    `widen_bfloat16` adds an exact cast to float32 for readers that cannot return bfloat16.
    """
    attributes = {}
    if case.op != "gather_nd" and case.axis is not None:
        attributes["axis"] = case.axis
    if case.op == "gather_nd" and case.batch_dims:
        attributes["batch_dims"] = case.batch_dims
    out_type = TYPES[case.params.dtype]
    nodes = [helper.make_node(OP_TYPES[case.op], ["params", "indices"], ["out"], **attributes)]
    if widen_bfloat16:
        nodes = [
            helper.make_node(OP_TYPES[case.op], ["params", "indices"], ["narrow"], **attributes),
            helper.make_node("Cast", ["narrow"], ["out"], to=TensorProto.FLOAT),
        ]
        out_type = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "case",
        [
            helper.make_tensor_value_info(name, TYPES[t.dtype], [None] * len(t.shape) if known_ranks else None)
            for name, t in (("params", case.params), ("indices", case.indices))
        ],
        [helper.make_tensor_value_info("out", out_type, None)],
    )
    opset = helper.make_opsetid("", case.opset or NEWEST_OPSET)
    return helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
