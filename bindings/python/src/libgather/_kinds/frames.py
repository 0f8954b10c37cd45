"""Columns of pandas and polars, without nulls, which an element cannot be.

A result of one dim is a column again, of the same name and dtype; pandas gives it an index of its own. Tables are
NumPy's arrays on the way out.
"""

from __future__ import annotations

from .. import errors
from .._memory import Memory
from .._modules import module
from . import numpy_

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from .._site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if not hasattr(value, "to_numpy"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if has_nulls(value):
        raise errors.dtype_error(operand, "it has nulls, which an element cannot be: fill them first")
    return numpy_.enter(value.to_numpy(), site, operand)


def has_nulls(value: Any) -> bool:
    """Nulls that are no values of the dtype, as NaN is one of float64."""
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
    return value if len(value.shape) == 1 else value.to_numpy().reshape(-1)


def leave(tensor: Memory, like: Any) -> Any:
    result = numpy_.leave(tensor, like.to_numpy())
    if getattr(result, "ndim", 0) != 1 or len(like.shape) != 1:
        return result
    if type(like).__module__.startswith("polars"):
        return module("polars").Series(like.name, result, like.dtype)
    pandas = module("pandas")
    kind = pandas.Index if isinstance(like, pandas.Index) else pandas.Series
    return kind(result, name=like.name, dtype=like.dtype)
