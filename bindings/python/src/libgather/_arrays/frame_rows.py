"""Rows of columns and tables of pandas and polars, as their own functions return them."""

from __future__ import annotations

from .. import _objects, errors
from .._base import constants as c
from .._base.optional_packages import module
from .._base.request_fields import Request
from . import arrow as arrow  # it configures the C half to read arrays of pyarrow
from . import arrow_rows
from .selection import NO_NULLS, bits_of, check_updates, is_first, no_zero, repeated, tables_have_rows, written_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np

    from .selection import Selection


#: The largest number of rows of a table whose chunks may be joined.
SHORT = 100_000


def is_polars(value: Any) -> bool:
    return type(value).__module__.startswith("polars")


def row_axis(value: Any, axis: int | None) -> int | None:
    """Returns 0 if a gather along an axis selects rows of a column or a table. Returns None otherwise."""
    has_rows = hasattr(value, "to_numpy") and hasattr(value, "shape")
    return 0 if has_rows and is_first(axis, len(value.shape)) else None


def split_nulls(value: Any) -> tuple[Any, tuple[Any, int]]:
    """Returns indices without nulls, and their validity bits."""
    if is_polars(value):
        if not value.dtype.is_integer() or not value.null_count():
            return value, NO_NULLS
        return value.fill_null(0).to_numpy(), bits_of(value.is_not_null().to_numpy())
    if getattr(value.dtype, "kind", "O") not in "iu" or not value.isna().any():
        return value, NO_NULLS
    return value.to_numpy("int64" if value.dtype.kind == "i" else "uint64", na_value=0), bits_of(~value.isna())


def gather_rows(params: Any, selection: Selection) -> Any:
    if len(params.shape) == 2 and len(selection.shape) != 1:
        raise tables_have_rows(selection.shape)
    rows = selection.numbers(params, len(params))
    if rows is NotImplemented:
        return rows
    taken = (polars_rows if is_polars(params) else pandas_rows)(params, rows.reshape(-1), selection)
    if taken is NotImplemented or len(selection.shape) == 1:
        return taken
    if not selection.shape:
        return taken.iloc[0] if hasattr(taken, "iloc") else taken[0]
    return taken.to_numpy().reshape(selection.shape)


def scatter_rows(target: Any, updates: Any, selection: Selection, inplace: bool) -> Any:
    """Writes rows of a column as its library assigns them. Returns NotImplemented for other targets."""
    if len(target.shape) == 2 or len(selection.shape) > 1:
        return NotImplemented
    updates = repeated(updates, selection.shape)
    if is_polars(target):
        return polars_merged(target, updates, selection, inplace)
    if isinstance(target.dtype, module("pandas").SparseDtype):
        return NotImplemented  # pandas has no assignment to it
    rows = selection.numbers(target, len(target))
    return rows if rows is NotImplemented else pandas_assigned(target, updates, rows.reshape(-1), inplace)


def zero_of(kind: str, dtype: Any) -> Any:
    """Returns the zero of a dtype of numbers, booleans or strings. Raises DTypeError for other dtypes."""
    zeros = {"i": 0, "u": 0, "f": 0.0, "b": False, "O": "", "U": ""}
    if kind not in zeros:
        raise no_zero(dtype)
    return zeros[kind]


# ---------------------------------------------------------------------------------------------------------- polars


def polars_rows(params: Any, rows: np.ndarray, selection: Selection) -> Any:
    polars = module("polars")
    if selection.fills:
        rows[selection.filled(rows)] = len(params)
        params = polars.concat([params, polars_fill(params, selection.fill_value)], rechunk=False)
    numbers = polars.Series(rows.astype("uint32" if polars.get_index_type() == polars.UInt32 else "uint64"))
    return params[numbers.set(polars.Series(rows < 0), None) if selection.may_be_null else numbers]


def polars_fill(params: Any, value: Any) -> Any:
    """Returns a column or a table whose only row has the fill value."""
    polars = module("polars")
    if isinstance(params, polars.DataFrame):
        return polars.DataFrame([polars_fill(column, value) for column in params])
    dtype = params.dtype
    if value is None or (isinstance(value, str) and value == "zero"):
        is_text = dtype in (polars.String, polars.Categorical, polars.Enum)
        value = zero_of(
            "i" if dtype.is_numeric() else "b" if dtype == polars.Boolean else "U" if is_text else "", dtype
        )
    try:
        return polars.Series(params.name, [value], dtype, strict=True)
    except (TypeError, ValueError, OverflowError, polars.exceptions.PolarsError):
        raise errors.dtype_error("options", f"fill_value {value!r} is no {dtype}") from None


def polars_merged(target: Any, updates: Any, selection: Selection, inplace: bool) -> Any:
    """Returns a new column, in which rows of the target are replaced by updates."""
    polars = module("polars")
    if inplace:
        raise errors.read_only("target", "columns of polars are immutable: use the one that the call returns")
    values = polars_updates(target, updates)
    rows = selection.merged(target, len(target))
    if rows is NotImplemented:
        return rows
    check_updates(len(values), selection.shape)
    return polars.concat([target, values], rechunk=False)[polars.Series(rows)]


def polars_updates(target: Any, updates: Any) -> Any:
    """Returns updates as a column of the dtype of the target. Lists are converted, and strings to categories."""
    polars = module("polars")
    if isinstance(updates, (list, tuple)):
        return polars.Series(target.name, updates, target.dtype, strict=True)
    values = polars.Series(target.name, updates)
    is_category = target.dtype in (polars.Categorical, polars.Enum) and values.dtype == polars.String
    if not is_category and values.dtype != target.dtype:
        raise errors.dtype_error("updates", f"dtype is {values.dtype}, needed is {target.dtype}")
    return values.cast(target.dtype, strict=True)


# ---------------------------------------------------------------------------------------------------------- pandas


def pandas_rows(params: Any, rows: np.ndarray, selection: Selection) -> Any:
    """Returns rows. They keep the labels of their index if each of them is in the column or table."""
    pandas = module("pandas")
    is_table = isinstance(params, pandas.DataFrame)
    # The C half then takes rows that are neither null nor filled.
    _objects.configure_frames({pandas.Series: rows_of_column, pandas.DataFrame: rows_of_table})
    if not selection.fills and not selection.may_be_null:
        return (rows_of_table if is_table else rows_of_column)(params, rows)
    if is_table:
        return table_of(params, lambda column: pandas_rows(column, rows, selection))
    array = getattr(params, "array", params)
    column = arrow_of(array)
    if column is not None:
        taken = array_of_arrow(array, arrow_rows.rows_of(column, selection))
    elif selection.fills and not selection.may_be_null and is_numpys(array):
        return NotImplemented  # the general path has NumPy's rules for fill values
    else:
        taken = missing_rows(array, rows, selection)
    return taken if taken is NotImplemented else column_of(taken, params, None)


def rows_of_column(column: Any, rows: np.ndarray) -> Any:
    """Returns rows by validated numbers. A new Series of both parts takes half of the time of its own take."""
    array = getattr(column, "array", column)
    arrow = arrow_of(array)
    if arrow is not None:
        taken = array_of_arrow(array, _objects.run_arrays(c.OP_GATHER, arrow, rows, None, *Request()))
    elif isinstance(column, module("pandas").Series):
        taken = array.take(rows)
    else:
        return column.take(rows)
    return column_of(taken, column, rows)


def rows_of_table(table: Any, rows: np.ndarray) -> Any:
    # In a short table, the search for chunks takes as long as a join of them.
    if len(table) <= SHORT or not has_chunks(table):
        return table.take(rows)
    return table_of(table, lambda column: rows_of_column(column, rows))


def table_of(table: Any, taken: Callable[[Any], Any]) -> Any:
    """Returns a table of columns that a function returns for each column of another table."""
    columns = {number: taken(column) for number, (_, column) in enumerate(table.items())}
    made = module("pandas").DataFrame(columns, copy=False)
    made.columns = table.columns
    return made.__finalize__(table, "take")


def arrow_dtypes() -> tuple[type, ...]:
    """Returns the types of dtypes that Arrow may store."""
    pandas = module("pandas")
    return pandas.ArrowDtype, pandas.StringDtype


def is_numpys(array: Any) -> bool:
    """Returns whether NumPy stores the elements of an array."""
    return type(array).__name__ == "NumpyExtensionArray" or type(array.dtype).__module__.startswith("numpy")


def column_of(array: Any, like: Any, rows: np.ndarray | None) -> Any:
    """Returns an array as a column of the type of another one. `rows` select its labels, and None means new labels."""
    pandas = module("pandas")
    if isinstance(like, pandas.Index):
        return pandas.Index(array, name=like.name)
    if not isinstance(like, pandas.Series):
        return array
    index = None if rows is None else like.index.take(rows)
    # pandas infers the dtype of objects
    dtype = like.dtype if like.dtype == object else None
    return pandas.Series(array, index, dtype, like.name, False).__finalize__(like, "take")


def arrow_of(array: Any) -> Any:
    """Returns the array or chunked array of Arrow that stores an array. Returns None for other storage."""
    pandas = module("pandas")
    dtype = array.dtype
    if isinstance(dtype, pandas.ArrowDtype) or (isinstance(dtype, pandas.StringDtype) and dtype.storage == "pyarrow"):
        return module("pyarrow").array(array)
    return None


def array_of_arrow(like: Any, rows: Any) -> Any:
    """Returns an array of Arrow as one of the type of another array."""
    if rows is NotImplemented:
        return rows
    kind, dtype = type(like), like.dtype
    return kind(rows, dtype=dtype) if isinstance(dtype, module("pandas").StringDtype) else kind(rows)


def missing_rows(array: Any, rows: np.ndarray, selection: Selection) -> Any:
    """Returns rows of an array, of which some are null or the fill value."""
    value = fill_of(array.dtype, selection.fill_value) if selection.fills else None
    taken = array.take(rows, allow_fill=True, fill_value=value)
    if selection.fills and selection.may_be_null:
        taken[(rows < 0) & ~selection.filled(rows)] = None
    if taken.dtype != array.dtype:
        what = f"{value!r}" if selection.fills else "null"
        raise errors.dtype_error("out", f"{array.dtype} cannot represent {what}")
    return taken


def fill_of(dtype: Any, value: Any) -> Any:
    """Returns a fill value as an element of a dtype. Raises DTypeError if the dtype does not have it."""
    pandas = module("pandas")
    is_category = isinstance(dtype, pandas.CategoricalDtype)
    if value is None or (isinstance(value, str) and value == "zero"):
        plain = dtype.categories.dtype if is_category else dtype
        value = zero_of("U" if isinstance(plain, pandas.StringDtype) else plain.kind, dtype)
    check_categories([value], dtype)
    try:
        return pandas.array([value], dtype)[0]
    except (TypeError, ValueError, OverflowError):
        raise errors.dtype_error("options", f"fill_value {value!r} is no {dtype}") from None


def check_categories(values: Any, dtype: Any) -> None:
    """Raises DTypeError for a value that is not in the categories of a dtype, if it has any."""
    if isinstance(dtype, module("pandas").CategoricalDtype):
        outside = [value for value, code in zip(values, dtype.categories.get_indexer(values), strict=True) if code < 0]
        if outside:
            raise errors.dtype_error("out", f"{outside[0]!r} is not in the categories of the column")


def has_chunks(table: Any) -> bool:
    """Returns whether a column is stored in chunks, which the library's own take would join."""
    numbers = [number for number, dtype in enumerate(table.dtypes) if isinstance(dtype, arrow_dtypes())]
    return any(getattr(arrow_of(table.iloc[:, number].array), "num_chunks", 1) > 1 for number in numbers)


def pandas_assigned(target: Any, updates: Any, rows: np.ndarray, inplace: bool) -> Any:
    """Assigns updates to rows of a column, or to those of a copy."""
    pandas = module("pandas")
    if inplace and isinstance(target, pandas.Index):
        raise errors.read_only("target", "an Index is immutable: use the one that the call returns")
    is_series = isinstance(target, pandas.Series)
    whole = target if inplace and is_series else pandas.Series(target, copy=not inplace)
    values = values_of(updates)
    check_updates(len(values), rows.shape)
    places = last_of(rows) if arrow_of(whole.array) is not None else written_of(rows)
    if places.size:
        chosen = [values[place] for place in places] if isinstance(values, list) else values[places]
        assign(whole, rows[places], chosen)
    if is_series or inplace:
        return whole if is_series else target
    return column_of(whole.array, target, None)


def values_of(updates: Any) -> Any:
    """Returns updates in a form that pandas assigns: a list, or an array of NumPy or pandas of rank 1."""
    if type(updates).__module__.startswith("pandas"):
        return getattr(updates, "array", updates)
    if type(updates).__module__.startswith(("pyarrow", "polars")):
        return updates.to_pylist() if hasattr(updates, "to_pylist") else updates.to_list()
    if isinstance(updates, (list, tuple)):
        return list(updates)
    values = module("numpy").asarray(updates)
    return values if values.ndim == 1 else list(values)


def last_of(rows: np.ndarray) -> np.ndarray:
    """Returns the place of the last update of each row. pandas assigns to columns of Arrow in another order."""
    found, places = module("numpy").unique(rows[::-1], return_index=True)
    return rows.size - 1 - places[found >= 0]  # type: ignore[no-any-return]


def assign(column: Any, rows: np.ndarray, values: Any) -> None:
    try:
        column.iloc[rows] = values
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise errors.read_only("target", str(error)) from None
