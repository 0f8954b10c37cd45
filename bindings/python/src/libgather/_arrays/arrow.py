"""Arrays of Arrow. Strings and, in the C half, numbers use the C data interface. Other arrays use DLPack."""

from __future__ import annotations

import math
import sys

from .. import _objects, errors
from .._base import constants as c
from .._base.dtypes import NUMBERS
from .._base.library import NULL, ffi, lib
from .._base.library_calls import created
from .._base.optional_packages import module
from .._memory.memory import Memory
from . import arrow_strings, buffers, dlpack
from .lists import numpy_kind
from .selection import NO_NULLS, is_first, no_zero, tables_have_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.device_site import Site
    from .selection import Selection

#: The kinds of types that have a zero: their values in Python, and the zero.
_ZEROS: Any = (
    ("boolean", bool, False),
    ("integer", int, 0),
    ("floating", (int, float), 0.0),
    ("string", str, ""),
    ("large_string", str, ""),
    ("string_view", str, ""),
    ("binary", bytes, b""),
    ("large_binary", bytes, b""),
    ("binary_view", bytes, b""),
)


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if not type(value).__module__.startswith("pyarrow"):
        return of_capsules(value.__arrow_c_array__(), operand)
    pa = module("pyarrow")
    if isinstance(value, pa.Tensor):
        return buffers.enter(value, site, operand)
    if isinstance(value, pa.ChunkedArray):
        value = arrow_strings.combined(pa, value)
    if not isinstance(value, pa.Array):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if value.null_count:
        raise errors.dtype_error(operand, "it has nulls, which an element cannot be: fill them first")
    plain = plain_of(pa, value)
    if is_string(pa, plain.type):
        return of_capsules(plain.__arrow_c_array__(), operand)
    if not pa.types.is_integer(plain.type) and not pa.types.is_floating(plain.type):
        raise errors.dtype_error(operand, f"elements of type {value.type} are no dtype of this library")
    tensor = dlpack.enter(plain, site, operand)
    return bool_of(tensor) if pa.types.is_boolean(value.type) else tensor


def is_string(pa: Any, kind: Any) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def plain_of(pa: Any, value: Any) -> Any:
    """Returns the array in plain encoding: bits as bytes, and dictionaries and string views as strings."""
    kind = value.type
    if pa.types.is_dictionary(kind):
        return plain_of(pa, arrow_strings.decoded(pa, value))
    if pa.types.is_boolean(kind):
        return value.cast(pa.uint8())
    if kind in (pa.string_view(), pa.binary_view()):
        return value.cast(arrow_strings.large_of(pa, kind))
    return value


def bool_of(tensor: Memory) -> Memory:
    return tensor._viewed(c.DTYPE_BOOL, tensor.shape)


def of_capsules(capsules: tuple[Any, Any], operand: str) -> Memory:
    """Creates a tensor of strings from capsules of the C data interface, and takes ownership of their array."""
    schema, array = capsules
    schema_pointer = ffi.cast("struct ArrowSchema *", _objects.capsule_address(schema, "arrow_schema"))
    array_pointer = ffi.cast("struct ArrowArray *", _objects.capsule_address(array, "arrow_array"))
    handle = created(
        lib.gth_tensor_from_arrow,
        NULL,
        schema_pointer,
        array_pointer,
        -1,
        NULL,
    )
    format = ffi.string(ffi.cast("char **", schema_pointer)[0])
    return Memory._of_handle(handle, text=format in (b"u", b"U"))


# ------------------------------------------------------------------------------------------------------------ rows


def is_table(value: Any) -> bool:
    pa = module("pyarrow")
    return isinstance(value, (pa.Table, pa.RecordBatch))


def row_axis(value: Any, axis: int | None) -> int | None:
    """Returns 0 if a gather along an axis selects rows of an array or a table. Returns None otherwise."""
    if not type(value).__module__.startswith("pyarrow"):
        return None
    pa = module("pyarrow")
    rank = 1 if isinstance(value, (pa.Array, pa.ChunkedArray)) else 2
    return 0 if (rank == 1 or is_table(value)) and is_first(axis, rank) else None


def split_nulls(value: Any) -> tuple[Any, tuple[Any, int]]:
    """Returns indices without nulls, and their validity bits."""
    pa = module("pyarrow")
    if isinstance(value, pa.ChunkedArray):
        value = value.combine_chunks()
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


def rows_of(params: Any, selection: Selection) -> Any:
    """Returns rows in row-major order of their indices, as an array or a record batch."""
    return filled_rows(params, selection) if selection.fills else taken(params, selection)


def taken(params: Any, selection: Selection) -> Any:
    """The same as `rows_of` for a request that does not fill."""
    pa = module("pyarrow")
    made, kind, flags = (
        (pa.RecordBatch, params.schema, c.TAKE_RECORD) if is_table(params) else (pa.Array, params.type, 0)
    )
    stream = None if isinstance(params, (pa.Array, pa.RecordBatch)) else params.__arrow_c_stream__()
    return selection.taken(params, stream, made._import_from_c, kind, flags)


def filled_rows(params: Any, selection: Selection) -> Any:
    """The same as `rows_of` for a request that fills. The fill value is an additional chunk with one row."""
    if not numpy_kind():
        return NotImplemented
    pa = module("pyarrow")
    extent, value = len(params), selection.fill_value
    if is_table(params):
        fills = [fill_of(field.type, value) for field in params.schema]
        if any(fill is NotImplemented for fill in fills):
            return NotImplemented
        last = pa.Table.from_arrays(fills, schema=params.schema)
        whole = pa.concat_tables([params if isinstance(params, pa.Table) else pa.table(params), last])
    else:
        fill = fill_of(params.type, value)
        if fill is NotImplemented:
            return fill
        whole = pa.chunked_array([*(params.chunks if isinstance(params, pa.ChunkedArray) else [params]), fill])
    rows = selection.numbers(params, extent)
    if rows is NotImplemented:
        return rows
    rows = rows.reshape(-1)
    rows[selection.filled(rows)] = extent
    return taken(whole, selection.at(rows))


def fill_of(kind: Any, value: Any) -> Any:
    """Returns the fill value as an array. Returns NotImplemented for values that the general path handles."""
    pa = module("pyarrow")
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    python, zero = zero_of(plain)
    if value is None or (isinstance(value, str) and value == "zero"):
        value = zero
        if zero is None:
            raise no_zero(kind)
    elif python and not is_plain(value, python):
        return NotImplemented
    try:
        return pa.array([value], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if python:
            return NotImplemented
        raise errors.dtype_error("options", f"fill_value {value!r} is no {kind}") from None


def is_plain(value: Any, python: Any) -> bool:
    """Returns whether a fill value is a value of a type of Python, and not the name of a way to fill."""
    is_bool = isinstance(value, bool) is (python is bool)
    return isinstance(value, python) and is_bool and not (isinstance(value, str) and value == "by_dtype")


def zero_of(kind: Any) -> tuple[Any, Any]:
    """Returns the types of Python and the zero of a type that has a zero. Otherwise both are None."""
    types = module("pyarrow").types
    for name, python, zero in _ZEROS:
        if getattr(types, f"is_{name}")(kind):
            return python, zero
    return None, None


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


# -------------------------------------------------------------------------------------------------------- general path


def leave(tensor: Memory, like: Any) -> Any:
    """Returns an array of the type of params. Strings of more than 2 GiB have the large type."""
    if not type(like).__module__.startswith("pyarrow"):
        return tensor
    pa = module("pyarrow")
    if isinstance(like, pa.Tensor):
        from . import numpy_

        return pa.Tensor.from_numpy(numpy_.numbers_of(tensor, numpy_.array_of(tensor).dtype))
    return shaped(flat_of(pa, tensor, like.type), like, tensor.shape)


def flat_of(pa: Any, tensor: Memory, kind: Any) -> Any:
    if tensor._dtype == c.DTYPE_STRING:
        schema, array = tensor.__arrow_c_array__()
        flat = pa.Array._import_from_c_capsule(schema, array)
        fit = arrow_strings.encoded if pa.types.is_dictionary(kind) else arrow_strings.fitted
        return fit(pa, flat, kind)
    data = pa.py_buffer(tensor.memory())
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(pa.uint8(), tensor.size, [None, data]).cast(pa.bool_())
    if pa.types.is_dictionary(kind):
        return arrow_strings.encoded(pa, pa.Array.from_buffers(kind.value_type, tensor.size, [None, data]), kind)
    return pa.Array.from_buffers(kind, tensor.size, [None, data])


def configure(pa: Any) -> None:
    """Configures the C half to take rows, and to read and create arrays of plain numbers."""
    numbers = {f"{kind}{bits}": f"{kind.lower()}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)}
    numbers |= {"HalfFloat": "float16", "Float": "float32", "Double": "float64"}
    entries: dict[type, Any] = {
        kind: NUMBERS.get(numbers.get(kind.__name__.removesuffix("Array"), ""), 0) for kind in kinds_of(pa.Array)
    }
    entries[pa.ChunkedArray] = (pa.Array._import_from_c, "type", 0, pa.chunked_array)
    entries[pa.Table] = (pa.RecordBatch._import_from_c, "schema", c.TAKE_RECORD, pa.Table.from_batches)
    _objects.configure_arrow(entries, "_export_to_c", pa.Array._import_from_c)


def kinds_of(base: type) -> set[type]:
    """Returns a class and all classes that are derived from it."""
    return {base}.union(*map(kinds_of, base.__subclasses__()))


if "pyarrow" in sys.modules:  # true if a caller has an array of pyarrow
    configure(sys.modules["pyarrow"])
