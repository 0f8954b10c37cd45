"""Selects the module of this folder that handles an array."""

from __future__ import annotations

from importlib import import_module

from .. import errors
from .._memory.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._memory.device_site import Site


# The kind of a type, by the package that defines the type or one of its bases.
_PACKAGES = {
    "numpy": "numpy_",
    "tensorflow": "tensorflow_",
    "jax": "jax_",
    "jaxlib": "jax_",
    "torch": "torch_",
    "cupy": "cupy_",
    "pyarrow": "arrow",
    "pandas": "frames",
    "polars": "frames",
    "libgather": "tensors",
}
_kinds: dict[type, Any] = {}


def kind_of(value: Any) -> Any:
    """Returns the module that handles arrays of the type of a value."""
    kind = _kinds.get(type(value))
    if kind is None:
        kind = import_module(f"{__package__}.{_name_of(value)}")
        if hasattr(kind, "register"):
            kind.register(type(value))
        _kinds[type(value)] = kind
    return kind


def _name_of(value: Any) -> str:
    if isinstance(value, (list, tuple, range, bool, int, float, complex, str)):
        return "lists"
    if hasattr(type(value), "__arrow_c_stream__") and not hasattr(type(value), "__len__"):
        return "arrow_protocol"  # a stream, also one of pyarrow
    for base in type(value).__mro__:
        if (package := str(base.__module__).partition(".")[0]) in _PACKAGES:
            return _PACKAGES[package]
    if hasattr(type(value), "__dlpack__"):
        return "dlpack"
    if hasattr(value, "__cuda_array_interface__"):
        return "cuda_interface"
    if has_arrow(value):
        return "arrow_protocol"
    if _has_buffer(value):
        return "buffers"
    if hasattr(value, "__array__"):
        return "numpy_"
    return "lists" if hasattr(type(value), "__index__") else "not_arrays"


def has_arrow(value: Any) -> bool:
    """Returns whether an object has the protocol of Arrow."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    except (ValueError, BufferError):  # for example of a closed file
        return True
    return True


def call_library(function: Any, value: Any, operand: str, *arguments: Any) -> Any:
    """Calls a function that may run code of the value's own library.

    An exception of the value's own library becomes an error of this package.
    """
    try:
        return function(value, *arguments)
    except errors.Error as error:
        error.rename(operand)
        raise
    except MemoryError:
        raise
    except Exception as error:
        raise errors.of_library(error, value, operand) from error


def enter(value: Any, site: Site | None, operand: str) -> tuple[Memory, Any]:
    """Returns the Memory of a value, and the kind of the value."""
    kind = kind_of(value)
    return call_library(kind.enter, value, operand, site, operand), kind


def loaded(value: Any, operand: str) -> Any:
    """Returns the NumPy array of an object that only has ``__array__``, and other values unchanged.

    Each conversion of such an object may read a file.
    """
    load = getattr(kind_of(value), "loaded", None)
    return value if load is None else call_library(load, value, operand)


def rank_of(value: Any, operand: str) -> int:
    """Returns the rank of a value. Its elements may have no dtype of the library."""
    rank = getattr(value, "ndim", None)
    if isinstance(rank, int):
        return rank
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return len(shape)
    return 1 if has_arrow(value) else enter(value, None, operand)[0].ndim


def enter_output(value: Any, site: Site | None, operand: str = "out") -> Memory:
    """Returns the Memory of an array that the call writes."""
    kind = kind_of(value)
    open_output = getattr(kind, "enter_output", None)
    if open_output is None:
        raise errors.not_writable(operand, value)
    return call_library(open_output, value, operand, site, operand)  # type: ignore[no-any-return]


def flat(value: Any) -> Any:
    """Returns the elements in row-major order as an array of one dim."""
    flatten = getattr(kind_of(value), "flat", None)
    if flatten is not None:
        return call_library(flatten, value, "params")
    if hasattr(value, "reshape"):
        return value.reshape(-1)
    rank = enter(value, None, "params")[0].ndim
    if rank != 1:
        raise errors.unsupported("params", f"a {type(value).__name__} of rank {rank} has no reshape to make it flat")
    return value


def native(value: Any, operand: str) -> Any:
    """Returns the array in native byte order."""
    convert = getattr(kind_of(value), "native", None)
    return value if convert is None else call_library(convert, value, operand)


def carried_of(value: Any) -> Any:
    """Returns the NumPy dtype of elements that have no dtype of the library, or None."""
    find = getattr(kind_of(value), "carried_of", None)
    try:
        return None if find is None else find(value)
    except MemoryError:
        raise
    except Exception:  # the value is not an array, and enter() rejects it
        return None


def stream_of(value: Any, place: Place) -> Any:
    """Returns the current stream of the array's library. Returns None if it has no streams or they are unknown."""
    find = getattr(kind_of(value), "current_stream", None)
    return None if find is None else find(value, place)


def written(value: Any) -> None:
    """Notifies the library of a caller's array that the array has been written."""
    if isinstance(value, Memory):
        value = value._origin
    tell = getattr(kind_of(value), "written", None)
    if tell is not None:
        tell(value)


class Writing:
    """Context manager of a call that writes an array of the caller.

    It notifies the library of the array after the call. A RaceError counts as a write, because elements may have been
    written before it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, errors.RaceError):
            written(self._value)


def hold(value: Any) -> Any:
    """Prevents the array's library from moving its memory while the returned object exists."""
    fix = getattr(kind_of(value), "hold", None)
    return None if fix is None else fix(value)
