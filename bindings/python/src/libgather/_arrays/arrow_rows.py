"""Rows of arrays, chunked arrays and tables of Arrow, which the library takes and writes."""

from __future__ import annotations

import math

from .. import errors
from .._base import constants as c
from .._base.optional_packages import module
from .column_values import converted, each_column, with_none
from .lists import numpy_kind
from .selection import (
    NO_NULLS,
    check_shape,
    fill_or_zero,
    is_first,
    is_sparse,
    merged,
    pieces,
    repeated,
    tables_have_rows,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from .selection import Selection

#: The type of Python of the values of some kinds of types.
_PYTHON: dict[str, type] = {"boolean": bool, "integer": int, "floating": float}
_PYTHON |= {f"{size}string{view}": str for size, view in (("", ""), ("large_", ""), ("", "_view"))}
_PYTHON |= {kind.replace("string", "binary"): bytes for kind, python in _PYTHON.items() if python is str}


def is_table(value: Any) -> bool:
    pa = module("pyarrow")
    return isinstance(value, (pa.Table, pa.RecordBatch))


def row_axis(value: Any, axis: int | None) -> int | None:
    """Returns 0 if a gather along an axis selects rows of an array or a table. Returns None otherwise."""
    pa = module("pyarrow")
    rank = 1 if isinstance(value, (pa.Array, pa.ChunkedArray)) else 2
    return 0 if (rank == 1 or is_table(value)) and is_first(axis, rank) else None


def names_of(table: Any) -> list[str]:
    """Returns the names of the columns of a table."""
    return table.schema.names  # type: ignore[no-any-return]


def split_nulls(value: Any) -> tuple[Any, tuple[Any, int]]:
    """Returns indices without nulls, and their validity bits."""
    pa = module("pyarrow")
    if isinstance(value, pa.ChunkedArray):
        value = value.combine_chunks()
    if isinstance(value, pa.Scalar) and pa.types.is_integer(value.type):
        number = value.as_py()
        return (0, (b"\0", 0)) if number is None else (number, NO_NULLS)
    if not isinstance(value, pa.Array) or not pa.types.is_integer(value.type) or not value.null_count:
        return value, NO_NULLS
    bits, data = value.buffers()
    indices = pa.Array.from_buffers(value.type, len(value), [None, data], offset=value.offset)
    return indices, (bits, value.offset)


def gather_rows(params: Any, selection: Selection) -> Any:
    if is_table(params) and len(selection.shape) != 1:
        raise tables_have_rows(selection.shape)
    rows = rows_of(params, selection)
    return rows if rows is NotImplemented else shaped(rows, params, selection.shape)


def rows_of(params: Any, selection: Selection, fill: Any = None) -> Any:
    """Returns rows in row-major order of their indices, as an array or a record batch.

    `fill` is the fill value as an array of one element. None means that the selection has it.
    """
    return filled_rows(params, selection, fill) if selection.fills else taken(params, selection)


def taken(params: Any, selection: Selection) -> Any:
    """The same as `rows_of` for a request that does not fill."""
    pa = module("pyarrow")
    made, kind, flags = (
        (pa.RecordBatch, params.schema, c.TAKE_RECORD) if is_table(params) else (pa.Array, params.type, 0)
    )
    stream = None if isinstance(params, (pa.Array, pa.RecordBatch)) else params.__arrow_c_stream__()
    rows = selection.taken(params, stream, made._import_from_c, kind, flags)
    return with_nullable_fields(rows) if is_table(rows) else rows


def with_nullable_fields(batch: Any) -> Any:
    """Returns a record batch whose fields are nullable if their columns have nulls."""
    fields = zip(batch.schema, batch.columns, strict=True)
    wrong = [not field.nullable and column.null_count > 0 for field, column in fields]
    if not any(wrong):
        return batch
    schema = batch.schema
    for number, is_wrong in enumerate(wrong):
        schema = schema.set(number, schema.field(number).with_nullable(True)) if is_wrong else schema
    return type(batch).from_arrays(batch.columns, schema=schema)


def filled_rows(params: Any, selection: Selection, fill: Any = None) -> Any:
    """The same as `rows_of` for a request that fills. The fill value is an additional chunk with one row."""
    if not numpy_kind():
        return NotImplemented
    pa = module("pyarrow")
    extent, value = len(params), selection.fill_value
    if is_table(params):
        fills = each_column(
            ((field.name, field) for field in params.schema),
            lambda field: fill_of_column(field.type, selection.of_column(field.name)),
        )
        if any(fill is NotImplemented for fill in fills):
            return NotImplemented
        last = pa.Table.from_arrays(fills, schema=params.schema)
        whole = pa.concat_tables([params if isinstance(params, pa.Table) else pa.table(params), last])
    else:
        fill = fill_of(params.type, value, not params.null_count) if fill is None else fill
        if fill is NotImplemented:
            return fill
        whole = pa.chunked_array([*chunks_of(params), *chunks_of(fill)])
    rows = selection.numbers(params, extent)
    if rows is NotImplemented:
        return rows
    rows = rows.reshape(-1)
    rows[selection.filled(rows)] = extent
    return taken(whole, selection.at(rows))


def scatter_rows(target: Any, updates: Any, selection: Selection, inplace: bool) -> Any:
    """Returns a new array, in which rows of the target are replaced. Returns NotImplemented for other targets."""
    if is_table(target) or len(selection.shape) > 1 or not numpy_kind():
        return NotImplemented
    if inplace:
        raise errors.read_only("target", "arrays of pyarrow are immutable: use the one that the call returns")
    pa = module("pyarrow")
    values = updates_of(target.type, repeated(updates, selection.shape))
    rows = selection.numbers(target, len(target))
    if rows is NotImplemented:
        return rows
    check_shape("updates", (len(values),), selection.shape or (1,))
    if not pa.types.is_dictionary(target.type):
        return shaped(replaced(target, values, rows, selection), target, (len(target),))
    whole = target.unify_dictionaries().combine_chunks() if isinstance(target, pa.ChunkedArray) else target
    codes = replaced(whole.indices, codes_of(values, whole), rows, selection)
    made = pa.DictionaryArray.from_arrays(codes, whole.dictionary, ordered=target.type.ordered)
    return shaped(made, target, (len(target),))


def replaced(target: Any, updates: Any, rows: np.ndarray, selection: Selection) -> Any:
    """Returns a target in which updates replace rows."""
    pa = module("pyarrow")
    if is_sparse(rows, len(target)):
        return pa.concat_arrays(chunks_of(updates[:0], *pieces(target, updates, rows)))
    return taken(pa.chunked_array(chunks_of(target, updates)), selection.at(merged(rows, len(target))))


def chunks_of(*arrays: Any) -> list[Any]:
    pa = module("pyarrow")
    return [chunk for array in arrays for chunk in (array.chunks if isinstance(array, pa.ChunkedArray) else [array])]


def codes_of(values: Any, target: Any) -> Any:
    """Returns the codes of values. Raises DTypeError for a value outside of the dictionary."""
    codes = module("pyarrow.compute").index_in(values, target.dictionary, skip_nulls=True)
    if codes.null_count > values.null_count:
        outside = values.filter(codes.is_null().to_numpy(False) & values.is_valid().to_numpy(False))[0]
        raise errors.dtype_error("updates", f"{outside.as_py()!r} is not in the dictionary of the column")
    return codes.cast(target.type.index_type)


def updates_of(kind: Any, updates: Any) -> Any:
    """Returns updates as an array of a type, or of the values of a dictionary. Lists and the like are converted."""
    pa = module("pyarrow")
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if isinstance(updates, pa.ChunkedArray):
        updates = updates.combine_chunks()
    if not isinstance(updates, pa.Array):
        dtype = getattr(updates, "dtype", None)
        is_list = dtype is None or str(dtype) == "object" or getattr(updates, "ndim", 1) > 1
        # Elements of other types are converted one by one. Missing elements of pandas become null, and not NaN.
        made = None if is_list else pa.array(updates)
        if made is not None and made.type == plain:
            return made
        return elements_of(list(updates) if made is None else made.to_pylist(), plain, "updates")
    values = updates.dictionary_decode() if pa.types.is_dictionary(updates.type) else updates
    if values.type != plain:
        raise errors.dtype_error("updates", f"type is {updates.type}, needed is {kind}")
    return values


def elements_of(values: list[Any], kind: Any, operand: str) -> Any:
    """Returns an array of a type of values that it keeps."""
    return converted(values, lambda values: array_of(values, kind), lambda made: made.to_pylist(), kind, operand)


def array_of(values: list[Any], kind: Any, from_pandas: bool = False) -> Any:
    """Returns an array of values. pyarrow crashes if it converts some objects to a dictionary."""
    pa, values = module("pyarrow"), with_none(values)
    if not pa.types.is_dictionary(kind):
        return pa.array(values, kind, from_pandas=from_pandas)
    encoded = pa.array(values, kind.value_type, from_pandas=from_pandas).dictionary_encode()
    codes = encoded.indices.cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(codes, encoded.dictionary, ordered=kind.ordered)


def fill_of_column(kind: Any, selection: Selection) -> Any:
    """Returns the fill value of a column of a table, or null, as an array."""
    return fill_of(kind, selection.fill_value) if selection.fills else array_of([None], kind)


def fill_of(kind: Any, value: Any, is_array: bool = False) -> Any:
    """Returns the fill value as an array. Returns NotImplemented for values that the general path handles.

    In an array of numbers, a number need not fit if no index selects it.
    """
    python = python_of(kind)
    value = fill_or_zero(value, python, kind)
    if python and isinstance(value, str) and value == "by_dtype":
        return NotImplemented
    try:
        return elements_of([value], kind, "options")
    except errors.DTypeError:
        if python and is_array and isinstance(value, (bool, int, float)):
            return NotImplemented
        raise


def python_of(kind: Any) -> type | None:
    """Returns the type of Python of numbers, booleans, strings and bytes. Returns None for other types."""
    types = module("pyarrow").types
    plain = kind.value_type if types.is_dictionary(kind) else kind
    return next((_PYTHON[name] for name in _PYTHON if getattr(types, f"is_{name}")(plain)), None)


def shaped(rows: Any, like: Any, shape: tuple[int, ...]) -> Any:
    """Returns rows in the form of the params. Further dims are lists of a fixed size, and rank 0 is a scalar."""
    pa = module("pyarrow")
    if is_table(like):
        return pa.Table.from_batches([rows]) if isinstance(like, pa.Table) else rows
    if not shape:
        return rows[0]
    for dim in range(len(shape) - 1, 0, -1):
        # The number of lists is passed explicitly, because it cannot be computed if there are no elements.
        lists = pa.list_(rows.type, shape[dim])
        rows = pa.Array.from_buffers(lists, math.prod(shape[:dim]), [None], children=[rows])
    return pa.chunked_array([rows]) if isinstance(like, pa.ChunkedArray) else rows
