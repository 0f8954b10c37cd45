"""Converts a request to the library's struct of options."""

from __future__ import annotations

from .. import errors
from .._base import constants as c
from .._base.integers import integer, named
from .._base.library import ffi
from .._base.library_calls import new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request

#: The way to fill, and the bytes of one element if that is a value.
Fill = tuple[int, bytes]

#: The options whose values are names, and the library's number of each name. The order is that of native/switches.c.
NAMED = {
    option: named(f"{option.upper()}_")
    for option in ("negative", "bounds", "profile", "extents", "reduction", "accumulate")
}
FILLS = {"zero": c.FILL_ZERO, "by_dtype": c.FILL_BY_DTYPE}
#: The layouts of shards that only the number of shards defines.
SHARD_KINDS = {"blocks": c.SHARDS_BLOCKS, "modulo": c.SHARDS_MODULO}
#: The dicts that native/switches.c receives.
CHOICES = (*NAMED.values(), FILLS, SHARD_KINDS)
_AS_THE_PROFILE_SAYS = (0, b"")


def options_of(request: Request, fill: Fill = _AS_THE_PROFILE_SAYS) -> Any:
    """Returns a gth_options. A fill value implies ``bounds="fill"``."""
    options = new("gth_options")
    if request.axis is not None:
        options.has_axis, options.axis = 1, integer("axis", request.axis)
    options.batch_dims = integer("batch_dims", request.batch_dims)
    for option, names in NAMED.items():
        name = getattr(request, option)
        if name is not None:
            setattr(options, option, choice(option, name, names))
    if request.fill_value is not None:
        options.bounds = filling(request.bounds)
    for option in ("opset", "threads"):
        number = getattr(request, option)
        if number is not None:
            setattr(options, option, integer(option, number, 32))
    options.fill, image = fill
    if image:
        ffi.memmove(options.fill_value, image, len(image))
    return options


def named_fill(fill_value: Any) -> Fill | None:
    """Returns the fill that a name selects. Returns None for a value, which needs a dtype."""
    if fill_value is None:
        return _AS_THE_PROFILE_SAYS
    number = FILLS.get(fill_value) if isinstance(fill_value, str) else None
    return None if number is None else (number, b"")


def filling(bounds: str | None) -> int:
    if bounds not in (None, "fill"):
        raise errors.OptionError(
            f"options: a fill_value is for bounds 'fill', which is {bounds!r}", status=c.E_VERSION, operand="options"
        )
    return c.BOUNDS_FILL


def choice(name: str, value: object, choices: dict[str, int]) -> int:
    if value is None:
        return 0
    if not isinstance(value, str):
        raise errors.dtype_error("options", f"{name} is {type(value).__name__}, not a string")
    if value not in choices:
        raise errors.OptionError(
            f"options: {name} {value!r} is none of {', '.join(choices)}", status=c.E_VERSION, operand="options"
        )
    return choices[value]
