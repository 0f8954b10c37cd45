"""The shape of an output, or of updates, asked of the library."""

from __future__ import annotations

from ._call import shape_of
from ._options import options_of
from .spec import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._operation import Operation
    from ._request import Request


def shape_for(operation: Operation, source: Any, indices: Any, request: Request) -> tuple[int, ...]:
    selected, index = Spec.of_shape_or_array(source, operation.source), Spec.of_shape_or_array(indices, "indices")
    return shape_of(operation.shape, selected.described(), index.described(), options_of(request))
