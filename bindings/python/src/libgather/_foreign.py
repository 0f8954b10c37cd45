"""Keywords of other libraries, answered with ours."""

from __future__ import annotations

from . import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OURS = {
    "mode": "an index out of bounds is decided by bounds= and negative=; libgather.take() has NumPy's mode=",
    "dim": "the dim is axis=",
    "input": "the source is params",
    "data": "the source is params",
    "index": "it is called indices",
    "fill": "the value is fill_value=",
    "dtype": "a result has the dtype of params",
}


def refuse_keywords(function: str, keywords: dict[str, Any]) -> None:
    """Raises what is told of keywords that the function does not have, if there are any."""
    for name in keywords:
        hint = f": {_OURS[name]}" if name in _OURS else ""
        raise errors.dtype_error(None, f"{function}() got an unexpected keyword argument {name!r}{hint}")
