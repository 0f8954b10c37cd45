"""The gradients of gathers with respect to params."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._arrays.kinds import carried_of, enter, native
from .._base.constants import OP_GATHER_ELEMENTS_GRADIENT, OP_GATHER_GRADIENT, OP_GATHER_ND_GRADIENT
from .._memory.context import Context
from .._requests.memory_runs import run_memory
from .._requests.options_struct import options_of
from .._requests.spec import Spec
from .._requests.tensor import Tensor
from .native_functions import run_natively
from .scatters import check_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.request_fields import Request
    from .._requests.operation_table import Operation


@run_natively(OP_GATHER_GRADIENT, shape="table", gradient="rows")
def gather_gradient(
    gradient: t.Any,
    indices: t.Any,
    shape: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    profile: t.Profile | None = None,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
) -> t.Any:
    """Computes the gradient of :func:`gather` with respect to `params` from the gradient of its output.

    The result has the shape of `params`. It starts with zeros. Each slice of `gradient` is added to the slice that the
    gather has read. Slices are added in the order of `indices`, so the sum does not depend on the number of threads.
    Slices that the gather has filled or skipped, and padding, add nothing. Errors name `gradient` as the operand
    ``"updates"``, and the result as ``"target"``.

    Args:
        gradient: The gradient of the output, of its shape. Any array of numbers that :func:`gather` takes.
        indices, axis, batch_dims, negative, bounds, profile, padding_index, threads, context, opset, order: As for the
            gather.
        shape: The shape of `params`, or an array of that shape.
        accumulate: The type in which floats are added: ``"dtype"`` (default), ``"float32"``, which rounds each sum of
            float16 and bfloat16 once at the end, or ``"float64"``, which also does so for float32.

    Returns:
        A new array of the type and dtype of `gradient`.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError: `gradient` does not have the shape of the output.
        RankError, DTypeError, OptionError, UnsupportedError: As for :func:`scatter`.

    >>> import libgather
    >>> libgather.gather_gradient([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2], (3, 2)).tolist()
    [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
    """


@run_natively(OP_GATHER_ND_GRADIENT, shape="table", gradient="rows")
def gather_nd_gradient(
    gradient: t.Any,
    indices: t.Any,
    shape: t.Any,
    batch_dims: int = 0,
    *,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    profile: t.Profile | None = None,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
) -> t.Any:
    """Computes the gradient of :func:`gather_nd` with respect to `params`.

    Arguments and errors are those of :func:`gather_gradient`.

    >>> import libgather
    >>> libgather.gather_nd_gradient([1.0, 2.0, 3.0], [[0, 1], [1, 0], [0, 1]], (2, 2)).tolist()
    [[0.0, 4.0], [2.0, 0.0]]
    """


@run_natively(OP_GATHER_ELEMENTS_GRADIENT, shape="table", gradient="rows")
def gather_elements_gradient(
    gradient: t.Any,
    indices: t.Any,
    shape: t.Any,
    axis: int = -1,
    *,
    extents: t.Extents | None = None,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    profile: t.Profile | None = None,
    accumulate: t.Accumulate | None = None,
    padding_index: int | None = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    order: t.Order | None = None,
) -> t.Any:
    """Computes the gradient of :func:`gather_elements` with respect to `params`.

    Arguments and errors are those of :func:`gather_gradient`.

    >>> import libgather
    >>> libgather.gather_elements_gradient([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]], (2, 2)).tolist()
    [[3.0, 0.0], [4.0, 3.0]]
    """


def run_others(operation: Operation, shape: t.Any, indices: t.Any, gradient: t.Any, request: Request) -> t.Any:
    """Computes a gradient of arrays of any type with any options, for calls that run_buffers() does not support."""
    options = options_of(request)
    check_place(request.context, ("updates", gradient), ("indices", indices))
    gradient = as_numbers(gradient, "updates")
    rows, kind = enter(gradient, None, "updates")
    index = enter(indices, None, "indices")[0]
    table = Spec(rows.dtype, getattr(shape, "shape", shape))
    made = run_memory(operation, request.context, table, index, rows, request, options)
    return kind.leave(Tensor._of_handle(made), gradient)


def as_numbers(array: t.Any, operand: str) -> t.Any:
    """Returns an array in native byte order. Raises DTypeError if its elements have no dtype of the library."""
    array = native(array, operand)
    dtype = carried_of(array)
    if dtype is not None:
        raise errors.dtype_error(operand, f"dtype {dtype} is none of the library's numbers")
    return array
