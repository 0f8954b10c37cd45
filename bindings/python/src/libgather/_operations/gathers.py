"""gather, gather_nd and gather_elements, and the shapes of their outputs."""

from __future__ import annotations

import sys
from functools import partial

from .. import _objects, errors
from .. import types as t
from .._arrays.kinds import carried_of, enter, enter_output, loaded, native
from .._base import constants as c
from .._base.constants import OP_GATHER, OP_GATHER_ELEMENTS, OP_GATHER_ND
from .._base.dtypes import NAMES
from .._base.optional_packages import module
from .._base.request_fields import Request
from .._memory.context import Context
from .._objects import run_arrays
from .._requests.device_outputs import new_output
from .._requests.fill_values import check_output, fill_of
from .._requests.memory_runs import run_to_array, shape_for
from .._requests.operation_table import operation_named
from .._requests.options_struct import options_of
from .._requests.site_of_call import site_of
from .native_functions import run_natively

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._memory.device_site import Site
    from .._memory.memory import Memory
    from .._memory.packed_memory import PackedRows
    from .._requests.operation_table import Operation


@t.overload
def gather(
    params: t.Any,
    indices: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    out: t.OutT,
    **switches: t.Unpack[t.Switches],
) -> t.OutT: ...
@t.overload
def gather(
    params: PackedRows, indices: t.Any, axis: int | None = None, batch_dims: int = 0, **switches: t.Unpack[t.Switches]
) -> t.Any: ...
@t.overload
def gather(
    params: t.Any, indices: int, axis: int | None = None, batch_dims: int = 0, **switches: t.Unpack[t.Switches]
) -> t.Any: ...
@t.overload
def gather(
    params: t.ArrayT, indices: t.Any, axis: int | None = None, batch_dims: int = 0, **switches: t.Unpack[t.Switches]
) -> t.ArrayT: ...
@t.overload
def gather(
    params: t.Any, indices: t.Any, axis: int | None = None, batch_dims: int = 0, **switches: t.Unpack[t.Switches]
) -> t.Any: ...
@run_natively(OP_GATHER, params="table", out="rows")
def gather(
    params: t.Any,
    indices: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    out: t.Any = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    padding_index: int | None = None,
    stream: t.Any = None,
    sync: bool = False,
    **others: t.Any,
) -> t.Any:
    """Gathers slices of `params` along an axis.

    This is ``tf.gather``, ``numpy.take`` and ``torch.index_select``. ``torch.gather`` is :func:`gather_elements`. With
    ``a = axis`` and ``b = batch_dims``::

        out.shape = params.shape[:a] + indices.shape[b:] + params.shape[a+1:]
        out[B, O, J, I] = params[B, O, indices[B, J], I]

    Args:
        params: The source. Any array of NumPy, DLPack (torch, JAX, CuPy, paddle, TensorFlow) or the buffer protocol,
            a column or table of pyarrow, pandas or polars, a nested list, a :class:`Packed` or a :class:`Table`.
        indices: Any array of integers. For a column or table they may be null, which selects null.
        axis: The axis that indices select in. None means the value of `batch_dims`.
        batch_dims: The number of leading dims that both arrays share. A negative value counts from the rank of
            `indices`.
        negative: ``"reject"`` (default), or ``"wrap"``: a negative index counts from the end.
        bounds: The result of an index out of bounds: ``"error"`` (default), ``"fill"``, ``"clamp"``, ``"modulo"``,
            ``"null"`` (of a column or table), ``"promote"`` (the same, and a column of pandas whose dtype has no null
            is promoted as by `reindex`), or ``"skip"`` (the row of `out` is not written). With ``"error_partial"``, an
            error leaves `out` partly written, and large calls read the indices once.
        fill_value: The value of ``bounds="fill"``, which it implies: a value, ``"zero"`` (default), ``"by_dtype"`` (as
            in JAX: NaN, NaT, the smallest or the largest integer), or the bytes of one element. A real number must
            fit the dtype of `params` if an index is out of bounds, and always in plans and on a device. Arrays of text
            have a text of their own kind, but not the two names, and ``""`` in plans. For a column or table, None is
            null if the call gives it, and another value has the type of the column. For a table it may be a dict, with
            the values of columns by their names. The other columns are then null, and `bounds` may be ``"promote"``.
        profile: The rules of another system for all switches: ``"tensorflow"``, ``"onnx"``, ``"numpy_raise"``, ...
        out: An array of the result's shape and dtype that the call writes.
        threads: The largest number of threads of this call.
        context: The context of the call. Calls on the CPU do not need one.
        opset: For the profiles ``"onnx"`` and ``"ort"``: the call follows the newest definition that is not above it.
        padding_index: An index of this value selects nothing and causes no error, even if it is out of bounds. Its row
            is `fill_value`, or zero. `fill_value` then does not imply ``bounds="fill"``. With ``bounds="skip"``, its
            row of `out` is not written. For a column, a `fill_value` of None and ``bounds="null"`` make it null.
            Devices do not support it.
        stream: For arrays on a device: the CUDA stream of the call, as for :class:`Context`. None means the current
            stream of torch or CuPy, and the legacy default stream for other arrays. Each is ordered with the work of
            the array's library.
        sync: If true, the call waits for the device and raises its errors. Otherwise :func:`sync` raises them, or
            :meth:`Context.sync` if `context` is given. Calls on the CPU never need it.
        others: Keywords of other libraries, such as ``mode``. The error names the keyword of this library.

    Returns:
        `out`, or a new array of the kind of `params`, on its device. It is a scalar if NumPy returns one.

    Raises:
        IndexError: An index is out of bounds. The error has its place in `indices`. `out` is unchanged, unless
            `bounds` is ``"error_partial"``. On a device, the next wait for the stream raises it.
        ShapeError: Batch dims differ, `out` has another shape, or elements of `out` overlap each other.
        RankError: `axis` or a rank is out of range.
        DTypeError: `indices` are not integers, `out` has another dtype, or an argument is not an array. `column` of
            the error is the name of the column of a table that cannot have a fill value or null.
        DeviceError: Arrays are on different devices, a stream is given for arrays on the CPU, or the library has no
            CUDA.
        OutOfMemoryError: The result cannot be allocated.
        OutputError: `out` is read-only or overlaps an input. Outputs of objects and of pandas may overlap an input.
        OptionError: A switch has an unknown value.

    >>> import libgather
    >>> libgather.gather(["a", "b", "c"], [2, 0]).tolist()
    ['c', 'a']
    >>> libgather.gather([[1, 2, 3], [4, 5, 6]], [[2], [0]], batch_dims=1).tolist()
    [[3], [4]]
    >>> libgather.gather([1, 2, 3], [0, 7], bounds="fill", fill_value=-1).tolist()
    [1, -1]
    >>> libgather.gather([[1, 2], [3, 4]], [1, -1], padding_index=-1).tolist()
    [[3, 4], [0, 0]]
    """


@t.overload
def gather_nd(
    params: t.Any, indices: t.Any, batch_dims: int = 0, *, out: t.OutT, **switches: t.Unpack[t.Switches]
) -> t.OutT: ...
@t.overload
def gather_nd(params: PackedRows, indices: t.Any, batch_dims: int = 0, **switches: t.Unpack[t.Switches]) -> t.Any: ...
@t.overload
def gather_nd(params: t.ArrayT, indices: t.Any, batch_dims: int = 0, **switches: t.Unpack[t.Switches]) -> t.ArrayT: ...
@t.overload
def gather_nd(params: t.Any, indices: t.Any, batch_dims: int = 0, **switches: t.Unpack[t.Switches]) -> t.Any: ...
@run_natively(OP_GATHER_ND, params="table", out="rows")
def gather_nd(
    params: t.Any,
    indices: t.Any,
    batch_dims: int = 0,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    out: t.Any = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    padding_index: int | None = None,
    stream: t.Any = None,
    sync: bool = False,
    **others: t.Any,
) -> t.Any:
    """Gathers slices of `params` by tuples. The last axis of `indices` contains the components of a tuple.

    With ``b = batch_dims`` and ``K = indices.shape[-1]``::

        out.shape = indices.shape[:-1] + params.shape[b+K:]
        out[B, J, :] = params[B, indices[B, J, 0], ..., indices[B, J, K-1], :]

    Arguments, results and errors are those of :func:`gather`. `batch_dims` must not be negative. A tuple selects
    nothing if all its components are equal to `padding_index`.

    Raises:
        IndexError: A tuple is out of bounds. `position` is the number of the tuple, and `component` is its invalid
            index.
        ShapeError: A tuple is longer than the rank of `params`, batch dims differ, or `out` has another shape.

    >>> import libgather
    >>> libgather.gather_nd([[1, 2], [3, 4]], [[1, 0], [0, 1]]).tolist()
    [3, 2]
    >>> libgather.gather_nd([[1, 2], [3, 4]], [[1]]).tolist()
    [[3, 4]]
    """


@t.overload
def gather_elements(
    params: t.Any,
    indices: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    out: t.OutT,
    **switches: t.Unpack[t.Switches],
) -> t.OutT: ...
@t.overload
def gather_elements(
    params: t.Any, indices: int, axis: int = -1, *, extents: t.Extents | None = None, **switches: t.Unpack[t.Switches]
) -> t.Any: ...
@t.overload
def gather_elements(
    params: t.ArrayT,
    indices: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    **switches: t.Unpack[t.Switches],
) -> t.ArrayT: ...
@t.overload
def gather_elements(
    params: t.Any, indices: t.Any, axis: int = -1, *, extents: t.Extents | None = None, **switches: t.Unpack[t.Switches]
) -> t.Any: ...
@run_natively(OP_GATHER_ELEMENTS, params="table", out="rows")
def gather_elements(
    params: t.Any,
    indices: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    out: t.Any = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    padding_index: int | None = None,
    stream: t.Any = None,
    sync: bool = False,
    **others: t.Any,
) -> t.Any:
    """Gathers single elements of `params` along an axis. The other dims keep their positions.

    For axis 1 of three::

        out.shape = indices.shape
        out[i, j, k] = params[i, indices[i, j, k], k]

    This is ``numpy.take_along_axis``, ``torch.gather`` and ONNX ``GatherElements``. Arguments, results and errors are
    those of :func:`gather`.

    Args:
        params, indices: Arrays of the same rank.
        extents: The rule for the other dims. By default they must be equal (``"equal"``). With ``"prefix"``, sizes of
            `indices` may be smaller, as in torch and ONNX. With ``"broadcast"``, a dim of size 1 is repeated, as in
            NumPy and JAX.

    Raises:
        IndexError: An index is out of bounds. `position` is its row-major number in `indices`.
        ShapeError: The other dims do not fit, or `out` has another shape.
        RankError: The ranks differ, or `axis` is out of range.

    >>> import libgather
    >>> libgather.gather_elements([[1, 2], [3, 4]], [[0, 0], [1, 0]]).tolist()
    [[1, 1], [4, 3]]
    >>> libgather.gather_elements([[1, 2], [3, 4]], [[1]], axis=0, extents="prefix").tolist()
    [[3]]
    """


def run(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """Gathers from arrays of any type with any options."""
    return run_arrays(operation.number, params, indices, out, *request)


def run_buffers(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """As `run`. Returns NotImplemented if the C code does not support the call."""
    return _objects.run_buffers(operation.number, params, indices, out, *request)


def run_others(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """The same as `run` for calls that run_buffers() does not support."""
    params, indices = loaded(params, "params"), loaded(indices, "indices")
    try:
        return run_filled(operation, params, indices, out, request)
    except errors.DTypeError as error:
        operands = ("params", params), ("indices", indices), ("out", out)
        is_number = isinstance(request.fill_value, (int, float)) and error.operand == "options"
        if (
            not is_number
            or request.bounds not in (None, "fill")
            or request.padding_index is not None
            or site_of(request.context, request.stream, *operands) is not None
        ):
            raise
        reason = error
    # An unused number need not fit the dtype of params.
    try:
        return run_filled(operation, params, indices, out, request._replace(fill_value=None, bounds="error"))
    except errors.IndexError:
        raise reason from None


def run_filled(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """The same as `run_others` for a fill_value of the dtype of params."""
    if isinstance(request.fill_value, (str, bytes)):
        from . import text_fills

        table = text_fills.table_of(params, request)
        if table is not None:
            return text_fills.filled(run, operation, table, indices, out, request)
    if request.stream is None:  # the arrays may be on the host
        if moves_blocks(params, request):
            return run_blocks(operation, params, indices, out, request)
    return run_tensors(operation, params, indices, out, request)


def run_tensors(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """Converts each array to a tensor of the library, and the result to an array of the kind of `params`."""
    site = site_of(request.context, request.stream, ("params", params), ("indices", indices), ("out", out))
    if out is not None and carried_of(params) != carried_of(out):
        params = native(params, "params")
    source = enter(params, site, "params")[0]
    index = enter(indices, site, "indices")[0]
    if out is not None:
        check_output(params, out)
    options = options_of(request, fill_of(request, params, source._dtype))
    if out is None:
        out = new_output(params, "params", site, partial(shape_for, operation, source, index, request))
    target = None if out is None else output_for(source, out, site)
    return run_to_array(operation, site, (source, index, target), request, options, out, params)


def output_for(source: Memory, out: t.Any, site: Site | None) -> Memory:
    if source._dtype == c.DTYPE_STRING:
        raise errors.unsupported("out", "strings have no place of one size to be written to")
    carried = carried_of(out)
    if carried is not None and not carried.isnative:  # params have the same dtype
        out = out.view(NAMES[source._dtype])
    return enter_output(out, site)


def has_blocks(array: t.Any) -> bool:
    """Returns whether the elements of an array are blocks of bytes."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray):
        return False
    from .._arrays import numpy_

    return numpy_.is_record(array)


def moves_blocks(params: t.Any, request: Request) -> bool:
    """Returns whether a request only moves blocks of bytes. Raises DTypeError if it uses the values of records."""
    if not has_blocks(params):
        return False
    from .._arrays import numpy_carried

    if numpy_carried.only_moves(params.dtype, request):
        return True
    if params.dtype.kind in "US":
        return False
    raise errors.dtype_error("params", numpy_carried.unknown(params.dtype, "profile or fill_value knows"))


def run_blocks(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """Gathers from params whose elements are blocks of bytes."""
    from .._arrays import numpy_, numpy_carried

    if out is not None:
        numpy_carried.check_output(out, params.dtype)
    request = request._replace(fill_value=None if request.fill_value is None else "zero")
    made = move_blocks(operation, params, indices, out, request)
    return numpy_.finished(module("numpy").asarray(made), params) if out is None else out


def move_blocks(operation: Operation, table: t.Any, indices: t.Any, rows: t.Any, request: Request) -> t.Any:
    """Runs an operation on blocks of bytes, which only the C code moves. Raises the error if it does not."""
    from .._arrays import numpy_, numpy_carried

    index = numpy_.array_of(enter(indices, None, "indices")[0])
    made = run_buffers(operation, module("numpy").asarray(table), index, rows, request)
    if made is NotImplemented:
        # The errors for single bytes have the same places.
        single = numpy_carried.single_bytes
        run(operation, single(table), indices, None if rows is None else single(rows), request)
        raise errors.dtype_error(operation.roles[0], numpy_carried.unknown(table.dtype, "profile knows"))
    return made


def output_shape(
    params: t.Any,
    indices: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    op: t.OperationName | None = None,
    nd: bool = False,
    extents: t.Extents | None = None,
    profile: t.Profile | None = None,
    opset: int | None = None,
) -> tuple[int, ...]:
    """Returns the shape of the result of :func:`gather`, :func:`gather_nd` or :func:`gather_elements`.

    Args:
        params, indices: Shapes, :class:`Spec` or arrays. A shape is a tuple of integers. -1 is an unknown size of a
            dim, and appears as -1 in the result.
        op: ``"gather"`` (default), ``"gather_nd"`` or ``"gather_elements"``.
        nd: Short for ``op="gather_nd"``.
        axis, batch_dims, extents, profile, opset: As for the operation. An `axis` of None means its default.

    Returns:
        The size of each dim. -1 means an unknown size.

    Raises:
        ShapeError, RankError, DTypeError: As for the operation.

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
