"""Gathers of text from NumPy arrays with a text as the fill. The library itself fills text only with ''."""

from __future__ import annotations

import sys

from .. import errors
from .._arrays.lists import numpy_kind
from .._requests.options_struct import FILLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._base.request_fields import Request
    from .._requests.operation_table import Operation


def table_of(params: Any, request: Request) -> Any:
    """Returns params as an array if its elements are texts and fill_value is a text. Returns None for other calls."""
    text = request.fill_value
    if not text or text in FILLS or request.stream is not None:
        return None
    kind = numpy_kind()
    if kind is None:
        return None
    if isinstance(params, (list, tuple)):
        params = kind.of_list(params, "params")
        own = kind.np.asarray(text).dtype
        params = params.astype(max(params.dtype, own)) if params.dtype.kind == own.kind else params
    return params if isinstance(params, kind.np.ndarray) and params.dtype.kind in "USTO" else None


def filled(run: Callable[..., Any], operation: Operation, params: Any, indices: Any, out: Any, request: Request) -> Any:
    """Gathers with `run`, and writes the text where the same gather of ones is filled with zeros."""
    numpy, text, request = sys.modules["numpy"], request.fill_value, request._replace(fill_value="zero")
    require_element(text, bytes if params.dtype.kind == "S" else str if params.dtype.kind in "UT" else None, params)
    made = run(operation, params, indices, out, request)
    ones = numpy.broadcast_to(numpy.uint8(1), params.shape)
    is_filled = run(operation, ones, indices, None, request._replace(context=None)) == 0
    if not is_filled.any():
        return made
    is_one = not isinstance(made, numpy.ndarray)
    if params.dtype.kind == "O":
        require_element(text, type(made if is_one else made[is_filled][0]), params)
    if is_one:
        return type(made)(text)
    made[is_filled] = text
    return made


def require_element(text: str | bytes, kind: type | None, params: Any) -> None:
    """Raises DTypeError if an element of params, which is of this kind, would be another text."""
    is_element = kind is None or isinstance(text, kind)
    if not is_element or sys.modules["numpy"].array([text], params.dtype)[0] != text:
        raise errors.dtype_error("options", f"fill_value {text!r} is no element of dtype {params.dtype}")
