"""Runs operations on memory of the library, and infers their shapes."""

from __future__ import annotations

from .. import errors
from .._arrays.kinds import Writing
from .._base.library import NULL, lib
from .._base.library_calls import call, created, new, shape_of
from .index_errors import locate
from .options_struct import options_of
from .spec import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .._base.request_fields import Request
    from .._memory.memory import Memory
    from .operation_table import Operation

#: The operand in a request without this operand.
NONE = (NULL,)


def request_of(
    operation: Operation, table: Sequence[Any], indices: Sequence[Any], rows: Sequence[Any], options: Any
) -> Any:
    """Returns a gth_request. Its options and its operands, whose first item is the description, must outlive it."""
    request = new("gth_request")
    request.op = operation.number
    request.table, request.indices, request.rows, request.options = table[0], indices[0], rows[0], options
    return request


def run_memory(
    operation: Operation,
    context: Any,
    table: Memory | Spec,
    indices: Memory,
    rows: Memory | None,
    request: Request,
    options: Any,
    *written: Any,
) -> Any:
    """Runs an operation that writes the memory of the array `written`.

    Without it, returns the handle of a new tensor.
    """
    operands = table._operand(), indices._operand(), NONE if rows is None else rows._operand()
    native_request = request_of(operation, *operands, options)
    try:
        if not written:
            return created("gth_tensor", lib.gth_tensor_release, lib.gth_make, context, native_request)
        with Writing(*written):
            call(lib.gth_run_request, context, native_request)
    except errors.IndexError as error:
        locate(error, operation, len(table.shape), indices.shape, request.axis, request.batch_dims)
        raise


def shape_for(operation: Operation, table: Any, indices: Any, request: Request) -> tuple[int, ...]:
    """Returns the shape of the rows: the output of a gather, or the updates of a scatter."""
    selected = Spec.of_shape_or_array(table, operation.roles[0])._operand()
    index = Spec.of_shape_or_array(indices, "indices")._operand()
    options = options_of(request)
    return shape_of(lib.gth_infer, request_of(operation, selected, index, NONE, options))
