"""The positions of the maxima and minima of scatters."""

from __future__ import annotations

from .. import types as t
from .._arrays.kinds import enter, loaded
from .._base.library import lib
from .._base.request_fields import request_from
from .._memory.context import Context
from .._requests.operation_table import scatter_named
from .._requests.options_struct import options_of, require_flag
from .._requests.scatter_updates import enter_updates
from .._requests.site_of_call import site_of
from .described_calls import NewResult, call_described
from .gradients import as_numbers


def scatter_positions(
    target: t.Any,
    indices: t.Any,
    updates: t.Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    op: t.ScatterName | None = None,
    extents: t.Extents | None = None,
    reduction: t.Reduction,
    include_self: bool = True,
    padding_index: int | None = None,
    negative: t.Negative | None = None,
    bounds: t.ScatterBounds | None = None,
    profile: t.Profile | None = None,
    threads: int | None = None,
    context: Context | None = None,
    opset: int | None = None,
    stream: t.Any = None,
    sync: bool = False,
) -> t.Any:
    """Finds the positions of the maxima or minima of :func:`scatter`, :func:`scatter_nd` or :func:`scatter_elements`.

    This is the second result of ``scatter_max`` and ``segment_max_coo`` of torch_scatter. That is the coordinate of the
    position in the axis: ``positions // math.prod(updates.shape[axis + 1:]) % updates.shape[axis]``.

    Args:
        target, indices, updates: Arrays as for the operation. `target` is only read.
        axis, batch_dims, extents: As for the operation. An `axis` of None means its default.
        op: ``"scatter"`` (default), ``"scatter_nd"`` or ``"scatter_elements"``.
        reduction: ``"max"`` or ``"min"``.
        include_self: If false, only the shape and the dtype of `target` are used.
        padding_index, negative, bounds, profile, threads, context, opset, stream, sync: As for the
            operation.

    Returns:
        A new array of int64, of the shape of `target`, in the library of `target` or of NumPy. Each element is the
        position in `updates`, in row-major order, of the element that the result has. Of equal numbers, it is the first
        one, and the first NaN if there is one. It is -1 if the result has the element of `target`: no update is larger
        (or smaller), or there is none.

    Raises:
        OptionError: `reduction` is another one.
        Error: As for the operation.

    >>> import libgather
    >>> libgather.scatter_positions([0, 0, 9], [0, 1, 0, 2], [3, 5, 7, 8], reduction="max").tolist()
    [2, 1, -1]
    """
    operation = scatter_named(op)
    request = operation.completed(request_from(locals()))
    require_flag("sync", sync)
    options = options_of(request)
    site = site_of(context, stream, ("target", target), ("indices", indices), ("updates", updates))
    target = as_numbers(loaded(target, "target"), "target")
    table = enter(target, site, "target")[0]
    index = enter(indices, site, "indices")[0]
    rows = enter_updates(as_numbers(loaded(updates, "updates"), "updates"), target, table, site)
    positions = NewResult(target, "target", site, table.shape, "int64")
    given = {"table": table, "indices": index, "rows": rows}
    request = request._replace(context=context if site is None else site.context)
    call_described(operation, request, lib.gth_scatter_positions, given, options, (positions.memory,))
    return positions.left(sync)
