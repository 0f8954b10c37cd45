"""GatherND of a scalar in ONNX Runtime. It runs the node if the model does not state the rank."""

from .build import gather_nd, same_index, strings, table


def cases():
    p = "ort/scalar_params/"
    for shape in ((0,), (1, 0), (3, 0), (2, 3, 0), (0, 0), (0, 3, 0), (2, 0, 0)):
        yield gather_nd(p + "indices_" + "_".join(map(str, shape)), table(), same_index(0, *shape))
    for shape in ((1,), (2,), (0, 1), (2, 1), (0, 2), (2, 0, 1)):
        yield gather_nd(p + "too_deep_" + "_".join(map(str, shape)), table(), same_index(0, *shape))
    yield gather_nd(p + "scalar_indices", table(), same_index(0))
    for b in (-1, 1, 2):
        yield gather_nd(p + f"batch_dims_{b}", table(), same_index(0, 2, 0), batch_dims=b)
    for opset in (11, 12, 13):
        yield gather_nd(p + f"opset_{opset}", table(dtype="int16"), same_index(0, 2, 0), opset=opset)
    yield gather_nd(p + "string", strings(b"row"), same_index(0, 2, 0))
