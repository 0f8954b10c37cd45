"""The types that signatures speak of, above all the literals that switches may be: ``libgather.types.Bounds``.

>>> import typing, libgather
>>> typing.get_args(libgather.types.Negative)
('reject', 'wrap')

They are made when they are first asked for: the module typing would make the import of this package twice as long.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._types import (
        Accumulate,
        Any,
        Array,
        ArrayT,
        Bounds,
        Callable,
        Extents,
        Mode,
        Negative,
        OperationName,
        OutT,
        Profile,
        Reduction,
        ScatterBounds,
        ScatterName,
        ScatterSwitches,
        Self,
        Sequence,
        ShardKind,
        Switches,
        Unpack,
        overload,
    )
else:
    # Overloads are for type checkers alone.
    def overload(signature: object) -> object:
        return signature


__all__ = [
    "Accumulate",
    "Any",
    "Array",
    "ArrayT",
    "Bounds",
    "Callable",
    "Extents",
    "Mode",
    "Negative",
    "OperationName",
    "OutT",
    "Profile",
    "Reduction",
    "ScatterBounds",
    "ScatterName",
    "ScatterSwitches",
    "Self",
    "Sequence",
    "ShardKind",
    "Switches",
    "Unpack",
    "overload",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import _types

        return getattr(_types, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
