"""The rule that a fill value implies what an index out of bounds does. Dynamo traces this module alone."""

from __future__ import annotations

from . import errors
from ._base.constants import E_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .types import Bounds, Empty


def bounds_of_fill(
    fill_value: Any,
    bounds: Bounds | None,
    empty: Empty | None = None,
    padding_index: int | None = None,
    bag_format: str | None = None,
) -> Bounds | None:
    """Returns the bounds of a call with a fill value, as read_fill() of native/options_reader.h does.

    The value implies ``bounds="fill"``, unless it is that of empty bags or of the padding of a gather.
    """
    pads = padding_index is not None and bag_format is None
    if fill_value is None or empty == "fill" or pads:
        return bounds
    if bounds not in (None, "fill"):
        raise errors.OptionError(
            f"options: a fill_value is for bounds 'fill', which is {bounds!r}", status=E_VERSION, operand="options"
        )
    return "fill"
