"""The kernels of the extension's operators for tensors on devices: scatters, bags, gradients and positions.

They enqueue their work on the current stream of torch. :func:`libgather.sync` raises the error of an index out of
bounds.
"""

from __future__ import annotations

import torch

from .._base.request_fields import SWITCHES, Request
from .._base.torch_dynamo import untraced
from .._objects import run_arrays
from .._operations import bag_gradients, bags
from .._operations.scatter_positions import scatter_positions
from .._requests.operation_table import GATHERS, SCATTERS
from ._common import LIBRARY, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .._requests.operation_table import Operation

_HALF = frozenset((torch.float16, torch.bfloat16))
_ROUNDED = frozenset(("add", "mul", "mean"))
_SPARSE = SWITCHES.index("sparse")


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


def positions_of(operation: Operation) -> Callable[..., Any]:
    """Returns the kernel of the positions of a scatter."""

    def positions(
        target: torch.Tensor,
        indices: torch.Tensor,
        updates: torch.Tensor,
        axis: int,
        batch_dims: int,
        switches: list[int],
    ) -> Any:
        rules: Any = words_of(switches, 0, target.dtype) | {"op": operation.name}
        place = axis if operation.has_axis else None
        return scatter_positions(target.detach(), indices.detach(), updates.detach(), place, batch_dims, **rules)

    return positions


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


def rules_of(
    dtype: torch.dtype,
    of: torch.Tensor | None,
    weights: torch.Tensor | None,
    count: int,
    switches: list[int],
    fill_value: Any,
) -> Any:
    """Returns the keywords of gather_bags."""
    words = words_of(switches, fill_value, dtype)
    form = words.pop("bag_format", "offsets")
    if of is not None:
        words[form] = of.detach()
    if form == "segments":
        words["count"] = count
    return words if weights is None else words | {"weights": weights.detach()}


def pooled(
    params: torch.Tensor, indices: torch.Tensor, of: torch.Tensor | None, weights: torch.Tensor | None, *others: Any
) -> Any:
    rules = rules_of(params.dtype, of, weights, *others)
    return bags.gather_bags(params.detach(), indices.detach(), **rules)


def positions_of_bags(params: torch.Tensor, indices: torch.Tensor, of: torch.Tensor | None, *others: Any) -> Any:
    rules = rules_of(params.dtype, of, None, *others)
    return bag_gradients.gather_bags_positions(params.detach(), indices.detach(), **rules)


def gradient_of_bags(
    of_weights: bool,
    rows: torch.Tensor,
    params: torch.Tensor | None,
    shape: Sequence[int],
    indices: torch.Tensor,
    of: torch.Tensor | None,
    weights: torch.Tensor | None,
    *others: Any,
) -> Any:
    """Returns the gradient of weights or of params, of which often only the shape is needed.

    The gradient of params is a sparse tensor if the switches state it.
    """
    table = tuple(shape) if params is None else params.detach()
    given = rows.detach(), indices.detach(), table
    rules = rules_of(rows.dtype, of, weights, *others)
    if of_weights:
        return bag_gradients.gather_bags_weight_gradient(*given, **rules)
    if not others[1][_SPARSE]:
        return bag_gradients.gather_bags_gradient(*given, **rules)
    numbers, sums = bag_gradients.gather_bags_sparse_gradient(*given, **rules)
    return torch.sparse_coo_tensor(numbers[None], sums, tuple(shape), check_invariants=False, is_coalesced=True)


#: The kernels, by the names of the operators.
KERNELS = (
    {operation.name: scatter_of(operation) for operation in SCATTERS}
    | {f"{operation.name}_positions": positions_of(operation) for operation in SCATTERS}
    | {f"{operation.name}_gradient": gradient_of(operation.of_kind("gradient")) for operation in GATHERS}
    | {"gather_bags": pooled, "gather_bags_positions": positions_of_bags, "gather_bags_gradient": gradient_of_bags}
)


def register() -> None:
    for name, kernel in KERNELS.items():
        LIBRARY.impl(name, untraced(kernel), "CompositeExplicitAutograd")
