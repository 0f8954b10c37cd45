"""Writes rows.onnx, a model with one node, whose operator is in the domain libgather."""

import onnx
from onnx import TensorProto, helper

node = helper.make_node("Rows", ["table", "ids"], ["rows"], domain="libgather")
table = helper.make_tensor_value_info("table", TensorProto.FLOAT, [3, 2])
ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])
rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 2])
graph = helper.make_graph([node], "rows", [table, ids], [rows])
opsets = [helper.make_opsetid("", 20), helper.make_opsetid("libgather", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), "rows.onnx")
