"""Columns and tables of pandas and polars. Nulls are rejected, because an element cannot be null.

A result of one dim is a column or an extension array of the same name and dtype. In pandas it has a new index. A table
becomes a NumPy array of all columns, and results have the dtype of that array.
"""

from __future__ import annotations

from .. import errors
from .._base.optional_packages import module
from .._memory.memory import Memory
from . import numpy_
from .frame_rows import check_categories, column_of, is_polars
from .frame_rows import gather_rows as gather_rows
from .frame_rows import row_axis as row_axis
from .frame_rows import scatter_rows as scatter_rows
from .frame_rows import split_nulls as split_nulls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from .._memory.device_site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if not hasattr(value, "to_numpy"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if has_nulls(value):
        raise errors.dtype_error(operand, "it has nulls, which an element cannot be: fill them first")
    array = array_of(value, operand)
    try:
        return numpy_.enter(array, site, operand)
    except errors.DTypeError as error:
        dtype = getattr(value, "dtype", array.dtype)
        if not is_extended(dtype):
            raise
        message = f"elements of dtype {dtype} are no dtype of this library"
        raise errors.dtype_error(operand, message) from error


def array_of(value: Any, operand: str) -> Any:
    """Returns the NumPy array of a column or a table. Raises DTypeError if that changes the value of an integer."""
    array = value.to_numpy()
    if array.ndim == 2 and array.dtype.kind in "fc":
        for number, (name, column) in enumerate(columns_of(value)):
            integers = column.to_numpy()
            if integers.dtype.kind in "iu" and not is_exact(integers, array[:, number].real):
                message = (
                    f"column {name!r} of {column.dtype} has integers that {array.dtype}, the dtype of all columns, "
                    "does not hold exactly: give the columns one dtype"
                )
                raise errors.dtype_error(operand, message)
    return array


def columns_of(value: Any) -> list[tuple[Any, Any]]:
    """Returns the names and columns of a table, or of a polars column of structs."""
    if hasattr(value, "iloc"):
        return [(name, value.iloc[:, number]) for number, name in enumerate(value.columns)]
    table = value.struct.unnest() if hasattr(value, "dtype") and value.dtype == module("polars").Struct else value
    return [(column.name, column) for column in table] if hasattr(table, "get_columns") else []


def is_exact(integers: np.ndarray, floats: np.ndarray) -> bool:
    limit = 2 ** (module("numpy").finfo(floats.dtype).nmant + 1)  # floats represent all integers up to this limit
    large = (integers > limit) | (integers < -limit)
    return bool(integers[large].tolist() == floats[large].tolist())  # Python compares these exactly


def has_nulls(value: Any) -> bool:
    """Returns whether a column has nulls. NaN is a value of its dtype and not a null."""
    if hasattr(value, "null_count"):
        counts = value.null_count()
        return bool(counts if isinstance(counts, int) else sum(counts.row(0)))
    columns = [value] if hasattr(value, "dtype") else [value.iloc[:, i] for i in range(value.shape[1])]
    return any(is_extended(column.dtype) and column.isna().any() for column in columns)


def is_extended(dtype: Any) -> bool:
    return not type(dtype).__module__.startswith("numpy")


def carried_of(value: Any) -> np.dtype[Any] | None:
    return numpy_.carried_of(value.to_numpy())


def hold(value: Any) -> Any:
    return numpy_.hold(value.to_numpy())


def flat(value: Any) -> Any:
    return value if len(value.shape) == 1 else array_of(value, "params").reshape(-1)


def leave(tensor: Memory, like: Any) -> Any:
    result = numpy_.leave(tensor, like.to_numpy())
    if getattr(result, "ndim", 0) != 1 or len(like.shape) != 1:
        return result
    if is_polars(like):
        return module("polars").Series(like.name, result, like.dtype)
    check_categories(result.tolist(), like.dtype)
    return column_of(module("pandas").array(result, like.dtype), like, None)
