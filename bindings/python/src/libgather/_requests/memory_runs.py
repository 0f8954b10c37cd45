"""Runs operations on memory of the library, and infers their shapes."""

from __future__ import annotations

from .. import _objects, errors
from .._arrays.kinds import Writing, call_library, enter, kind_of
from .._base.library_calls import owned
from .._memory.context import handle_of
from .index_errors import locate
from .options_struct import options_of
from .spec import Spec
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request
    from .._memory.context import Context
    from .._memory.device_site import Site
    from .._memory.memory import Memory
    from .operation_table import Operation


def run_memory(
    operation: Operation,
    context: Context | None,
    table: Memory | Spec,
    indices: Memory,
    rows: Memory | None,
    request: Request,
    options: bytes,
    *written: Any,
) -> Any:
    """Runs an operation that writes the memory of the array `written`.

    Without it, returns the handle of a new tensor.
    """
    others = [None if each is None else enter(each, None, name)[0] for name, each in others_of(request)]
    operands = (None if each is None else each._operand() for each in (table, indices, rows, *others))
    call: Any = (handle_of(context), operation.number, *operands, options)
    try:
        if not written:
            return owned(_objects.run_described(True, *call))
        with Writing(*written):
            _objects.run_described(False, *call)
    except errors.IndexError as error:
        locate(error, operation, len(table.shape), indices.shape, request.axis, request.batch_dims)
        raise


def run_to_array(
    operation: Operation,
    site: Site | None,
    operands: tuple[Memory | Spec, Memory, Memory | None],
    request: Request,
    options: bytes,
    out: Any,
    like: Any,
) -> Any:
    """Runs an operation on the device and the stream of a call.

    Returns the array `out`, which the call has written. If it is None, returns a new array of the kind of `like`.
    """
    context = request.context if site is None else site.context
    made = run_memory(operation, context, *operands, request, options, *(() if out is None else (out,)))
    if site is not None:
        site.finish(request.sync)
    if out is not None:
        return out
    result = Tensor._of_handle(made, None, getattr(operands[0], "_text", False), None if site is None else context)
    return call_library(kind_of(like).leave, result, "out", like)


def shape_for(operation: Operation, table: Any, indices: Any, request: Request) -> tuple[int, ...]:
    """Returns the shape of the rows: the output of a gather, or the updates of a scatter."""
    selected = Spec.of_shape_or_array(table, operation.roles[0])._operand()
    index = Spec.of_shape_or_array(indices, "indices")._operand()
    others = (None if each is None else Spec.of(each, name)._operand() for name, each in others_of(request))
    return _objects.infer(operation.number, selected, index, None, *others, options_of(request))


def others_of(request: Request) -> tuple[tuple[str, Any], tuple[str, Any]]:
    """Returns the names and the arrays of the operands that only some operations have."""
    return ("bags", request.bags), ("weights", request.weights)
