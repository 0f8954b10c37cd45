"""Validates arguments before the graph is built."""

from __future__ import annotations

import math

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.integers import integer
from .._base.request_fields import Request
from .._operations.partitions import bordered, partition_ids

#: Sizes of chunks along each dim.
Chunks = tuple[tuple[int, ...], ...]


def check_array(x: t.Any) -> None:
    if not isinstance(x, da.Array):
        raise errors.dtype_error("params", f"{type(x).__name__} is not an array of dask")
    if type(x._meta) is not np.ndarray:
        raise errors.dtype_error("params", f"the chunks are {type(x._meta).__name__}, and not NumPy's arrays")
    check_sizes("params", x)


def check_sizes(operand: str, array: da.Array) -> None:
    if any(math.isnan(extent) for extent in array.shape):
        message = f"{operand}: chunks of unknown size: compute_chunk_sizes() finds them"
        raise errors.ShapeError(message, status=c.E_SHAPE, operand=operand)


def check_ids(ids: da.Array, request: Request) -> None:
    """Validates the properties of ids that are available before the ids are computed."""
    check_sizes("indices", ids)
    partition_ids(np.empty(0, ids.dtype), bordered(0, (0, 0)), False, request)


def axis_of(x: da.Array, axis: int) -> int:
    number, rank = integer("axis", axis), len(x.shape)
    if not -rank <= number < rank:
        message = f"params: axis {number} is out of range for rank {rank}"
        raise errors.RankError(message, status=c.E_AXIS, operand="params", value=number, limit=rank)
    return number % rank


def chunks_of(sizes: tuple[int, ...], shape: tuple[int, ...], out_chunks: t.Any) -> Chunks:
    """Returns the chunks of the dims of ids."""
    if not shape:
        if out_chunks is not None:
            raise no_chunks(out_chunks, "ids of rank 0 have none")
        return ()
    if out_chunks is None:
        out_chunks = max(1, max(sizes) // max(1, math.prod(shape[1:])))
    if isinstance(out_chunks, str) or (
        isinstance(out_chunks, (int, np.integer)) and out_chunks < 1 and out_chunks != -1
    ):
        raise no_chunks(out_chunks, "no sizes")
    try:
        (first,) = normalize_chunks((tuple(out_chunks) if isinstance(out_chunks, list) else out_chunks,), shape[:1])
    except (ValueError, TypeError) as error:
        raise no_chunks(out_chunks, str(error)) from None
    if not all(isinstance(size, int) and size >= 0 for size in first):
        raise no_chunks(out_chunks, "sizes that are not known, or negative")
    return (first, *((extent,) for extent in shape[1:]))


def no_chunks(out_chunks: t.Any, why: str) -> errors.ShapeError:
    return errors.ShapeError(f"options: out_chunks {out_chunks!r}: {why}", status=c.E_SHAPE, operand="options")


def depth_of(x: da.Array, tuples: t.Any, request: Request) -> int:
    """Returns the length of tuples.

    Validates the properties of tuples that are available before the tuples are computed.
    """
    rank = len(tuples.shape)
    if rank == 0:
        raise errors.RankError(
            "indices: tuples lie along a last axis, there is none", status=c.E_RANK, operand="indices"
        )
    depth = int(tuples.shape[-1])
    if depth > len(x.shape):
        message = f"indices: tuples of {depth} for params of rank {len(x.shape)}"
        raise errors.RankError(message, status=c.E_RANK, operand="indices", value=depth, limit=len(x.shape))
    if depth == 0:
        raise errors.unsupported("indices", "tuples of no index select the whole array")
    partition_ids(np.empty(0, tuples.dtype), bordered(0, (0, 0)), False, request)
    return depth


def check_elements(arr: da.Array, indices: t.Any, axis: int) -> None:
    """Validates the rank, the shape and the dtype of indices that select elements of an array."""
    if len(indices.shape) != len(arr.shape):
        message = f"indices: rank {len(indices.shape)}, that of params is {len(arr.shape)}"
        raise errors.RankError(message, status=c.E_RANK, operand="indices")
    for dim, (extent, needed) in enumerate(zip(indices.shape, arr.shape, strict=True)):
        if dim != axis and extent not in (1, needed):
            message = f"indices: extent {extent} of dim {dim}, {needed} or 1 is needed"
            raise errors.ShapeError(message, status=c.E_SHAPE, operand="indices", component=dim)
    partition_ids(np.empty(0, indices.dtype), bordered(0, (0, 0)), False, Request())
