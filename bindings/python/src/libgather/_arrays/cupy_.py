"""Arrays of CuPy."""

from __future__ import annotations

from .._base.optional_packages import module
from .._memory.memory import Memory
from . import dlpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._memory.device_site import Site

place_of = dlpack.place_of
leave = dlpack.leave


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    return dlpack.enter_with(current_stream, value, site, operand)


enter_output = enter


def current_stream(value: Any, place: Place) -> Any:
    return module("cupy").cuda.get_current_stream(place[1])


def new_array(like: Any, shape: tuple[int, ...], place: Place, zeroed: bool, dtype: str | None) -> Any:
    cupy = module("cupy")
    make = cupy.zeros if zeroed else cupy.empty
    with cupy.cuda.Device(place[1]):
        return make(shape, like.dtype if dtype is None else dtype)
