"""The kinds of arrays that callers bring: each says how one becomes a tensor and how a tensor becomes one of its own.

A kind is a module with ``enter(value, site, operand)``, which gives a Tensor, and ``leave(tensor, like)``, which
gives an array like the caller's. The site says where the call works; None: on the host, or that only the shape is of
interest. A kind may have besides:

- ``enter_output(value, site)``: a Tensor that may be written
- ``place_of(value, operand)``: where an array lies, which may be a device
- ``current_stream(value, place)``: the stream that its library uses there
- ``carried_of(value)``: NumPy's dtype of elements that the library has no dtype for
- ``written(value)``: called after a call has written to it
- ``hold(value)``: called before its address is kept, that it may not be moved
"""

from __future__ import annotations

import sys
from importlib import import_module

from .. import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._places import Place
    from .._sites import Site
    from ..tensor import Tensor


# By the package that defines a type or one of its bases.
_PACKAGES = {
    "numpy": "numpy_",
    "tensorflow": "tensorflow_",
    "jax": "jax_",
    "jaxlib": "jax_",
    "torch": "torch_",
    "pyarrow": "arrow",
    "libgather": "own",
}
_kinds: dict[type, Any] = {}


def kind_of(value: Any) -> Any:
    """The module for a value's kind."""
    kind = _kinds.get(type(value))
    if kind is None:
        kind = import_module(f"{__name__}.{_name_of(value)}")
        _kinds[type(value)] = kind
    return kind


def _name_of(value: Any) -> str:
    if isinstance(value, (list, tuple, bool, int, float, complex, str)):
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
    return "foreign"


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def enter(value: Any, site: Site | None, operand: str) -> tuple[Tensor, Any]:
    """A tensor over a value, and the value's kind."""
    kind = kind_of(value)
    return kind.enter(value, site, operand), kind


def enter_output(value: Any, site: Site | None) -> Tensor:
    """A tensor over an array that is to be written."""
    kind = kind_of(value)
    open_output = getattr(kind, "enter_output", None)
    if open_output is None:
        raise errors.read_only("out", f"{type(value).__name__} cannot be written in place")
    return open_output(value, site)  # type: ignore[no-any-return]


def element_switches(params: Any, out: Any, **switches: Any) -> dict[str, Any]:
    """The switches of a call, for elements that another dtype carries: what depends on values is then bytes."""
    profile, fill_value = switches.get("profile"), switches.get("fill_value")
    if out is None and profile is None and fill_value is None:
        return switches
    carried = carried_of(params)
    if out is not None and carried_of(out) != carried:
        raise errors.dtype_error("out", f"dtype is {dtype_of(out)}, needed is {dtype_of(params)}")
    if carried is None:
        return switches
    from . import carried as elements

    elements.check_profile(carried, profile)
    if fill_value is None and profile == "jax_fill" and switches.get("bounds") in (None, "fill"):
        fill_value = "by_dtype"
    if isinstance(fill_value, str) and fill_value == "by_dtype":
        return {**switches, "fill_value": elements.extreme_of(carried)}
    if fill_value is None or isinstance(fill_value, bytes) or (isinstance(fill_value, str) and fill_value == "zero"):
        return switches
    return {**switches, "fill_value": elements.image_of(fill_value, carried)}


def carried_of(value: Any) -> Any:
    """NumPy's dtype of elements that the library has no dtype for, if a kind has such."""
    asked = getattr(kind_of(value), "carried_of", None)
    return None if asked is None else asked(value)


def dtype_of(value: Any) -> Any:
    return getattr(value, "dtype", type(value).__name__)


def stream_of(value: Any, place: Place) -> Any:
    """The stream that an array's library uses it on; None where it has no such notion, or we do not know it."""
    asked = getattr(kind_of(value), "current_stream", None)
    return None if asked is None else asked(value, place)


def written(value: Any) -> None:
    """Says that an array of the caller's has been written to."""
    tell = getattr(kind_of(value), "written", None)
    if tell is not None:
        tell(value)


def hold(value: Any) -> None:
    """Has an array's library refuse to move its memory, which is to be used beyond this call."""
    fix = getattr(kind_of(value), "hold", None)
    if fix is not None:
        fix(value)


def module(name: str) -> Any:
    """An optional package: already imported by whoever made the array, as a rule."""
    return sys.modules.get(name) or import_module(name)
