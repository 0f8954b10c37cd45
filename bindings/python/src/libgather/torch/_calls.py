"""Calls that the functions of the extension do not run: traced ones, subclasses, lists of indices, wrong arguments."""

from __future__ import annotations

import warnings
from functools import cache
from numbers import Integral

import torch
from torch.overrides import handle_torch_function, has_torch_function

from .. import errors
from .._base import constants as c
from .._base.request_fields import SWITCHES
from .._bounds import bounds_of_fill
from .._operations import bags as plain_bags
from .._requests.index_errors import locate
from .._requests.operation_table import OPERATIONS, SCATTERS, of_name
from .._requests.options_struct import FILLS, NAMED
from ._common import CALLS
from ._extension import COMMAND, REASON, extension

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..types import Extents, Profile

_NUMBERS = {name: dict(numbers) for name, numbers in NAMED.items()}
_NUMBERS["op"] = {operation.name: operation.number for operation in SCATTERS}
#: The operations with an axis, and with rows. Dynamo traces no attribute of an Operation.
_WITH_AXIS = frozenset(operation.name for operation in OPERATIONS.values() if operation.has_axis)
_WITH_ROWS = frozenset(operation.name for operation in OPERATIONS.values() if operation.has_rows)
#: The switches that switches_of() and fill_of() make of other options.
_COMPUTED = ("fill", "has_padding_index", "initial", "sparse")


def run_gather(
    name: str,
    public: Callable[..., Any],
    params: Any,
    indices: Any,
    axis: int | None,
    batch_dims: int,
    fill_value: Any,
    **given: Any,
) -> Any:
    """Runs a gather. `given` has the keywords of `public` that select a rule."""
    if has_torch_function((params, indices)):
        own = attributes_of(name, axis, batch_dims)
        relevant = (params, indices)
        return handle_torch_function(public, relevant, params, indices, **own, fill_value=fill_value, **given)
    indices = tensor_of(indices, require_tensor("params", params))
    axis, batch_dims = dims_of_options(axis, batch_dims)
    check_names(given)
    given["bounds"] = bounds_of_fill(fill_value, given["bounds"], padding_index=given["padding_index"])
    filling, value = fill_of(fill_value, params)
    if given["bounds"] == "skip":
        raise errors.unsupported("options", "bounds 'skip' is for an out, which an operator of torch's does not have")
    if name in CALLS:
        if given.get("extents", "prefix") not in (None, "prefix"):
            require_extension(f"{name} with extents")
        if given["padding_index"] is not None:
            require_extension(f"{name} with padding_index")
        if name in _WITH_AXIS:
            axis, batch_dims = from_front(axis, params.dim()), from_front(batch_dims, indices.dim())
        return CALLS[name](params, indices, axis, batch_dims, switches_of(fill=filling, **given), value)
    return called(name, params, indices, axis, batch_dims, switches_of(fill=filling, **given), value)


def attributes_of(name: str, axis: int | None, batch_dims: int) -> dict[str, Any]:
    """Returns the attributes of an operation that its function of this package has."""
    own = {"axis": axis} if name in _WITH_AXIS else {}
    return own | ({"batch_dims": batch_dims} if name in _WITH_ROWS else {})


def run_scatter(
    name: str,
    public: Callable[..., Any],
    target: Any,
    indices: Any,
    updates: Any,
    axis: int | None,
    batch_dims: int,
    **given: Any,
) -> Any:
    """Runs a scatter. `given` has the keywords of `public` that select a rule."""
    if has_torch_function((target, indices, updates)):
        own = attributes_of(name, axis, batch_dims)
        relevant = (target, indices, updates)
        return handle_torch_function(public, relevant, target, indices, updates, **own, **given)
    return called_scatter(name, target, indices, updates, axis, batch_dims, given)


def run_positions(
    public: Callable[..., Any],
    target: Any,
    indices: Any,
    updates: Any,
    axis: int | None,
    batch_dims: int,
    op: str | None,
    **given: Any,
) -> Any:
    """Finds the positions of a scatter. `given` has the keywords of `public` that select a rule."""
    relevant = (target, indices, updates)
    if has_torch_function(relevant):
        return handle_torch_function(public, relevant, *relevant, axis, batch_dims, op=op, **given)
    check_names({"op": op})
    number_of("op", op)  # raises an error
    name = "scatter" if op is None else op
    if axis is not None and name not in _WITH_AXIS:
        raise errors.RankError(f"options: {name} has no axis", status=c.E_AXIS, operand="options")
    if name == "scatter_elements":
        axis = -1 if axis is None else axis
        given["extents"] = elements_extents(given["extents"], given["profile"])
    return called_scatter(f"{name}_positions", target, indices, updates, axis, batch_dims, given)


def elements_extents(extents: Extents | None, profile: Profile | None) -> Extents | None:
    """Returns the rule for the extents of elements. It is that of torch, unless a profile has another one."""
    return "prefix" if extents is None and profile is None else extents


def called_scatter(
    name: str, target: Any, indices: Any, updates: Any, axis: int | None, batch_dims: int, given: dict[str, Any]
) -> Any:
    require_extension(name)
    indices = tensor_of(indices, require_tensor("target", target))
    if not isinstance(updates, torch.Tensor):
        updates = torch.as_tensor(updates, dtype=target.dtype, device=target.device)
    axis, batch_dims = dims_of_options(axis, batch_dims)
    check_names(given)
    return called(name, target, indices, updates, axis, batch_dims, switches_of(**given))


def bags_of(count: int | None, *arrays: Any) -> tuple[str, Any]:
    """Returns the format and the array of the bags. Dynamo traces this, but not the errors of the package."""
    given = [
        pair for pair in zip(("offsets", "starts", "lengths", "segments"), arrays, strict=True) if pair[1] is not None
    ]
    if len(given) > 1 or (count is None) is (len(given) == 1 and given[0][0] == "segments"):
        plain_bags.bags_of(count, **dict(given))  # raises an error
    return given[0] if given else ("dense", None)


def run_bags(
    name: str,
    public: Callable[..., Any],
    params: Any,
    indices: Any,
    form: str,
    bags: Any,
    count: int | None,
    weights: Any,
    rules: dict[str, Any],
) -> Any:
    """Runs gather_bags, or finds its positions. `rules` has the keywords of `public` that select a rule."""
    relevant = params, indices, bags, weights
    if has_torch_function(relevant):
        own = {form: bags, "weights": weights}
        own = {name: operand for name, operand in own.items() if operand is not None}
        return handle_torch_function(public, relevant, params, indices, **own, count=count, **rules)
    require_extension(name)
    indices = tensor_of(indices, require_tensor("params", params))
    bags = None if bags is None else tensor_of(bags, params)
    if weights is not None and not isinstance(weights, torch.Tensor):
        is_half = params.dtype in (torch.float16, torch.bfloat16)
        weights = torch.as_tensor(weights, dtype=torch.float32 if is_half else params.dtype, device=params.device)
    check_names(rules)
    bounds = bounds_of_fill(rules["fill_value"], rules["bounds"], rules.get("empty"), bag_format=form)
    filling, value = fill_of(rules["fill_value"], params)
    switches = switches_of(**rules | {"bounds": bounds, "fill": filling}, bag_format=form)
    count = 0 if count is None else integer_of("count", count)
    others = (bags, weights) if name == "gather_bags" else (bags,)
    return called(name, params, indices, *others, count, switches, value)


def run_embedding(ids: Any, weight: torch.Tensor, padding: int, sparse: bool) -> Any:
    """Runs an embedding with its own gradient. `padding` is the row that has none, or -1."""
    flag_of("sparse", sparse)
    require_extension("embedding with padding_idx or sparse")
    return called("embedding", weight, tensor_of(ids, weight), padding, sparse)


def padding_of(padding_idx: int | None, weight: torch.Tensor) -> int:
    """Returns the number of the row whose gradient is zero, or -1."""
    if padding_idx is None:
        return -1
    padding_idx = integer_of("padding_idx", padding_idx)
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise errors.RankError(
            f"options: padding_idx is {padding_idx}, weight has {rows} rows", status=c.E_AXIS, operand="options"
        )
    return padding_idx + rows if padding_idx < 0 else padding_idx


def refuse(module: Any, *names: str) -> None:
    """Raises UnsupportedError for a module that has one of these attributes."""
    for name in names:
        if getattr(module, name):
            raise errors.unsupported("options", f"{name} needs torch.nn.{type(module).__name__}")


def fast(name: str) -> Callable[..., Any]:
    """Returns a function of the extension. It returns NotImplemented for a call that it does not support."""
    return getattr(extension, name, not_compiled)


def not_compiled(*_: object) -> Any:
    warn_without_extension()
    return NotImplemented


@cache
def warn_without_extension() -> None:
    """Warns once that calls are slow."""
    warnings.warn(f"libgather.torch is slow without its extension, but {REASON}: run {COMMAND}", stacklevel=4)


def called(name: str, *arguments: Any) -> Any:
    """Calls an operator of torch.ops. Raises the errors of this package."""
    operator = getattr(torch.ops.libgather, name).default
    if torch.compiler.is_compiling():
        return operator(*arguments)
    extension.take_error()
    try:
        return operator(*arguments)
    except Exception:
        fields = extension.take_error()
        if fields is None:
            raise
        table, indices = arguments[:2]
        name = name.removesuffix("_positions")
        axis, batch_dims = dims_of(name, arguments)
        error = error_of(fields, getattr(c, f"OP_{name.upper()}", c.OP_GATHER), table, indices, axis, batch_dims)
    raise error


def dims_of(name: str, arguments: Any) -> Any:
    """Returns the axis and the batch dims of a call of an operator."""
    if name in ("embedding", "gather_bags"):
        return 0, 0
    return arguments[-4:-2] if of_name(name).kind == "gather" else arguments[-3:-1]


def error_of(
    fields: Any, number: int, table: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int
) -> errors.Error:
    """Returns the exception for the fields of a gth_error."""
    error = errors.of_fields(fields)
    # In vmap, the position counts all indices of the batch.
    if isinstance(error, errors.IndexError) and not torch._C._functorch.is_functorch_wrapped_tensor(indices):
        locate(error, OPERATIONS[number], table.dim(), tuple(indices.shape), axis, batch_dims)
    return error


def require_extension(name: str) -> None:
    if extension is None:
        raise errors.unsupported("options", f"libgather.torch.{name} needs the extension, but {REASON}: run {COMMAND}")


def require_tensor(operand: str, value: Any) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not a tensor of torch")
    return value


def require_matrix(operand: str, value: Any, message: str = "") -> None:
    """Raises RankError for a tensor whose rank is not 2."""
    rank = require_tensor(operand, value).dim()
    if rank != 2:
        message = f"{operand}: rank is {rank}, needed is 2{message}"
        raise errors.RankError(message, status=c.E_RANK, operand=operand, value=rank, limit=2)


def tensor_of(indices: Any, table: torch.Tensor) -> torch.Tensor:
    """Returns integers or lists of them as a tensor. An empty list has no dtype in torch."""
    if isinstance(indices, torch.Tensor):
        return indices
    made = torch.as_tensor(indices, device=table.device)
    return made if made.numel() else made.long()


def from_front(dim: int, rank: int) -> int:
    """Returns a dim counted from the front. A dim out of range is returned unchanged, and the library rejects it."""
    return dim + rank if -rank <= dim < 0 else dim


def switches_of(**given: Any) -> list[int]:
    given["has_padding_index"] = given.get("padding_index") is not None
    given["initial"] = 0 if flag_of("include_self", given.get("include_self", True)) else c.INITIAL_UPDATE
    given["sparse"] = flag_of("sparse", given.get("sparse", False))
    return [number_of(option, given.get(option)) for option in SWITCHES]


def number_of(option: str, value: Any, name: str | None = None) -> int:
    """Returns the number of the value of an option. Errors call the option `name`."""
    if value is None:
        return 0
    if option in _COMPUTED:
        return int(value)
    if option not in _NUMBERS:
        return int(integer_of(option, value))
    numbers = _NUMBERS[option]
    if value not in numbers:
        message = f"options: {name or option} {value!r} is none of {', '.join(numbers)}"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    return numbers[value]


def check_names(given: dict[str, Any]) -> None:
    """Raises DTypeError for an option whose value is not a string. Later comparisons with an array would not return a
    bool."""
    for option in given.keys() & _NUMBERS.keys():
        if not (given[option] is None or isinstance(given[option], str)):  # Dynamo does not trace check_name()
            raise not_a("string", option, given[option])


def dims_of_options(axis: Any, batch_dims: Any) -> tuple[int, int]:
    """Returns the axis and the batch dims. Without an axis, it is the number of batch dims."""
    batch_dims = integer_of("batch_dims", batch_dims)
    return batch_dims if axis is None else integer_of("axis", axis), batch_dims


def integer_of(option: str, value: Any) -> int:
    """Returns an integer. As in torch, it may be one of NumPy or a tensor of rank 0, and a bool is none."""
    if isinstance(value, torch.Tensor):
        is_whole = not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
        if is_whole and value.dim() == 0:
            return int(value)
    elif isinstance(value, Integral) and not isinstance(value, bool):
        return value  # type: ignore[return-value] # Dynamo's symbols remain symbols
    raise not_a("integer", option, value)


def flag_of(option: str, value: Any) -> bool:
    """Returns a bool. As in torch, neither a number nor an array is one."""
    if not isinstance(value, bool):
        raise not_a("bool", option, value)
    return value


def scalar_of(option: str, value: Any) -> Any:
    """Returns a number of Python. As in torch, it may be one of NumPy or a tensor of rank 0."""
    if type(value) in (int, float):  # Dynamo has no attributes of its symbols
        return value
    if hasattr(value, "item") and not getattr(value, "ndim", 0):
        value = value.item()
    if not isinstance(value, (int, float, complex)):
        raise not_a("number", option, value)
    return value


def not_a(kind: str, option: str, value: Any) -> errors.DTypeError:
    """Returns the error for an option of another type."""
    article = "an" if kind == "integer" else "a"
    return errors.dtype_error("options", f"{option} is {type(value).__name__}, not {article} {kind}")


def fill_of(value: Any, params: torch.Tensor) -> tuple[int, Any]:
    """Returns the way to fill and the value."""
    if value is None:
        return 0, 0
    if isinstance(value, str):
        if value not in FILLS:
            raise errors.dtype_error("options", f"fill_value {value!r} is no number")
        return FILLS[value], 0
    if isinstance(value, bytes):
        if len(value) != params.element_size():
            raise errors.dtype_error("options", f"fill_value {value!r} is no {params.dtype}")
        return c.FILL_VALUE, torch.frombuffer(bytearray(value), dtype=params.dtype)[0].item()
    value = scalar_of("fill_value", value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise errors.dtype_error("options", f"fill_value {value} is beyond 64 bits")
    return c.FILL_VALUE, value
