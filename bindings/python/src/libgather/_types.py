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
Negative = Literal["reject", "wrap"]
Bounds = Literal["error", "fill", "clamp", "modulo", "skip"]
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
    """The keywords that all operations have."""

    negative: Negative | None
    bounds: Bounds | None
    fill_value: Any
    profile: Profile | None
    threads: int | None
    context: Any
    opset: int | None
    stream: Any
    sync: bool
