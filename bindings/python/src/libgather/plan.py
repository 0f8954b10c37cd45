"""Plans: an operation whose shapes and options have been checked once, for callers who repeat it."""

from __future__ import annotations

from functools import partial

from . import _constants as c
from . import _objects, errors
from ._arrays import enter, enter_output, hold, kind_of, written
from ._call import call, held, pointer_to, shape_of
from ._fills import check_output, fill_of
from ._library import NULL, ffi, lib
from ._operation import operation_named
from ._options import options_of
from ._places import HOST, is_host
from ._request import Request
from ._sites import site_of
from .context import checked, handle_of, pointer_of
from .spec import Spec, is_dense
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._memory import Memory
    from ._places import Place
    from ._request import Bounds, Extents, Negative, OperationName, Profile
    from .context import Context


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
        params: Any,
        indices: Any,
        axis: int | None = None,
        batch_dims: int = 0,
        *,
        op: OperationName | None = None,
        nd: bool = False,
        extents: Extents | None = None,
        out: Any = None,
        negative: Negative | None = None,
        bounds: Bounds | None = None,
        fill_value: Any = None,
        profile: Profile | None = None,
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
        layout = None if out is None else Spec.of(out, "out")
        place = planned_place(self._context, self._params, self._indices, layout)
        if out is not None:
            check_output(params, out)
        self._handle = held(
            "gth_plan",
            operation.plan,
            self._params.described(place),
            self._indices.described(place),
            options_of(request, fill_of(request, params, self._params._dtype)),
            NULL if layout is None else layout.described(place),
        )
        self._out = layout or Spec(self._params.dtype, shape_of(lib.gth_plan_shape, self._pointer, c.OPEN))
        layouts = ((spec._dtype, spec.shape, spec.strides) for spec in self._specs)
        self._planned = _objects.plan(
            self._handle, handle_of(self._context), layout is None and bounds != "skip", *layouts
        )

    @property
    def _specs(self) -> tuple[Spec, Spec, Spec]:
        return self._params, self._indices, self._out

    def __repr__(self) -> str:
        return f"libgather.Plan({self._params}, {self._indices}) -> {self._out}"

    def output_shape(self, n: int = c.OPEN) -> tuple[int, ...]:
        """The shape of the output when the open extent is `n`; -1 hands it on."""
        return shape_of(lib.gth_plan_shape, self._pointer, n)

    def __call__(self, params: Any, indices: Any, out: Any = None, stream: Any = None, sync: bool = False) -> Any:
        """Runs the plan; without `out` the result is a new array of the kind of `params`.

        Args:
            stream, sync: for arrays on a device, as for :func:`gather`

        Raises:
            IndexError: an index out of bounds; `out` is unchanged. On a device when the stream is next waited for
            ShapeError, RankError, DTypeError: an array is not what was planned
            DeviceError: an array is not where it was planned
            Error: `out` is read-only or overlaps an input
        """
        if stream is None:
            result = _plan_run(self._planned, params, indices, out)
            if result is not NotImplemented:
                return result
        return self._run(params, indices, out, stream, sync)

    def check(self, indices: Any, *, stream: Any = None, sync: bool = False) -> None:
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
        libgather.errors.IndexError: indices: component 0 of tuple 1 is 3, valid are [0, 3)
        """
        site = site_of(self._context, stream, ("indices", indices))
        index = enter(indices, site, "indices")[0]
        n = self._extent(("indices", index, self._indices))
        context = self._context if site is None else site.context
        call(lib.gth_plan_check, pointer_of(context), self._pointer, ffi.cast("void *", index._desc[6]), n)
        if site is not None:
            site.finish(sync)

    def bind(self, params: Any, indices: Any, out: Any, *, stream: Any = None) -> BoundPlan:
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
        target = enter_output(out, site)
        tensors = (enter(params, site, "params")[0], enter(indices, site, "indices")[0], target)
        for value in (params, indices, out):
            hold(value)
        followers: list[Callable[[], object]] = []
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
    def _pointer(self) -> Any:
        return pointer_to("gth_plan", self._handle, "plan")

    def _run(self, params: Any, indices: Any, out: Any, stream: Any, sync: bool) -> Any:
        """Arrays of any kind."""
        site = site_of(self._context, stream, ("params", params), ("indices", indices), ("out", out))
        context = self._context if site is None else site.context
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

    def _run_tensors(self, tensors: tuple[Memory, Memory, Memory], context: Context | None) -> None:
        n, addresses = self._checked(tensors)
        pointers = (ffi.cast("void *", address) for address in addresses)
        call(lib.gth_plan_run, pointer_of(context), self._pointer, *pointers, n)

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

    __slots__ = ("_bound", "_kept", "out")

    def __init__(self, plan: Plan, tensors: tuple[Memory, Memory, Memory], out: Any, context: Context | None) -> None:
        n, addresses = plan._checked(tensors)
        self._kept = (plan, tensors, context)
        self._bound = _objects.bound(plan._handle, handle_of(context), *addresses, n)
        #: The output that calls write to and return.
        self.out = out

    def __call__(self) -> Any:
        """Gathers. Raises IndexError for an index out of bounds; the output is then unchanged."""
        _bound_run(self._bound)
        return self.out


class FollowedBoundPlan(BoundPlan):
    """A bound plan with somebody to be told after each call: a context with work, the library that has the output."""

    __slots__ = ("_followers",)

    def __init__(
        self,
        plan: Plan,
        tensors: tuple[Memory, Memory, Memory],
        out: Any,
        context: Context | None,
        followers: list[Callable[[], object]],
    ) -> None:
        super().__init__(plan, tensors, out, context)
        self._followers = followers

    def __call__(self) -> Any:
        """Gathers. On a device an index out of bounds is raised when the stream is next waited for."""
        _bound_run(self._bound)
        for tell in self._followers:
            tell()
        return self.out


_plan_run = _objects.plan_run
_bound_run = _objects.bound_run
