"""The options of a request: the numbers of their names, and the library's struct."""

from __future__ import annotations

from .. import _objects, errors
from .._base import constants as c
from .._base.integers import integer, named
from .._base.request_fields import INTEGERS, OPTIONS, PREFIXES
from .._bounds import bounds_of_fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.request_fields import Request

#: The way to fill, and the bytes of one element if that is a value.
Fill = tuple[int, bytes]

#: The options whose values are names, and the library's number of each name.
NAMED = {option: named(prefix) for option, prefix in PREFIXES.items()} | {"out_dtype": {"float32": c.DTYPE_FLOAT32}}
FILLS = {name: number for name, number in named("FILL_").items() if name != "value"}
#: The layouts of shards that only the number of shards defines.
SHARD_KINDS = {"blocks": c.SHARDS_BLOCKS, "modulo": c.SHARDS_MODULO}
#: What native/options_reader.h receives: the numbers of the names of each option.
CHOICES = *((NAMED | {"fill_value": FILLS}).get(option) for option in OPTIONS), SHARD_KINDS
_AS_THE_PROFILE_SAYS = (0, b"")


def options_of(request: Request, fill: Fill = _AS_THE_PROFILE_SAYS) -> bytes:
    """Returns the bytes of a gth_options. A fill value implies ``bounds="fill"``."""
    named = request if request.fill_value is None else request._replace(fill_value="zero")  # `fill` has the value
    read = _objects.options(*fill, *named)
    if read is NotImplemented:
        check_options(request)
    return read  # type: ignore[no-any-return]


def check_options(request: Request) -> None:
    """Raises the error of the first invalid option."""
    for option, bits in INTEGERS.items():
        number = getattr(request, option)
        if number is not OPTIONS[option]:
            integer("count" if option == "bag_count" else option, number, bits)
    for option, names in NAMED.items():
        choice(option, getattr(request, option), names)
    require_flag("include_self", request.include_self)
    bounds_of_fill(request.fill_value, request.bounds, request.empty, request.padding_index, request.bag_format)


def require_flag(option: str, value: Any) -> None:
    """Raises DTypeError unless the value is a bool."""
    if not isinstance(value, bool):
        raise errors.dtype_error("options", f"{option} is {type(value).__name__}, not a bool")


def named_fill(fill_value: Any) -> Fill | None:
    """Returns the fill that a name selects. Returns None for a value, which needs a dtype."""
    if fill_value is None:
        return _AS_THE_PROFILE_SAYS
    number = FILLS.get(fill_value) if isinstance(fill_value, str) else None
    return None if number is None else (number, b"")


def check_names(request: Request) -> None:
    """Raises DTypeError for an option whose value is not a string. Later comparisons with an array would not return a
    bool."""
    for option in NAMED:
        check_name(option, getattr(request, option))


def check_name(option: str, value: object) -> None:
    if not (value is None or isinstance(value, str)):
        raise errors.dtype_error("options", f"{option} is {type(value).__name__}, not a string")


def choice(name: str, value: object, choices: dict[str, int]) -> int:
    check_name(name, value)
    if value is None:
        return 0
    if value not in choices:
        raise errors.OptionError(
            f"options: {name} {value!r} is none of {', '.join(choices)}", status=c.E_VERSION, operand="options"
        )
    return choices[value]
