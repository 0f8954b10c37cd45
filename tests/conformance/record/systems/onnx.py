"""ONNX's own type checks, shape inference and reference evaluator."""

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from . import common, onnx_model

SOURCE = f"onnx {onnx.__version__}"

SLOW_INDEX = 10**6


def expresses(case):
    return common.keeps_switches(case) and onnx_model.expresses(case)


def risky(case):
    """np.choose(mode="wrap"), behind GatherElements, adds or subtracts the number of rows once per turn."""
    return case.op == "gather_elements" and any(abs(i) > SLOW_INDEX for i in case.indices.integers())


def run(case):
    model = onnx_model.build(case)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    params = case.params.numpy()
    if case.params.dtype == "string":
        params = np.vectorize(bytes.decode, otypes=[object])(params) if params.size else params
    (result,) = ReferenceEvaluator(model).run(None, {"params": params, "indices": case.indices.numpy()})
    result = np.asarray(result)
    if result.dtype != object and result.dtype.kind not in "US":
        return result
    encoded = np.empty(result.shape, dtype=object)
    encoded.reshape(-1)[:] = [str(e).encode() for e in result.reshape(-1)]
    return encoded
