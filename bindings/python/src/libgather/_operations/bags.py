"""gather_bags: pools the rows of each bag of indices."""

from __future__ import annotations

from functools import partial

from .. import errors
from .. import types as t
from .._arrays.kinds import enter, enter_output, kind_of, loaded
from .._base import constants as c
from .._base.request_fields import Request
from .._memory.context import Context
from .._requests.device_outputs import new_output
from .._requests.fill_values import fill_of
from .._requests.memory_runs import run_to_array, shape_for
from .._requests.operation_table import GATHER_BAGS
from .._requests.options_struct import options_of
from .._requests.scatter_updates import of_python
from .._requests.site_of_call import site_of
from .gathers import run
from .gradients import as_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._memory.device_site import Site
    from .._memory.memory import Memory
    from .._memory.packed_memory import PackedRows
    from .._requests.operation_table import Operation


@t.overload
def gather_bags(params: t.Any, indices: t.Any, *, out: t.OutT, **switches: t.Unpack[t.BagSwitches]) -> t.OutT: ...
@t.overload
def gather_bags(params: PackedRows, indices: t.Any, **switches: t.Unpack[t.BagSwitches]) -> t.Any: ...
@t.overload
def gather_bags(params: t.ArrayT, indices: t.Any, **switches: t.Unpack[t.BagSwitches]) -> t.ArrayT: ...
@t.overload
def gather_bags(params: t.Any, indices: t.Any, **switches: t.Unpack[t.BagSwitches]) -> t.Any: ...
def gather_bags(
    params: t.Any,
    indices: t.Any,
    *,
    offsets: t.Any = None,
    starts: t.Any = None,
    lengths: t.Any = None,
    segments: t.Any = None,
    count: int | None = None,
    weights: t.Any = None,
    pool: t.Pool | None = "sum",
    padding_index: int | None = None,
    empty: t.Empty | None = None,
    accumulate: t.Accumulate | None = None,
    out_dtype: t.OutDType | None = None,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    fill_value: t.Any = None,
    profile: t.Profile | None = None,
    out: t.Any = None,
    threads: int | None = None,
    order: t.Order | None = None,
    context: Context | None = None,
    stream: t.Any = None,
    sync: bool = False,
) -> t.Any:
    """Gathers rows of `params` by bags of indices, and pools the rows of each bag to one row.

    This is ``torch.nn.functional.embedding_bag``, ``tf.nn.embedding_lookup_sparse`` and ``jax.ops.segment_sum`` of a
    take. The rows of a bag are added in the order of `indices`, so the result does not depend on the number of
    threads::

        out.shape = (bags,) + params.shape[1:]
        out[b] = pool(weights[k] * params[indices[k]] for each k of bag b)

    At most one of `offsets`, `starts`, `lengths` and `segments` says which indices belong to which bag. Each is an
    array of integers of rank 1. Without them, each row of `indices` along its last axis is a bag, and
    ``out.shape = indices.shape[:-1] + params.shape[1:]``.

    Args:
        params: The table, of any rank from 1 on. Any array of floats, complex numbers or integers that :func:`gather`
            accepts, a :class:`Packed` or a :class:`Table`.
        indices: Any array of integers. It has rank 1, unless its rows are the bags.
        offsets: For B bags, B + 1 numbers. Bag b has the indices from ``offsets[b]`` up to ``offsets[b + 1]``. The
            first number is 0, and the last one is the number of indices.
        starts: B numbers. The last bag extends to the end of `indices`.
        lengths: B numbers, which are the numbers of indices of the bags.
        segments: For each index the number of its bag. The numbers do not decrease.
        count: The number of bags, for `segments` alone. `segments` need it.
        weights: An array of the shape of `indices`, and of the dtype of `params` or float32. Lists and Python numbers
            are converted to the dtype of `params`, and to float32 for float16 and bfloat16.
        pool: ``"sum"`` (default), ``"mean"`` (the sum, divided by the sum of the weights), ``"sqrtn"`` (the sum,
            divided by the root of the sum of the squared weights), ``"max"`` or ``"min"`` (NaN if a value is NaN). Max
            and min have no weights. Integers have no mean and sqrtn.
        padding_index: An index of this value is neither read nor counted. It may be out of bounds.
        empty: The row of a bag of which no index is read: ``"zero"`` (default), ``"fill"`` (`fill_value`), or
            ``"error"``.
        accumulate: The type in which float16 and bfloat16 are added: ``"float32"`` (default), which rounds once, or
            ``"dtype"``.
        out_dtype: ``"float32"``: the result of a table of float16 or bfloat16 is not rounded. None means the dtype of
            `params`.
        negative: ``"reject"`` (default), or ``"wrap"``: a negative index counts from the end.
        bounds: The result of an index out of bounds: ``"error"`` (default), ``"fill"`` (it counts as a row of
            `fill_value`), ``"clamp"``, ``"modulo"``, or ``"skip"`` (it is neither read nor counted). With
            ``"error_partial"``, an error leaves `out` partly written.
        fill_value: As for :func:`gather`. With ``empty="fill"``, it does not imply ``bounds="fill"``.
        profile: ``"torch"``, ``"tensorflow"``, ``"jax_fill"`` or ``"jax_clip"``: the rules of that system. With
            ``"torch"``, the last offset may be smaller than the number of indices.
        out: The array that the call writes and returns. It must be writable, and must have the dtype of the result.
        threads: The largest number of threads of this call.
        order: The order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of
            an element. On the CPU it is always that of the updates. The default is ``"updates"``.
        context: The context of the call. Calls on the CPU do not need one.
        stream, sync: For arrays on a device, as for :func:`gather`.

    Returns:
        A new array of the kind of `params`, on its device, or `out`.

    Raises:
        OffsetsError: Offsets, starts, lengths or segments are invalid, or a bag is empty with ``empty="error"``. The
            error has `position` and `value` of the first invalid number, and its `limit`.
        IndexError: An index is out of bounds. The error has its place in `indices`. On a device, the next wait for the
            stream raises this error and OffsetsError.
        ShapeError: `weights`, `segments` or `out` have another shape.
        RankError: A rank is not one of those above.
        DTypeError: `indices` or bags are not integers, `weights` or `out` have another dtype, or the pool does not
            support the dtype.
        OptionError: More than one array of bags is given, `count` does not belong to `segments`, max and min have
            weights, or a switch has an unknown value.
        OutputError: `out` is read-only or overlaps another argument.
        DeviceError: As for :func:`gather`.
        OutOfMemoryError: The result cannot be allocated.

    The mean of the word vectors of two sentences:

    >>> import libgather
    >>> vectors = [[1.0, 0.0], [0.0, 1.0], [4.0, 2.0]]
    >>> libgather.gather_bags(vectors, [0, 2, 1, 1, 2], offsets=[0, 3, 5], pool="mean").tolist()
    [[1.6666666666666667, 1.0], [2.0, 1.5]]

    >>> libgather.gather_bags(vectors, [[0, 2], [1, -1]], weights=[[0.5, 2], [3, 1]], padding_index=-1).tolist()
    [[8.5, 4.0], [0.0, 3.0]]
    """
    bag_format, bags = bags_of(count, offsets=offsets, starts=starts, lengths=lengths, segments=segments)
    request = Request(
        negative=negative,
        bounds=bounds,
        fill_value=fill_value,
        profile=profile,
        threads=threads,
        context=context,
        stream=stream,
        sync=sync,
        accumulate=accumulate,
        bag_format=bag_format,
        pool=pool,
        empty=empty,
        padding_index=padding_index,
        bag_count=0 if count is None else count,
        out_dtype=out_dtype,
        order=order,
        bags=bags,
        weights=weights,
    )
    return run(GATHER_BAGS, params, indices, out, request)


def bags_of(count: int | None, **formats: t.Any) -> tuple[t.Any, t.Any]:
    """Returns the format and the array of the bags. Raises OptionError for several arrays, and for a wrong count."""
    given = [(name, bags) for name, bags in formats.items() if bags is not None]
    if len(given) > 1:
        message = f"options: {' and '.join(name for name, _ in given)} are given, and bags have one format"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    bag_format, bags = given[0] if given else ("dense", None)
    if (count is None) is (bag_format == "segments"):
        message = "segments need the number of bags: count=" if count is None else "count is for segments alone"
        raise errors.OptionError(f"options: {message}", status=c.E_VERSION, operand="options")
    return bag_format, bags


def run_others(operation: Operation, params: t.Any, indices: t.Any, out: t.Any, request: Request) -> t.Any:
    """Pools rows of arrays of any type with any options, for calls that the C code does not support."""
    named = ("params", params), ("indices", indices), ("out", out), ("bags", request.bags), ("weights", request.weights)
    site = site_of(request.context, request.stream, *named)
    params = as_numbers(loaded(params, "params"), "params")
    source = enter(params, site, "params")[0]
    index = enter(indices, site, "indices")[0]
    bags, weights = operands_of(request, source, site)
    request = request._replace(bags=bags, weights=weights)
    options = options_of(request, fill_of(request, params, source._dtype))
    if out is None:
        shape = partial(shape_for, operation, source, index, request)
        out = new_output(params, "params", site, shape, dtype=request.out_dtype)
    target = None if out is None else enter_output(out, site)
    return run_to_array(operation, site, (source, index, target), request, options, out, params)


def operands_of(request: Request, source: Memory, site: Site | None) -> tuple[Memory | None, Memory | None]:
    """Returns the bags and the weights of a call on a table."""
    bags, weights = request.bags, weights_for(source, request.weights)
    return (
        None if bags is None else enter(bags, site, "bags")[0],
        None if weights is None else enter(weights, site, "weights")[0],
    )


def weights_for(source: Memory, weights: t.Any) -> t.Any:
    """Returns weights for a table. Lists and Python numbers are converted to a dtype that the table can have."""
    from .._arrays import lists

    if weights is None or kind_of(weights) is not lists:
        return weights
    is_half = source._dtype in (c.DTYPE_FLOAT16, c.DTYPE_BFLOAT16)
    return of_python(weights, c.DTYPE_FLOAT32 if is_half else source._dtype, None, "weights")
