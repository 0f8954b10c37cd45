"""NumPy arrays: all dtypes, those of ml_dtypes, and the four kinds of strings."""

from __future__ import annotations

import operator
import sys

import numpy as np

from .. import _objects, errors
from .._base import constants as c
from .._base.dtypes import NAMES, NUMBERS, size_of
from .._base.integers import INDEXING, check_floats, integer, integer_dtype
from .._memory.memory import Memory
from . import buffers
from .memory_holds import holds
from .selection import check_shape, written_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._memory.device_site import Site
    from .selection import Selection


def configure() -> bool:
    """Configures the C code to read arrays. Returns False if their memory layout is unknown. Python code then reads
    them."""
    umath = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    dense = [np.zeros((2, 3, 1), letter) for letter in "?bhilqBHILQefdFD"]
    probes = [*dense, *(array[::-1, ::2] for array in dense), dense[0].T, dense[0][:0, ::2]]
    probes[-1].flags.writeable = False
    sized = tuple(np.zeros(1, dtype) for dtype in ("M8[s]", ">f8", "g", "S5", "U3", "V3", "O", "u1,O", "u1,f8"))
    return _objects.configure_numpy(np.ndarray, np.memmap, np.dtype(np.int64), umath._ARRAY_API, tuple(probes), sized)


C_HALF_READS_ARRAYS = configure()
_NATIVE = frozenset("?bhilqBHILQpPnNefdFD")
_STRINGS = frozenset("OSUT")
#: A float64 below this magnitude that is an integer is exact.
_EXACT = 2**53
#: The operands whose elements may have any dtype and byte order, because they are only moved.
_MOVED = frozenset({"params", "target", "updates"})
# The dtype that moves the elements of a size: an unsigned integer, or a complex number for 16 bytes.
_CARRIERS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def of_list(value: Any, operand: str) -> np.ndarray:
    """Returns the NumPy array of a nested list or a scalar. An empty list of indices is int64, as in ``x[[]]``."""
    try:
        array = np.asarray(value)
    except OverflowError as error:
        raise errors.dtype_error(operand, str(error)) from None
    except ValueError as error:
        raise errors.ShapeError(f"{operand}: {error}", status=c.E_SHAPE, operand=operand) from None
    if array.dtype.kind in "US":
        return strings_of_list(array, np.asarray(value, object), operand)
    if array.dtype.char in "dD" and (np.abs(array.real) >= _EXACT).any():
        return numbers_of_list(array, np.asarray(value, object), operand)
    if array.dtype.kind == "O":
        refuse_huge(array, operand)
        return integers_of(array, operand) if operand in INDEXING else array
    return array.astype(np.int64) if array.size == 0 and operand in INDEXING else array


def objects_of(value: Any, operand: str) -> tuple[list[Any], tuple[int, ...]]:
    """Returns the elements of a nested list in row-major order as Python objects, and the shape."""
    array = np.asarray(value, object)
    elements = array.reshape(-1).tolist()
    if any(isinstance(element, (list, tuple)) for element in elements):
        raise errors.ShapeError(f"{operand}: a ragged list is not an array", status=c.E_SHAPE, operand=operand)
    return [element.item() if isinstance(element, np.generic) else element for element in elements], array.shape


def strings_of_list(array: np.ndarray, elements: np.ndarray, operand: str) -> np.ndarray:
    """Returns the array of a list of strings. It has objects if a string ends in NUL, which NumPy's strings drop.

    Raises DTypeError for elements of several types, which NumPy converts to strings of one type.
    """
    others = {type(element).__name__ for element in elements.flat if not isinstance(element, (str, bytes))}
    if others:
        raise errors.dtype_error(operand, f"a list of strings and {', '.join(sorted(others))} is not an array")
    if len({isinstance(element, str) for element in elements.flat}) == 2:
        raise errors.dtype_error(operand, "a list of bytes, str is not an array")
    return elements if ends_in_nul(elements) else array


def ends_in_nul(strings: np.ndarray) -> bool:
    """Returns whether one of an array of str or bytes objects ends in NUL."""
    return any(element[-1:] in ("\0", b"\0") for element in strings.flat)


def numbers_of_list(array: np.ndarray, elements: np.ndarray, operand: str) -> np.ndarray:
    """Returns the array of a list of numbers. NumPy converts integers of several dtypes to floats, this does not.

    Raises DTypeError if one dtype cannot hold all integers.
    """
    integers = [int(element) for element in elements.flat if isinstance(element, (int, np.integer))]
    if len(integers) == elements.size:
        return integers_of(elements, operand)
    check_floats(integers, operand)
    return array


def integers_of(array: np.ndarray, operand: str) -> np.ndarray:
    """Returns objects with ``__index__`` as integers, and other objects unchanged."""
    if not all(hasattr(type(element), "__index__") for element in array.flat):
        return array
    integers = [operator.index(element) for element in array.flat]
    dtype = dtype_named(NAMES[integer_dtype(integers, operand)])
    return np.array(integers, dtype).reshape(array.shape)


def refuse_huge(array: np.ndarray, operand: str) -> None:
    """Raises DTypeError for integers beyond 64 bits, which NumPy stores as objects."""
    for element in array.flat:
        if isinstance(element, int) and not -(2**63) <= element < 2**64:
            raise errors.dtype_error(operand, f"{element} is beyond 64 bits")


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    if np.ma.is_masked(value):
        raise errors.dtype_error(operand, "a masked array has elements that are not there: fill it first")
    if isinstance(value, (np.dtype, type)):
        raise errors.dtype_error(operand, f"{value!r} is not an array")
    array = np.asarray(value)
    if array.dtype.kind in _STRINGS:
        return enter_strings(array, operand)
    return enter_numbers(array if operand in _MOVED else native(array), operand)


def loaded(value: Any) -> Any:
    """Returns the array of an object that is to be converted, and other values unchanged."""
    return value if isinstance(value, (np.ndarray, np.generic, np.dtype, type)) else np.asarray(value)


def row_axis(value: Any, axis: int | None) -> int | None:
    """Returns the axis of an array whose elements only NumPy moves.

    Returns None for other arrays, and if another dim is empty. The indices of such an array are not validated.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "OT" or np.ma.isMaskedArray(value):
        return None
    axis = 0 if axis is None else integer("axis", axis)
    if not -value.ndim <= axis < value.ndim:
        return None
    axis %= value.ndim
    return None if 0 in value.shape[:axis] + value.shape[axis + 1 :] else axis


def gather_rows(params: np.ndarray, selection: Selection) -> Any:
    """Gathers Python objects and strings of ``StringDType``. They have no null, and the general path fills them.

    NumPy does not validate the rows again in mode clip, which is the fastest one for objects.
    """
    if selection.fills or selection.may_be_null:
        return NotImplemented
    rows = selection.numbers(params, params.shape[selection.axis])
    return rows if rows is NotImplemented else params.take(rows.reshape(selection.shape), selection.axis, mode="clip")


def assign_rows(out: np.ndarray, rows: Any, selection: Selection) -> Any:
    """Assigns Python objects and strings of ``StringDType``. Returns NotImplemented for other rows."""
    if not isinstance(rows, np.ndarray):
        return NotImplemented
    axis = selection.axis
    rows = rows.reshape((*rows.shape[:axis], *selection.shape, *rows.shape[axis + 1 :]))
    check_output(out, "out")
    if out.dtype != rows.dtype:
        raise errors.dtype_error("out", f"dtype is {out.dtype}, needed is {rows.dtype}")
    check_shape("out", out.shape, rows.shape)
    if not out.flags.writeable:
        raise errors.read_only("out", "it is read-only")
    out[...] = rows
    return out


def scatter_rows(target: np.ndarray, updates: Any, selection: Selection, inplace: bool) -> Any:
    """Assigns Python objects and strings of ``StringDType``, which only NumPy can do."""
    rows, axis = selection.numbers(target, target.shape[selection.axis]), selection.axis
    if rows is NotImplemented:
        return rows
    if inplace and not target.flags.writeable:
        raise errors.read_only("target", "it is read-only")
    before, after = target.shape[:axis], target.shape[axis + 1 :]
    values = objects_for(updates, target, (*before, *selection.shape, *after)).reshape(*before, rows.size, *after)
    places = written_of(rows)
    lead: tuple[Any, ...] = (slice(None),) * axis
    whole = target if inplace else target.copy()
    whole[(*lead, rows.reshape(-1)[places])] = values[(*lead, places)]
    return whole if inplace else finished(whole, target)


def objects_for(updates: Any, target: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Returns updates as an array of the dtype and shape of the written elements. NumPy would make strings of all."""
    values = np.asarray(updates, object if target.dtype.kind == "T" else target.dtype)
    if values.shape == shape[len(shape) - values.ndim :]:
        values = np.broadcast_to(values, shape)
    check_shape("updates", values.shape, shape)
    if target.dtype.kind == "O":
        return values
    missing = getattr(target.dtype, "na_object", "")
    others = [value for value in values.flat if not isinstance(value, str) and value is not missing]
    if others:
        raise errors.dtype_error("updates", f"{others[0]!r} is no string")
    return values.astype(target.dtype)


def native(value: Any) -> Any:
    """Returns the array in native byte order."""
    array = np.asarray(value)
    return value if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def enter_numbers(array: Any, operand: str) -> Memory:
    # ml_dtypes reuses letters of NumPy for its own dtypes.
    if array.dtype.isbuiltin == 1 and array.dtype.char in _NATIVE:
        return buffers.borrow(memoryview(array), operand)
    carrier = _CARRIERS.get(array.dtype.itemsize)
    number = NUMBERS.get(array.dtype.name)
    if carrier is None or array.dtype.hasobject or (number is None and operand not in _MOVED and operand != "out"):
        raise errors.dtype_error(operand, f"elements of dtype {array.dtype} are no dtype of this library")
    return buffers.borrow(memoryview(array.view(carrier)), operand, number)


def carried_of(value: Any) -> np.dtype[Any] | None:
    """Returns the dtype of an array whose elements have no dtype of the library, or None."""
    dtype: np.dtype[Any] = np.asarray(value).dtype
    if dtype.kind in _STRINGS or dtype.hasobject or (dtype.isbuiltin == 1 and dtype.char in _NATIVE):
        return None
    return None if dtype.isnative and dtype.name in NUMBERS else dtype


def is_record(value: Any) -> bool:
    """Returns whether the elements are blocks of bytes: strings of one size, or a size that no number has."""
    if not isinstance(value, np.ndarray) or np.ma.is_masked(value):
        return False
    dtype = value.dtype
    if dtype.hasobject or not dtype.itemsize or dtype.kind in "OT":
        return False
    return dtype.kind in "US" or dtype.itemsize not in _CARRIERS


def enter_output(value: Any, site: Site | None, operand: str) -> Memory:
    check_output(value, operand)
    if value.dtype.kind in _STRINGS:
        raise errors.unsupported(operand, "strings have no place of one size to be written to")
    if operand == "out" and not value.dtype.isnative:
        raise errors.dtype_error(operand, f"dtype {value.dtype} is of another byte order than the machine")
    return enter_numbers(value, operand)


def check_output(value: Any, operand: str) -> None:
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise errors.not_writable(operand, value)


def hold(value: Any) -> Any:
    return holds(np.asarray(value))


def leave(tensor: Memory, like: Any) -> Any:
    """Returns an array of the dtype of params. A result of rank 0 is a scalar, as from ``np.take``."""
    array = np.asarray(like) if not isinstance(like, np.ndarray) else like
    if array.dtype.kind in _STRINGS:
        return finished(strings_of(tensor, array.dtype), like)
    result = numbers_of(tensor, array.dtype) if array.dtype.itemsize == size_of(tensor._dtype) else array_of(tensor)
    return finished(result, like)


def finished(result: np.ndarray, like: Any) -> Any:
    """Returns a new array in the form of ``np.take``: a scalar for rank 0, else an array of the class of params."""
    if result.ndim == 0:
        return result[()]
    kind = type(like)
    if kind is np.ndarray or not isinstance(like, np.ndarray):
        return result
    try:
        made = result.view(kind)
    except ValueError as error:  # raised for a matrix
        raise errors.ShapeError(f"out: {error}", status=c.E_SHAPE, operand="out") from None
    made.__array_finalize__(like)
    return made


def numbers_of(tensor: Memory, dtype: np.dtype[Any]) -> np.ndarray:
    # view() is needed even for the same dtype: the buffer format of int64 is that of NumPy's longlong.
    return np.asarray(tensor.memory()).view(dtype)


def array_of(tensor: Memory) -> np.ndarray:
    """Returns the NumPy array of any tensor. Strings become objects."""
    if tensor._dtype == c.DTYPE_STRING:
        return strings_of(tensor, np.dtype(object))
    return numbers_of(tensor, dtype_named(NAMES[tensor._dtype]))


def array_named(value: Any, name: str) -> np.ndarray:
    """Returns a value as an array of the dtype with a name."""
    return np.asarray(value, dtype_named(name))


def dtype_named(name: str) -> np.dtype[Any]:
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        name = getattr(ml_dtypes, name)
    dtype: np.dtype[Any] = np.dtype(name)
    return dtype


# --------------------------------------------------------------------------------------------------------- strings


def enter_strings(array: np.ndarray, operand: str) -> Memory:
    elements = array.reshape(-1).tolist()
    kinds = {type(element) for element in elements}
    if kinds <= {str} and array.dtype.kind != "S":
        return Memory._of_strings(elements, array.shape, True)
    if kinds <= {bytes}:
        return Memory._of_strings(elements, array.shape, False)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise errors.dtype_error(
        operand, f"an array of objects of type {names} has no dtype of this library: astype() gives it one"
    )


def widened(array: np.ndarray, tensor: Memory) -> np.ndarray:
    """Returns an array of strings whose dtype also holds the strings of a tensor.

    Lists have no item size. A string that ends in NUL needs an object.
    """
    strings = strings_of(tensor, np.dtype(object))
    if ends_in_nul(strings):
        return strings
    return array.astype(np.promote_types(array.dtype, strings.astype(array.dtype.kind).dtype))


def strings_of(tensor: Memory, dtype: np.dtype[Any]) -> np.ndarray:
    elements = tensor._words()
    array = np.empty(len(elements), dtype)
    array[:] = elements
    return array.reshape(tensor.shape)
