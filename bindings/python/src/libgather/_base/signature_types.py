"""The contents of libgather.types, which imports this module at the first use."""

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
# Begin of the types that ./dev generate writes.
#: The system whose results a call has in every edge case.
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
#: The meaning of a negative index.
Negative = Literal["reject", "wrap"]
#: The meaning of an index out of bounds.
Bounds = Literal["error", "fill", "clamp", "modulo", "skip", "error_partial", "null", "promote"]
#: The bounds of scatters, which do not fill.
ScatterBounds = Literal["error", "clamp", "modulo", "skip", "error_partial"]
#: The rule for the extents of params and indices of gather_elements and scatter_elements in the dims that are not the
#: axis.
Extents = Literal["equal", "prefix", "broadcast"]
#: The way in which a scatter combines an update with the row that it selects.
Reduction = Literal["none", "add", "mul", "max", "min", "mean"]
#: The type in which scatters, gradients and bags add and multiply floating numbers.
Accumulate = Literal["dtype", "float32", "float64"]
#: The way in which the operand bags of gather_bags divides indices into bags.
BagFormat = Literal["offsets", "starts", "lengths", "segments", "dense"]
#: The way in which gather_bags makes one row of the rows of a bag.
Pool = Literal["sum", "mean", "sqrtn", "max", "min"]
#: The row of a bag of gather_bags of which no id is read.
Empty = Literal["zero", "fill", "error"]
#: The order in which a scatter, a gradient or a gradient of bags on a CUDA device combines the updates of an element.
Order = Literal["updates", "any"]
# End of the types that ./dev generate writes.
#: The dtype of the pooled rows of float16 and bfloat16.
OutDType = Literal["float32"]
#: The rule that assigns the rows of a table to a number of shards.
ShardKind = Literal["blocks", "modulo"]
#: The mode of take, as in NumPy.
Mode = Literal["raise", "wrap", "clip"]


class Array(Protocol):
    """An array of a library. Results have its type."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


ArrayT = TypeVar("ArrayT", bound=Array)
OutT = TypeVar("OutT")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


# Begin of the keywords that ./dev generate writes.
class Switches(TypedDict, total=False):
    """The keywords of all gathers."""

    profile: Profile | None
    opset: int | None
    negative: Negative | None
    bounds: Bounds | None
    fill_value: Any
    threads: int | None
    padding_index: int | None
    context: Any
    stream: Any
    sync: bool


class BagSwitches(TypedDict, total=False):
    """The keywords of gather_bags."""

    offsets: Any
    starts: Any
    lengths: Any
    segments: Any
    count: int | None
    weights: Any
    profile: Profile | None
    negative: Negative | None
    bounds: Bounds | None
    fill_value: Any
    accumulate: Accumulate | None
    threads: int | None
    pool: Pool | None
    empty: Empty | None
    padding_index: int | None
    out_dtype: OutDType | None
    order: Order | None
    context: Any
    stream: Any
    sync: bool


class ScatterSwitches(TypedDict, total=False):
    """The keywords of all scatters."""

    profile: Profile | None
    opset: int | None
    negative: Negative | None
    bounds: ScatterBounds | None
    reduction: Reduction | None
    accumulate: Accumulate | None
    threads: int | None
    padding_index: int | None
    include_self: bool
    order: Order | None
    inplace: bool
    context: Any
    stream: Any
    sync: bool


# End of the keywords that ./dev generate writes.
