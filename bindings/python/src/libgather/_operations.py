"""gather, gather_nd and the shape of their outputs."""

from __future__ import annotations

import sys

from . import _constants as c
from . import errors
from ._call import call, created, shape_of
from ._kinds import element_switches, enter, enter_output, written
from ._library import lib, token
from ._objects import gather as gather_buffers
from ._options import FILLS, options_of
from ._sites import site_of
from .context import handle_of, pointer_of
from .spec import Spec
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ._sites import Site
    from .context import Context

    Negative = Literal["reject", "wrap"]
    Bounds = Literal["error", "fill", "clamp", "modulo", "skip"]
    Profile = Literal[
        "tensorflow",
        "tensorflow_gpu",
        "onnx",
        "ort",
        "numpy_raise",
        "numpy_wrap",
        "numpy_clip",
        "torch",
        "jax_fill",
        "jax_clip",
    ]


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
    # Almost every call: arguments, output and operation in one crossing, if all are buffers.
    if (
        negative is None
        and bounds is None
        and fill_value is None
        and profile is None
        and threads is None
        and opset is None
        and stream is None
    ):
        handle = None if context is None else handle_of(context)
        result = gather_buffers(0, params, indices, out, 0, axis, batch_dims, handle)
        if result is not NotImplemented:
            return result
    return run(
        False,
        params,
        indices,
        out,
        context,
        axis=axis,
        batch_dims=batch_dims,
        negative=negative,
        bounds=bounds,
        fill_value=fill_value,
        profile=profile,
        opset=opset,
        threads=threads,
        stream=stream,
        sync=sync,
    )


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
    if (
        negative is None
        and bounds is None
        and fill_value is None
        and profile is None
        and threads is None
        and opset is None
        and stream is None
    ):
        handle = None if context is None else handle_of(context)
        result = gather_buffers(1, params, indices, out, 0, None, batch_dims, handle)
        if result is not NotImplemented:
            return result
    return run(
        True,
        params,
        indices,
        out,
        context,
        batch_dims=batch_dims,
        negative=negative,
        bounds=bounds,
        fill_value=fill_value,
        profile=profile,
        opset=opset,
        threads=threads,
        stream=stream,
        sync=sync,
    )


def run(
    nd: bool,
    params: Any,
    indices: Any,
    out: Any,
    context: Context | None,
    *,
    stream: Any = None,
    sync: bool = False,
    **switches: Any,
) -> Any:
    """Arrays of any kind with any switches."""
    if stream is None:  # buffers are on the host
        fill_value = switches.get("fill_value")
        if fill_value is None or (isinstance(fill_value, str) and fill_value in FILLS):
            result = run_buffers(nd, params, indices, out, context, options_of(**switches))
            if result is not NotImplemented:
                return result
        if is_record(params):
            from ._kinds import records

            return records.run(nd, params, indices, out, context, **switches)
    site = site_of(context, stream, ("params", params), ("indices", indices), ("out", out))
    if site is None:
        return run_tensors(nd, params, indices, out, None, pointer_of(context), **switches)
    return run_tensors(nd, params, indices, out, site, site.context._pointer, sync, **switches)


def run_buffers(nd: bool, params: Any, indices: Any, out: Any, context: Context | None, options: Any) -> Any:
    """Into or from buffers, whose dtype is not asked for; NotImplemented if they are none."""
    return gather_buffers(int(nd), params, indices, out, token(options), None, 0, handle_of(context))


def run_tensors(
    nd: bool,
    params: Any,
    indices: Any,
    out: Any,
    site: Site | None,
    context: Any,
    sync: bool = False,
    **switches: Any,
) -> Any:
    """Each array becomes a tensor, and the result an array of the kind of params."""
    source, kind = enter(params, site, "params")
    index = enter(indices, site, "indices")[0]
    options = options_of(**element_switches(params, out, **switches), dtype=source._dtype)
    made = None
    if out is not None:
        into = lib.gth_gather_nd_into if nd else lib.gth_gather_into
        call(into, context, source._live, index._live, options, output_for(source, out, site)._live)
        written(out)
    else:
        function = lib.gth_gather_nd if nd else lib.gth_gather
        handle = created("gth_tensor", lib.gth_tensor_release, function, context, source._live, index._live, options)
        made = Tensor._of_handle(handle, None, source._text, None if site is None else site.context)
    if site is not None:
        site.finish(sync)
    return out if made is None else kind.leave(made, params)


def is_record(params: Any) -> bool:
    numpy = sys.modules.get("numpy")
    if numpy is None or type(params) is not numpy.ndarray:
        return False
    from ._kinds import numpy_

    return numpy_.is_record(params)


def output_for(source: Tensor, out: Any, site: Site | None) -> Tensor:
    if source._dtype == c.DTYPE_STRING:
        raise errors.unsupported("out", "strings have no place of one size to be written to")
    return enter_output(out, site)


def output_shape(
    params: Any,
    indices: Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    nd: bool = False,
    profile: Profile | None = None,
    opset: int | None = None,
) -> tuple[int, ...]:
    """The shape that :func:`gather`, or with `nd` :func:`gather_nd`, would give.

    Args:
        params, indices: shapes (tuples of integers, -1 for an extent that is not known and is handed on),
            :class:`Spec`, or arrays
        axis, batch_dims, profile, opset: as for :func:`gather`

    Raises:
        ShapeError, RankError, DTypeError: as the operation would

    >>> import libgather
    >>> libgather.output_shape((4, 300), (2, 5))
    (2, 5, 300)
    >>> libgather.output_shape((4, 300), (-1, 2), nd=True)
    (-1,)
    """
    options = options_of(axis, batch_dims, profile=profile, opset=opset)
    source, index = Spec.of_shape_or_array(params, "params"), Spec.of_shape_or_array(indices, "indices")
    query = lib.gth_gather_nd_shape if nd else lib.gth_gather_shape
    return shape_of(query, source.described(), index.described(), options)
