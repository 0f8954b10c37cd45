"""The gradients of gathers with respect to params."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._arrays.kinds import carried_of, enter, enter_output, native
from .._base.constants import OP_GATHER_ELEMENTS_GRADIENT, OP_GATHER_GRADIENT, OP_GATHER_ND_GRADIENT
from .._memory.context import Context
from .._requests.device_outputs import new_output
from .._requests.memory_runs import run_to_array, shape_for
from .._requests.options_struct import options_of
from .._requests.site_of_call import site_of
from .._requests.spec import Spec
from .native_functions import run_natively

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
    stream: t.Any = None,
    sync: bool = False,
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
        stream, sync: For arrays on a device, as for the gather.
        accumulate: The type in which floats are added: ``"dtype"`` (default), ``"float32"``, which rounds each sum of
            float16 and bfloat16 once at the end, or ``"float64"``, which also does so for float32.

    Returns:
        A new array of the type and dtype of `gradient`, on its device.

    Raises:
        IndexError: An index is out of bounds. On a device, the next wait for the stream raises it, and the result is
            zero.
        ShapeError: `gradient` does not have the shape of the output.
        RankError, DTypeError, OptionError, DeviceError: As for :func:`scatter`.

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
    stream: t.Any = None,
    sync: bool = False,
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
    stream: t.Any = None,
    sync: bool = False,
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
    site = site_of(request.context, request.stream, ("updates", gradient), ("indices", indices))
    gradient = as_numbers(gradient, "updates")
    rows = enter(gradient, site, "updates")[0]
    index = enter(indices, site, "indices")[0]
    table = Spec(rows.dtype, getattr(shape, "shape", shape))

    def checked_shape() -> tuple[int, ...]:
        shape_for(operation, table, index, request)
        return table.shape

    out = new_output(gradient, "updates", site, checked_shape)
    target = table if out is None else enter_output(out, site, "target")
    return run_to_array(operation, site, (target, index, rows), request, options, out, gradient)


def as_numbers(array: t.Any, operand: str) -> t.Any:
    """Returns an array in native byte order. Raises DTypeError if its elements have no dtype of the library."""
    array = native(array, operand)
    dtype = carried_of(array)
    if dtype is not None:
        raise errors.dtype_error(operand, f"dtype {dtype} is none of the library's numbers")
    return array
