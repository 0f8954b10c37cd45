"""New outputs of calls on devices, which the library of the arrays allocates.

torch and CuPy then count the memory, and can allocate it during a capture of a CUDA graph.
"""

from __future__ import annotations

from .. import _objects
from .._arrays.kinds import call_library, enter_output, kind_of, stream_of
from .._base.cuda_streams import stream_number
from .._memory.context import handle_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._memory.device_site import Site
    from .._memory.memory import Memory


def new_output(
    like: Any,
    operand: str,
    site: Site | None,
    shape: Callable[[], tuple[int, ...]],
    zeroed: bool = True,
    dtype: str | None = None,
) -> Any:
    """Returns a new array of the kind of `like`, or None if its library does not allocate outputs.

    A dtype of None means that of `like`.

    It is zero because a call with an invalid index writes nothing, and ``bounds="skip"`` leaves out rows. It belongs to
    the current stream of its library. That stream waits for the call, so that the library can reuse the memory of the
    array afterwards.
    """
    make = None if site is None else getattr(kind_of(like), "new_array", None)
    if site is None or make is None:
        return None
    made = call_library(make, like, operand, shape(), site.place, zeroed, dtype)
    site.hand_over(stream_number(stream_of(made, site.place)))
    return made


def new_copy(array: Any, operand: str, memory: Memory, site: Site | None, check: Callable[[], object]) -> Any:
    """Returns a copy of an array, whose memory is given, in the order of the call.

    Returns None if the library of the array does not allocate outputs. `check` runs before the allocation.
    """

    def checked_shape() -> tuple[int, ...]:
        check()
        return memory.shape

    made = new_output(array, operand, site, checked_shape, zeroed=False)
    if site is not None and made is not None:
        _objects.copy(handle_of(site.context), memory._operand(), enter_output(made, site, operand)._operand())
    return made
