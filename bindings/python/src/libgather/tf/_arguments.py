"""Converts arguments as TensorFlow does."""

from __future__ import annotations

import sys

from .. import errors
from .._arrays.kinds import call_library, enter
from .._arrays.lists import numpy_kind
from .._base import constants as c
from .._base.devices import is_host
from .._base.integers import integer, rules_of
from .._requests.site_of_call import place_of
from .._requests.tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..types import Bounds, Profile

_INDEX_DTYPES = ("int16", "int32", "int64")
_POLICIES: dict[str | None, Bounds | None] = {None: None, "": None, "DEFAULT": None, "ERROR": "error", "IGNORE": "fill"}


def constant(value: Any) -> Any:
    """Returns the value of a tensor, and other values unchanged."""
    if isinstance(value, Tensor):
        return value.tolist()
    if is_traced(value):
        static = sys.modules["tensorflow"].get_static_value(value)
        return value if static is None else static
    if not hasattr(value, "numpy") or not hasattr(value, "dtype"):
        return value
    return call_library(lambda tensor: tensor.numpy(), value, "options")


def is_traced(value: Any) -> bool:
    """Returns whether a value is a tensor of a function that TensorFlow traces."""
    tf = sys.modules.get("tensorflow")
    return tf is not None and isinstance(value, tf.Tensor) and not hasattr(value, "numpy")


def axis_number(axis: Any) -> int:
    """Returns the number of an axis. TensorFlow makes a tensor of it, which must be an int32 or int64 scalar."""
    dtype = getattr(axis, "dtype", None)
    if type(axis) is not int and (dtype is None or dtype.name not in ("int32", "int64")):
        raise errors.dtype_error("options", f"axis is {dtype or type(axis).__name__}, not int32 or int64")
    if getattr(axis, "shape", ()) != ():
        raise errors.RankError("options: axis is not a scalar", status=c.E_AXIS, operand="options")
    return integer("axis", axis)


def attribute(name: str, value: Any) -> int:
    """Returns int() of an attribute. Raises DTypeError for strings and arrays."""
    value = constant(value)
    if value is None:
        return 0
    if isinstance(value, (str, bytes)) or getattr(value, "shape", ()) != ():
        raise errors.dtype_error("options", f"{name} is {type(value).__name__}, not an integer")
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise errors.dtype_error("options", f"{name}: {error}") from None


def policy(bad_indices_policy: Any, profile: Profile) -> Bounds | None:
    if bad_indices_policy is not None and not isinstance(bad_indices_policy, str):
        raise errors.dtype_error("options", "bad_indices_policy is not a string")
    if bad_indices_policy not in _POLICIES or (
        bad_indices_policy == "ERROR" and rules_of(profile)["bounds"] != "error"
    ):
        message = f"options: bad_indices_policy {bad_indices_policy!r} is not there for this device"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    return _POLICIES[bad_indices_policy]


def profile_of(params: Any) -> Profile:
    """Returns the profile of the CPU kernels, or that of the GPU kernels for an array on a device."""
    return "tensorflow" if is_host(place_of(params, "params")) else "tensorflow_gpu"


def prepared(params: Any, indices: Any, operand: str = "params") -> tuple[Any, Any]:
    """Returns both arguments with the dtypes that TensorFlow would give them.

    NumPy's arrays of numbers are unchanged, because a traced function passes such arrays to this package.
    """
    np = sys.modules.get("numpy")
    if np is not None and type(params) is type(indices) is np.ndarray:
        if params.dtype.kind in "iuf" and indices.dtype.kind == "i" and indices.dtype.itemsize > 1:
            return params, indices
    require_numbers(operand, params)
    require_numbers("indices", indices)
    return as_bytes(shortened(params)), checked_indices(shortened(indices))


def require_numbers(operand: str, value: Any) -> None:
    """Raises DTypeError for a tensor of quantised numbers, whose dtype NumPy has under another name."""
    dtype: Any = getattr(value, "dtype", None)
    if getattr(dtype, "is_quantized", False):
        raise errors.dtype_error(operand, f"dtype {dtype.name} is quantised, and is not supported")


def checked_indices(indices: Any) -> Any:
    """Returns indices of an allowed dtype. On the host they are a tensor, so that they are converted only once."""
    tensor = enter(indices, None, "indices")[0]
    if tensor.dtype not in _INDEX_DTYPES:
        raise errors.DTypeError(
            f"indices: {tensor.dtype} is none of {', '.join(_INDEX_DTYPES)}",
            status=c.E_DTYPE,
            operand="indices",
            value=tensor._dtype,
        )
    return tensor if is_host(tensor._desc[1:3]) else indices


def rank_of(indices: Any) -> int:
    rank = getattr(getattr(indices, "shape", None), "rank", None)  # a traced tensor has no values
    if rank is not None:
        return int(rank)
    return enter(indices, None, "indices")[0].ndim


def shortened(value: Any) -> Any:
    """Returns lists and scalars of Python floats as float32, and those of integers as int32 if they fit."""
    kind = numpy_kind()
    if kind is None or type(value) not in (list, tuple, int, float):
        return value
    np = kind.np
    array = kind.of_list(value, "params")
    if array.dtype == np.float64 and not holds_numpy(value):
        return array.astype(np.float32)
    if array.dtype == np.int64 and not holds_numpy(value) and (array == array.astype(np.int32)).all():
        return array.astype(np.int32)
    return array


def holds_numpy(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return hasattr(value, "dtype")


def as_bytes(params: Any) -> Any:
    """Returns strings as bytes, which are TensorFlow's strings. NumPy strings become an array of bytes objects."""
    if isinstance(params, (list, tuple)):
        return [as_bytes(part) for part in params]
    if isinstance(params, str):
        return params.encode("utf-8", "surrogatepass")
    np = sys.modules.get("numpy")
    if np is None or not isinstance(params, np.ndarray) or params.dtype.kind not in "OSUT":
        return params
    tensor = enter(params, None, "params")[0]
    array = np.empty(tensor.size, object)
    array[:] = tensor.strings()
    return array.reshape(params.shape)
