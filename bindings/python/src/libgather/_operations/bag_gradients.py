"""The gradients of gather_bags, and the positions of its maxima and minima."""

from __future__ import annotations

from .. import _objects
from .. import types as t
from .._arrays.kinds import enter, loaded
from .._base.library import ffi, lib
from .._base.request_fields import Request
from .._memory.context import handle_of
from .._requests.fill_values import fill_of
from .._requests.operation_table import GATHER_BAGS
from .._requests.options_struct import options_of, require_flag
from .._requests.site_of_call import site_of
from .._requests.spec import Spec
from .._requests.tensor import Tensor
from .bags import bags_of, gather_bags, operands_of
from .described_calls import NewResult, call_described, leave_numbers
from .gradients import as_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._memory.device_site import Site
    from .._memory.memory import Memory

_FORMATS = ("offsets", "starts", "lengths", "segments")
_OTHERS = (gather_bags.__kwdefaults__ or {}).keys() - {*_FORMATS, "count", "out", "out_dtype"}


def gather_bags_gradient(gradient: t.Any, indices: t.Any, params: t.Any, **switches: t.Unpack[t.BagSwitches]) -> t.Any:
    """Computes the gradient of :func:`gather_bags` with respect to `params` from the gradient of its output.

    The result has the shape of `params`. Each of its rows is the sum of the gradients of the bags that have read the
    row, in the order of `indices`. So the sum does not depend on the number of threads. With ``pool="max"`` and
    ``"min"``, one index receives the gradient of an element: the first of equal elements, and the first NaN if there is
    one. Indices that a bag has not read receive nothing. Errors name `gradient` as the operand ``"updates"``, and the
    result as ``"target"``.

    Args:
        gradient: The gradient of the output, of its shape, and of the dtype of `params`.
        indices: The indices of the call.
        params: The table of the call. Its shape is enough, unless `pool` is ``"max"`` or ``"min"``.
        **switches: The keywords of the call: bags, weights, `pool` and the other options.

    Returns:
        A new array of the type and dtype of `gradient`, on its device.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError: `gradient` does not have the shape of the output.
        Error: As for :func:`gather_bags`.

    >>> import libgather
    >>> libgather.gather_bags_gradient([[1.0, 2.0], [3.0, 4.0]], [0, 2, 2], (3, 2), offsets=[0, 2, 3]).tolist()
    [[1.0, 2.0], [0.0, 0.0], [4.0, 6.0]]
    """
    run = _gradient_of(gradient, indices, params, switches)
    return run.new_result(lib.gth_gather_bags_gradient, run.like, run.table.shape)


def gather_bags_sparse_gradient(
    gradient: t.Any, indices: t.Any, params: t.Any, **switches: t.Unpack[t.BagSwitches]
) -> tuple[t.Any, t.Any]:
    """Computes the result of :func:`gather_bags_gradient` in sparse form, as optimisers need it.

    Time and memory do not depend on the number of rows of `params`.

    Args:
        gradient, indices, params, switches: As for :func:`gather_bags_gradient`.

    Returns:
        The numbers of the rows that bags have read, in ascending order as int64, and the gradient of each of them. The
        numbers are an array of the library of `gradient`, or of NumPy. On a device, the call waits for the number of
        the rows, so it cannot be captured.

    >>> import libgather
    >>> rows, sums = libgather.gather_bags_sparse_gradient([[1.0], [2.0]], [[7, 3], [7, 7]], (1000, 1))
    >>> rows.tolist(), sums.tolist()
    ([3, 7], [[1.0], [5.0]])
    """
    run = _gradient_of(gradient, indices, params, switches)
    capacity = min(run.indices.size, run.table.shape[0]) if run.table.shape else 0
    rest = run.table.shape[1:]
    if run.site is not None:
        return run.sparse_results(run.site, capacity, rest)
    target = Tensor.zeros((capacity, *rest), run.numbers.dtype)
    unique = Tensor.zeros((capacity,), "int64")
    count = ffi.new("int64_t *")
    run.call(lib.gth_gather_bags_sparse_gradient, unique, target, count=count)
    rows = target._viewed(target._dtype, (count[0], *rest))
    return leave_numbers(unique._viewed(unique._dtype, (count[0],)), run.like), run.kind.leave(rows, run.like)


def gather_bags_weight_gradient(
    gradient: t.Any, indices: t.Any, params: t.Any, **switches: t.Unpack[t.BagSwitches]
) -> t.Any:
    """Computes the gradient of :func:`gather_bags` with respect to `weights` from the gradient of its output.

    Args:
        gradient, indices, switches: As for :func:`gather_bags_gradient`.
        params: The table of the call.

    Returns:
        A new array of the shape of `indices`, of the type and dtype of `weights`. Without `weights`, each of them is 1,
        and the result has the type and dtype of `gradient`.

    Raises:
        UnsupportedError: `pool` is ``"max"`` or ``"min"``, or the numbers are complex.
        Error: As for :func:`gather_bags_gradient`.

    >>> import libgather
    >>> table, weights = [[1.0, 0.0], [0.0, 5.0]], [[0.5, 2.0]]
    >>> libgather.gather_bags_weight_gradient([[3.0, 4.0]], [[0, 1]], table, weights=weights).tolist()
    [[3.0, 20.0]]
    """
    run = _gradient_of(gradient, indices, params, switches)
    like, weights = (run.like, run.numbers) if run.weights is None else (switches["weights"], run.weights)
    return run.new_result(lib.gth_gather_bags_weight_gradient, like, run.indices.shape, weights.dtype)


def gather_bags_positions(params: t.Any, indices: t.Any, **switches: t.Unpack[t.BagSwitches]) -> t.Any:
    """Finds the positions of the maxima or minima of :func:`gather_bags`.

    Of equal numbers, the first one has the position, and the first NaN if there is one. Where torch has the number of
    the row (``max_indices``), this function has the position of its index: ``indices.reshape(-1)[positions]`` are the
    row numbers.

    Args:
        params: The table of the call.
        indices: The indices of the call.
        **switches: The keywords of the call, with ``pool="max"`` or ``"min"``.

    Returns:
        A new array of int64, of the shape of the output, in the library of `params` or of NumPy. Each element is the
        position in `indices`, in row-major order, of the index whose row has the element. It is -1 if the bag has read
        no index.

    Raises:
        OptionError: `pool` is another one.
        Error: As for :func:`gather_bags`.

    >>> import libgather
    >>> table = [[1.0, 8.0], [5.0, 2.0]]
    >>> libgather.gather_bags_positions(table, [1, 0, 0], offsets=[0, 2, 2, 3], pool="max").tolist()
    [[0, 1], [-1, -1], [2, 2]]
    """
    run = _Call("params", params, indices, params, switches)
    return run.new_result(lib.gth_gather_bags_positions, run.like, run.shape_of_output(), "int64")


def _gradient_of(gradient: t.Any, indices: t.Any, params: t.Any, switches: t.Any) -> _Call:
    """Returns the call of a gradient, whose rows are the gradient of the output."""
    run = _Call("updates", gradient, indices, params, switches)
    run.rows = run.numbers
    return run


class _Call:
    """The operands of a call, and its calls of the library. The dtypes and the result are those of an operand."""

    def __init__(self, name: str, like: t.Any, indices: t.Any, params: t.Any, switches: t.Any) -> None:
        request = request_of(switches)
        shape = params if isinstance(params, (tuple, Spec)) else None
        arrays = None if shape is not None else params
        named = (name, like), ("indices", indices), ("params", arrays), ("bags", request.bags)
        self.site: Site | None = site_of(request.context, request.stream, *named, ("weights", request.weights))
        self.name: str = name
        self.like: t.Any = as_numbers(loaded(like, name), name)
        self.numbers, self.kind = enter(self.like, self.site, name)
        self.indices: Memory = enter(indices, self.site, "indices")[0]
        self.table: t.Any = self.numbers if params is like else table_of(params, self.numbers, self.site)
        self.rows: Memory | None = None
        self.bags, self.weights = operands_of(request, self.numbers, self.site)
        self.options: bytes = options_of(request, fill_of(request, self.like, self.numbers._dtype))
        self.request: Request = request if self.site is None else request._replace(context=self.site.context)

    def shape_of_output(self) -> tuple[int, ...]:
        """Returns the shape of the output of gather_bags."""
        others = (None if each is None else each._operand() for each in (None, self.bags, self.weights))
        return _objects.infer(GATHER_BAGS.number, self.table._operand(), self.indices._operand(), *others, self.options)

    def new_result(self, function: t.Any, like: t.Any, shape: tuple[int, ...], dtype: str | None = None) -> t.Any:
        """Returns an array of the library of `like` that a function has written. None means the dtype of `like`."""
        result = NewResult(like, self.name, self.site, shape, dtype or self.numbers.dtype)
        self.call(function, result.memory)
        return result.left(self.request.sync, self.kind.leave if dtype is None else leave_numbers)

    def sparse_results(self, site: Site, capacity: int, rest: tuple[int, ...]) -> tuple[t.Any, t.Any]:
        """Returns the rows and their gradients on a device."""
        context, dtype = site.context, self.numbers.dtype
        unique = Tensor.zeros((capacity,), "int64", context=context)
        target = Tensor.zeros((capacity, *rest), dtype, context=context)
        counted, count = Tensor.zeros((1,), "int64", context=context), Tensor.zeros((1,), "int64")
        pointer = ffi.cast("int64_t *", counted._desc[6])
        self.call(lib.gth_gather_bags_sparse_gradient, unique, target, count=pointer)
        _objects.copy(handle_of(context), counted._operand(), count._operand())
        context.sync()
        rows = ffi.cast("int64_t *", count._desc[6])[0]
        return self.copied(site, unique, (rows,)), self.copied(site, target, (rows, *rest))

    def copied(self, site: Site, memory: Memory, shape: tuple[int, ...]) -> t.Any:
        """Returns an array of the library of the operand with the first elements of memory."""
        result = NewResult(self.like, self.name, site, shape, memory.dtype)
        view = memory._viewed(memory._dtype, shape)
        _objects.copy(handle_of(site.context), view._operand(), result.memory._operand())
        return result.left(sync=True)

    def call(self, function: t.Any, *targets: Memory, count: t.Any = None) -> None:
        """Calls a function with the request and the operands that it writes."""
        operands = {
            "table": self.table,
            "indices": self.indices,
            "rows": self.rows,
            "bags": self.bags,
            "weights": self.weights,
        }
        counts = () if count is None else (count,)
        call_described(GATHER_BAGS, self.request, function, operands, self.options, targets, *counts)


def request_of(switches: dict[str, t.Any]) -> Request:
    """Returns the keywords of gather_bags as a request."""
    unknown = sorted(switches.keys() - {"count", *_FORMATS, *_OTHERS})
    if unknown:
        raise TypeError(f"unexpected keyword argument: {unknown[0]!r}")
    count = switches.get("count")
    bag_format, bags = bags_of(count, **{name: switches.get(name) for name in _FORMATS})
    others = {name: switches[name] for name in _OTHERS if name in switches}
    request = Request(bag_format=bag_format, bags=bags, bag_count=0 if count is None else count, **others)
    require_flag("sync", request.sync)
    return request


def table_of(params: t.Any, gradient: Memory, site: Site | None) -> t.Any:
    """Returns the table, or its spec if only its shape is given."""
    if isinstance(params, tuple):
        return Spec(gradient.dtype, params)
    return (
        params if isinstance(params, Spec) else enter(as_numbers(loaded(params, "params"), "params"), site, "params")[0]
    )
