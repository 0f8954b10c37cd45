"""The options of a call, and the operands that only some operations have, as one object.

The C code reads the fields in this order (native/options_reader.h).
"""

from __future__ import annotations

from collections import namedtuple

#: The bounds of columns that select null. They stand for a request of the library with GTH_TAKE_NULL.
NULLS = ("null", "promote")

# Begin of the names that ./dev generate writes.
#: The options and their defaults.
OPTIONS = {
    "axis": None,
    "batch_dims": 0,
    "profile": None,
    "opset": None,
    "negative": None,
    "bounds": None,
    "fill_value": None,
    "extents": None,
    "reduction": None,
    "accumulate": None,
    "threads": None,
    "bag_format": None,
    "pool": None,
    "empty": None,
    "padding_index": None,
    "include_self": True,
    "bag_count": 0,
    "out_dtype": None,
    "order": None,
}
#: The bits of the options that are integers.
INTEGERS = {
    "axis": 64,
    "batch_dims": 64,
    "opset": 32,
    "threads": 32,
    "padding_index": 64,
    "bag_count": 64,
}
#: The prefixes of the constants of gather.h that are the values of an option.
PREFIXES = {
    "profile": "PROFILE_",
    "negative": "NEGATIVE_",
    "bounds": "BOUNDS_",
    "extents": "EXTENTS_",
    "reduction": "REDUCTION_",
    "accumulate": "ACCUMULATE_",
    "bag_format": "BAGS_",
    "pool": "POOL_",
    "empty": "EMPTY_",
    "order": "ORDER_",
}
#: The switches of the operators of torch, in the order of their argument.
SWITCHES = (
    "profile",
    "opset",
    "negative",
    "bounds",
    "fill",
    "extents",
    "reduction",
    "accumulate",
    "bag_format",
    "pool",
    "empty",
    "has_padding_index",
    "padding_index",
    "initial",
    "sparse",
    "order",
)
# End of the names that ./dev generate writes.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from .. import types as t

    class Request(NamedTuple):
        # Begin of the options that ./dev generate writes.
        axis: int | None = None
        batch_dims: int = 0
        profile: t.Profile | None = None
        opset: int | None = None
        negative: t.Negative | None = None
        bounds: t.Bounds | None = None
        fill_value: t.Any = None
        extents: t.Extents | None = None
        reduction: t.Reduction | None = None
        accumulate: t.Accumulate | None = None
        threads: int | None = None
        bag_format: t.BagFormat | None = None
        pool: t.Pool | None = None
        empty: t.Empty | None = None
        padding_index: int | None = None
        include_self: bool = True
        bag_count: int = 0
        out_dtype: t.OutDType | None = None
        order: t.Order | None = None
        # End of the options that ./dev generate writes.
        context: Any = None
        stream: Any = None
        sync: bool = False
        bags: Any = None
        weights: Any = None
        inplace: bool = False

else:
    _OTHERS = {"context": None, "stream": None, "sync": False, "bags": None, "weights": None, "inplace": False}
    # The module typing would double the time to import this package.
    Request = namedtuple("Request", (*OPTIONS, *_OTHERS), defaults=(*OPTIONS.values(), *_OTHERS.values()))


def request_from(arguments: dict[str, Any]) -> Request:
    """Returns the request of the arguments of a function. Those that are no option, and the context, are left out."""
    return Request(**{name: arguments[name] for name in OPTIONS if name in arguments})
