"""Hints for keywords of other libraries."""

from __future__ import annotations

from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GATHERS = {
    "mode": "an index out of bounds is decided by bounds= and negative=; libgather.take() has NumPy's mode=",
    "dim": "the dim is axis=",
    "input": "the source is params",
    "data": "the source is params",
    "index": "it is called indices",
    "fill": "the value is fill_value=",
    "dtype": "a result has the dtype of params",
}
_SCATTERS = {
    "mode": _GATHERS["mode"].partition(";")[0],
    "dim": _GATHERS["dim"],
    "input": "what is written to is target",
    "data": "what is written to is target",
    "out": "inplace=True writes to target itself",
    "index": _GATHERS["index"],
    "src": "they are called updates",
    "source": "they are called updates",
    "values": "they are called updates",
    "reduce": "it is called reduction=",
}


def refuse_keywords(function: str, keywords: dict[str, Any]) -> None:
    """Raises DTypeError for the first of the unknown keywords, with a hint."""
    ours = _SCATTERS if function.startswith("scatter") else _GATHERS
    for name in keywords:
        hint = f": {ours[name]}" if name in ours else ""
        raise errors.dtype_error(None, f"{function}() got an unexpected keyword argument {name!r}{hint}")
