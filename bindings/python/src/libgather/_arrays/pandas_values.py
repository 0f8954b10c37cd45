"""Values that become elements of columns of pandas: fill values, nulls and updates."""

from __future__ import annotations

from .. import _objects, errors
from .._base import constants as c
from .._base.optional_packages import module
from .._base.request_fields import Request
from . import arrow_rows
from .column_values import converted
from .selection import fill_or_zero

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from .selection import Selection

#: The kinds of NumPy's dtypes that the library gathers without a conversion.
_NUMBERS = "biufcmM"
_ZEROS: dict[str, type] = {"i": int, "u": int, "f": float, "c": float, "b": bool, "O": str, "U": str, "S": bytes}


def is_numpys(dtype: Any) -> bool:
    """Returns whether NumPy stores the elements of a dtype."""
    return type(dtype).__module__.startswith("numpy") or type(dtype).__name__ == "NumpyEADtype"


def numpy_of(dtype: Any) -> Any:
    """Returns the dtype of NumPy that stores the elements of a dtype, or the dtype itself."""
    return dtype.numpy_dtype if type(dtype).__name__ == "NumpyEADtype" else dtype


def is_exact(integers: np.ndarray, floats: np.ndarray) -> bool:
    limit = 2 ** (module("numpy").finfo(floats.dtype).nmant + 1)  # floats represent all integers up to this limit
    large = (integers > limit) | (integers < -limit)
    return bool(integers[large].tolist() == floats[large].tolist())  # Python compares these exactly


def is_arrows(dtype: Any) -> bool:
    """Returns whether Arrow stores the elements of a dtype of pandas."""
    return getattr(dtype, "storage", None) == "pyarrow"


def arrow_of(array: Any) -> Any:
    """Returns the array or chunked array of Arrow that stores an array. Returns None for other storage."""
    return module("pyarrow").array(array) if is_arrows(array.dtype) else None


def array_of_arrow(like: Any, rows: Any) -> Any:
    """Returns an array of Arrow as one of the type of another array."""
    if rows is NotImplemented:
        return rows
    kind, dtype = type(like), like.dtype
    return kind(rows) if hasattr(dtype, "pyarrow_dtype") else kind(rows, dtype=dtype)


# ---------------------------------------------------------------------------------------------------------- values


def elements_of(values: list[Any], dtype: Any, operand: str = "updates") -> Any:
    """Returns an array of a dtype of values that it keeps. It may be an array of NumPy if NumPy stores the elements."""
    return converted(
        values, lambda values: array_of(values, dtype, operand), lambda made: made.tolist(), dtype, operand
    )


def array_of(values: list[Any], dtype: Any, operand: str) -> Any:
    pandas, np = module("pandas"), module("numpy")
    plain = numpy_of(dtype)
    if not is_numpys(plain):
        check_categories(values, dtype, "updates" if operand == "updates" else "out")
        if hasattr(dtype, "pyarrow_dtype"):
            return pandas.arrays.ArrowExtensionArray(arrow_rows.array_of(values, dtype.pyarrow_dtype, True))
        return pandas.array(values, dtype)
    if plain.kind == "O":
        made = np.empty(len(values), object)
        for place, value in enumerate(values):
            made[place] = value
        return made
    if plain.kind in "mM":
        return pandas.array(values, plain)
    made = np.array([np.nan if value is pandas.NA else value for value in values], plain)
    if made.ndim != 1:
        raise ValueError("it is an array")
    return made


def check_categories(values: Any, dtype: Any, operand: str = "out") -> None:
    """Raises DTypeError for a value that is not in the categories of a dtype, if it has any."""
    pandas = module("pandas")
    if isinstance(dtype, pandas.CategoricalDtype):
        codes = dtype.categories.get_indexer(values)
        outside = [value for value, code in zip(values, codes, strict=True) if code < 0 and not pandas.isna(value)]
        if outside:
            raise errors.dtype_error(operand, f"{outside[0]!r} is not in the categories of the column")


def updates_of(updates: Any, dtype: Any) -> Any:
    """Returns updates as an array of a dtype. Other values than those of the dtype are converted one by one."""
    np = module("numpy")
    if type(updates).__module__.startswith(("pyarrow", "polars")):
        updates = updates.to_pylist() if hasattr(updates, "to_pylist") else updates.to_list()
    values = getattr(updates, "array", updates) if type(updates).__module__.startswith("pandas") else updates
    if not isinstance(values, (list, tuple)):
        values = values if hasattr(values, "dtype") else np.asarray(values)
        if numpy_of(values.dtype) == numpy_of(dtype) and values.ndim == 1:
            return values
    return elements_of(list(values), dtype)


# ----------------------------------------------------------------------------------------------- fill values, nulls


def filled(array: Any, rows: np.ndarray, selection: Selection) -> Any:
    """Returns rows of an array, of which some are null or the fill value."""
    if is_arrows(array.dtype):
        fill = arrow_of(fill_of(array, selection)) if selection.fills else None
        return array_of_arrow(array, arrow_rows.rows_of(arrow_of(array), selection, fill))
    if selection.fills:
        taken = with_fill(array, rows, fill_of(array, selection))
        if not selection.may_be_null:
            return taken
        nulls, np = (rows < 0) & ~selection.filled(rows), module("numpy")
        array, rows = taken, np.where(nulls, -1, np.arange(rows.size))
    return with_nulls(array, rows, selection.promotes)


def fill_of(array: Any, selection: Selection) -> Any:
    """Returns the fill value of a selection as an array of one element."""
    dtype, pandas = array.dtype, module("pandas")
    plain = numpy_of(dtype.categories.dtype if isinstance(dtype, pandas.CategoricalDtype) else dtype)
    value = fill_or_zero(selection.fill_value, python_of(plain), dtype)
    if isinstance(value, str) and value == "by_dtype" and is_numpys(plain) and plain.kind in _NUMBERS:
        none = module("numpy").empty(0, plain)
        return _objects.run_arrays(c.OP_GATHER, none, [0], None, *Request(bounds="fill", fill_value=value))
    return elements_of([value], dtype, "options")


def python_of(dtype: Any) -> type | None:
    """Returns the type of Python of numbers, booleans and strings. Returns None for other dtypes."""
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow_rows.python_of(dtype.pyarrow_dtype)
    if isinstance(dtype, module("pandas").StringDtype):
        return str
    return _ZEROS.get(dtype.kind) if is_numpys(dtype) or dtype.kind in "iufb" else None


def with_fill(array: Any, rows: np.ndarray, fill: Any) -> Any:
    """Returns rows of an array. A negative row number gives the fill value."""
    dtype, np = numpy_of(array.dtype), module("numpy")
    if not is_numpys(dtype):
        return array.take(rows, allow_fill=True, fill_value=fill[0])
    values = array.to_numpy()
    if dtype.kind in _NUMBERS:
        request = Request(bounds="fill", fill_value=np.asarray(fill)[0])
        taken = _objects.run_arrays(c.OP_GATHER, values, rows, None, *request)
        return module("pandas").array(taken, dtype)
    taken = values.take(rows, mode="clip") if len(values) else np.repeat(fill, rows.size)
    taken[rows < 0] = fill
    return module("pandas").arrays.NumpyExtensionArray(taken)


def with_nulls(array: Any, rows: np.ndarray, promotes: bool) -> Any:
    """Returns rows of an array. A negative row number gives null.

    If the dtype has no null, the rows are promoted, as in `reindex` of pandas, or an error. An integer that becomes a
    float must be exact.
    """
    taken, np = array.take(rows, allow_fill=True), module("numpy")
    if taken.dtype == array.dtype:
        return taken
    if not promotes:
        raise errors.dtype_error("out", f"{array.dtype} cannot represent null, bounds 'promote' takes {taken.dtype}")
    found = np.flatnonzero(rows >= 0)
    given = np.asarray(array.take(rows[found]))
    if given.dtype.kind in "iu" and not is_exact(given, np.asarray(taken)[found]):
        raise errors.dtype_error("out", f"{array.dtype} has integers that {taken.dtype} does not hold exactly")
    return taken
