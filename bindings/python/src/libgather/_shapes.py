"""The shape of an output, asked of the library."""

from __future__ import annotations

from ._call import shape_of
from ._options import options_of
from .spec import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._operation import Operation
    from ._request import Request


def shape_for(operation: Operation, params: Any, indices: Any, request: Request) -> tuple[int, ...]:
    source, index = Spec.of_shape_or_array(params, "params"), Spec.of_shape_or_array(indices, "indices")
    return shape_of(operation.shape, source.described(), index.described(), options_of(request))
