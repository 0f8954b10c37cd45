"""Plans of scatters: shapes and options are validated once, for callers that repeat a scatter."""

from __future__ import annotations

from .. import _objects, errors
from .. import types as t
from .._arrays.kinds import Writing, enter, enter_output
from .._base import constants as c
from .._base.request_fields import request_from
from .._memory.context import Context
from .._memory.device_site import Site
from .._requests.operation_table import scatter_named
from .._requests.options_struct import require_flag
from .._requests.scatter_updates import check_target, enter_updates
from .._requests.site_of_call import site_of
from .._requests.spec import Spec
from .plan_base import BoundPlan, Prepared, Tensors


class ScatterPlan(Prepared):
    """A prepared :func:`scatter`, :func:`scatter_nd` or :func:`scatter_elements`, in place.

    Args:
        target, indices: Arrays like those of the runs, or :class:`Spec`. The size of one dim may be open (-1). It is a
            dim of the tuples (for scatter_elements, the axis), or the outermost dim that both share. The plan runs on
            the device of its arrays, specs or context.
        updates: The layout of the updates, given in the same way. None means dense.
        op: ``"scatter"`` (default), ``"scatter_nd"`` or ``"scatter_elements"``.
        axis, batch_dims, extents: As for the operation. An `axis` of None means its default.
        reduction, include_self, accumulate: As for the operation. Runs with ``reduction="mean"`` allocate memory.
        padding_index, negative, bounds, profile, threads, context, opset, order: As for the operation.

    Raises:
        Error: As for the operation. Strings have no plan.

    >>> import array, libgather
    >>> counts = array.array("i", [0, 0, 0])
    >>> plan = libgather.ScatterPlan(counts, libgather.Spec("int64", (-1,)), reduction="add")
    >>> plan(counts, [2, 0, 2], [1, 1, 1])
    array('i', [1, 0, 2])
    >>> plan.updates_shape(5)
    (5,)
    """

    _layout_name = "updates"

    def __init__(
        self,
        target: t.Any,
        indices: t.Any,
        axis: int | None = None,
        batch_dims: int = 0,
        *,
        op: t.ScatterName | None = None,
        extents: t.Extents | None = None,
        updates: t.Any = None,
        reduction: t.Reduction | None = "none",
        include_self: bool = True,
        accumulate: t.Accumulate | None = None,
        padding_index: int | None = None,
        negative: t.Negative | None = None,
        bounds: t.ScatterBounds | None = None,
        profile: t.Profile | None = None,
        threads: int | None = None,
        context: Context | None = None,
        opset: int | None = None,
        order: t.Order | None = None,
    ) -> None:
        operation = scatter_named(op)
        request = operation.completed(request_from(locals()))
        source, index = Spec.of(target, "target"), Spec.of(indices, "indices")
        layout = None if updates is None else Spec.of(updates, "updates")
        if not isinstance(target, Spec):
            check_target(target, request)
        super().__init__(operation, request, (0, b""), source, index, layout, context)

    def __repr__(self) -> str:
        target, indices, updates = self._specs
        return f"libgather.ScatterPlan({updates}, {indices}) -> {target}"

    def updates_shape(self, n: int = c.OPEN) -> tuple[int, ...]:
        """Returns the shape of the updates if the open extent is `n`. -1 leaves it open."""
        return self._shape(n)

    def __call__(
        self, target: t.Any, indices: t.Any, updates: t.Any, stream: t.Any = None, sync: bool = False
    ) -> t.Any:
        """Runs the plan, in place, and returns `target`.

        Args:
            stream, sync: For arrays on a device, as for :func:`scatter`.

        Raises:
            IndexError: An index is out of bounds. `target` is unchanged, unless `bounds` is ``"error_partial"``. On a
                device, the next wait for the stream raises it.
            ShapeError, RankError, DTypeError: An array differs from the planned one.
            DeviceError: An array is on another device than the planned one.
            OutputError: `target` is read-only or overlaps another argument.
        """
        try:
            if stream is None and sync is False:
                result = _plan_run(self._planned, target, indices, updates)
                if result is not NotImplemented:
                    return result
        except errors.IndexError as error:
            self._locate(error, enter(indices, None, "indices")[0].shape)
            raise
        require_flag("sync", sync)
        site, tensors = self._opened(target, indices, updates, stream)
        with Writing(target):
            self._run_tensors(tensors, self._context if site is None else site.context)
        if site is not None:
            site.finish(sync)
        return target

    def _opened(self, target: t.Any, indices: t.Any, updates: t.Any, stream: t.Any) -> tuple[Site | None, Tensors]:
        site = site_of(self._context, stream, ("target", target), ("indices", indices), ("updates", updates))
        check_target(target, self._request)
        memory = enter_output(target, site, "target")
        index = enter(indices, site, "indices")[0]
        return site, (memory, index, enter_updates(updates, target, memory, site))

    def bind(self, target: t.Any, indices: t.Any, updates: t.Any, *, stream: t.Any = None) -> BoundPlan:
        """Returns the plan bound to three arrays. Each call of the result scatters their current elements.

        The result keeps the memory of the arrays, and on a device it uses one stream, as for :meth:`Plan.bind`.

        >>> import array, libgather
        >>> counts, ids, ones = (array.array("i", values) for values in ([0, 0], [1, 1], [1, 1]))
        >>> count = libgather.ScatterPlan(counts, ids, reduction="add").bind(counts, ids, ones)
        >>> count()
        array('i', [0, 2])
        >>> ids[0] = 0
        >>> count()
        array('i', [1, 3])
        """
        site, tensors = self._opened(target, indices, updates, stream)
        return self._bound(tensors, (target, indices, updates), site)


_plan_run = _objects.plan_run
