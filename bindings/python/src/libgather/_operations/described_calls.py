"""Calls of functions that take a request and new tensors for their results."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._arrays.kinds import enter, kind_of
from .._arrays.nested_lists import list_of
from .._base.library import ffi
from .._base.library_calls import call, extents, new
from .._memory.context import pointer_of
from .._requests.index_errors import locate
from .._requests.spec import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.request_fields import Request
    from .._memory.memory import Memory
    from .._requests.operation_table import Operation


def call_described(
    operation: Operation,
    request: Request,
    function: t.Any,
    operands: dict[str, t.Any],
    options: bytes,
    targets: t.Sequence[Memory],
    *counts: t.Any,
) -> None:
    """Calls a function with a request, whose operands may be None, and with the tensors and counts that it writes."""
    given = new("gth_request")
    found = {role: described(each) for role, each in operands.items() if each is not None}
    given.op = operation.number
    for role, (desc, _) in found.items():
        setattr(given, role, desc)
    given.options = ffi.from_buffer("gth_options *", options)
    written = [described(target)[0] for target in targets]
    try:
        call(function, pointer_of(request.context), given, *written, *counts)
    except errors.IndexError as error:
        rank, shape = len(operands["table"].shape), operands["indices"].shape
        locate(error, operation, rank, shape, request.axis, request.batch_dims)
        raise


def described(operand: t.Any) -> tuple[t.Any, t.Any]:
    """Returns the description of a tensor or of a spec, and what it refers to."""
    desc = new("gth_tensor_desc")
    if not isinstance(operand, Spec):
        desc.tensor = operand._live
        return desc, operand
    shape = extents(operand.shape)
    desc.dtype, desc.ndim, desc.shape = operand._dtype, len(operand.shape), shape
    return desc, shape


def leave_numbers(tensor: Memory, like: t.Any) -> t.Any:
    """Returns an array of the library of `like`, which may have another dtype, or of NumPy."""
    from .._arrays.lists import numpy_kind

    kind, numpy = kind_of(like), numpy_kind()
    source = enter(like, None, "updates")[0]
    exchanges = kind is not numpy and hasattr(type(like), "__dlpack__")
    if exchanges or (source._dtype == tensor._dtype and type(like) not in (list, tuple)):
        return kind.leave(tensor, like)
    return numpy.array_of(tensor) if numpy else list_of(tensor)
