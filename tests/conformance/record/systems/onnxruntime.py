"""ONNX Runtime on the CPU."""

import functools

import ml_dtypes
import numpy as np
import onnxruntime as ort

from . import common, onnx_model

SOURCE = f"onnxruntime {ort.__version__}"

# These types are not in ONNX Runtime's own list of tensor types.
MISSING_TYPES = frozenset({"complex64", "complex128"})


def expresses(case):
    if case.params.dtype in MISSING_TYPES:
        return False
    return common.keeps_switches(case) and onnx_model.expresses(case)


def risky(case):
    return case.op == "gather_nd" and not 0 <= case.batch_dims <= len(case.params.shape)


def run(case):
    bfloat16, string = case.params.dtype == "bfloat16", case.params.dtype == "string"
    session = _session(onnx_model.build(case, known_ranks=False, widen_bfloat16=bfloat16).SerializeToString())
    if string:
        feeds = {"params": _texts(case.params), "indices": case.indices.numpy()}
        return _bytes(session.run(None, feeds)[0])
    feeds = {"params": _value(case.params), "indices": _value(case.indices)}
    result = session.run_with_ort_values(None, feeds)[0].numpy()
    return result.astype(ml_dtypes.bfloat16) if bfloat16 else result


@functools.lru_cache(maxsize=256)
def _session(model):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _value(t):
    array = np.array(t.numpy(), order="C")
    if t.dtype == "bfloat16":
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, onnx_model.TYPES["bfloat16"])
    return ort.OrtValue.ortvalue_from_numpy(array)


def _texts(t):
    texts = np.empty(t.shape, dtype=object)
    texts.reshape(-1)[:] = [e.decode() for e in t.memory]
    return texts


def _bytes(texts):
    encoded = np.empty(texts.shape, dtype=object)
    encoded.reshape(-1)[:] = [e.encode() for e in texts.reshape(-1)]
    return encoded
