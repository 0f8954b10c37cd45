"""The types of signatures, such as the literals of switches: ``libgather.types.Bounds``.

>>> import typing, libgather
>>> typing.get_args(libgather.types.Negative)
('reject', 'wrap')

They are created at the first use, because the module typing would double the time to import this package.
"""

# ruff: noqa: F403, F405 - signature_types.py defines the names of __all__
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._base.signature_types import *
else:
    # Only type checkers use overloads.
    def overload(signature: object) -> object:
        return signature


# Begin of the types that ./dev generate writes.
__all__ = [
    "Accumulate",
    "Any",
    "Array",
    "ArrayT",
    "BagFormat",
    "BagSwitches",
    "Bounds",
    "Callable",
    "Empty",
    "Extents",
    "Mode",
    "Negative",
    "OperationName",
    "Order",
    "OutDType",
    "OutT",
    "Pool",
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
# End of the types that ./dev generate writes.


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ._base import signature_types

        return getattr(signature_types, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
