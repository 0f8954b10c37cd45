"""The common part of the operators: their registration, and the gradient as a sum of rows."""

from __future__ import annotations

from math import prod

import torch

from .. import errors
from .._base.constants import FILL_VALUE, OPEN
from .._base.dtypes import NUMBERS
from .._base.request_fields import SWITCHES
from .._base.torch_dynamo import untraced
from .._requests.memory_runs import shape_for
from .._requests.options_struct import FILLS, NAMED
from .._requests.spec import Spec
from ._extension import extension

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .._base.request_fields import Request
    from .._requests.operation_table import Operation

LIBRARY = torch.library.Library("libgather", "FRAGMENT")
#: The operators as functions, by name, if there is no extension.
CALLS: dict[str, Callable[..., torch.Tensor]] = {}
_ATTRIBUTES = "int axis, int batch_dims, int[] switches"
#: The names of the numbers of each switch, in the order of the argument `switches`.
_NAMES = {name: {number: word for word, number in numbers.items()} for name, numbers in NAMED.items()}


def registered(
    operation: Operation,
    run: Callable[..., Any],
    request: Callable[..., Request],
    shape: Callable[..., Any],
    backward: Callable[..., Any],
) -> None:
    """Registers an operator of params, indices, attributes and switches.

    If the extension has defined the operator, only its kernel for devices is registered.

    Args:
        run: Runs the operator.
        request: Returns the request for the library's shape query from the attributes.
        shape: Returns the shape of the result for valid operands. It adds guards for symbolic sizes.
        backward: Returns the gradient of params. It receives the gradient of the result, the indices, the shape of
            params, the attributes, and the words of `negative` and `bounds`.
    """
    name = operation.name
    run, infer = (errors.naming("torch", function) for function in (run, shape_for))

    def values(
        params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int, switches: list[int], fill_value: Any
    ) -> torch.Tensor:
        keywords = words_of(switches, fill_value, params.dtype)
        keywords.pop("order", None)  # it is for the gradient
        require_dtypes(params, indices)
        result: torch.Tensor = run(params.detach(), indices.detach(), axis, batch_dims, keywords)
        return result

    def gradient(rows: torch.Tensor, indices: torch.Tensor, shape: Any, *arguments: Any) -> torch.Tensor:
        axis, batch_dims, switches = arguments
        given = words_of(switches, 0, rows.dtype)
        for switch in ("profile", "padding_index"):
            if switch in given:
                raise errors.unsupported("options", f"a gradient with a {switch} needs the extension")
        rules = given.get("negative", "reject"), given.get("bounds", "error")
        result: torch.Tensor = backward(rows, indices, tuple(shape), axis, batch_dims, *rules)
        return result

    def fake(params: torch.Tensor, indices: torch.Tensor, *arguments: Any) -> torch.Tensor:
        # The length of tuples must be known, because it determines the remaining dims.
        require_dtypes(params, indices)
        index = spec_of(indices, known=0 if operation.has_axis else 1)
        infer(operation, spec_of(params), index, request(*arguments))  # raises the errors of a run
        return params.new_empty(shape(params, indices, *arguments))

    if extension is not None:
        LIBRARY.impl(name, untraced(values), "CompositeExplicitAutograd")
        return
    schema = f"(Tensor params, Tensor indices, {_ATTRIBUTES}, Scalar fill_value) -> Tensor"
    LIBRARY.define(f"{name}{schema}", tags=torch.Tag.pt2_compliant_tag)
    operator = getattr(torch.ops.libgather, name).default
    LIBRARY.impl(name, untraced(values), "CompositeExplicitAutograd")
    torch.library.register_fake(operator, fake, lib=LIBRARY)

    class Differentiable(torch.autograd.Function):
        """The operator with its derivatives for autograd, forward mode and torch.func."""

        @staticmethod
        def forward(*inputs: Any) -> torch.Tensor:
            with torch._C._AutoDispatchBelowAutograd():
                result: torch.Tensor = operator(*inputs)
            return result

        setup_context = staticmethod(keep)

        @staticmethod
        def backward(ctx: Any, rows: torch.Tensor) -> tuple[Any, ...]:
            if not ctx.needs_input_grad[0]:
                return None, *(None,) * (1 + len(ctx.arguments))
            sums = gradient(rows, *ctx.saved_tensors, ctx.shape, *ctx.arguments[:-1])
            return sums, *(None,) * (1 + len(ctx.arguments))

        @staticmethod
        def jvp(ctx: Any, tangent: torch.Tensor | None, *_: None) -> torch.Tensor | None:
            """A gather is linear in params. The fill does not depend on them."""
            return None if tangent is None else call(tangent, ctx.indices, *ctx.arguments[:-1], 0)

        @staticmethod
        def vmap(info: Any, dims: tuple[Any, ...], *inputs: Any) -> tuple[torch.Tensor, int]:
            return batched(call, info, dims, *inputs)

    def differentiable(*inputs: Any) -> torch.Tensor:
        """Runs the operator when torch's dispatcher calls it for autograd, in compiled programs and from torch.ops."""
        if not torch._C._are_functorch_transforms_active():
            result: torch.Tensor = Differentiable.apply(*inputs)
            return result
        if is_followed(inputs[0]):
            raise errors.unsupported(
                "params",
                "torch.func finds no forward mode and no gradient of an operator in compiled code and in torch.ops: "
                f"call libgather.torch.{name}, and compile what is in the transform",
            )
        return Differentiable.forward(*inputs)

    def call(*inputs: Any) -> torch.Tensor:
        is_seen = torch.compiler.is_compiling() or not torch._C._are_functorch_transforms_active()
        result: torch.Tensor = operator(*inputs) if is_seen else Differentiable.apply(*inputs)
        return result

    LIBRARY.impl(name, differentiable, "Autograd")
    torch.library.register_vmap(operator, lambda *arguments: batched(operator, *arguments), lib=LIBRARY)
    CALLS[name] = call


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def require_dtypes(params: torch.Tensor, indices: torch.Tensor) -> None:
    """Raises DTypeError for a dtype that the library does not have."""
    for operand, tensor in (("params", params), ("indices", indices)):
        if name_of(tensor.dtype) not in NUMBERS:
            raise errors.dtype_error(operand, f"{tensor.dtype} is no dtype")


def spec_of(tensor: torch.Tensor, known: int = 0) -> Spec:
    """Returns the spec of a tensor without values. Symbolic sizes are open, except for the last `known` dims."""
    open_dims = tensor.dim() - known
    extents = [
        int(extent) if dim >= open_dims or isinstance(extent, int) else OPEN for dim, extent in enumerate(tensor.shape)
    ]
    return Spec(name_of(tensor.dtype), extents)


def require_batch(params: torch.Tensor, indices: torch.Tensor, batch_dims: int) -> None:
    """Adds guards that batch dims are equal, for sizes that were unknown to the library."""
    for dim in range(batch_dims):
        torch._check(params.shape[dim] == indices.shape[dim], lambda: "indices: batch dims differ from those of params")


def is_followed(params: torch.Tensor) -> bool:
    """Returns whether a derivative with respect to the tensor is computed."""
    if params.requires_grad and torch.is_grad_enabled():
        return True
    return torch.autograd.forward_ad.unpack_dual(params).tangent is not None


def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    """Stores what the gradient needs: the shape of params, the indices, and the other arguments."""
    params, ctx.indices, *ctx.arguments = inputs
    ctx.shape = params.shape
    ctx.save_for_backward(ctx.indices)
    ctx.save_for_forward(ctx.indices)


def batched(
    operator: Callable[..., torch.Tensor], info: Any, dims: tuple[Any, ...], *inputs: Any
) -> tuple[torch.Tensor, int]:
    """Runs the operator over a dim of vmap, as an additional first batch dim. This increments all attributes."""
    params, indices = (with_batch(*pair, info.batch_size) for pair in zip(inputs[:2], dims[:2], strict=True))
    axis, batch_dims, *switches = inputs[2:]
    return operator(params, indices, axis + 1, batch_dims + 1, *switches), 0


def words_of(switches: list[int], fill_value: complex, dtype: torch.dtype) -> dict[str, Any]:
    """Returns the switches as keywords of this package's functions."""
    numbers = dict(zip(SWITCHES, switches, strict=False))
    given: dict[str, Any] = {name: words[numbers[name]] for name, words in _NAMES.items() if numbers.get(name)}
    if numbers.get("opset"):
        given["opset"] = numbers["opset"]
    if numbers.get("initial"):
        given["include_self"] = False
    if numbers.get("has_padding_index"):
        given["padding_index"] = numbers["padding_index"]
    if numbers.get("fill") == FILL_VALUE:
        is_whole = isinstance(fill_value, float) and not dtype.is_floating_point and fill_value.is_integer()
        given["fill_value"] = int(fill_value.real) if is_whole else fill_value  # a fraction is rejected later
    elif numbers.get("fill"):
        given["fill_value"] = {number: name for name, number in FILLS.items()}[numbers["fill"]]
    return given


def resolved(indices: torch.Tensor, extent: int, negative: str, bounds: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns validated indices as numbers in [0, extent), and a mask of those that select an element."""
    index = indices.long()
    if negative == "wrap":
        index = torch.where(index < 0, index + extent, index)
    if bounds == "modulo":
        index = index % extent
    inside = (index >= 0) & (index < extent)
    if bounds == "clamp":
        return index.clamp(0, extent - 1), torch.ones_like(inside)
    return torch.where(inside, index, 0), inside


def sum_of_rows(
    rows: torch.Tensor, index: torch.Tensor, inside: torch.Tensor, shape: Sequence[int], lead: int
) -> torch.Tensor:
    """Returns an array of zeros to which each row is added at its index if the mask `inside` is true.

    The first `lead` dims of the shape number the rows. Rows are added in their order, so the sum does not depend on the
    number of threads.
    """
    count, width = prod(shape[:lead]), prod(shape[lead:])
    rows = rows.reshape(index.numel(), width)
    # Rows that are not inside are added to an additional row, which is removed.
    index = torch.where(inside, index, count).reshape(-1)
    if rows.is_complex():
        parts = torch.view_as_real(rows).reshape(index.numel(), 2 * width)
        return torch.view_as_complex(summed(parts, index, count).reshape(count, width, 2)).reshape(tuple(shape))
    return summed(rows, index, count).reshape(tuple(shape))


def summed(rows: torch.Tensor, index: torch.Tensor, count: int) -> torch.Tensor:
    """Adds half-precision rows in float32 and rounds once. In bfloat16 a sum of ones would stop at 256."""
    wide = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    total: torch.Tensor = torch.ops.aten.embedding_dense_backward(wide, index, count + 1, -1, False)
    return total[:count].to(rows.dtype)


def with_batch(value: torch.Tensor, dim: int | None, size: int) -> torch.Tensor:
    """Returns the value with the dim of vmap as the first dim."""
    return value.expand(size, *value.shape) if dim is None else value.movedim(dim, 0)
