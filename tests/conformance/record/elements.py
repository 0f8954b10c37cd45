"""gather_elements in the oracle. Each element of the output selects its own row along the axis.

out[i, j, k] = params[i, indices[i, j, k], k]        for axis 1 of rank 3
"""

import itertools
from dataclasses import dataclass

from . import profiles
from .policy import AXIS_FIELD, BATCH_DIMS_FIELD, Refused, extents, filler, resolve, switches


@dataclass(frozen=True)
class Form:
    """A checked call.

    The shapes of the operands have rank 1 at least. The shape of the output is that of the caller.
    """

    axis: int
    params: tuple
    indices: tuple
    out_shape: tuple


def lower(case):
    params, indices = ranked_shapes(case)
    axis = attributes(case, len(params))
    rule, out = extents(case), []
    for d, (p, i) in enumerate(zip(params, indices)):
        if d != axis and not fits(rule, p, i):
            raise Refused("SHAPE", "indices", d, i, p)
        out.append(p if d != axis and rule == "broadcast" and i == 1 else i)
    # A tensor of rank 0 has only the axis, so the output has the shape of the indices.
    return Form(axis, params, indices, tuple(out) if case.indices.shape else ())


def ranked_shapes(case):
    params, indices = case.params.shape, case.indices.shape
    if profiles.TABLE[case.profile].scalars_as_vectors:
        params, indices = params or (1,), indices or (1,)
    if not params:
        raise Refused("RANK", "params", -1, 0, 1)
    if len(params) != len(indices):
        raise Refused("RANK", "indices", -1, len(case.indices.shape), len(case.params.shape))
    return params, indices


def attributes(case, rank):
    axis = case.axis or 0
    if not -rank <= axis < rank:
        raise Refused("AXIS", "options", AXIS_FIELD, axis, rank)
    if case.batch_dims != 0:
        raise Refused("BATCH", "options", BATCH_DIMS_FIELD, case.batch_dims, 0)
    return axis % rank


def fits(rule, params, indices):
    """Returns true if two extents beside the axis are valid together."""
    if rule == "prefix":
        return indices <= params
    return params == indices or (rule == "broadcast" and 1 in (params, indices))


def gather(case, form):
    """Returns the elements of the output in order.

    The first element without a source is reported with its number in indices.
    """
    negative, bounds, fill = switches(case)
    size, nothing, out = form.params[form.axis], filler(case, bounds, fill), []
    if 0 in form.out_shape:
        if case.profile == "none":
            for number, value in enumerate(case.indices.integers()):
                resolve([value], [size], negative, bounds, number, case.padding_index)
        return []
    for at in itertools.product(*map(range, form.out_shape or (1,))):
        met = within(form.indices, at)
        number = number_of(form.indices, met)
        row = resolve([case.indices.integer(met)], [size], negative, bounds, number, case.padding_index)
        if row is None:
            out.append(nothing)
            continue
        source = (*at[: form.axis], *row, *at[form.axis + 1 :])
        out.append(case.params.at(within(form.params, source)))
    return out


def number_of(shape, coordinates):
    """Returns the row-major number of an element."""
    number = 0
    for extent, coordinate in zip(shape, coordinates):
        number = number * extent + coordinate
    return number


def within(shape, coordinates):
    """Returns the coordinates in a tensor of the shape. An extent of 1 is repeated for every coordinate."""
    return tuple(0 if extent == 1 else c for extent, c in zip(shape, coordinates))
