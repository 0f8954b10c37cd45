"""Arrays of any kind: finds the kind of each, which is a module of _kinds."""

from __future__ import annotations

from importlib import import_module

from . import errors
from ._memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._places import Place
    from ._site import Site


# By the package that defines a type or one of its bases.
_PACKAGES = {
    "numpy": "numpy_",
    "tensorflow": "tensorflow_",
    "jax": "jax_",
    "jaxlib": "jax_",
    "torch": "torch_",
    "pyarrow": "arrow",
    "pandas": "frames",
    "polars": "frames",
    "libgather": "own",
}
_kinds: dict[type, Any] = {}


def kind_of(value: Any) -> Any:
    """The module for a value's kind."""
    kind = _kinds.get(type(value))
    if kind is None:
        kind = import_module(f"{__package__}._kinds.{_name_of(value)}")
        _kinds[type(value)] = kind
    return kind


def _name_of(value: Any) -> str:
    if isinstance(value, (list, tuple, range, bool, int, float, complex, str)):
        return "lists"
    for base in type(value).__mro__:
        if (package := str(base.__module__).partition(".")[0]) in _PACKAGES:
            return _PACKAGES[package]
    if hasattr(type(value), "__dlpack__"):
        return "dlpack"
    if hasattr(value, "__cuda_array_interface__"):
        return "cuda"
    if _has_buffer(value):
        return "buffers"
    if hasattr(value, "__arrow_c_array__"):
        return "arrow"
    if hasattr(value, "__array__"):
        return "numpy_"
    return "lists" if hasattr(type(value), "__index__") else "foreign"


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def enter(value: Any, site: Site | None, operand: str) -> tuple[Memory, Any]:
    """Memory of a value, and the value's kind."""
    kind = kind_of(value)
    return kind.enter(value, site, operand), kind


def rank_of(value: Any, operand: str) -> int:
    """The number of dims, also of elements that only their kind can move."""
    rank = getattr(value, "ndim", None)
    return rank if isinstance(rank, int) else enter(value, None, operand)[0].ndim


def enter_output(value: Any, site: Site | None, operand: str = "out") -> Memory:
    """Memory of an array that is to be written."""
    kind = kind_of(value)
    open_output = getattr(kind, "enter_output", None)
    if open_output is None:
        raise errors.read_only(operand, f"{type(value).__name__} cannot be written in place")
    return open_output(value, site, operand)  # type: ignore[no-any-return]


def flat(value: Any) -> Any:
    """An array of one dim: the elements in row-major order."""
    flatten = getattr(kind_of(value), "flat", None)
    if flatten is not None:
        return flatten(value)
    if hasattr(value, "reshape"):
        return value.reshape(-1)
    rank = enter(value, None, "params")[0].ndim
    if rank != 1:
        raise errors.unsupported("params", f"a {type(value).__name__} of rank {rank} has no reshape to make it flat")
    return value


def native(value: Any) -> Any:
    """An array in the machine's byte order."""
    convert = getattr(kind_of(value), "native", None)
    return value if convert is None else convert(value)


def carried_of(value: Any) -> Any:
    """NumPy's dtype of elements that the library has no dtype for, if a kind has such."""
    asked = getattr(kind_of(value), "carried_of", None)
    return None if asked is None else asked(value)


def stream_of(value: Any, place: Place) -> Any:
    """The stream that an array's library uses it on; None where it has no such notion, or we do not know it."""
    asked = getattr(kind_of(value), "current_stream", None)
    return None if asked is None else asked(value, place)


def written(value: Any) -> None:
    """Says that an array of the caller's has been written to."""
    if isinstance(value, Memory):
        value = value._origin
    tell = getattr(kind_of(value), "written", None)
    if tell is not None:
        tell(value)


class Writing:
    """Around a call that writes to an array of the caller's, which its library is told of. Also where indices were
    changed under the call, as something may have been written then."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, errors.RaceError):
            written(self._value)


def hold(value: Any) -> Any:
    """Has an array's library refuse to move its memory, for as long as what this returns is kept."""
    fix = getattr(kind_of(value), "hold", None)
    return None if fix is None else fix(value)
