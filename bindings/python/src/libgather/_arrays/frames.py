"""Columns and tables of pandas and polars.

Rows are those that the library's own functions return. As an array, a column must not have nulls, because an element
cannot be null. A result of one dim is a column or an extension array of the same name and dtype. In pandas it has a new
index. A table becomes a NumPy array of all columns, and results have the dtype of that array.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from .. import _objects, errors
from .._base import constants as c
from .._base.optional_packages import module
from .._base.request_fields import Request
from .._memory.memory import Memory
from . import arrow_protocol, arrow_types, numpy_, pandas_values, polars_rows
from .column_values import NamedColumn, each_column
from .pandas_values import arrow_of, check_categories, is_arrows, is_exact, is_numpys, numpy_of
from .polars_rows import is_polars
from .selection import NO_NULLS, bits_of, check_shape, is_first, repeated, tables_have_rows, written_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from .._memory.device_site import Site
    from .selection import Selection


#: The largest number of rows of a table whose chunks may be joined.
SHORT = 100_000
#: The number of strings of Python from which on pandas takes them faster if it may fill.
MANY = 1000
#: The functions that take rows of a type by validated numbers. The C code calls them.
_TAKERS: dict[type, Callable[[Any, Any], Any]] = {}
_objects.configure_frames(_TAKERS)


def register(kind: type) -> None:
    """Tells the C code how it takes rows of a type."""
    polars = sys.modules.get("polars")
    is_column = polars is not None and issubclass(kind, polars.Series)
    if is_column:
        arrow_types.add(kind)
    is_pandas = polars is None or not (is_column or issubclass(kind, polars.DataFrame))
    _TAKERS[kind] = pandas_rows if is_pandas else polars_rows.known_rows


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if not hasattr(value, "to_numpy"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if has_nulls(value):
        raise errors.dtype_error(operand, "it has nulls, which an element cannot be: fill them first")
    array = array_of(value, operand)
    try:
        return numpy_.enter(array, site, operand)
    except errors.DTypeError as error:
        dtype = value.dtype if len(value.shape) == 1 else array.dtype
        if is_numpys(dtype):
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
    if not is_polars(value):
        return list(value.items())
    polars = module("polars")
    table = value.struct.unnest() if isinstance(value, polars.Series) and value.dtype == polars.Struct else value
    return [(column.name, column) for column in table] if isinstance(table, polars.DataFrame) else []


def has_nulls(value: Any) -> bool:
    """Returns whether a column has nulls. NaN is a value of its dtype and not a null."""
    if is_polars(value):
        counts = value.null_count()
        return bool(counts if isinstance(counts, int) else sum(counts.row(0)))
    columns = [value] if len(value.shape) == 1 else [column for _, column in value.items()]
    return any(not is_numpys(column.dtype) and column.isna().any() for column in columns)


def has_memory(value: Any) -> bool:
    """Returns whether a column is an array of NumPy without a conversion."""
    if not is_polars(value):
        return len(value.shape) == 1 and is_numpys(value.dtype)
    if len(value.shape) == 2:
        return False
    return (value.dtype.is_integer() or value.dtype.is_float()) and value.n_chunks() == 1 and not value.null_count()


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


# ------------------------------------------------------------------------------------------------------------ rows


def row_axis(value: Any, axis: int | None) -> int | None:
    """Returns 0 if a gather along an axis selects rows of a column or a table. Returns None otherwise."""
    has_rows = hasattr(value, "to_numpy") and hasattr(value, "shape")
    return 0 if has_rows and is_first(axis, len(value.shape)) else None


def names_of(table: Any) -> list[Any]:
    """Returns the names of the columns of a table."""
    return list(table.columns)


def split_nulls(value: Any) -> tuple[Any, tuple[Any, int]]:
    """Returns indices without nulls, and their validity bits."""
    if is_polars(value):
        return arrow_protocol.split_nulls(value)
    if getattr(value.dtype, "kind", "O") not in "iu" or not value.isna().any():
        return value, NO_NULLS
    return value.to_numpy("int64" if value.dtype.kind == "i" else "uint64", na_value=0), bits_of(~value.isna())


def gather_rows(params: Any, selection: Selection) -> Any:
    if len(params.shape) == 2 and len(selection.shape) != 1:
        raise tables_have_rows(selection.shape)
    with NamedColumn(name_of(params)):
        taken = (polars_rows.gather_rows if is_polars(params) else pandas_taken)(params, selection)
    if taken is NotImplemented or len(selection.shape) == 1:
        return taken
    if not selection.shape:
        return taken.iloc[0] if hasattr(taken, "iloc") else taken[0]
    return taken.to_numpy().reshape(selection.shape)


def assign_rows(out: Any, rows: Any, selection: Selection) -> None:
    """Assigns rows to a column of pandas of the same dtype."""
    pandas = module("pandas")
    if is_polars(out) or len(out.shape) != 1 or isinstance(out, pandas.Index):
        raise errors.not_writable("out", out)
    is_column = isinstance(rows, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray))
    # A table may have a column of the name "array".
    values, array = getattr(rows, "array", rows) if is_column else rows, getattr(out, "array", out)
    if not is_column or array.dtype != values.dtype:
        needed = values.dtype if is_column else type(rows).__name__
        raise errors.dtype_error("out", f"dtype is {array.dtype}, needed is {needed}")
    check_shape("out", out.shape, selection.shape)
    assign(out, slice(None), values, "out")


def scatter_rows(target: Any, updates: Any, selection: Selection, inplace: bool) -> Any:
    """Writes rows of a column as its library assigns them. Returns NotImplemented for other targets."""
    if len(target.shape) == 2 or len(selection.shape) > 1:
        return NotImplemented
    with NamedColumn(name_of(target)):
        return written_rows(target, repeated(updates, selection.shape), selection, inplace)


def name_of(value: Any) -> Any:
    """Returns the name of a column. Tables and arrays have none, but a table may have a column "name"."""
    return getattr(value, "name", None) if len(value.shape) == 1 else None


def written_rows(target: Any, updates: Any, selection: Selection, inplace: bool) -> Any:
    if is_polars(target):
        return polars_rows.scatter_rows(target, updates, selection, inplace)
    if inplace and isinstance(target.dtype, module("pandas").SparseDtype):
        return NotImplemented  # pandas has no assignment to it
    rows = selection.numbers(target, len(target))
    return rows if rows is NotImplemented else pandas_assigned(target, updates, rows.reshape(-1), inplace)


# ---------------------------------------------------------------------------------------------------------- pandas


def pandas_taken(params: Any, selection: Selection) -> Any:
    """Returns rows in row-major order of their indices."""
    rows = selection.numbers(params, len(params))
    if rows is NotImplemented:
        return rows
    rows = rows.reshape(-1)
    if selection.fills or selection.may_be_null:
        return pandas_filled(params, rows, selection)
    return pandas_rows(params, rows)


def pandas_filled(params: Any, rows: np.ndarray, selection: Selection) -> Any:
    """Returns rows, some of which may be null or the fill value. They have new labels."""
    if isinstance(params, module("pandas").DataFrame):
        labels = module("pandas").RangeIndex(len(rows))
        return table_of(
            params, lambda column: pandas_values.filled(column.array, rows, selection.of_column(column.name)), labels
        )
    taken = pandas_values.filled(getattr(params, "array", params), rows, selection)
    return taken if taken is NotImplemented else column_of(taken, params, None)


def pandas_rows(params: Any, rows: np.ndarray) -> Any:
    """Returns rows by validated numbers. They keep the labels of their index."""
    pandas = module("pandas")
    if isinstance(params, pandas.DataFrame):
        # In a short table, the search for chunks takes as long as a join of them.
        if len(params) <= SHORT or not has_chunks(params):
            try:
                return params.take(rows)
            except NotImplementedError:  # pyarrow has no take for the type of a column
                pass
        return table_of(params, lambda column: array_rows(column.array, rows), params.index.take(rows))
    if is_arrows(params.dtype):
        with NamedColumn(name_of(params)):
            taken = arrow_taken(getattr(params, "array", params), rows)
    elif type(params) is not pandas.Series:
        return params.take(rows)
    elif is_numpys(params.dtype):
        taken = params.values.take(rows)  # take and a new Series need half of the time of Series.take
    else:
        # The take that may fill is the faster one for many objects.
        fills = getattr(params.dtype, "storage", None) == "python" and len(rows) > MANY
        taken = params.array.take(rows, allow_fill=fills)
    return column_of(taken, params, rows)


def array_rows(array: Any, rows: np.ndarray) -> Any:
    return arrow_taken(array, rows) if is_arrows(array.dtype) else array.take(rows)


def arrow_taken(array: Any, rows: np.ndarray) -> Any:
    taken = _objects.run_arrays(c.OP_GATHER, arrow_of(array), rows, None, *Request())
    return pandas_values.array_of_arrow(array, taken)


def table_of(table: Any, taken: Callable[[Any], Any], labels: Any) -> Any:
    """Returns a table of the arrays that a function returns for each column of another table."""
    arrays = each_column(table.items(), taken)
    if any(array is NotImplemented for array in arrays):
        return NotImplemented
    kind = module("pandas").Series
    columns = {number: series_of(kind, array, labels) for number, array in enumerate(arrays)}
    made = table._constructor(columns, index=labels, copy=False)
    made.columns = table.columns
    return made.__finalize__(table, "take")


def column_of(array: Any, like: Any, rows: np.ndarray | None) -> Any:
    """Returns an array as a column of the type of another one. `rows` select its labels, and None means new labels."""
    pandas = module("pandas")
    if isinstance(like, pandas.Index):
        return pandas.Index(array, dtype=numpy_of(array.dtype), name=like.name)
    if not isinstance(like, pandas.Series):
        return array
    index = None if rows is None else like.index.take(rows)
    made = series_of(like._constructor, array, index, like.name)
    # The copy of attributes takes as long as that of a row.
    is_plain = type(like) is pandas.Series and not like.attrs and like.flags.allows_duplicate_labels
    return made if is_plain else made.__finalize__(like, "take")


def series_of(kind: Any, array: Any, index: Any, name: Any = None) -> Any:
    """Returns a Series of an array. pandas infers the dtype of objects if none is given."""
    dtype = numpy_of(array.dtype)
    is_object = is_numpys(dtype) and dtype.kind == "O"
    return kind(array, index=index, dtype=dtype if is_object else None, name=name, copy=False)


def has_chunks(table: Any) -> bool:
    """Returns whether a column is stored in chunks, which DataFrame.take would join."""
    numbers = [number for number, dtype in enumerate(table.dtypes) if is_arrows(dtype)]
    return any(getattr(arrow_of(table.iloc[:, number].array), "num_chunks", 1) > 1 for number in numbers)


def pandas_assigned(target: Any, updates: Any, rows: np.ndarray, inplace: bool) -> Any:
    """Assigns updates to rows of a column, or to those of a copy."""
    pandas = module("pandas")
    is_index = isinstance(target, pandas.Index)
    if inplace and is_index:
        raise errors.read_only("target", "an Index is immutable: use the one that the call returns")
    values = pandas_values.updates_of(updates, target.dtype)
    check_shape("updates", (len(values),), rows.shape)
    whole = target.array if is_index else target
    is_sparse = isinstance(target.dtype, pandas.SparseDtype)
    if is_sparse:  # pandas has no assignment to it
        whole = getattr(target, "array", target).to_dense()
    elif not inplace:
        whole = whole.copy()
    places = last_of(rows) if is_arrows(target.dtype) else written_of(rows)
    try:
        if places.size:
            assign(whole, rows[places], values[places], "target")
    except NotImplementedError as error:  # of pyarrow
        raise errors.dtype_error("target", f"pandas assigns no rows of dtype {target.dtype}") from error
    if is_sparse:
        return column_of(pandas.array(whole, target.dtype), target, module("numpy").arange(len(target)))
    return column_of(whole, target, None) if is_index else whole


def last_of(rows: np.ndarray) -> np.ndarray:
    """Returns the place of the last update of each row. pandas assigns to columns of Arrow in another order."""
    found, places = module("numpy").unique(rows[::-1], return_index=True)
    return rows.size - 1 - places[found >= 0]  # type: ignore[no-any-return]


def assign(column: Any, rows: Any, values: Any, operand: str) -> None:
    """Assigns values to rows of a column or an array. pandas reports read-only memory as the reason of other errors."""
    handled = sys.exception()
    try:
        place = column.to_numpy() if isinstance(column, module("pandas").arrays.NumpyExtensionArray) else column
        getattr(place, "iloc", place)[rows] = values
    except ValueError as error:
        reason: BaseException | None = error
        while reason is not None and "read-only" not in str(reason):
            reason = reason.__cause__ or reason.__context__
            if reason is handled:  # it is the caller's
                raise
        raise errors.read_only(operand, str(reason)) from None
