"""Arrays of Arrow. Strings and, in the C code, numbers use the C data interface. Other arrays use DLPack."""

from __future__ import annotations

from .. import _objects, errors
from .._base import constants as c
from .._base.dtypes import NUMBERS
from .._base.library import NULL, ffi, lib
from .._base.library_calls import created
from .._base.optional_packages import module
from .._memory.memory import Memory
from . import buffers, dlpack
from .arrow_rows import gather_rows as gather_rows
from .arrow_rows import names_of as names_of
from .arrow_rows import row_axis as row_axis
from .arrow_rows import scatter_rows as scatter_rows
from .arrow_rows import shaped
from .arrow_rows import split_nulls as split_nulls
from .arrow_types import ENTRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.device_site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    pa = module("pyarrow")
    if isinstance(value, pa.Tensor):
        return buffers.enter(value, site, operand)
    if not isinstance(value, (pa.Array, pa.ChunkedArray)):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if value.null_count:
        raise errors.dtype_error(operand, "it has nulls, which an element cannot be: fill them first")
    plain = plain_of(pa, value)
    if plain.type in (pa.large_string(), pa.large_binary()):
        return of_capsules(plain.__arrow_c_array__(), operand)
    if not pa.types.is_integer(plain.type) and not pa.types.is_floating(plain.type):
        raise errors.dtype_error(operand, f"elements of type {value.type} are no dtype of this library")
    tensor = dlpack.enter(plain, site, operand)
    return tensor._viewed(c.DTYPE_BOOL, tensor.shape) if pa.types.is_boolean(value.type) else tensor


def plain_of(pa: Any, value: Any) -> Any:
    """Returns one array: bits as bytes, the values of dictionaries, and strings with large offsets."""
    kind = value.type.value_type if pa.types.is_dictionary(value.type) else value.type
    if kind in (pa.string(), pa.string_view(), pa.binary(), pa.binary_view()):
        kind = pa.large_string() if kind in (pa.string(), pa.string_view()) else pa.large_binary()
    elif pa.types.is_boolean(kind):
        kind = pa.uint8()
    value = value if kind == value.type else value.cast(kind)
    return value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value


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


def leave(tensor: Memory, like: Any) -> Any:
    """Returns an array of the type of params."""
    pa = module("pyarrow")
    if isinstance(like, pa.Tensor):
        from . import numpy_

        return pa.Tensor.from_numpy(numpy_.numbers_of(tensor, numpy_.array_of(tensor).dtype))
    return shaped(flat_of(pa, tensor, like.type), like, tensor.shape)


def flat_of(pa: Any, tensor: Memory, kind: Any) -> Any:
    is_dictionary = pa.types.is_dictionary(kind)
    if tensor._dtype == c.DTYPE_STRING:
        schema, array = tensor.__arrow_c_array__()
        flat = pa.Array._import_from_c_capsule(schema, array)
    else:
        plain = pa.uint8() if pa.types.is_boolean(kind) else kind.value_type if is_dictionary else kind
        flat = pa.Array.from_buffers(plain, tensor.size, [None, pa.py_buffer(tensor.memory())])
    return (flat.dictionary_encode() if is_dictionary else flat).cast(kind)


def register(kind: type) -> None:
    """Configures the C code to take rows of a type of pyarrow, and to read and create arrays of plain numbers."""
    pa = module("pyarrow")
    if pa.ChunkedArray not in ENTRIES:
        configure(pa)
    if issubclass(kind, pa.Array):
        ENTRIES.setdefault(kind, 0)


def configure(pa: Any) -> None:
    numbers = {f"{kind}{bits}": f"{kind.lower()}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)}
    numbers |= {"HalfFloat": "float16", "Float": "float32", "Double": "float64"}
    ENTRIES.update({getattr(pa, f"{kind}Array"): NUMBERS[dtype] for kind, dtype in numbers.items()})
    ENTRIES[pa.ChunkedArray] = (pa.Array._import_from_c, "type", 0, pa.chunked_array)
    ENTRIES[pa.Table] = (pa.RecordBatch._import_from_c, "schema", c.TAKE_RECORD, pa.Table.from_batches)
    _objects.configure_arrow(ENTRIES, "_export_to_c", pa.Array._import_from_c)
