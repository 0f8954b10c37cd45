"""The gradients of gathers: what each hands back to params."""

from __future__ import annotations

from . import errors
from . import types as t
from ._arrays import carried_of, enter, native
from ._call import created, extents
from ._library import lib
from ._located import locate
from ._numbers import integers
from ._operation import GATHER, GATHER_ELEMENTS, GATHER_ND
from ._options import options_of
from ._request import Request
from ._scatters import check_place
from .context import Context, pointer_of
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._operation import Operation


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
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
) -> t.Any:
    """The gradient of :func:`gather` with respect to `params`, from that of its output.

    Zeros of the shape of `params`, to which each slice of `gradient` is added where the gather has read it. They are
    added in the order of `indices`: the sum is the same for any number of threads. Slices that were filled or skipped
    add nothing. In errors the operand ``"updates"`` is `gradient`, and ``"target"`` the result.

    Args:
        gradient: that of the output, of its shape; any array of numbers that :func:`gather` takes
        indices, axis, batch_dims, negative, bounds, profile, threads, context, opset: those of the gather
        shape: that of `params`, or an array that has it
        accumulate: what float16 and bfloat16 are added in: ``"dtype"`` (default) or ``"float32"``, rounded once

    Returns:
        A new array of the kind and dtype of `gradient`.

    Raises:
        IndexError: an index out of bounds
        ShapeError: a `gradient` that is none of such an output
        RankError, DTypeError, OptionError, UnsupportedError: as :func:`scatter`

    >>> import libgather
    >>> libgather.gather_gradient([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2], (3, 2)).tolist()
    [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
    """
    request = Request(axis, batch_dims, negative, bounds, None, profile, opset, threads, context, accumulate=accumulate)
    return gradient_of(GATHER, gradient, indices, shape, request)


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
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
) -> t.Any:
    """The gradient of :func:`gather_nd` with respect to `params`; arguments and errors are those of
    :func:`gather_gradient`.

    >>> import libgather
    >>> libgather.gather_nd_gradient([1.0, 2.0, 3.0], [[0, 1], [1, 0], [0, 1]], (2, 2)).tolist()
    [[0.0, 4.0], [2.0, 0.0]]
    """
    request = Request(None, batch_dims, negative, bounds, None, profile, opset, threads, context, accumulate=accumulate)
    return gradient_of(GATHER_ND, gradient, indices, shape, request)


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
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
) -> t.Any:
    """The gradient of :func:`gather_elements` with respect to `params`; arguments and errors are those of
    :func:`gather_gradient`.

    >>> import libgather
    >>> libgather.gather_elements_gradient([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]], (2, 2)).tolist()
    [[3.0, 0.0], [4.0, 3.0]]
    """
    request = Request(axis, 0, negative, bounds, None, profile, opset, threads, context, extents=extents)
    return gradient_of(GATHER_ELEMENTS, gradient, indices, shape, request._replace(accumulate=accumulate))


def gradient_of(operation: Operation, gradient: t.Any, indices: t.Any, shape: t.Any, request: Request) -> t.Any:
    """Arrays of any kind with any switches."""
    options = options_of(request)
    check_place(request.context, ("updates", gradient), ("indices", indices))
    gradient = as_numbers(gradient)
    rows, kind = enter(gradient, None, "updates")
    index = enter(indices, None, "indices")[0]
    given = integers("shape", getattr(shape, "shape", shape))
    arguments = rows._live, index._live, len(given), extents(given), options
    try:
        handle = created(
            "gth_tensor", lib.gth_tensor_release, operation.gradient, pointer_of(request.context), *arguments
        )
    except errors.IndexError as error:
        locate(error, operation, len(given), index.shape, request.axis, request.batch_dims)
        raise
    return kind.leave(Tensor._of_handle(handle), gradient)


def as_numbers(gradient: t.Any) -> t.Any:
    """The gradient as numbers of the library's; elements that are only carried have no sum."""
    gradient = native(gradient, "updates")
    dtype = carried_of(gradient)
    if dtype is not None:
        raise errors.dtype_error("updates", f"dtype {dtype} is none of the library's numbers")
    return gradient
