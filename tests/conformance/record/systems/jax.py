"""JAX on the CPU: jnp.take, x.at[i, j].get for gather_nd, jnp.take_along_axis for gather_elements."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

from . import common

SOURCE = f"jax {jax.__version__}"

MODES = {"jax_fill": "fill", "jax_clip": "clip"}


def expresses(case):
    if not common.keeps_switches(case) or not common.composes_batches(case):
        return False
    if case.op in ("gather", "gather_elements"):
        return True
    if case.axis is not None or case.batch_dims < 0 or not case.indices.shape:
        return False
    return case.indices.shape[-1] > 0


def risky(case):
    return False


def run(case):
    with jax.enable_x64(case.variant != "32-bit"):
        params, indices = (
            jnp.asarray(np.array(case.params.numpy())),
            jnp.asarray(np.array(case.indices.numpy())),
        )
        return np.asarray(call(case, params, indices))


def call(case, params, indices):
    mode = MODES[case.profile]
    if case.op == "gather":
        return _take(case, params, indices, mode)
    if case.op == "gather_elements":
        return jnp.take_along_axis(params, indices, axis=case.axis or 0, mode=mode)
    components = common.tuple_components(np.asarray(indices), case.batch_dims)
    return params.at[tuple(map(jnp.asarray, components))].get(mode=mode)


def _take(case, params, indices, mode):
    axis, batches = common.axis_and_batches(case)

    def take(p, i):
        return jnp.take(p, i, axis=axis - batches, mode=mode)

    for _ in range(batches):
        take = jax.vmap(take)
    return take(params, indices)
