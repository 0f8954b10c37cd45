"""The calls of each system: it differentiates the gather, and returns the gradient of params for a gradient of the
output.
"""

import numpy as np

from ..scatter import systems as scatters
from ..systems import common
from . import grid


def ask(case):
    """Returns (source, result). The result is an array, an exception, or NOT_EXPRESSED."""
    name = scatters.OF_PROFILE.get(case.profile)
    if name is None or case.accumulate:
        return None, scatters.NOT_EXPRESSED
    return scatters.answer(name, ASK[name], case)


def ask_jax(module, case):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        params, indices, gradient = (
            jnp.asarray(np.array(t.numpy())) for t in (case.params, case.indices, case.updates)
        )
        _, back = jax.vjp(lambda p: module.call(grid.gather_of(case), p, indices), params)
        return np.asarray(back(gradient)[0])


def ask_tensorflow(module, case):
    import tensorflow as tf

    params, indices, gradient = map(module._constant, (case.params, case.indices, case.updates))
    with tf.GradientTape() as tape:
        tape.watch(params)
        gathered = module.call(grid.gather_of(case), params, indices)
    if gathered.shape != gradient.shape:
        return scatters.NOT_EXPRESSED  # TensorFlow does not check this
    return tf.convert_to_tensor(tape.gradient(gathered, params, gradient)).numpy()


def ask_torch(module, case):
    import torch

    torch.use_deterministic_algorithms(True)
    params = module._tensor(case.params.numpy(), case.params.dtype).requires_grad_()
    gradient = module._tensor(case.updates.numpy(), case.updates.dtype)
    indices, axis = torch.from_numpy(np.array(case.indices.numpy())), case.axis or 0
    if case.padding_index is not None:
        if case.op != "gather_gradient" or len(case.params.shape) != 2 or axis or case.padding_index < 0:
            return scatters.NOT_EXPRESSED
        gathered = torch.nn.functional.embedding(indices, params, padding_idx=case.padding_index)
    elif case.op == "gather_gradient":
        if case.batch_dims or case.indices.numpy().ndim != 1:
            return scatters.NOT_EXPRESSED
        gathered = torch.index_select(params, axis, indices)
    elif case.op == "gather_elements_gradient":
        if case.indices.dtype != "int64":
            return scatters.NOT_EXPRESSED
        gathered = torch.gather(params, axis, indices)
    else:
        components = common.tuple_components(case.indices.numpy(), case.batch_dims)
        gathered = params[tuple(torch.from_numpy(np.array(c)) for c in components)]
    gathered.backward(gradient)
    return module._array(params.grad, case.params.dtype)


ASK = {"jax": ask_jax, "tensorflow": ask_tensorflow, "torch": ask_torch}
