"""NumPy's elements of any size, such as records: an axis of bytes more, which the operation does not see."""

from __future__ import annotations

import numpy as np

from .. import _constants as c
from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context


def run(nd: bool, params: np.ndarray, indices: Any, out: Any, context: Context | None, **switches: Any) -> Any:
    """The operation on params whose dtype has a size that no number has."""
    from .._operations import output_shape
    from .._operations import run as run_bytes
    from . import enter

    numpys = str(switches.get("profile") or "numpy").startswith("numpy")
    if not numpys or switches.get("fill_value") not in (None, "zero"):
        raise errors.dtype_error("params", f"dtype {params.dtype} has no values that this profile or fill_value knows")
    index = enter(indices, None, "indices")[0]
    axis, batch_dims = switches.get("axis"), switches.get("batch_dims", 0)
    # Held against the shapes without the axis of bytes, which a tuple must not reach into.
    shape = output_shape(params.shape, index.shape, axis, batch_dims, nd=nd)
    if axis is not None and axis < 0:
        switches["axis"] = axis - 1
    target = None if out is None else output_bytes(out, params.dtype, shape)
    result = run_bytes(nd, with_bytes(params), index, target, context, **switches)
    if out is not None:
        return out
    array = result.view(params.dtype).reshape(shape)
    return array[()] if array.ndim == 0 else array


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
