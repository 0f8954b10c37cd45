"""The rule for values that become elements of a column of any library: fill values, padding and updates.

The library of the column converts the values. The elements are then compared with them. A value that does not come back
equal is refused. Floats may be rounded, as in arrays of numbers.
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from numbers import Rational, Real

from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

#: Types whose lists Python compares as `is_same` does, apart from NaN and rounded floats.
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})


def converted(
    values: list[Any],
    convert: Callable[[list[Any]], Any],
    listed: Callable[[Any], list[Any]],
    dtype: Any,
    operand: str = "updates",
    failures: Any = Exception,
) -> Any:
    """Returns a column of values.

    Args:
        values: The values.
        convert: The function of a library that creates a column of a list.
        listed: A function that returns the elements of such a column.
        dtype: The dtype of the column, for messages.
        operand: The operand that has the values: "updates", or "options" for a fill value.
        failures: The exceptions of the library.

    Raises:
        DTypeError: A value cannot be an element of the column. The message names the first such value.
    """
    try:
        made = convert(values)
        elements = listed(made)
    except (errors.Error, MemoryError):
        raise
    except failures as error:
        if len(values) > 1:  # the first value that alone is refused raises the error
            for value in values:
                converted([value], convert, listed, dtype, operand, failures)
        raise refused(values, dtype, operand, error) from error
    are_plain = _PLAIN.issuperset(map(type, values)) and _PLAIN.issuperset(map(type, elements))
    if not (are_plain and elements == values):
        for value, element in zip(values, elements, strict=True):
            if not is_same(value, element):
                raise refused([value], dtype, operand, f"it would become {element!r}")
    return made


def refused(values: list[Any], dtype: Any, operand: str, reason: object) -> errors.DTypeError:
    label, given = (
        ("fill_value ", values[0]) if operand == "options" else ("", values[0] if len(values) == 1 else values)
    )
    line = str(reason).partition("\n")[0]
    return errors.dtype_error(operand, f"{label}{given!r} is no {dtype}: {line}")


def is_same(value: Any, element: Any) -> bool:
    """Returns whether an element of a column equals the value that it was converted from."""
    if value is element:
        return True
    value, element = python_of(value), python_of(element)
    if element is None:
        return is_null(value) and not isinstance(value, (Real, Decimal))
    if is_null(value) or is_null(element):
        return is_null(value) and is_null(element)
    if isinstance(element, dict):
        return has_fields(value, element)
    if isinstance(element, (list, tuple)):
        items = items_of(value)
        return items is not None and len(items) == len(element) and all(map(is_same, items, element))
    if getattr(element, "ndim", 0):
        return is_same(value, element.tolist())
    if isinstance(element, complex) and isinstance(value, (float, complex)):
        return is_rounded(value.real, element.real) and is_rounded(value.imag, element.imag)
    if isinstance(element, Real) and isinstance(value, Real) and not isinstance(value, Rational):
        return is_rounded(value, element)
    if type(value).__name__ in ("datetime64", "timedelta64") and not is_naive_time(element):
        return False  # they are equal to times of every zone and to integers
    try:
        return bool(value == element)
    except (TypeError, ValueError):
        return False


def python_of(value: Any) -> Any:
    """Returns a scalar of pyarrow or NumPy as a value of Python, which compares integers and floats exactly."""
    if hasattr(value, "as_py"):
        return value.as_py()
    is_scalar = (
        getattr(value, "ndim", 1) == 0 and getattr(value, "dtype", None) is not None and value.dtype.kind in "biufc"
    )
    return value.item() if is_scalar else value


def is_naive_time(element: Any) -> bool:
    return not isinstance(element, (Real, Decimal)) and getattr(element, "tzinfo", None) is None


def is_rounded(value: Any, element: Any) -> bool:
    """Returns whether an element is a float that a column has instead of a given float."""
    is_float = not isinstance(element, Rational)
    return bool(value == element) or (is_float and isfinite(element) and isfinite(value))


def is_null(value: Any) -> bool:
    """Returns whether a value is None, NaN, NaT or NA. All of them are null in pandas."""
    if value is None:
        return True
    if getattr(value, "ndim", 0) or isinstance(value, (list, tuple, dict)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def with_none(values: list[Any]) -> list[Any]:
    """Returns values with None for the nulls of pandas, which other libraries do not have."""
    return [None if type(value).__name__ in ("NaTType", "NAType") else value for value in values]


def has_fields(value: Any, element: dict[Any, Any]) -> bool:
    """Returns whether a struct has the fields of a value. Fields that are not given are null."""
    try:
        fields = value if isinstance(value, dict) else value and dict(value)
    except (TypeError, ValueError):
        return False
    return (
        isinstance(fields, dict)
        and fields.keys() <= element.keys()
        and all(is_same(fields.get(name), element[name]) for name in element)
    )


def items_of(value: Any) -> list[Any] | None:
    """Returns the items of a list or an array, or the pairs of a dict. Returns None for other values."""
    if isinstance(value, (str, bytes)):
        return None
    try:
        return list(value.items() if isinstance(value, dict) else value)
    except TypeError:
        return None


# ----------------------------------------------------------------------------------------------------------- names


class NamedColumn:
    """Context manager that adds the name of a column to an error of its dtype or of a value."""

    __slots__ = ("_name",)

    def __init__(self, name: Any) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, errors.DTypeError) and error.operand != "indices":
            error.of_column(self._name)


def each_column(columns: Iterable[tuple[Any, Any]], make: Callable[[Any], Any]) -> list[Any]:
    """Returns what a function returns for each column of a table, of which the names are given."""
    made = []
    for name, column in columns:
        with NamedColumn(name):
            try:
                made.append(make(column))
            except (errors.Error, MemoryError):
                raise
            except Exception as error:
                raise errors.of_library(error, column, "params") from error
    return made
