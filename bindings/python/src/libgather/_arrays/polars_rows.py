"""Rows of columns and tables of polars.

polars takes most rows itself. The library takes rows of lists, arrays and structs in several chunks, because polars
joins their chunks before it takes a row. It also takes rows that may be null or the fill value.
"""

from __future__ import annotations

import sys

from .. import errors
from .._base import constants as c
from .._base.optional_packages import module
from .._base.request_fields import Request
from . import arrow_types
from .column_values import converted, each_column, with_none
from .selection import NO_NULLS, Selection, check_shape, fill_or_zero, is_sparse, merged, pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

#: The names of types whose export copies all categories, or that Arrow does not have.
_OWN = ("Categorical", "Enum", "Object", "Int128", "UInt128")


def is_polars(value: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(value, (polars.Series, polars.DataFrame))


def is_arrows(dtype: Any) -> bool:
    """Returns whether a column of a type is exported without a loss or a copy."""
    if not dtype.is_nested():
        return type(dtype).__name__ not in _OWN
    below = [field.dtype for field in dtype.fields] if hasattr(dtype, "fields") else [dtype.inner]
    return all(map(is_arrows, below))


def finished(like: Any, capsules: tuple[Any, Any]) -> Any:
    """Returns the rows of a column as a column of the same type."""
    return of_type(module("polars").Series(arrow_types.Capsules(capsules)), like)


def of_type(column: Any, like: Any) -> Any:
    """Returns a column as one of the type of another column."""
    return column if type(column) is type(like) else like._from_pyseries(column._s)


def gather_rows(params: Any, selection: Selection) -> Any:
    """Returns rows in row-major order of their indices."""
    may_fill = selection.fills or selection.may_be_null
    if is_table(params) and (may_fill or joins_chunks(params)):
        return table_of(params, selection)
    takes = joins_chunks(params) or (may_fill and is_arrows(params.dtype))
    if takes and not selection.fills:
        return taken(params, selection)
    rows = selection.numbers(params, len(params))
    if rows is NotImplemented:
        return rows
    rows = rows.reshape(-1)
    if selection.fills:
        rows[selection.filled(rows)] = len(params)
        params = followed(params, selection.fill_value)
    return taken(params, selection.at(rows)) if takes else own_rows(params, rows, rows < 0 if may_fill else None)


def taken(column: Any, selection: Selection) -> Any:
    return selection.taken(column, column.__arrow_c_stream__(), finished, None)


def known_rows(params: Any, rows: Any) -> Any:
    """Returns rows by validated numbers, which are an array of NumPy or a column of polars."""
    if not joins_chunks(params):
        return own_rows(params, rows)
    selection = Selection(c.OP_GATHER, rows, rows.shape, NO_NULLS, Request())
    return table_of(params, selection) if is_table(params) else taken(params, selection)


def table_of(table: Any, selection: Selection) -> Any:
    columns = each_column(
        ((column.name, column) for column in table),
        lambda column: gather_rows(column, selection.of_column(column.name)),
    )
    if any(rows is NotImplemented for rows in columns):
        return NotImplemented
    made = module("polars").DataFrame(columns)
    return made if type(made) is type(table) else table._from_pydf(made._df)


def joins_chunks(params: Any) -> bool:
    """Returns whether polars joins chunks before it takes rows, and the library need not."""
    if is_table(params):
        return max(params.n_chunks("all"), default=1) > 1 and any(map(joins_chunks, params))
    return params.n_chunks() > 1 and params.dtype.is_nested() and is_arrows(params.dtype)


def own_rows(params: Any, rows: Any, nulls: np.ndarray | None = None) -> Any:
    """Returns rows by validated numbers. A mask tells which of them are null."""
    polars = module("polars")
    if isinstance(rows, polars.Series):
        return params[rows]
    numbers = polars.Series(rows.astype("uint32" if polars.get_index_type() == polars.UInt32 else "uint64"))
    return params[numbers if nulls is None else numbers.set(polars.Series(nulls), None)]


def is_table(value: Any) -> bool:
    return isinstance(value, module("polars").DataFrame)


def followed(column: Any, value: Any) -> Any:
    """Returns a column whose last row is a fill value."""
    dtype = column.dtype
    value = fill_or_zero(value, int if dtype.is_numeric() else dtype.to_python(), dtype)
    return column.clone().append(elements([value], column, "options"))


def elements(values: list[Any], like: Any, operand: str) -> Any:
    """Returns a column of the dtype of another one of values that it keeps."""
    polars = module("polars")

    def convert(values: list[Any]) -> Any:
        made = polars.Series(like.name, with_none(values), like.dtype, strict=True)
        if made.dtype != like.dtype:
            raise TypeError(f"its dtype is {made.dtype}")
        return made

    failures = (Exception, polars.exceptions.PanicException)
    return converted(values, convert, lambda made: made.to_list(), like.dtype, operand, failures)


def scatter_rows(target: Any, updates: Any, selection: Selection, inplace: bool) -> Any:
    """Returns a new column, in which rows of the target are replaced by updates."""
    polars = module("polars")
    if inplace:
        raise errors.read_only("target", "columns of polars are immutable: use the one that the call returns")
    values = updates_of(target, updates)
    rows = selection.numbers(target, len(target))
    if rows is NotImplemented:
        return rows
    check_shape("updates", (len(values),), selection.shape or (1,))
    if is_sparse(rows, len(target)):
        return of_type(polars.concat(list(pieces(target, values, rows)), rechunk=True), target)
    whole = polars.concat([target, values], rechunk=False)
    return of_type(gather_rows(whole, selection.at(merged(rows, len(target)))), target)


def updates_of(target: Any, updates: Any) -> Any:
    """Returns updates as a column of the dtype of the target. Lists are converted, and strings to categories."""
    polars = module("polars")
    if isinstance(updates, (list, tuple)):
        return elements(list(updates), target, "updates")
    values = polars.Series(target.name, updates)
    is_category = target.dtype in (polars.Categorical, polars.Enum) and values.dtype == polars.String
    if not is_category and values.dtype != target.dtype:
        raise errors.dtype_error("updates", f"dtype is {values.dtype}, needed is {target.dtype}")
    return values.cast(target.dtype, strict=True)
