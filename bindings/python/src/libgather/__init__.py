"""Gather and scatter operations on arrays of any library.

>>> import libgather
>>> libgather.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).tolist()
[[5, 6], [1, 2]]
"""

from __future__ import annotations

import array as _array

# The library is imported before _objects, because this import rejects a library of another ABI.
from ._base import library as _library  # noqa: F401

# isort: split
from . import _objects, errors, types
from ._base import constants as _constants
from ._base.capabilities import capabilities, shutdown, version
from ._base.releases import release
from ._base.torch_dynamo import skip_package
from ._files.opener import open_table
from ._files.table import Segment, Table, TableStats
from ._memory.context import Context
from ._memory.default_contexts import sync
from ._memory.packed_memory import PackedRows
from ._operations.bag_gradients import (
    gather_bags_gradient,
    gather_bags_positions,
    gather_bags_sparse_gradient,
    gather_bags_weight_gradient,
)
from ._operations.bags import gather_bags
from ._operations.gather_plan import BoundPlan, Plan
from ._operations.gathers import gather, gather_elements, gather_nd, output_shape
from ._operations.general_path import run_others
from ._operations.gradients import gather_elements_gradient, gather_gradient, gather_nd_gradient
from ._operations.numpy_put import put_along_axis
from ._operations.numpy_take import take, take_along_axis
from ._operations.partition_result import Partition
from ._operations.partitions import partition
from ._operations.scatter_plan import ScatterPlan
from ._operations.scatter_positions import scatter_positions
from ._operations.scatters import scatter, scatter_elements, scatter_nd, updates_shape
from ._requests.codec import Codec
from ._requests.index_errors import locate_call
from ._requests.options_struct import CHOICES
from ._requests.packed import Packed
from ._requests.spec import Spec
from ._requests.tensor import Tensor
from .errors import (
    ClosedError,
    DeviceError,
    DTypeError,
    Error,
    ExchangeError,
    FileError,
    OffsetsError,
    OptionError,
    OutOfMemoryError,
    OutputError,
    RaceError,
    RankError,
    ShapeError,
    UnsupportedError,
)

# IndexError is not in __all__, because a star import would hide the builtin of that name.
from .errors import IndexError as IndexError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import onnx, tf

__version__ = release(_constants.VERSION)

__all__ = [
    "BoundPlan",
    "ClosedError",
    "Codec",
    "Context",
    "DTypeError",
    "DeviceError",
    "Error",
    "ExchangeError",
    "FileError",
    "OffsetsError",
    "OptionError",
    "OutOfMemoryError",
    "OutputError",
    "Packed",
    "Partition",
    "Plan",
    "RaceError",
    "RankError",
    "ScatterPlan",
    "Segment",
    "ShapeError",
    "Spec",
    "Table",
    "TableStats",
    "Tensor",
    "UnsupportedError",
    "__version__",
    "capabilities",
    "gather",
    "gather_bags",
    "gather_bags_gradient",
    "gather_bags_positions",
    "gather_bags_sparse_gradient",
    "gather_bags_weight_gradient",
    "gather_elements",
    "gather_elements_gradient",
    "gather_gradient",
    "gather_nd",
    "gather_nd_gradient",
    "onnx",
    "open_table",
    "output_shape",
    "partition",
    "put_along_axis",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "scatter_positions",
    "shutdown",
    "sync",
    "take",
    "take_along_axis",
    "tf",
    "types",
    "updates_shape",
    "version",
]

_objects.configure(
    errors.of_fields, (memoryview, _array.array, bytearray, bytes), CHOICES, locate_call, run_others, Tensor, PackedRows
)
skip_package()


def __dir__() -> list[str]:
    return [*__all__, "IndexError", "errors"]


def __getattr__(name: str) -> Any:
    """Imports libgather.tf, .onnx, .torch, .jax, .dask or .ray at the first use."""
    if name in ("tf", "onnx", "torch", "jax", "dask", "ray"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
