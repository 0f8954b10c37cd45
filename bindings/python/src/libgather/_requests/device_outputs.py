"""New outputs of calls on devices, which the library of the arrays allocates.

torch and CuPy then count the memory, and can allocate it during a capture of a CUDA graph.
"""

from __future__ import annotations

from .._arrays.kinds import call_library, kind_of, stream_of
from .._base.cuda_streams import stream_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._memory.device_site import Site


def new_output(params: Any, site: Site | None, shape: Callable[[], tuple[int, ...]]) -> Any:
    """Returns a new array of zeros of the kind of `params`, or None if its library does not allocate outputs.

    It is zero because a call with an invalid index writes nothing, and ``bounds="skip"`` leaves out rows. It belongs to
    the current stream of its library. That stream waits for the call, so that the library can reuse the memory of the
    array afterwards.
    """
    zeros = None if site is None else getattr(kind_of(params), "zeros", None)
    if site is None or zeros is None:
        return None
    made = call_library(zeros, params, "params", shape(), site.place)
    site.hand_over(stream_number(stream_of(made, site.place)))
    return made
