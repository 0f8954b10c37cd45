"""scatter, scatter_nd, scatter_elements and the shape of their updates."""

from __future__ import annotations

from . import errors
from . import types as t
from ._arrays import enter, enter_output, kind_of
from ._constants import OP_SCATTER, OP_SCATTER_ELEMENTS, OP_SCATTER_ND
from ._foreign import refuse_keywords
from ._objects import run_arrays
from ._operation import GATHER_ELEMENTS, scatter_named
from ._operations import before_words, has_blocks, shape_of_blocks
from ._operations import run as run_gather
from ._options import options_of
from ._places import is_host
from ._request import Request
from ._run import run_memory, shape_for
from ._sites import place_of, site_of
from ._updates import check_target, enter_updates
from .context import Context, pointer_of
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._operation import Operation


@t.overload
def scatter(
    target: t.ArrayT,
    indices: t.Any,
    updates: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    **switches: t.Unpack[t.ScatterSwitches],
) -> t.ArrayT: ...
@t.overload
def scatter(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    **switches: t.Unpack[t.ScatterSwitches],
) -> t.Any: ...
def scatter(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = "none",
    accumulate: t.Accumulate | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    inplace: bool = False,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    **others: t.Any,
) -> t.Any:
    """Writes slices of `updates` to slices of `target` along an axis, by index: :func:`gather` backwards.

    This is ``torch.index_copy`` and ``index_add``, ``target[i] = updates``, ``x.at[i].set(updates)`` of JAX;
    ``torch.scatter`` is :func:`scatter_elements`. With ``a = axis`` and ``b = batch_dims``::

        updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
        out[B, O, indices[B, J], I] = reduction(target[B, O, indices[B, J], I], updates[B, O, J, I])

    What no index selects is that of `target`. Of several updates of one slice the last one wins, or they are combined
    in the order of `indices`: the same result for any number of threads.

    Args:
        target: any array that :func:`gather` takes
        indices: integers, any array
        updates: an array of the dtype of `target`; nested lists and numbers of Python's take that dtype
        axis: None is the same as `batch_dims`, which is 0
        batch_dims: leading dims that all share; negative counts from the rank of `indices`
        reduction: ``"none"`` (the slice becomes the update, default), ``"add"``, ``"mul"``, ``"max"``, ``"min"``
            (NaN if either is); of bool add and max are or, mul and min are and
        accumulate: what float16 and bfloat16 are added and multiplied in: ``"dtype"`` (default) or ``"float32"``, which
            is rounded once
        negative: ``"reject"`` (default) or ``"wrap"``: whether a negative index counts from the end
        bounds: what an index out of bounds means: ``"error"`` (default), ``"skip"`` (its update is dropped),
            ``"clamp"``, ``"modulo"``
        profile: all switches at once as another system has them, as for :func:`gather`
        inplace: write to `target` itself, and return it; for an array that may be written, not for strings of any size
        threads: at most so many threads for this call
        context: where to run; needed for nothing on the CPU
        opset: with the profiles ``"onnx"`` and ``"ort"``: the newest definition not above it
        others: keywords of other libraries, such as ``dim``, are told what they are called here

    Returns:
        A new array of the kind of `target`; `target` with ``inplace=True``.

    Raises:
        IndexError: an index out of bounds, with its place in `indices`; `target` is unchanged
        ShapeError: updates of another shape, batch dims that differ, a `target` that overlaps itself
        RankError: `axis` or a rank out of range
        DTypeError: updates of another dtype, indices that are no integers, a dtype that the reduction does not have
        OutputError: in place, a `target` that is read-only or overlaps another argument
        UnsupportedError: arrays on a device
        OutOfMemoryError: no memory for the result, or to accumulate in; `target` is unchanged
        OptionError: an unknown switch

    >>> import libgather
    >>> libgather.scatter([1, 2, 3, 4], [2, 0], [30, 10]).tolist()
    [10, 2, 30, 4]
    >>> libgather.scatter([[0, 0], [0, 0]], [1, 1], [[1, 2], [3, 4]], reduction="add").tolist()
    [[0, 0], [4, 6]]
    >>> counts = bytearray(3)
    >>> libgather.scatter(counts, [2, 2, 9], [1, 1, 1], reduction="add", bounds="skip", inplace=True) is counts
    True
    >>> counts
    bytearray(b'\\x00\\x00\\x02')
    """
    if others:
        refuse_keywords("scatter", others)
    return run_arrays(
        OP_SCATTER, target, indices, updates, axis, batch_dims,
        negative, bounds, None, profile, opset, threads, context, None, False,
        None, reduction, accumulate, inplace
    )  # fmt: skip


@t.overload
def scatter_nd(
    target: t.ArrayT,
    indices: t.Any,
    updates: t.Any,
    batch_dims: int = 0,
    **switches: t.Unpack[t.ScatterSwitches],
) -> t.ArrayT: ...
@t.overload
def scatter_nd(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    batch_dims: int = 0,
    **switches: t.Unpack[t.ScatterSwitches],
) -> t.Any: ...
def scatter_nd(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = "none",
    accumulate: t.Accumulate | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    inplace: bool = False,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    **others: t.Any,
) -> t.Any:
    """Writes slices of `updates` to slices of `target` by tuples, which lie along the last axis of `indices`.

    This is :func:`gather_nd` backwards, ``tf.tensor_scatter_nd_update`` and ``_add``, ONNX ``ScatterND``,
    ``torch.index_put``, ``target[i, j] = updates``. With ``b = batch_dims`` and ``K = indices.shape[-1]``::

        updates.shape = indices.shape[:-1] + target.shape[b+K:]
        out[B, indices[B, J, 0], ..., indices[B, J, K-1], :] = reduction(the same of target, updates[B, J, :])

    Arguments, results and errors are those of :func:`scatter`; `batch_dims` must not be negative.

    Raises:
        IndexError: a tuple out of bounds: the attribute `position` is its number, `component` which index of it
        ShapeError: tuples longer than the rank of `target`, batch dims that differ, updates of another shape

    >>> import libgather
    >>> libgather.scatter_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]], [30, 20]).tolist()
    [[1, 20], [30, 4]]
    >>> libgather.scatter_nd([[1, 2], [3, 4]], [[1]], [[5, 1]], reduction="max").tolist()
    [[1, 2], [5, 4]]
    """
    if others:
        refuse_keywords("scatter_nd", others)
    return run_arrays(
        OP_SCATTER_ND, target, indices, updates, None, batch_dims,
        negative, bounds, None, profile, opset, threads, context, None, False,
        None, reduction, accumulate, inplace
    )  # fmt: skip


@t.overload
def scatter_elements(
    target: t.ArrayT,
    indices: t.Any,
    updates: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    **switches: t.Unpack[t.ScatterSwitches],
) -> t.ArrayT: ...
@t.overload
def scatter_elements(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    **switches: t.Unpack[t.ScatterSwitches],
) -> t.Any: ...
def scatter_elements(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    reduction: t.Reduction | None = "none",
    accumulate: t.Accumulate | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    inplace: bool = False,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    **others: t.Any,
) -> t.Any:
    """Writes single elements of `updates` to `target` along an axis, each at its own place in the other dims.

    This is :func:`gather_elements` backwards, ``torch.scatter`` and ``scatter_reduce``, ONNX ``ScatterElements``;
    ``numpy.put_along_axis`` is :func:`put_along_axis`. For axis 1 of three::

        updates.shape = indices.shape
        out[i, indices[i, j, k], k] = reduction(target[i, indices[i, j, k], k], updates[i, j, k])

    Arguments, results and errors are those of :func:`scatter`.

    Args:
        target, indices: of the same rank
        extents: how the other dims agree: ``"equal"`` (default), ``"prefix"`` (those of `indices` may be smaller, as in
            torch and ONNX), ``"broadcast"`` (an extent of 1 is repeated, as in NumPy and JAX; `updates` have the
            extents that come out)

    Raises:
        IndexError: an index out of bounds: the attribute `position` is its row-major number in `indices`
        ShapeError: other dims that do not agree, updates of another shape
        RankError: other ranks, `axis` out of range

    >>> import libgather
    >>> libgather.scatter_elements([[1, 2], [3, 4]], [[1], [0]], [[20], [30]]).tolist()
    [[1, 20], [30, 4]]
    >>> libgather.scatter_elements([[1, 2], [3, 4]], [[1]], [[5]], axis=0, extents="prefix", reduction="mul").tolist()
    [[1, 2], [15, 4]]
    """
    if others:
        refuse_keywords("scatter_elements", others)
    return run_arrays(
        OP_SCATTER_ELEMENTS, target, indices, updates, axis, 0,
        negative, bounds, None, profile, opset, threads, context, None, False,
        extents, reduction, accumulate, inplace
    )  # fmt: skip


def run(operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request, inplace: bool) -> t.Any:
    """Scatters to arrays of any type with any options."""
    return run_arrays(operation.number, target, indices, updates, *request[:-1], inplace)


def run_others(operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request) -> t.Any:
    """As `run`, for calls that run_buffers() does not do."""
    if not isinstance(request.inplace, bool):
        raise errors.dtype_error("options", f"inplace is {type(request.inplace).__name__}, not a bool")
    check_place(request.context, ("target", target), ("indices", indices), ("updates", updates))
    blocks = blocks_of(target)
    if blocks is not None:
        return run_blocks(blocks, operation, target, indices, updates, request)
    return run_tensors(operation, target, indices, updates, request)


def check_place(context: Context | None, *operands: tuple[str, t.Any]) -> None:
    """Refuses a target on a device, whatever comes with it."""
    (operand, target), *_ = operands
    if not is_host(place_of(target, operand)) or site_of(context, None, *operands) is not None:
        raise errors.unsupported(operand, "scatters run on the CPU alone")


def run_tensors(operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request) -> t.Any:
    """Each array becomes memory of the library, and the result an array of the type of the target."""
    options = options_of(request)
    source = enter_output(target, None, "target") if request.inplace else enter(target, None, "target")[0]
    check_target(target, request)
    index = enter(indices, None, "indices")[0]
    rows = enter_updates(updates, target, source)
    written = (target,) if request.inplace else ()
    made = run_memory(operation, pointer_of(request.context), source, index, rows, request, options, *written)
    return target if request.inplace else kind_of(target).leave(Tensor._of_handle(made, None, source._text), target)


# ------------------------------------------------------------------------------------------------- blocks of bytes


def blocks_of(target: t.Any) -> t.Any:
    """The module for a target whose elements are blocks of bytes."""
    if not has_blocks(target):
        return None
    from ._kinds import records

    return records


def run_blocks(
    blocks: t.Any, operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request
) -> t.Any:
    """A target whose elements are blocks of bytes, as words."""
    from ._kinds import numpy_

    options_of(request)
    blocks.check_moved(target.dtype, request)
    index = enter(indices, None, "indices")[0]
    rows = blocks.update_words(updates, target.dtype, shape_of_blocks(operation, target, index, request))
    whole = target if request.inplace else target.copy()
    words = blocks.with_words(whole)
    inner = request._replace(opset=None, axis=before_words(request.axis))
    if operation.has_rows:
        run(operation, words, index, rows, inner, True)
    else:
        judged = request._replace(opset=None, reduction=None, accumulate=None)
        run_gather(GATHER_ELEMENTS, blocks.without_values(target), index, None, judged)
        run(operation, words, blocks.repeated(numpy_.array_of(index), target.dtype), rows, inner, True)
    return whole


def updates_shape(
    target: t.Any,
    indices: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    op: t.ScatterName | None = None,
    extents: t.Extents | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
) -> tuple[int, ...]:
    """The shape of the updates that :func:`scatter`, :func:`scatter_nd` or :func:`scatter_elements` takes.

    Args:
        target, indices: shapes (tuples of integers, -1 for an extent that is not known and is handed on),
            :class:`Spec`, or arrays
        op: ``"scatter"`` (default), ``"scatter_nd"`` or ``"scatter_elements"``
        axis, batch_dims, extents, profile, opset: as for the operation; an `axis` of None is its default

    Returns:
        The extents; -1 where one is not known.

    Raises:
        ShapeError, RankError, DTypeError: as the operation would

    >>> import libgather
    >>> libgather.updates_shape((4, 300), (2, 5))
    (2, 5, 300)
    >>> libgather.updates_shape((4, 300), (-1, 2), op="scatter_nd")
    (-1,)
    """
    operation = scatter_named(op)
    request = Request(axis, batch_dims, profile=profile, opset=opset, extents=extents)
    return shape_for(operation, target, indices, operation.completed(request))
