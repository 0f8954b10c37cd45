"""The common part of gather plans and scatter plans: compares arrays with the planned ones, and runs the plan."""

from __future__ import annotations

from functools import partial

from .. import _objects, errors
from .. import types as t
from .._arrays.kinds import enter, hold, kind_of, written
from .._base import constants as c
from .._base.devices import HOST, Place, is_host
from .._memory.context import Context, checked, handle_of
from .._memory.memory import Memory
from .._requests.index_errors import locate
from .._requests.options_struct import options_of, require_flag
from .._requests.site_of_call import site_of
from .._requests.spec import Spec

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
        operands = table._operand(place), indices._operand(place), None if layout is None else layout._operand(place)
        #: The plan in the C code.
        self._planned: t.Any = _objects.plan(
            handle_of(self._context),
            operation.number,
            *operands,
            None,
            None,
            options_of(request, fill),
        )
        self._specs: tuple[Spec, Spec, Spec] = table, indices, layout or Spec(table.dtype, self._shape(c.OPEN))

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
        return _objects.plan_infer(self._planned, n)

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
        require_flag("sync", sync)
        site = site_of(self._context, stream, ("indices", indices))
        index = enter(indices, site, "indices")[0]
        context = self._context if site is None else site.context
        try:
            _objects.plan_check(self._planned, handle_of(context), index._described_operand())
        except errors.IndexError as error:
            self._locate(error, index.shape)
            raise
        if site is not None:
            site.finish(sync)

    def close(self) -> None:
        """Releases the plan after the calls that use it. Later calls raise Error."""
        _objects.plan_close(self._planned)

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

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
        if not followers:
            return BoundPlan(self, tensors, out, context, holds)
        bound = FollowedBoundPlan(self, tensors, out, context, holds)
        bound._followers = followers
        return bound

    def _bound_to(self, tensors: Tensors, context: Context | None) -> t.Any:
        """Returns the plan with memory in the C code. Raises an error if the tensors differ from the planned ones."""
        return _objects.bound(self._planned, handle_of(context), *(tensor._described_operand() for tensor in tensors))

    def _run_tensors(self, tensors: Tensors, context: Context | None) -> None:
        try:
            _objects.bound_run(self._bound_to(tensors, context))
        except errors.IndexError as error:
            self._locate(error, tensors[1].shape)
            raise

    def _locate(self, error: errors.IndexError, shape: tuple[int, ...]) -> None:
        rank = len(self._specs[0].shape)
        locate(error, self._operation, rank, shape, self._request.axis, self._request.batch_dims)


def planned_again(
    kind: type[t.Any], op: str, table: Spec, indices: Spec, layout: Spec | None, request: Request
) -> t.Any:
    """Creates a plan again after it was pickled."""
    left, defaults = ("context", "stream", "sync", "inplace"), request._field_defaults
    given = request._asdict().items()
    keywords = {name: value for name, value in given if name not in left and value != defaults[name]}
    return kind(table, indices, op=op, **keywords, **{kind._layout_name: layout})


def planned_place(context: Context | None, *specs: Spec | None) -> Place:
    """Returns the device of arrays without a device in their spec.

    It is that of the context, or of the first spec that has one.
    """
    if context is not None:
        return context._place
    named = [spec._place for spec in specs if spec is not None and spec._place is not None]
    return next((place for place in named if not is_host(place)), HOST)


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
        # The descriptions hold the handles, because another thread may close a tensor during a run.
        self._kept = (plan, tensors, context, holds, [tensor._operand() for tensor in tensors])
        self._bound = plan._bound_to(tensors, context)
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

    _followers: list[t.Callable[[], object]]

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
