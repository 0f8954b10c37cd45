"""NumPy's elements of any size, such as records: an axis of bytes more, which the operation does not see."""

from __future__ import annotations

import numpy as np

from .. import _constants as c
from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._request import Request


def check(params: np.ndarray, request: Request) -> None:
    """Refuses what depends on values."""
    numpys = str(request.profile or "numpy").startswith("numpy")
    if not numpys or request.fill_value not in (None, "zero"):
        raise errors.dtype_error("params", f"dtype {params.dtype} has no values that this profile or fill_value knows")


def with_bytes(array: np.ndarray) -> np.ndarray:
    dense = np.ascontiguousarray(array).reshape(-1)
    return dense.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def output_bytes(out: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    if not isinstance(out, np.ndarray) or out.dtype != dtype or not out.flags.c_contiguous:
        raise errors.dtype_error("out", f"records go into a dense array of dtype {dtype}")
    if out.shape != shape:
        raise errors.ShapeError(f"out: shape {out.shape}, needed is {shape}", status=c.E_SHAPE, operand="out")
    if not out.flags.writeable:
        raise errors.read_only("out", "it is read-only")
    return with_bytes(out)


def of_bytes(array: np.ndarray, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """The records of a new array of bytes; of rank 0 a scalar."""
    records = array.view(dtype).reshape(shape)
    return records[()] if records.ndim == 0 else records
