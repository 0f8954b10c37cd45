"""The options of a call, and the operands that only some operations have, as one object.

The C half reads the fields in this order (native/switches.h).
"""

from __future__ import annotations

from collections import namedtuple

#: The profiles that have only numbers.
PROFILES_OF_NUMBERS = ("tensorflow_gpu", "torch", "jax_fill", "jax_clip")
#: The bounds of columns that select null. They stand for a request of the library with GTH_TAKE_NULL.
NULLS = ("null", "promote")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from ..types import Accumulate, BagFormat, Bounds, Empty, Extents, Negative, OutDType, Pool, Profile, Reduction

    class Request(NamedTuple):
        axis: int | None = None
        batch_dims: int = 0
        negative: Negative | None = None
        bounds: Bounds | None = None
        fill_value: Any = None
        profile: Profile | None = None
        opset: int | None = None
        threads: int | None = None
        context: Any = None
        stream: Any = None
        sync: bool = False
        extents: Extents | None = None
        reduction: Reduction | None = None
        accumulate: Accumulate | None = None
        bag_format: BagFormat | None = None
        pool: Pool | None = None
        empty: Empty | None = None
        padding_index: int | None = None
        bag_count: int = 0
        include_self: bool = True
        out_dtype: OutDType | None = None
        bags: Any = None
        weights: Any = None
        inplace: bool = False

else:
    # The module typing would double the time to import this package.
    Request = namedtuple(
        "Request",
        "axis batch_dims negative bounds fill_value profile opset threads context stream sync extents "
        "reduction accumulate bag_format pool empty padding_index bag_count include_self out_dtype bags weights "
        "inplace",
        defaults=(None, 0, *(None,) * 8, False, *(None,) * 7, 0, True, *(None,) * 3, False),
    )
