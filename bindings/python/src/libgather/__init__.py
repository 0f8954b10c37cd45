"""Rows, slices and elements of arrays by index.

>>> import libgather
>>> libgather.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).tolist()
[[5, 6], [1, 2]]
"""

from __future__ import annotations

import array as _array

# _library before _objects: it refuses a library of another ABI.
from . import _constants, _library, _objects, errors  # noqa: F401
from ._capabilities import capabilities, release, shutdown, version
from ._contexts import sync
from ._operations import gather, gather_elements, gather_nd, output_shape
from ._take import take_along_axis
from .context import Context
from .errors import DeviceError, DTypeError, Error, OptionError, OutOfMemoryError, RankError, ShapeError

# Not in __all__: a star would hide the builtin of that name.
from .errors import IndexError as IndexError
from .plan import BoundPlan, Plan
from .spec import Spec
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import onnx, tf

__version__ = release(_constants.VERSION)

__all__ = [
    "BoundPlan",
    "Context",
    "DTypeError",
    "DeviceError",
    "Error",
    "OptionError",
    "OutOfMemoryError",
    "Plan",
    "RankError",
    "ShapeError",
    "Spec",
    "Tensor",
    "__version__",
    "capabilities",
    "gather",
    "gather_elements",
    "gather_nd",
    "onnx",
    "output_shape",
    "shutdown",
    "sync",
    "take_along_axis",
    "tf",
    "version",
]

_objects.configure(errors.of_fields, (memoryview, _array.array, bytearray, bytes))


def __getattr__(name: str) -> Any:
    """libgather.tf and libgather.onnx are imported when they are first used."""
    if name in ("tf", "onnx"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
