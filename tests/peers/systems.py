"""NumPy, torch, ONNX Runtime and TensorFlow with one interface. Each system is imported only in its own process.

A system has
    version                          as it says itself
    profile                          of the library, that has its name
    array(memory)                    its own array over NumPy's, without a copy where it can
    gather(params, indices)          rows by index, as NumPy's array
    into(params, indices, out)       the same into an array that exists
    imported(producer)               its own array of a DLPack producer
    numpy(array)                     back
What a system cannot say raises Unable.
"""

import numpy as np


class Unable(Exception):
    """The system cannot express the input."""


class NumPy:
    profile = "numpy_raise"
    version = f"NumPy {np.__version__}"

    def array(self, memory):
        return memory

    def numpy(self, array):
        return array

    def gather(self, params, indices):
        return np.take(params, indices, axis=0)

    def into(self, params, indices, out):
        np.take(params, indices, axis=0, out=out)

    def imported(self, producer):
        return np.from_dlpack(producer)


class Torch:
    profile = "torch"

    def __init__(self):
        import torch

        self.torch = torch
        self.version = f"torch {torch.__version__.split('+')[0]}"

    def array(self, memory):
        return self.torch.from_numpy(memory)

    def numpy(self, array):
        return array.numpy()

    def gather(self, params, indices):
        return self.torch.index_select(params, 0, indices).numpy()

    def into(self, params, indices, out):
        self.torch.index_select(params, 0, indices, out=out)

    def imported(self, producer):
        return self.torch.from_dlpack(producer)


class OnnxRuntime:
    profile = "ort"

    def __init__(self):
        import onnxruntime

        self.ort, self.sessions = onnxruntime, {}
        self.version = f"ONNX Runtime {onnxruntime.__version__}"

    def array(self, memory):
        return self.ort.OrtValue.ortvalue_from_numpy(memory)

    def numpy(self, array):
        return array.numpy()

    def session(self, params, indices):
        types = params.data_type(), indices.data_type()
        if types not in self.sessions:
            self.sessions[types] = self.make_session(*types)
        return self.sessions[types]

    def make_session(self, params_type, indices_type):
        from onnx import TensorProto, helper

        names = {"float": TensorProto.FLOAT, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
        names |= {"int64": TensorProto.INT64, "int32": TensorProto.INT32}
        params, indices = (
            names[each.removeprefix("tensor(").removesuffix(")")] for each in (params_type, indices_type)
        )
        node = helper.make_node("Gather", ["params", "indices"], ["out"], axis=0)
        inputs = [("params", params), ("indices", indices)]
        graph = helper.make_graph(
            [node],
            "gather",
            [helper.make_tensor_value_info(name, kind, None) for name, kind in inputs],
            [helper.make_tensor_value_info("out", params, None)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)
        options = self.ort.SessionOptions()
        options.log_severity_level = 4
        return self.ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def gather(self, params, indices):
        session = self.session(params, indices)
        return session.run_with_ort_values(None, {"params": params, "indices": indices})[0].numpy()

    def into(self, params, indices, out):
        session = self.session(params, indices)
        binding = session.io_binding()
        binding.bind_ortvalue_input("params", params)
        binding.bind_ortvalue_input("indices", indices)
        binding.bind_ortvalue_output("out", out)
        session.run_with_iobinding(binding)

    def imported(self, producer):
        return self.ort.OrtValue.from_dlpack(producer)


class TensorFlow:
    profile = "tensorflow"

    def __init__(self):
        import tensorflow

        self.tf = tensorflow
        self.version = f"TensorFlow {tensorflow.__version__}"

    def array(self, memory):
        # TensorFlow imports dense memory at a multiple of 64 without a copy, and ends the process at other addresses.
        # Therefore only the input with odd addresses uses such memory.
        is_between = memory.ctypes.data % 64 and memory.ctypes.data % 2 == 0
        if not memory.flags.writeable or not memory.flags.c_contiguous or is_between:
            return self.tf.constant(memory)
        return self.tf.experimental.dlpack.from_dlpack(memory.__dlpack__())

    def numpy(self, array):
        return array.numpy()

    def gather(self, params, indices):
        return self.tf.gather(params, indices).numpy()

    def into(self, params, indices, out):
        raise Unable("no output of the caller's")

    def imported(self, producer):
        return self.tf.experimental.dlpack.from_dlpack(producer.__dlpack__())


SYSTEMS = {"numpy": NumPy, "torch": Torch, "onnxruntime": OnnxRuntime, "tensorflow": TensorFlow}
