"""What libgather.types hands out; imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable as Callable
from collections.abc import Sequence as Sequence
from typing import Any as Any
from typing import Literal, Protocol, TypedDict, TypeVar
from typing import Self as Self
from typing import Unpack as Unpack
from typing import overload as overload

OperationName = Literal["gather", "gather_nd", "gather_elements"]
ScatterName = Literal["scatter", "scatter_nd", "scatter_elements"]
Negative = Literal["reject", "wrap"]
Bounds = Literal["error", "fill", "clamp", "modulo", "skip"]
#: Of scatters, which fill nothing.
ScatterBounds = Literal["error", "clamp", "modulo", "skip"]
Reduction = Literal["none", "add", "mul", "max", "min"]
Accumulate = Literal["dtype", "float32"]
#: How a number of shards have the rows of a table.
ShardKind = Literal["blocks", "modulo"]
Extents = Literal["equal", "prefix", "broadcast"]
#: NumPy's, of take.
Mode = Literal["raise", "wrap", "clip"]
Profile = Literal[
    "tensorflow",
    "tensorflow_gpu",
    "onnx",
    "ort",
    "numpy_raise",
    "numpy_wrap",
    "numpy_clip",
    "torch",
    "jax_fill",
    "jax_clip",
]


class Array(Protocol):
    """An array of a library: results are of its type."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


ArrayT = TypeVar("ArrayT", bound=Array)
OutT = TypeVar("OutT")


class Switches(TypedDict, total=False):
    """The keywords that all gathers have."""

    negative: Negative | None
    bounds: Bounds | None
    fill_value: Any
    profile: Profile | None
    threads: int | None
    context: Any
    opset: int | None
    stream: Any
    sync: bool


class ScatterSwitches(TypedDict, total=False):
    """The keywords that all scatters have."""

    reduction: Reduction | None
    accumulate: Accumulate | None
    negative: Negative | None
    bounds: ScatterBounds | None
    profile: Profile | None
    inplace: bool
    threads: int | None
    context: Any
    opset: int | None
