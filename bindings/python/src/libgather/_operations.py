"""gather, gather_nd, gather_elements and the shape of their outputs."""

from __future__ import annotations

import sys

from . import _constants as c
from . import errors
from ._arrays import enter, enter_output, written
from ._call import call, created, shape_of
from ._fills import check_output, fill_of
from ._library import lib, token
from ._objects import gather as gather_buffers
from ._objects import gather_with as gather_buffers_with
from ._operation import GATHER, GATHER_ELEMENTS, GATHER_ND, operation_named
from ._options import named_fill, options_of
from ._request import Request
from ._sites import site_of
from .context import handle_of, pointer_of
from .spec import Spec
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._memory import Memory
    from ._operation import Operation
    from ._request import Bounds, Extents, Negative, OperationName, Profile
    from ._site import Site
    from .context import Context


def gather(
    params: Any,
    indices: Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: Negative | None = None,
    bounds: Bounds | None = None,
    fill_value: Any = None,
    profile: Profile | None = None,
    out: Any = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    stream: Any = None,
    sync: bool = False,
) -> Any:
    """Takes slices of `params` along an axis, by index.

    With ``a = axis`` and ``b = batch_dims``::

        out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
        out[B, O, J, I] = params[B, O, indices[B, J], I]

    Args:
        params: the source, any array: of NumPy, DLPack (torch, JAX, CuPy, paddle, TensorFlow), the buffer protocol,
            pyarrow, a nested list
        indices: integers, any array
        axis: None is the same as `batch_dims`
        batch_dims: leading dims that both share; negative counts from the rank of `indices`
        negative: ``"reject"`` (default) or ``"wrap"``: whether a negative index counts from the end
        bounds: what an index out of bounds means: ``"error"`` (default), ``"fill"``, ``"clamp"``, ``"modulo"``,
            ``"skip"`` (the row of `out` stays as it is)
        fill_value: what ``bounds="fill"`` writes, which it implies: a value, ``"zero"`` (default), ``"by_dtype"`` (NaN,
            NaT, smallest or largest, as JAX does), or the bytes of one element
        profile: all switches at once as another system has them: ``"tensorflow"``, ``"onnx"``, ``"numpy_raise"``, ...
        out: an array of the result's shape and dtype to write to; not for strings
        threads: at most so many threads for this call
        context: where to run; needed for nothing on the CPU
        opset: with the profiles ``"onnx"`` and ``"ort"``: the newest definition not above it
        stream: for arrays on a device: the CUDA stream to work on, as for :class:`Context`. None: the current one of
            torch or CuPy, for other arrays the legacy default stream, each in order with its library's own work
        sync: wait until the device is done, and raise what it has found; without it :func:`sync` does, or
            :meth:`Context.sync` where `context` is given. Calls on the CPU are always done

    Returns:
        `out`, or a new array of the kind of `params`, on its device; a scalar where NumPy gives one.

    Raises:
        IndexError: an index out of bounds; `out` is unchanged. On a device when the call's stream is next waited for
        ShapeError: batch dims that differ, an `out` of another shape, an `out` that overlaps itself
        RankError: `axis` or a rank out of range
        DTypeError: indices that are no integers, an `out` of another dtype, an argument that is no array
        DeviceError: arrays on different devices, a stream for arrays on the CPU, a library without CUDA
        OutOfMemoryError: no memory for the result
        Error: an `out` that is read-only or overlaps an input, an unknown switch

    >>> import libgather
    >>> libgather.gather(["a", "b", "c"], [2, 0]).tolist()
    ['c', 'a']
    >>> libgather.gather([[1, 2, 3], [4, 5, 6]], [[2], [0]], batch_dims=1).tolist()
    [[3], [4]]
    >>> libgather.gather([1, 2, 3], [0, 7], bounds="fill", fill_value=-1).tolist()
    [1, -1]
    """
    result = gather_buffers(
        0,
        params,
        indices,
        out,
        axis,
        batch_dims,
        context,
        stream,
        negative,
        bounds,
        fill_value,
        profile,
        opset,
        threads,
    )
    if result is not NotImplemented:
        return result
    request = Request(axis, batch_dims, negative, bounds, fill_value, profile, opset, threads, context, stream, sync)
    return run(GATHER, params, indices, out, request)


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: int = 0,
    *,
    negative: Negative | None = None,
    bounds: Bounds | None = None,
    fill_value: Any = None,
    profile: Profile | None = None,
    out: Any = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    stream: Any = None,
    sync: bool = False,
) -> Any:
    """Takes slices of `params` by tuples, which lie along the last axis of `indices`.

    With ``b = batch_dims`` and ``K = indices.shape[-1]``::

        out.shape = indices.shape[:-1] + params.shape[b+K:]
        out[B, J, :] = params[B, indices[B, J, 0], ..., indices[B, J, K-1], :]

    Arguments, results and errors are those of :func:`gather`; `batch_dims` must not be negative.

    Raises:
        IndexError: a tuple out of bounds: the attribute `position` is its number, `component` which index of it
        ShapeError: tuples longer than the rank of `params`, batch dims that differ, an `out` of another shape

    >>> import libgather
    >>> libgather.gather_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]]).tolist()
    [3, 2]
    >>> libgather.gather_nd([[1, 2], [3, 4]], [[1]]).tolist()
    [[3, 4]]
    """
    result = gather_buffers(
        1,
        params,
        indices,
        out,
        None,
        batch_dims,
        context,
        stream,
        negative,
        bounds,
        fill_value,
        profile,
        opset,
        threads,
    )
    if result is not NotImplemented:
        return result
    request = Request(None, batch_dims, negative, bounds, fill_value, profile, opset, threads, context, stream, sync)
    return run(GATHER_ND, params, indices, out, request)


def gather_elements(
    params: Any,
    indices: Any,
    axis: int = -1,
    *,
    extents: Extents | None = None,
    negative: Negative | None = None,
    bounds: Bounds | None = None,
    fill_value: Any = None,
    profile: Profile | None = None,
    out: Any = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    stream: Any = None,
    sync: bool = False,
) -> Any:
    """Takes single elements of `params` along an axis, each at its own place in the other dims.

    For axis 1 of three::

        out.shape = indices.shape
        out[i, j, k] = params[i, indices[i, j, k], k]

    This is ``numpy.take_along_axis``, ``torch.gather`` and ONNX ``GatherElements``. Arguments, results and errors are
    those of :func:`gather`.

    Args:
        params, indices: of the same rank
        extents: how the other dims agree: ``"equal"`` (default), ``"prefix"`` (those of `indices` may be smaller, as in
            torch and ONNX), ``"broadcast"`` (an extent of 1 is repeated, as in NumPy and JAX)

    Raises:
        IndexError: an index out of bounds: the attribute `position` is its row-major number in `indices`
        ShapeError: other dims that do not agree, an `out` of another shape
        RankError: other ranks, `axis` out of range

    >>> import libgather
    >>> libgather.gather_elements([[1, 2], [3, 4]], [[0, 0], [1, 0]]).tolist()
    [[1, 1], [4, 3]]
    >>> libgather.gather_elements([[1, 2], [3, 4]], [[1]], axis=0, extents="prefix").tolist()
    [[3]]
    """
    result = gather_buffers(
        2,
        params,
        indices,
        out,
        axis,
        0,
        context,
        stream,
        negative,
        bounds,
        fill_value,
        profile,
        opset,
        threads,
        extents,
    )
    if result is not NotImplemented:
        return result
    request = Request(axis, 0, negative, bounds, fill_value, profile, opset, threads, context, stream, sync, extents)
    return run(GATHER_ELEMENTS, params, indices, out, request)


def run(operation: Operation, params: Any, indices: Any, out: Any, request: Request) -> Any:
    """Arrays of any kind with any switches."""
    if request.stream is None:  # buffers are on the host
        fill = named_fill(request.fill_value)
        if fill is not None:
            options, handle = options_of(request, fill), handle_of(request.context)
            result = gather_buffers_with(operation.number, params, indices, out, token(options), handle)
            if result is not NotImplemented:
                return result
        if is_record(params):
            return run_records(operation, params, indices, out, request)
    return run_tensors(operation, params, indices, out, request)


def run_tensors(operation: Operation, params: Any, indices: Any, out: Any, request: Request) -> Any:
    """Each array becomes memory of the library, and the result an array of the kind of params."""
    site = site_of(request.context, request.stream, ("params", params), ("indices", indices), ("out", out))
    context = pointer_of(request.context) if site is None else site.context._pointer
    source, kind = enter(params, site, "params")
    index = enter(indices, site, "indices")[0]
    if out is not None:
        check_output(params, out)
    options = options_of(request, fill_of(request, params, source._dtype))
    made = None
    if out is not None:
        call(operation.run_into, context, source._live, index._live, options, output_for(source, out, site)._live)
        written(out)
    else:
        arguments = context, source._live, index._live, options
        handle = created("gth_tensor", lib.gth_tensor_release, operation.run, *arguments)
        made = Tensor._of_handle(handle, None, source._text, None if site is None else site.context)
    if site is not None:
        site.finish(request.sync)
    return out if made is None else kind.leave(made, params)


def output_for(source: Memory, out: Any, site: Site | None) -> Memory:
    if source._dtype == c.DTYPE_STRING:
        raise errors.unsupported("out", "strings have no place of one size to be written to")
    return enter_output(out, site)


def is_record(params: Any) -> bool:
    numpy = sys.modules.get("numpy")
    if numpy is None or type(params) is not numpy.ndarray:
        return False
    from ._kinds import numpy_

    return numpy_.is_record(params)


def run_records(operation: Operation, params: Any, indices: Any, out: Any, request: Request) -> Any:
    """Params whose dtype has a size that no number has."""
    from ._kinds import records

    if not operation.has_rows:
        raise errors.dtype_error(
            "params", f"dtype {params.dtype} has more bytes than {operation.name} can move at once"
        )
    records.check(params, request)
    index = enter(indices, None, "indices")[0]
    # Held against the shapes without the axis of bytes, which a tuple must not reach into.
    shape = shape_for(operation, params.shape, index.shape, Request(request.axis, request.batch_dims))
    if request.axis is not None and request.axis < 0:
        request = request._replace(axis=request.axis - 1)
    target = None if out is None else records.output_bytes(out, params.dtype, shape)
    result = run(operation, records.with_bytes(params), index, target, request)
    return records.of_bytes(result, params.dtype, shape) if out is None else out


def output_shape(
    params: Any,
    indices: Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    op: OperationName | None = None,
    nd: bool = False,
    extents: Extents | None = None,
    profile: Profile | None = None,
    opset: int | None = None,
) -> tuple[int, ...]:
    """The shape that :func:`gather`, :func:`gather_nd` or :func:`gather_elements` would give.

    Args:
        params, indices: shapes (tuples of integers, -1 for an extent that is not known and is handed on),
            :class:`Spec`, or arrays
        op: ``"gather"`` (default), ``"gather_nd"`` or ``"gather_elements"``
        nd: short for ``op="gather_nd"``
        axis, batch_dims, extents, profile, opset: as for the operation; an `axis` of None is its default

    Returns:
        The extents; -1 where one is not known.

    Raises:
        ShapeError, RankError, DTypeError: as the operation would

    >>> import libgather
    >>> libgather.output_shape((4, 300), (2, 5))
    (2, 5, 300)
    >>> libgather.output_shape((4, 300), (-1, 2), nd=True)
    (-1,)
    >>> libgather.output_shape((4, 300), (4, 5), op="gather_elements")
    (4, 5)
    """
    operation = operation_named(op, nd)
    request = Request(axis, batch_dims, profile=profile, opset=opset, extents=extents)
    return shape_for(operation, params, indices, operation.completed(request))


def shape_for(operation: Operation, params: Any, indices: Any, request: Request) -> tuple[int, ...]:
    source, index = Spec.of_shape_or_array(params, "params"), Spec.of_shape_or_array(indices, "indices")
    return shape_of(operation.shape, source.described(), index.described(), options_of(request))
