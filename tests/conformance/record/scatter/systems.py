"""The calls of each system.

A function of a case returns the target afterwards, raises an exception, or returns NOT_EXPRESSED.
"""

import importlib

import numpy as np

from .. import dtypes
from ..systems import common, onnx_model
from . import rules

NOT_EXPRESSED = "not expressed"

OF_PROFILE = {
    "tensorflow": "tensorflow",
    "tensorflow_gpu": "tensorflow",
    "onnx": "onnx",
    "ort": "onnxruntime",
    "numpy_raise": "numpy",
    "torch": "torch",
    "jax_fill": "jax",
    "jax_clip": "jax",
}


def ask(case):
    """Returns (source, result). The result is an array, an exception, or NOT_EXPRESSED."""
    name = OF_PROFILE.get(case.profile)
    if name is None or not keeps_switches(case) or case.batch_dims:
        return None, NOT_EXPRESSED
    return answer(name, ASK[name], case)


def answer(name, ask_system, case):
    """Returns (source, result) of a system. An exception is a result."""
    module = importlib.import_module(f"..systems.{name}", __package__)
    try:
        return module.SOURCE, ask_system(module, case)
    except Exception as refusal:
        return module.SOURCE, refusal


def keeps_switches(case):
    own = rules.TABLE[case.profile]
    return case.negative is None and case.bounds in (None, own.bounds) and case.extents in (None, own.extents)


def components(case):
    """Returns the indices in the form of NumPy: one entry for each dim of the target, and a slice for other dims."""
    indices, axis = case.indices.numpy(), case.axis or 0
    if case.op == "scatter":
        return (slice(None),) * (axis % len(case.params.shape)) + (indices,)
    if case.op == "scatter_nd":
        return tuple(common.tuple_components(indices, 0))
    mesh = list(np.ogrid[tuple(slice(extent) for extent in case.updates.shape)])
    mesh[axis] = indices
    return tuple(mesh)


def has_duplicates(case):
    """Returns true if two tuples may select the same row. Not every system defines the result then."""
    values = case.indices.numpy().reshape(-1, case.indices.shape[-1] if case.op == "scatter_nd" else 1)
    sizes = np.array(
        case.params.shape[: values.shape[1]] if case.op == "scatter_nd" else [case.params.shape[case.axis or 0]]
    )
    places = [tuple(np.where(row < 0, row + sizes, row)) for row in values.astype(np.int64)]
    return case.op == "scatter_elements" or len(set(places)) < len(places)


def ask_numpy(module, case):
    target, updates = case.params.numpy().copy(), case.updates.numpy()
    if case.op == "scatter_elements" and case.reduction in (None, "none"):
        np.put_along_axis(target, case.indices.numpy(), updates, case.axis or 0)
        return target
    at = components(case)
    functions = {
        "add": np.add,
        "mul": np.multiply,
        "max": np.maximum,
        "min": np.minimum,
    }
    if case.reduction in functions:
        functions[case.reduction].at(target, at, updates)
    else:
        target[at] = updates
    return target


def ask_jax(module, case):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    if case.params.dtype not in jax_types() or (case.op == "scatter_nd" and not case.indices.shape[-1]):
        return NOT_EXPRESSED
    at = jnp.array(case.params.numpy()).at[components(case)]
    function = {"add": at.add, "mul": at.multiply, "max": at.max, "min": at.min}.get(case.reduction, at.set)
    mode = "drop" if case.profile == "jax_fill" else "clip"
    return np.asarray(function(jnp.array(case.updates.numpy()), mode=mode))


def jax_types():
    return {name for name in dtypes.NUMERIC if dtypes.ALL[name].kind != "float8"}


def ask_torch(module, case):
    import torch

    if case.params.dtype not in module.TYPES or case.indices.dtype != "int64":
        return NOT_EXPRESSED
    if case.padding_index is not None or (case.accumulate == "float64" and case.params.dtype != "float32"):
        return NOT_EXPRESSED
    target, updates = (module._tensor(t.numpy(), t.dtype) for t in (case.params, case.updates))
    if case.accumulate == "float64":  # The sums of torch in float64, rounded.
        target, updates = target.double(), updates.double()
    index = torch.from_numpy(np.array(case.indices.numpy()))
    name = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin", "mean": "mean"}.get(case.reduction)
    includes = case.initial != "update"
    if case.op == "scatter_elements":
        if name:
            target.scatter_reduce_(case.axis or 0, index, updates, name, include_self=includes)
        else:
            target.scatter_(case.axis or 0, index, updates)
    elif case.op == "scatter":
        if len(case.indices.shape) != 1:
            return NOT_EXPRESSED
        if name in ("amax", "amin", "prod", "mean"):
            target.index_reduce_(case.axis or 0, index, updates, name, include_self=includes)
        elif not includes:
            return NOT_EXPRESSED
        else:
            (target.index_add_ if name else target.index_copy_)(case.axis or 0, index, updates)
    else:
        if (
            name not in (None, "sum")
            or not includes
            or not case.indices.shape[-1]
            or (not name and has_duplicates(case))
        ):
            return NOT_EXPRESSED
        parts = tuple(torch.from_numpy(np.array(c)) for c in common.tuple_components(case.indices.numpy(), 0))
        target.index_put_(parts, updates, accumulate=name == "sum")
    if case.accumulate == "float64":
        target = target.float()
    return module._array(target, case.params.dtype)


def ask_tensorflow(module, case):
    import tensorflow as tf

    if case.op != "scatter_nd" or case.reduction == "mul" or case.params.dtype in module.FLOAT8_WITHOUT_TYPE:
        return NOT_EXPRESSED
    if case.indices.dtype not in (
        "int16",
        "int32",
        "int64",
    ) or case.params.dtype not in rules.target_dtypes(case.profile, case.op):
        return NOT_EXPRESSED
    names = {"add": "Add", "max": "Max", "min": "Min"}
    function = getattr(tf.raw_ops, f"TensorScatter{names.get(case.reduction, 'Update')}")
    policy = "IGNORE" if case.profile == "tensorflow_gpu" else "DEFAULT"
    arguments = {"bad_indices_policy": policy} if policy != "DEFAULT" else {}
    result = function(
        tensor=module._constant(case.params),
        indices=module._constant(case.indices),
        updates=module._constant(case.updates),
        **arguments,
    )
    return module._array(result)


def onnx_node(case):
    from onnx import helper

    if case.op == "scatter" or any(t.dtype not in onnx_model.TYPES for t in (case.params, case.indices)):
        return None
    attributes = {} if case.reduction is None else {"reduction": case.reduction}
    if case.op == "scatter_elements" and case.axis is not None:
        attributes["axis"] = case.axis
    op = {"scatter_nd": "ScatterND", "scatter_elements": "ScatterElements"}[case.op]
    names = ("target", "indices", "updates")
    tensors = (case.params, case.indices, case.updates)
    out = onnx_model.TYPES[case.params.dtype]
    bfloat16 = case.params.dtype == "bfloat16" and case.profile == "ort"
    nodes = [helper.make_node(op, names, ["narrow" if bfloat16 else "out"], **attributes)]
    if bfloat16:
        out = onnx_model.TYPES["float32"]
        nodes.append(helper.make_node("Cast", ["narrow"], ["out"], to=out))
    graph = helper.make_graph(
        nodes,
        "case",
        [
            helper.make_tensor_value_info(
                n,
                onnx_model.TYPES[t.dtype],
                None if case.profile == "ort" else [None] * len(t.shape),
            )
            for n, t in zip(names, tensors)
        ],
        [helper.make_tensor_value_info("out", out, None)],
    )
    opset = helper.make_opsetid("", case.opset or onnx_model.NEWEST_OPSET)
    return helper.make_model(graph, opset_imports=[opset], ir_version=onnx_model.IR_VERSION)


def ask_onnx(module, case):
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx_node(case)
    if model is None or case.params.dtype == "string":
        return NOT_EXPRESSED
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    feeds = {
        "target": case.params.numpy().copy(),
        "indices": case.indices.numpy(),
        "updates": case.updates.numpy(),
    }
    (result,) = ReferenceEvaluator(model).run(None, feeds)
    return np.asarray(result)


def ask_onnxruntime(module, case):
    import ml_dtypes

    model = onnx_node(case)
    if model is None or case.params.dtype in module.MISSING_TYPES:
        return NOT_EXPRESSED
    session = module._session(model.SerializeToString())
    tensors = {"target": case.params, "indices": case.indices, "updates": case.updates}
    if case.params.dtype == "string":
        feeds = {n: module._texts(t) if t.dtype == "string" else t.numpy() for n, t in tensors.items()}
        return module._bytes(session.run(None, feeds)[0])
    feeds = {n: module._value(t) for n, t in tensors.items()}
    result = session.run_with_ort_values(None, feeds)[0].numpy()
    return result.astype(ml_dtypes.bfloat16) if case.params.dtype == "bfloat16" else result


ASK = {
    "numpy": ask_numpy,
    "jax": ask_jax,
    "torch": ask_torch,
    "tensorflow": ask_tensorflow,
    "onnx": ask_onnx,
    "onnxruntime": ask_onnxruntime,
}
