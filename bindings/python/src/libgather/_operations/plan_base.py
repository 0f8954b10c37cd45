"""The common part of gather plans and scatter plans: compares arrays with the planned ones, and runs the plan."""

from __future__ import annotations

from functools import partial

from .. import _objects, errors
from .. import types as t
from .._arrays.kinds import enter, hold, kind_of, written
from .._base import constants as c
from .._base.devices import HOST, Place, is_host
from .._base.library import ffi, lib
from .._base.library_calls import call, held, new, pointer_to, shape_of
from .._memory.context import Context, checked, handle_of, pointer_of
from .._memory.memory import Memory
from .._requests.index_errors import locate
from .._requests.memory_runs import NONE, request_of
from .._requests.options_struct import options_of
from .._requests.site_of_call import site_of
from .._requests.spec import Spec, is_dense

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.request_fields import Request
    from .._memory.device_site import Site
    from .._requests.operation_table import Operation
    from .._requests.options_struct import Fill

#: The Memory of the operands, by role.
Tensors = tuple[Memory, Memory, Memory]


class Prepared:
    """An operation that has been validated once."""

    #: The keyword of the layout of the rows, which is "out" or "updates".
    _layout_name: str

    def __init__(
        self,
        operation: Operation,
        request: Request,
        fill: Fill,
        table: Spec,
        indices: Spec,
        layout: Spec | None,
        context: Context | None,
    ) -> None:
        """Creates the plan. `layout` is the layout of the rows, and None means dense."""
        self._context = None if context is None else checked(context)
        place = planned_place(self._context, table, indices, layout)
        self._operation, self._layout = operation, layout
        self._request = request if fill[0] != c.FILL_VALUE else request._replace(fill_value=fill[1])
        operands = table._operand(place), indices._operand(place), NONE if layout is None else layout._operand(place)
        options = options_of(request, fill)
        self._handle = held("gth_plan", lib.gth_plan_create, request_of(operation, *operands, options))
        self._specs: tuple[Spec, Spec, Spec] = table, indices, layout or Spec(table.dtype, self._shape(c.OPEN))

    def _made_ready(self, makes_results: bool, skips: bool, *dtypes: int) -> t.Any:
        """Returns the plan in the form that the C half runs on buffers of these dtypes."""
        layouts = ((dtype, spec.shape, spec.strides) for dtype, spec in zip(dtypes, self._specs, strict=True))
        number = self._operation.number
        return _objects.plan(self._handle, handle_of(self._context), number, makes_results, skips, *layouts)

    def __copy__(self) -> t.Self:
        return self

    def __deepcopy__(self, memo: object) -> t.Self:
        return self

    def __reduce__(self) -> t.Any:
        if self._context is not None:
            raise TypeError("a plan with a context is of one process and cannot be pickled")
        parts = self._operation.name, *self._specs[:2], self._layout, self._request
        return planned_again, (type(self), *parts)

    def _shape(self, n: int) -> tuple[int, ...]:
        return shape_of(lib.gth_plan_infer, self._pointer, n)

    def check(self, indices: t.Any, *, stream: t.Any = None, sync: bool = False) -> None:
        """Validates the indices of a run and does nothing else, for callers that run the plan in parts.

        Args:
            indices: An array of the planned dtype, shape and strides.
            stream, sync: For an array on a device, as for :func:`gather`.

        Raises:
            IndexError: An index is out of bounds and `bounds` is ``"error"``. On a device it is raised as for a run.
            ShapeError, RankError, DTypeError, DeviceError: The array differs from the planned one.

        >>> import libgather
        >>> plan = libgather.Plan([10, 20, 30], libgather.Spec("int64", (-1,)))
        >>> plan.check([2, 0])
        >>> plan.check([2, 3])
        Traceback (most recent call last):
        libgather.errors.IndexError: indices: component 0 of tuple 1 is 3, valid are [0, 3): indices[1], axis 0
        """
        site = site_of(self._context, stream, ("indices", indices))
        index = enter(indices, site, "indices")[0]
        args = new("gth_plan_args")
        args.n = self._extent(("indices", index, self._specs[1]))
        args.indices = ffi.cast("void *", index._desc[6])
        context = self._context if site is None else site.context
        try:
            call(lib.gth_plan_check, pointer_of(context), self._pointer, args)
        except errors.IndexError as error:
            self._locate(error, index.shape)
            raise
        if site is not None:
            site.finish(sync)

    def close(self) -> None:
        """Releases the plan after the calls that use it. Later calls raise Error."""
        self._handle.close()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def _pointer(self) -> t.Any:
        return pointer_to("gth_plan", self._handle, "plan")

    def _bound(self, tensors: Tensors, values: tuple[t.Any, t.Any, t.Any], site: Site | None) -> BoundPlan:
        """Returns the plan bound to the memory of arrays, which are given by role."""
        for operand, value, memory in zip(self._operation.roles, values, tensors, strict=True):
            check_in_place(operand, value, memory)
        holds = [hold(value) for value in values]
        out = values[self._operation.written]
        followers: list[t.Callable[[], object]] = []
        if hasattr(kind_of(out), "written"):
            followers.append(partial(written, out))
        if site is not None:
            site.finish(sync=False)
            followers.append(site.context._note_work)
        context = self._context if site is None else site.context
        if followers:
            return FollowedBoundPlan(self, tensors, out, context, holds, followers)
        return BoundPlan(self, tensors, out, context, holds)

    def _run_tensors(self, tensors: Tensors, context: Context | None) -> None:
        n, addresses = self._checked(tensors)
        pointers = (ffi.cast("void *", address) for address in addresses)
        try:
            call(lib.gth_plan_run, pointer_of(context), self._pointer, n, *pointers)
        except errors.IndexError as error:
            self._locate(error, tensors[1].shape)
            raise

    def _locate(self, error: errors.IndexError, shape: tuple[int, ...]) -> None:
        rank = len(self._specs[0].shape)
        locate(error, self._operation, rank, shape, self._request.axis, self._request.batch_dims)

    def _checked(self, tensors: Tensors) -> tuple[int, list[int]]:
        """Returns the open extent and the addresses. Raises an error if the tensors differ from the planned ones."""
        names, written = self._operation.roles, self._operation.written
        n = self._extent(*zip(names, tensors, self._specs, strict=True))
        if tensors[written]._desc[3] & c.TENSOR_READONLY:
            raise errors.read_only(names[written], "it is read-only")
        return n, [tensor._desc[6] for tensor in tensors]

    def _extent(self, *operands: tuple[str, Memory, Spec]) -> int:
        n = c.OPEN
        for name, tensor, spec in operands:
            n = spec_extent(name, tensor, spec, n)
        return n


def planned_again(
    kind: type[t.Any], op: str, table: Spec, indices: Spec, layout: Spec | None, request: Request
) -> t.Any:
    """Creates a plan again after it was pickled."""
    left = ("context", "stream", "sync", "inplace")
    keywords = {name: value for name, value in request._asdict().items() if name not in left and value is not None}
    return kind(table, indices, op=op, **keywords, **{kind._layout_name: layout})


def planned_place(context: Context | None, *specs: Spec | None) -> Place:
    """Returns the device of arrays without a device in their spec.

    It is that of the context, or of the first spec that has one.
    """
    if context is not None:
        return context._place
    named = [spec._place for spec in specs if spec is not None and spec._place is not None]
    return next((place for place in named if not is_host(place)), HOST)


def spec_extent(operand: str, tensor: Memory, spec: Spec, n: int) -> int:
    """Compares a tensor with the planned one.

    Returns the open extent. `n` is the open extent if it is already known.
    """
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


def check_in_place(operand: str, value: t.Any, memory: Memory) -> None:
    """Raises DTypeError if the elements of an array were converted. Later changes of the array would have no effect."""
    interface = getattr(value, "__array_interface__", None)
    if interface and 0 not in memory.shape and interface["data"][0] != memory._desc[6] + memory._desc[7]:
        raise errors.dtype_error(operand, f"dtype {value.dtype} must be converted before the array is bound")


class BoundPlan:
    """A plan over three arrays. A call runs the plan and returns the array that it has written.

    :meth:`Plan.bind` and :meth:`ScatterPlan.bind` create it.
    """

    __slots__ = ("__weakref__", "_bound", "_kept", "out")

    def __init__(
        self, plan: Prepared, tensors: Tensors, out: t.Any, context: Context | None, holds: list[t.Any]
    ) -> None:
        n, addresses = plan._checked(tensors)
        self._kept = (plan, tensors, context, holds)
        self._bound = _objects.bound(plan._handle, handle_of(context), n, *addresses)
        #: The array that calls write and return: the output or the target.
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
        """Runs the plan.

        Raises:
            IndexError: An index is out of bounds. The output is unchanged, unless `bounds` is ``"error_partial"``.
        """
        try:
            _bound_run(self._bound)
        except errors.IndexError as error:
            plan, tensors, *_ = self._kept
            plan._locate(error, tensors[1].shape)
            raise
        return self.out


class FollowedBoundPlan(BoundPlan):
    """A bound plan with functions to call after each run. They notify a context or the library of the output."""

    __slots__ = ("_followers",)

    def __init__(
        self,
        plan: Prepared,
        tensors: Tensors,
        out: t.Any,
        context: Context | None,
        holds: list[t.Any],
        followers: list[t.Callable[[], object]],
    ) -> None:
        super().__init__(plan, tensors, out, context, holds)
        self._followers = followers

    def __call__(self) -> t.Any:
        """Runs the plan. On a device, the next wait for the stream raises the error of an index out of bounds."""
        try:
            result = super().__call__()
        except errors.RaceError:  # elements may have been written
            self._tell()
            raise
        self._tell()
        return result

    def _tell(self) -> None:
        for tell in self._followers:
            tell()


_bound_run = _objects.bound_run
