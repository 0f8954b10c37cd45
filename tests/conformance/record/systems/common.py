"""Common code of several systems: the cases that they can express, and batch dims for systems without them."""

import itertools

import numpy as np

from .. import oracle, policy, profiles


def keeps_switches(case):
    """Returns true if the case has only the policy of the profile."""
    profile = profiles.TABLE[case.profile]
    own = profiles.negative_rule(case.profile, case.op, case.opset), profile.bounds, profile.fill
    if case.op == "gather_elements" and policy.extents(case) != profile.extents:
        return False
    return policy.switches(case) == own


def composes_batches(case):
    """Returns true if batch dims can be added to a system that has none.

    Our own loop would reject invalid attributes, not the system. gather_elements has no batch dims at all.
    """
    if case.batch_dims == 0 or case.op == "gather_elements":
        return case.batch_dims == 0
    try:
        lower = oracle.lower_gather if case.op == "gather" else oracle.lower_gather_nd
        lower(case)
    except policy.Refused:
        return False
    return True


def axis_and_batches(case):
    """Returns for gather the axis in the form of the system, and the normalised number of batch dims."""
    if case.batch_dims == 0:
        return (0 if case.axis is None else case.axis), 0
    return oracle.gather_attributes(case)


def take_by_batch(take, params, indices, axis, batches):
    """Runs a gather with batch dims by calls of a `take(params, indices, axis)` that has none."""
    if batches == 0:
        return np.asarray(take(params, indices, axis))
    shape = params.shape[:batches]
    if 0 in shape:
        out_shape = (*params.shape[:axis], *indices.shape[batches:], *params.shape[axis + 1 :])
        return np.empty(out_shape, params.dtype)
    rows = [np.asarray(take(params[at], indices[at], axis - batches)) for at in itertools.product(*map(range, shape))]
    return np.stack(rows).reshape(shape + rows[0].shape)


def tuple_components(indices, batches):
    """Returns components for which x[components] is gather_nd with this number of batch dims: a mesh grid, then the
    tuples.
    """
    tuples_rank = indices.ndim - 1
    grid = [
        np.arange(indices.shape[d]).reshape([-1 if i == d else 1 for i in range(tuples_rank)]) for d in range(batches)
    ]
    return [*grid, *(np.asarray(indices[..., k]) for k in range(indices.shape[-1]))]
