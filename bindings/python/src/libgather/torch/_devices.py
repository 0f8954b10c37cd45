"""The kernels of the extension's operators for tensors on devices: scatters, and the gradients of gathers.

They enqueue their work on the current stream of torch. :func:`libgather.sync` raises the error of an index out of
bounds.
"""

from __future__ import annotations

import torch

from .._base.request_fields import Request
from .._base.torch_dynamo import untraced
from .._objects import run_arrays
from .._requests.operation_table import GATHERS, SCATTERS
from ._common import LIBRARY, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .._requests.operation_table import Operation

_HALF = frozenset((torch.float16, torch.bfloat16))
_ROUNDED = frozenset(("add", "mul", "mean"))


def request_of(operation: Operation, axis: int, batch_dims: int, switches: list[int], dtype: torch.dtype) -> Request:
    words = words_of(switches, 0, dtype)
    words.pop("fill_value", None)  # neither scatters nor gradients fill
    return Request(axis if operation.has_axis else None, batch_dims, **words)


def scatter_of(operation: Operation) -> Callable[..., Any]:
    """Returns the kernel of a scatter. It adds and multiplies half-precision numbers in float32 by default."""

    def scatter(
        target: torch.Tensor,
        indices: torch.Tensor,
        updates: torch.Tensor,
        axis: int,
        batch_dims: int,
        switches: list[int],
    ) -> Any:
        request = request_of(operation, axis, batch_dims, switches, target.dtype)
        is_free = request.accumulate is None and request.profile is None
        if target.dtype in _HALF and request.reduction in _ROUNDED and is_free:
            request = request._replace(accumulate="float32")
        return run_arrays(operation.number, target.detach(), indices.detach(), updates.detach(), *request)

    return scatter


def gradient_of(operation: Operation) -> Callable[..., Any]:
    """Returns the kernel of a gradient. It adds half-precision numbers in float32."""

    def gradient(
        rows: torch.Tensor,
        indices: torch.Tensor,
        shape: Sequence[int],
        axis: int,
        batch_dims: int,
        switches: list[int],
    ) -> Any:
        request = request_of(operation, axis, batch_dims, switches, rows.dtype)
        if rows.dtype in _HALF:
            request = request._replace(accumulate="float32")
        return run_arrays(operation.number, tuple(shape), indices.detach(), rows.detach(), *request)

    return gradient


#: The kernels, by the names of the operators.
KERNELS = {operation.name: scatter_of(operation) for operation in SCATTERS} | {
    f"{operation.name}_gradient": gradient_of(operation.of_kind("gradient")) for operation in GATHERS
}


def register() -> None:
    for name, kernel in KERNELS.items():
        LIBRARY.impl(name, untraced(kernel), "CompositeExplicitAutograd")
