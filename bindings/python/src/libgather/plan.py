"""Plans: an operation whose shapes and options have been checked once, for callers who repeat it."""

from __future__ import annotations

from functools import partial

from . import _constants as c
from . import _objects, errors
from . import types as t
from ._arrays import carried_of, enter, enter_output, hold, kind_of, native, written
from ._call import call, held, pointer_to, shape_of
from ._fills import check_output, dtype_of, fill_of
from ._library import NULL, ffi, lib
from ._located import locate
from ._memory import Memory
from ._operation import operation_named
from ._options import options_of
from ._places import HOST, Place, is_host
from ._request import Request
from ._sites import site_of
from .context import Context, checked, handle_of, pointer_of
from .spec import Spec, is_dense
from .tensor import Tensor


class Plan:
    """A prepared :func:`gather`, :func:`gather_nd` or :func:`gather_elements`.

    Args:
        params, indices: arrays like those to come, or :class:`Spec`; one extent may be open (-1): a dim of the tuples
            (of gather_elements that of the axis), or the outermost dim that both share. A plan is for the device of its
            arrays, specs or context
        out: the layout of the outputs to come, likewise; None: dense
        op: ``"gather"`` (default), ``"gather_nd"`` or ``"gather_elements"``
        nd: short for ``op="gather_nd"``
        axis, batch_dims, extents, negative, bounds, fill_value, profile, opset, threads, context: as for the operation;
            an `axis` of None is its default

    Raises:
        Error: as the operation; strings have no plan

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
    ) -> None:
        operation = operation_named(op, nd)
        request = operation.completed(
            Request(axis, batch_dims, negative, bounds, fill_value, profile, opset, threads, extents=extents)
        )
        self._context = None if context is None else checked(context)
        self._params, self._indices = Spec.of(params, "params"), Spec.of(indices, "indices")
        #: NumPy's dtype of elements that the library has none for, as far as arrays have told it.
        self._carried = None if isinstance(params, Spec) else carried_of(params)
        layout = None if out is None else Spec.of(out, "out")
        place = planned_place(self._context, self._params, self._indices, layout)
        if out is not None:
            check_output(params, out)
        fill = fill_of(request, params, self._params._dtype)
        self._operation, self._layout = operation, layout
        self._fills = fill[0] in (c.FILL_VALUE, c.FILL_BY_DTYPE) or profile == "jax_fill"
        self._request = request if fill[0] != c.FILL_VALUE else request._replace(fill_value=fill[1])
        self._handle = held(
            "gth_plan",
            operation.plan,
            self._params.described(place),
            self._indices.described(place),
            options_of(request, fill),
            NULL if layout is None else layout.described(place),
        )
        self._out = layout or Spec(self._params.dtype, shape_of(lib.gth_plan_shape, self._pointer, c.OPEN))
        # A fill that is no number of the library's is for arrays that are no buffers of such numbers.
        dtypes = (0 if self._fills and self._carried else self._params._dtype, self._indices._dtype, self._out._dtype)
        layouts = ((dtype, spec.shape, spec.strides) for dtype, spec in zip(dtypes, self._specs, strict=True))
        self._planned = _objects.plan(
            self._handle, handle_of(self._context), layout is None and bounds != "skip", *layouts
        )

    @property
    def _specs(self) -> tuple[Spec, Spec, Spec]:
        return self._params, self._indices, self._out

    def __repr__(self) -> str:
        return f"libgather.Plan({self._params}, {self._indices}) -> {self._out}"

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: object) -> Plan:
        return self

    def __reduce__(self) -> tuple[t.Any, ...]:
        if self._context is not None:
            raise TypeError("a Plan with a context is of one process and cannot be pickled")
        return planned_again, (self._operation.name, self._params, self._indices, self._layout, self._request)

    def output_shape(self, n: int = c.OPEN) -> tuple[int, ...]:
        """The shape of the output when the open extent is `n`; -1 hands it on."""
        return shape_of(lib.gth_plan_shape, self._pointer, n)

    def __call__(
        self, params: t.Any, indices: t.Any, out: t.Any = None, stream: t.Any = None, sync: bool = False
    ) -> t.Any:
        """Runs the plan; without `out` the result is a new array of the kind of `params`.

        Args:
            stream, sync: for arrays on a device, as for :func:`gather`

        Raises:
            IndexError: an index out of bounds; `out` is unchanged. On a device when the stream is next waited for
            ShapeError, RankError, DTypeError: an array is not what was planned
            DeviceError: an array is not where it was planned
            Error: `out` is read-only or overlaps an input
        """
        try:
            if stream is None:
                result = _plan_run(self._planned, params, indices, out)
                if result is not NotImplemented:
                    return result
        except errors.IndexError as error:
            self._locate(error, enter(indices, None, "indices")[0].shape)
            raise
        return self._run(params, indices, out, stream, sync)

    def _locate(self, error: errors.IndexError, shape: tuple[int, ...]) -> None:
        locate(error, self._operation, len(self._params.shape), shape, self._request.axis, self._request.batch_dims)

    def check(self, indices: t.Any, *, stream: t.Any = None, sync: bool = False) -> None:
        """Judges the indices of a run and does nothing else, for callers who gather in pieces.

        Args:
            indices: an array of the planned dtype, shape and strides
            stream, sync: for an array on a device, as for :func:`gather`

        Raises:
            IndexError: an index out of bounds that the plan has no answer for; on a device as from a run
            ShapeError, RankError, DTypeError, DeviceError: the array is not what was planned

        >>> import libgather
        >>> plan = libgather.Plan([10, 20, 30], libgather.Spec("int64", (-1,)))
        >>> plan.check([2, 0])
        >>> plan.check([2, 3])
        Traceback (most recent call last):
        libgather.errors.IndexError: indices: component 0 of tuple 1 is 3, valid are [0, 3): indices[1], axis 0
        """
        site = site_of(self._context, stream, ("indices", indices))
        index = enter(indices, site, "indices")[0]
        n = self._extent(("indices", index, self._indices))
        context = self._context if site is None else site.context
        try:
            call(lib.gth_plan_check, pointer_of(context), self._pointer, ffi.cast("void *", index._desc[6]), n)
        except errors.IndexError as error:
            self._locate(error, index.shape)
            raise
        if site is not None:
            site.finish(sync)

    def bind(self, params: t.Any, indices: t.Any, out: t.Any, *, stream: t.Any = None) -> BoundPlan:
        """The plan over three arrays: each call of the result gathers what they then hold.

        The arrays are held, and must not be moved in memory: NumPy refuses to resize them, and so does torch from then
        on. On a device the calls work
        on one stream, found as for :func:`gather`; what other streams do with the arrays from now on is the caller's to
        order.

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
        params = self._movable(params, out)
        target = enter_output(out, site)
        tensors = (enter(params, site, "params")[0], enter(indices, site, "indices")[0], target)
        for value in (params, indices, out):
            hold(value)
        followers: list[t.Callable[[], object]] = []
        if hasattr(kind_of(out), "written"):
            followers.append(partial(written, out))
        if site is not None:
            site.finish(sync=False)
            followers.append(site.context._note_work)
        context = self._context if site is None else site.context
        if followers:
            return FollowedBoundPlan(self, tensors, out, context, followers)
        return BoundPlan(self, tensors, out, context)

    def close(self) -> None:
        """Releases the plan when the calls that use it are done; later calls raise Error."""
        self._handle.close()

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def _pointer(self) -> t.Any:
        return pointer_to("gth_plan", self._handle, "plan")

    def _run(self, params: t.Any, indices: t.Any, out: t.Any, stream: t.Any, sync: bool) -> t.Any:
        """Arrays of any kind."""
        site = site_of(self._context, stream, ("params", params), ("indices", indices), ("out", out))
        context = self._context if site is None else site.context
        params = self._movable(params, out)
        source, kind = enter(params, site, "params")
        index = enter(indices, site, "indices")[0]
        n = self._extent(("params", source, self._params), ("indices", index, self._indices))
        made = Tensor.zeros(self.output_shape(n), self._params.dtype, context=context) if out is None else None
        self._run_tensors((source, index, enter_output(out, site) if made is None else made), context)
        if made is None:
            written(out)
        if site is not None:
            site.finish(sync)
        return out if made is None else kind.leave(made, params)

    def _movable(self, params: t.Any, out: t.Any) -> t.Any:
        """Params whose bytes may be moved as they are: the fill is for those that were planned, and so is an output."""
        carried = carried_of(params)
        if self._fills and carried != self._carried:
            planned = self._carried or self._params.dtype
            raise errors.dtype_error("params", f"dtype is {dtype_of(params, carried)}, {planned} is planned")
        if out is not None:
            params = params if self._fills else native(params)
            check_output(params, out)
        return params

    def _run_tensors(self, tensors: tuple[Memory, Memory, Memory], context: Context | None) -> None:
        n, addresses = self._checked(tensors)
        pointers = (ffi.cast("void *", address) for address in addresses)
        try:
            call(lib.gth_plan_run, pointer_of(context), self._pointer, *pointers, n)
        except errors.IndexError as error:
            self._locate(error, tensors[1].shape)
            raise

    def _checked(self, tensors: tuple[Memory, Memory, Memory]) -> tuple[int, list[int]]:
        """The open extent and the addresses, if the tensors are what was planned."""
        n = self._extent(*zip(("params", "indices", "out"), tensors, self._specs, strict=True))
        if tensors[2]._desc[3] & c.TENSOR_READONLY:
            raise errors.read_only("out", "it is read-only")
        return n, [tensor._desc[6] for tensor in tensors]

    def _extent(self, *operands: tuple[str, Memory, Spec]) -> int:
        n = c.OPEN
        for name, tensor, spec in operands:
            n = spec_extent(name, tensor, spec, n)
        return n


def planned_again(op: t.OperationName, params: Spec, indices: Spec, out: Spec | None, request: Request) -> Plan:
    """A plan that was pickled."""
    keywords = {name: value for name, value in request._asdict().items() if name not in ("context", "stream", "sync")}
    return Plan(params, indices, op=op, out=out, **keywords)


def planned_place(context: Context | None, *specs: Spec | None) -> Place:
    """Where the arrays lie whose spec does not say it: with the context, or with the first that says it."""
    if context is not None:
        return context._place
    named = [spec._place for spec in specs if spec is not None and spec._place is not None]
    return next((place for place in named if not is_host(place)), HOST)


def spec_extent(operand: str, tensor: Memory, spec: Spec, n: int) -> int:
    """Holds a tensor against what was planned. Returns the open extent, given as `n` if it is known already."""
    if tensor._dtype != spec._dtype:
        raise errors.DTypeError(
            f"{operand}: {tensor.dtype}, {spec.dtype} is planned",
            status=c.E_DTYPE,
            operand=operand,
            value=tensor._dtype,
            limit=spec._dtype,
        )
    if tensor.ndim != len(spec.shape):
        raise errors.RankError(
            f"{operand}: rank {tensor.ndim}, {len(spec.shape)} is planned",
            status=c.E_RANK,
            operand=operand,
            value=tensor.ndim,
            limit=len(spec.shape),
        )
    for dim, (extent, planned) in enumerate(zip(tensor.shape, spec.shape, strict=True)):
        wanted = n if planned == c.OPEN else planned
        if wanted not in (extent, c.OPEN):
            raise errors.ShapeError(
                f"{operand}: dim {dim} is {extent}, {wanted} is planned",
                status=c.E_SHAPE,
                operand=operand,
                component=dim,
                value=extent,
                limit=wanted,
            )
        n = extent if planned == c.OPEN else n
    if not same_strides(tensor, spec):
        raise errors.ShapeError(f"{operand}: other strides are planned", status=c.E_STRIDE, operand=operand)
    return n


def same_strides(tensor: Memory, spec: Spec) -> bool:
    if spec.strides is None:
        return is_dense(tensor)
    return all(a == b or extent <= 1 for a, b, extent in zip(tensor.strides, spec.strides, tensor.shape, strict=True))


class BoundPlan:
    """A plan over three arrays; calling it runs it and returns the output. Made by :meth:`Plan.bind`."""

    __slots__ = ("__weakref__", "_bound", "_kept", "out")

    def __init__(self, plan: Plan, tensors: tuple[Memory, Memory, Memory], out: t.Any, context: Context | None) -> None:
        n, addresses = plan._checked(tensors)
        self._kept = (plan, tensors, context)
        self._bound = _objects.bound(plan._handle, handle_of(context), *addresses, n)
        #: The output that calls write to and return.
        self.out: t.Any = out

    def __repr__(self) -> str:
        return f"libgather.BoundPlan of {self._kept[0]}"

    def __copy__(self) -> BoundPlan:
        return self

    def __deepcopy__(self, memo: object) -> t.Any:
        raise TypeError("a BoundPlan is over arrays of its own and cannot be copied: bind the copies")

    def __reduce__(self) -> t.Any:
        raise TypeError("a BoundPlan is over memory of one process and cannot be pickled: pickle the plan")

    def __call__(self) -> t.Any:
        """Gathers. Raises IndexError for an index out of bounds; the output is then unchanged."""
        try:
            _bound_run(self._bound)
        except errors.IndexError as error:
            plan, tensors, _ = self._kept
            plan._locate(error, tensors[1].shape)
            raise
        return self.out


class FollowedBoundPlan(BoundPlan):
    """A bound plan with somebody to be told after each call: a context with work, the library that has the output."""

    __slots__ = ("_followers",)

    def __init__(
        self,
        plan: Plan,
        tensors: tuple[Memory, Memory, Memory],
        out: t.Any,
        context: Context | None,
        followers: list[t.Callable[[], object]],
    ) -> None:
        super().__init__(plan, tensors, out, context)
        self._followers = followers

    def __call__(self) -> t.Any:
        """Gathers. On a device an index out of bounds is raised when the stream is next waited for."""
        result = super().__call__()
        for tell in self._followers:
            tell()
        return result


_plan_run = _objects.plan_run
_bound_run = _objects.bound_run
