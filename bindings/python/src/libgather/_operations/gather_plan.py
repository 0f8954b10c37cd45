"""Plans of gathers: shapes and options are validated once, for callers that repeat a gather."""

from __future__ import annotations

from .. import _objects, errors
from .. import types as t
from .._arrays.kinds import Writing, carried_of, enter, enter_output, native
from .._base import constants as c
from .._base.integers import rules_of
from .._base.request_fields import request_from
from .._memory.context import Context
from .._requests.device_outputs import new_output
from .._requests.fill_values import check_output, dtype_of, fill_of
from .._requests.operation_table import operation_named
from .._requests.options_struct import require_flag
from .._requests.site_of_call import site_of
from .._requests.spec import Spec
from .._requests.tensor import Tensor
from .plan_base import BoundPlan as BoundPlan
from .plan_base import Prepared


class Plan(Prepared):
    """A prepared :func:`gather`, :func:`gather_nd` or :func:`gather_elements`.

    Args:
        params, indices: Arrays like those of the runs, or :class:`Spec`. The size of one dim may be open (-1). It is a
            dim of the tuples (for gather_elements, the axis), or the outermost dim that both share. The plan runs on
            the device of its arrays, specs or context. It is bound to a :class:`Packed` or a
            :class:`Table`, which each run gets.
        out: The layout of the outputs, given in the same way. None means dense.
        op: ``"gather"`` (default), ``"gather_nd"`` or ``"gather_elements"``.
        nd: Short for ``op="gather_nd"``.
        axis, batch_dims, extents, negative, bounds, fill_value, profile, opset, threads, context, padding_index: As for
            the operation. An `axis` of None means its default.

    Raises:
        Error: As for the operation. Strings have no plan.

    >>> import array, libgather
    >>> table = memoryview(bytearray(b"abcdef")).cast("B", (3, 2))
    >>> plan = libgather.Plan(table, libgather.Spec("int64", (-1,)))
    >>> plan(table, array.array("q", [2, 0])).tolist()
    [[101, 102], [97, 98]]
    >>> plan.output_shape(5)
    (5, 2)
    >>> libgather.Plan(table, libgather.Spec("int64", (3, -1)), op="gather_elements").output_shape(5)
    (3, 5)
    """

    _layout_name = "out"

    def __init__(
        self,
        params: t.Any,
        indices: t.Any,
        axis: int | None = None,
        batch_dims: int = 0,
        *,
        op: t.OperationName | None = None,
        nd: bool = False,
        extents: t.Extents | None = None,
        out: t.Any = None,
        negative: t.Negative | None = None,
        bounds: t.Bounds | None = None,
        fill_value: t.Any = None,
        profile: t.Profile | None = None,
        threads: int | None = None,
        context: Context | None = None,
        opset: int | None = None,
        padding_index: int | None = None,
    ) -> None:
        operation = operation_named(op, nd)
        request = operation.completed(request_from(locals()))
        source, layout = Spec.of(params, "params"), None if out is None else Spec.of(out, "out")
        #: The NumPy dtype of params, if params is an array whose dtype the library does not have. Otherwise None.
        self._carried = None if isinstance(params, Spec) else carried_of(params)
        if out is not None:
            check_output(params, out)
        fill = fill_of(request, params, source._dtype)
        self._fills = fill[0] in (c.FILL_VALUE, c.FILL_BY_DTYPE) or rules_of(profile)["fill"] == "by_dtype"
        super().__init__(operation, request, fill, source, Spec.of(indices, "indices"), layout, context)
        # The fast path does not support a fill value of a dtype that only NumPy has.
        self._is_fast = not (self._fills and self._carried)

    def __repr__(self) -> str:
        params, indices, out = self._specs
        return f"libgather.Plan({params}, {indices}) -> {out}"

    def output_shape(self, n: int = c.OPEN) -> tuple[int, ...]:
        """Returns the shape of the output if the open extent is `n`. -1 leaves it open."""
        return self._shape(n)

    def __call__(
        self, params: t.Any, indices: t.Any, out: t.Any = None, stream: t.Any = None, sync: bool = False
    ) -> t.Any:
        """Runs the plan. Without `out`, the result is a new array of the kind of `params`.

        Args:
            stream, sync: For arrays on a device, as for :func:`gather`.

        Raises:
            IndexError: An index is out of bounds. `out` is unchanged, unless `bounds` is ``"error_partial"``. On a
                device, the next wait for the stream raises it.
            ShapeError, RankError, DTypeError: An array differs from the planned one.
            DeviceError: An array is on another device than the planned one.
            Error: `out` is read-only or overlaps an input.
        """
        try:
            if stream is None and sync is False and self._is_fast:
                result = _plan_run(self._planned, params, indices, out)
                if result is not NotImplemented:
                    return result
        except errors.IndexError as error:
            self._locate(error, enter(indices, None, "indices")[0].shape)
            raise
        return self._run(params, indices, out, stream, sync)

    def bind(self, params: t.Any, indices: t.Any, out: t.Any, *, stream: t.Any = None) -> BoundPlan:
        """Returns the plan bound to three arrays. Each call of the result gathers their current elements.

        The result keeps the memory of the arrays. NumPy and torch refuse to resize it afterwards. If a torch tensor
        gets other memory, as by ``tensor.data = other``, the plan still uses the bound memory. ``share_memory_()`` of
        torch, ``ctypes.resize()`` and ``ndarray.__setstate__()`` free memory in use: call them before. The elements of
        a list are copied once, and an array in the other byte order is rejected. On a device the calls use one stream,
        which is found as for :func:`gather`. The caller must order later work of other streams on the arrays.

        >>> import array, libgather
        >>> params, indices, out = array.array("i", [1, 2, 3]), array.array("i", [2, 2]), array.array("i", [0, 0])
        >>> lookup = libgather.Plan(params, indices).bind(params, indices, out)
        >>> lookup()
        array('i', [3, 3])
        >>> indices[1] = 0
        >>> lookup()
        array('i', [3, 1])
        """
        site = site_of(self._context, stream, ("params", params), ("indices", indices), ("out", out))
        source = enter(self._movable(params, out), site, "params")[0]
        tensors = (source, enter(indices, site, "indices")[0], enter_output(out, site))
        return self._bound(tensors, (params, indices, out), site)

    def _run(self, params: t.Any, indices: t.Any, out: t.Any, stream: t.Any, sync: bool) -> t.Any:
        """Runs the plan on arrays of any kind."""
        require_flag("sync", sync)
        site = site_of(self._context, stream, ("params", params), ("indices", indices), ("out", out))
        context = self._context if site is None else site.context
        params = self._movable(params, out)
        source, kind = enter(params, site, "params")
        index = enter(indices, site, "indices")[0]
        shape = _objects.plan_shape(self._planned, source._described_operand(), index._described_operand())
        if out is None:
            out = new_output(params, "params", site, lambda: shape)
        made = Tensor.zeros(shape, self._specs[0].dtype, context=context) if out is None else None
        if made is None:
            target = enter_output(out, site)
            with Writing(out):
                self._run_tensors((source, index, target), context)
        else:
            self._run_tensors((source, index, made), context)
        if site is not None:
            site.finish(sync)
        return out if made is None else kind.leave(made, params)

    def _movable(self, params: t.Any, out: t.Any) -> t.Any:
        """Returns params in a form whose bytes can be moved.

        Raises DTypeError if a fill value is planned or `out` is given, and the dtype of params is not the planned one.
        """
        carried = carried_of(params)
        if self._fills and carried != self._carried:
            planned = self._carried or self._specs[0].dtype
            raise errors.dtype_error("params", f"dtype is {dtype_of(params, carried)}, {planned} is planned")
        if out is not None:
            params = params if self._fills else native(params, "params")
            check_output(params, out)
        return params


_plan_run = _objects.plan_run
