"""scatter, scatter_nd and scatter_elements, and the shapes of their updates."""

from __future__ import annotations

from functools import partial

from .. import errors
from .. import types as t
from .._arrays.kinds import enter, enter_output, loaded
from .._base.constants import OP_SCATTER, OP_SCATTER_ELEMENTS, OP_SCATTER_ND
from .._base.request_fields import Request
from .._memory.context import Context
from .._objects import run_arrays
from .._requests.device_outputs import new_copy
from .._requests.memory_runs import run_to_array, shape_for
from .._requests.operation_table import scatter_named
from .._requests.options_struct import options_of
from .._requests.scatter_updates import check_target, enter_updates
from .._requests.site_of_call import site_of
from .gathers import has_blocks, move_blocks
from .native_functions import run_natively

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._memory.device_site import Site
    from .._requests.operation_table import Operation


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
@run_natively(OP_SCATTER, target="table", updates="rows")
def scatter(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = "none",
    include_self: bool = True,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    inplace: bool = False,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
    stream: t.Any = None,
    sync: bool = False,
    **others: t.Any,
) -> t.Any:
    """Writes slices of `updates` to slices of `target` along an axis. It is the inverse of :func:`gather`.

    This is ``torch.index_copy`` and ``index_add``, ``target[i] = updates``, and ``x.at[i].set(updates)`` of JAX.
    ``torch.scatter`` is :func:`scatter_elements`. With ``a = axis`` and ``b = batch_dims``::

        updates.shape = target.shape[:a] + indices.shape[b:] + target.shape[a+1:]
        out[B, O, indices[B, J], I] = reduction(target[B, O, indices[B, J], I], updates[B, O, J, I])

    Elements that no index selects are those of `target`. If several updates select one slice, the last one wins, or a
    reduction combines them in the order of `indices`. The result does not depend on the number of threads.

    Args:
        target: Any array that :func:`gather` accepts. Columns are written as their own library assigns rows.
        indices: Any array of integers.
        updates: An array of the dtype of `target`. Nested lists and Python numbers are converted to that dtype. The
            last dims of the shape above are sufficient, such as one row or one number, which each index then uses.
            Updates of a column may be null.
        axis: The axis that indices select in. None means the value of `batch_dims`, which is 0.
        batch_dims: The number of leading dims that all arrays share. A negative value counts from the rank of
            `indices`.
        reduction: ``"none"`` (the update replaces the slice, default), ``"add"``, ``"mul"``, ``"max"``, ``"min"``
            (NaN if either value is NaN) or ``"mean"``. For bool, add and max are or, mul and min are and, and there is
            no mean. The mean of integers is rounded down.
        include_self: If false, a reduction ignores the slices of `target` that it replaces, as in torch.
        accumulate: The type in which floats are added and multiplied: ``"dtype"`` (default), ``"float32"``, which
            rounds float16 and bfloat16 once, or ``"float64"``, which also rounds float32 once.
        padding_index: The update of an index of this value is ignored. The value may be out of bounds.
        negative: ``"reject"`` (default), or ``"wrap"``: a negative index counts from the end.
        bounds: The result of an index out of bounds: ``"error"`` (default), ``"skip"`` (its update is ignored),
            ``"clamp"`` or ``"modulo"``. With ``"error_partial"``, an error leaves `target` partly written.
        profile: The rules of another system for all switches, as for :func:`gather`.
        inplace: If true, the call writes `target` itself and returns it. `target` must be writable and not a tensor of
            strings.
        threads: The largest number of threads of this call.
        context: The context of the call. Calls on the CPU do not need one.
        opset: For the profiles ``"onnx"`` and ``"ort"``: the call follows the newest definition that is not above it.
        order: The order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of
            an element. On the CPU it is always that of the updates. The default is ``"updates"``.
        stream, sync: For arrays on a device, as for :func:`gather`.
        others: Keywords of other libraries, such as ``dim``. The error names the keyword of this library.

    Returns:
        A new array of the kind of `target`, on its device, or `target` if `inplace` is true.

    Raises:
        IndexError: An index is out of bounds. The error has its place in `indices`. `target` is unchanged, unless
            `bounds` is ``"error_partial"``. On a device, the next wait for the stream raises it, and a new array has
            the elements of `target`.
        ShapeError: `updates` have another shape, batch dims differ, or elements of `target` overlap each other.
        RankError: `axis` or a rank is out of range.
        DTypeError: `updates` have another dtype, `indices` are not integers, or the reduction does not support the
            dtype.
        DeviceError: As for :func:`gather`.
        OutputError: `inplace` is true, and `target` is read-only or overlaps another argument.
        OutOfMemoryError: The result or the accumulators cannot be allocated. `target` is unchanged.
        OptionError: A switch has an unknown value.

    >>> import libgather
    >>> libgather.scatter([1, 2, 3, 4], [2, 0], [30, 10]).tolist()
    [10, 2, 30, 4]
    >>> libgather.scatter([[0, 0], [0, 0]], [1, 1], [[1, 2], [3, 4]], reduction="add").tolist()
    [[0, 0], [4, 6]]
    >>> libgather.scatter([9.0, 9.0], [1, 1], [1.0, 2.0], reduction="mean", include_self=False).tolist()
    [9.0, 1.5]
    >>> counts = bytearray(3)
    >>> libgather.scatter(counts, [2, 2, 9], [1, 1, 1], reduction="add", bounds="skip", inplace=True) is counts
    True
    >>> counts
    bytearray(b'\\x00\\x00\\x02')
    """


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
@run_natively(OP_SCATTER_ND, target="table", updates="rows")
def scatter_nd(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    batch_dims: int = 0,
    *,
    reduction: t.Reduction | None = "none",
    include_self: bool = True,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    inplace: bool = False,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
    stream: t.Any = None,
    sync: bool = False,
    **others: t.Any,
) -> t.Any:
    """Writes slices of `updates` to slices of `target` by tuples. The last axis of `indices` contains the components.

    This is the inverse of :func:`gather_nd`. It is ``tf.tensor_scatter_nd_update`` and ``_add``, ONNX ``ScatterND``,
    ``torch.index_put`` and ``target[i, j] = updates``. With ``b = batch_dims`` and ``K = indices.shape[-1]``::

        updates.shape = indices.shape[:-1] + target.shape[b+K:]
        out[B, indices[B, J, 0], ..., indices[B, J, K-1], :] = reduction(the same of target, updates[B, J, :])

    Arguments, results and errors are those of :func:`scatter`. `batch_dims` must not be negative. A tuple selects
    nothing if all its components are equal to `padding_index`.

    Raises:
        IndexError: A tuple is out of bounds. `position` is the number of the tuple, and `component` is its invalid
            index.
        ShapeError: A tuple is longer than the rank of `target`, batch dims differ, or `updates` have another shape.

    >>> import libgather
    >>> libgather.scatter_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]], [30, 20]).tolist()
    [[1, 20], [30, 4]]
    >>> libgather.scatter_nd([[1, 2], [3, 4]], [[1]], [[5, 1]], reduction="max").tolist()
    [[1, 2], [5, 4]]
    """


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
@run_natively(OP_SCATTER_ELEMENTS, target="table", updates="rows")
def scatter_elements(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    reduction: t.Reduction | None = "none",
    include_self: bool = True,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    inplace: bool = False,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
    stream: t.Any = None,
    sync: bool = False,
    **others: t.Any,
) -> t.Any:
    """Writes single elements of `updates` to `target` along an axis. The other dims keep their positions.

    This is the inverse of :func:`gather_elements`. It is ``torch.scatter``, ``scatter_reduce`` and ONNX
    ``ScatterElements``. ``numpy.put_along_axis`` is :func:`put_along_axis`. For axis 1 of three::

        updates.shape = indices.shape
        out[i, indices[i, j, k], k] = reduction(target[i, indices[i, j, k], k], updates[i, j, k])

    Arguments, results and errors are those of :func:`scatter`.

    Args:
        target, indices: Arrays of the same rank.
        extents: The rule for the other dims. By default they must be equal (``"equal"``). With ``"prefix"``, sizes of
            `indices` may be smaller, as in torch and ONNX. With ``"broadcast"``, a dim of size 1 is repeated, as in
            NumPy and JAX. With
            ``"broadcast"``, `updates` have the repeated shape.

    Raises:
        IndexError: An index is out of bounds. `position` is its row-major number in `indices`.
        ShapeError: The other dims do not fit, or `updates` have another shape.
        RankError: The ranks differ, or `axis` is out of range.

    >>> import libgather
    >>> libgather.scatter_elements([[1, 2], [3, 4]], [[1], [0]], [[20], [30]]).tolist()
    [[1, 20], [30, 4]]
    >>> libgather.scatter_elements([[1, 2], [3, 4]], [[1]], [[5]], axis=0, extents="prefix", reduction="mul").tolist()
    [[1, 2], [15, 4]]
    """


def run(operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request, inplace: bool) -> t.Any:
    """Scatters to arrays of any type with any options."""
    return run_arrays(operation.number, target, indices, updates, *request[:-1], inplace)


def run_others(operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request) -> t.Any:
    """The same as `run` for calls that run_buffers() does not support."""
    operands = ("target", target), ("indices", indices), ("updates", updates)
    site = site_of(request.context, request.stream, *operands)
    if not request.inplace:
        target = loaded(target, "target")
    updates = loaded(updates, "updates")
    if has_blocks(target):
        return run_blocks(operation, target, indices, updates, request)
    return run_tensors(operation, target, indices, updates, request, site)


def run_tensors(
    operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request, site: Site | None
) -> t.Any:
    """Converts each array to a tensor of the library, and the result to an array of the type of the target."""
    options = options_of(request)
    source = enter_output(target, site, "target") if request.inplace else enter(target, site, "target")[0]
    check_target(target, request)
    index = enter(indices, site, "indices")[0]
    rows = enter_updates(updates, target, source, site)
    out = target
    if not request.inplace:
        out = new_copy(target, "target", source, site, partial(shape_for, operation, source, index, request))
        source = source if out is None else enter_output(out, site, "target")
    return run_to_array(operation, site, (source, index, rows), request, options, out, target)


def run_blocks(operation: Operation, target: t.Any, indices: t.Any, updates: t.Any, request: Request) -> t.Any:
    """Scatters to a target whose elements are blocks of bytes."""
    from .._arrays import numpy_carried

    options_of(request)
    if not numpy_carried.only_moves(target.dtype, request):
        raise errors.dtype_error("target", numpy_carried.unknown(target.dtype, "profile knows"))
    numpy_carried.check_unreduced(target.dtype, request)
    rows = numpy_carried.updates_of(updates, target.dtype)
    whole = target if request.inplace else target.copy()
    move_blocks(operation, whole, indices, rows, request._replace(inplace=True))
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
    """Returns the shape of the updates of :func:`scatter`, :func:`scatter_nd` or :func:`scatter_elements`.

    Args:
        target, indices: Shapes, :class:`Spec` or arrays. A shape is a tuple of integers. -1 is an unknown size of a
            dim, and appears as -1 in the result.
        op: ``"scatter"`` (default), ``"scatter_nd"`` or ``"scatter_elements"``.
        axis, batch_dims, extents, profile, opset: As for the operation. An `axis` of None means its default.

    Returns:
        The size of each dim. -1 means an unknown size.

    Raises:
        ShapeError, RankError, DTypeError: As for the operation.

    >>> import libgather
    >>> libgather.updates_shape((4, 300), (2, 5))
    (2, 5, 300)
    >>> libgather.updates_shape((4, 300), (-1, 2), op="scatter_nd")
    (-1,)
    """
    operation = scatter_named(op)
    request = Request(axis, batch_dims, profile=profile, opset=opset, extents=extents)
    return shape_for(operation, target, indices, operation.completed(request))
