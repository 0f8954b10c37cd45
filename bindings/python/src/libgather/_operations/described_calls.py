"""Calls of functions that take a request and new tensors for their results."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._arrays.kinds import enter, enter_output, kind_of
from .._arrays.nested_lists import list_of
from .._base.devices import HOST
from .._base.library import ffi
from .._base.library_calls import call, extents, new
from .._memory.context import pointer_of
from .._requests.device_outputs import new_output
from .._requests.index_errors import locate
from .._requests.spec import Spec
from .._requests.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.devices import Place
    from .._base.request_fields import Request
    from .._memory.device_site import Site
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
    place = HOST if request.context is None else request.context._place
    found = {role: described(each, place) for role, each in operands.items() if each is not None}
    given.op = operation.number
    for role, (desc, _) in found.items():
        setattr(given, role, desc)
    given.options = ffi.from_buffer("gth_options *", options)
    written = [described(target, place)[0] for target in targets]
    try:
        call(function, pointer_of(request.context), given, *written, *counts)
    except errors.IndexError as error:
        rank, shape = len(operands["table"].shape), operands["indices"].shape
        locate(error, operation, rank, shape, request.axis, request.batch_dims)
        raise


def described(operand: t.Any, place: Place) -> tuple[t.Any, t.Any]:
    """Returns the description of a tensor or of a spec, and what it refers to. A spec may have no device of its own."""
    desc = new("gth_tensor_desc")
    if not isinstance(operand, Spec):
        desc.tensor = operand._live
        return desc, operand
    shape = extents(operand.shape)
    desc.dtype, desc.ndim, desc.shape = operand._dtype, len(operand.shape), shape
    desc.device, desc.device_id = operand._place or place
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


class NewResult:
    """A new array that a call writes, of the library of another array. It starts with zeros."""

    def __init__(self, like: t.Any, operand: str, site: Site | None, shape: tuple[int, ...], dtype: str) -> None:
        self._like: t.Any = like
        self._site: Site | None = site
        self._array: t.Any = new_output(like, operand, site, lambda: shape, dtype=dtype)
        self.memory: Memory = (
            Tensor.zeros(shape, dtype, context=None if site is None else site.context)
            if self._array is None
            else enter_output(self._array, site, operand)
        )

    @property
    def address(self) -> int:
        return sum(self.memory._desc[6:])

    def left(self, sync: bool, leave: t.Callable[[Memory, t.Any], t.Any] = leave_numbers) -> t.Any:
        """Returns the array after the call. On the CPU, `leave` makes it of the memory."""
        if self._site is None:
            return leave(self.memory, self._like)
        self._site.finish(sync)
        return kind_of(self._like).leave(self.memory, self._like) if self._array is None else self._array
