"""Tensors of torch: exchanges their memory by DLPack, and handles gradients, versions and resizable storage."""

from __future__ import annotations

import sys
from functools import cache

from .. import _objects, errors
from .._base.optional_packages import module
from .._memory.memory import Memory
from . import dlpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._memory.device_site import Site

leave = dlpack.leave


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    return dlpack.enter_with(current_stream, plain(value, operand), site, operand)


enter_output = enter


def place_of(value: Any, operand: str) -> Place:
    torch = module("torch")
    if isinstance(value, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise errors.dtype_error(
            operand, "it has no memory in torch.vmap and torch.func: the operators of libgather.torch need none"
        )
    return dlpack.place_of(value, operand)


def current_stream(value: Any, place: Place) -> Any:
    return module("torch").cuda.current_stream(place[1])


def new_array(like: Any, shape: tuple[int, ...], place: Place, zeroed: bool, dtype: str | None) -> Any:
    torch = module("torch")
    make = torch.zeros if zeroed else torch.empty
    made = like.dtype if dtype is None else getattr(torch, dtype)
    return make(shape, dtype=made, device=torch.device("cuda", place[1]))


def plain(value: Any, operand: str) -> Any:
    """Returns a tensor of the same memory. Raises DTypeError if a gradient is lost or the memory holds other values.

    The result keeps the memory when the given tensor gets another one, as by ``set_`` or by an assignment to ``data``.
    """
    torch = module("torch")
    if not isinstance(value, torch.Tensor):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    if isinstance(value, torch._subclasses.FakeTensor):
        raise errors.dtype_error(operand, "a FakeTensor has no values: the operators of libgather.torch need none")
    if value.dtype in small_dtypes():
        raise errors.dtype_error(operand, f"elements of dtype {value.dtype} are no dtype of this library")
    if value.requires_grad and torch.is_grad_enabled():
        raise lost(operand, "it requires a gradient")
    if torch.autograd.forward_ad.unpack_dual(value).tangent is not None:
        raise lost(operand, "it has a tangent of forward mode")
    if value.is_conj() or value.is_neg():  # torch's exchange table does not check this
        raise errors.dtype_error(operand, "its memory waits to be conjugated or negated: pass resolve_conj() of it")
    return value.detach()


@cache
def small_dtypes() -> frozenset[Any]:
    """Returns the dtypes of one to seven bits, which torch exports as bytes."""
    torch = module("torch")
    names = (f"{kind}{bits}" for kind in ("int", "uint") for bits in range(1, 8))
    return frozenset(getattr(torch, name) for name in names if hasattr(torch, name))


def lost(operand: str, what: str) -> errors.DTypeError:
    keeps = "libgather.torch.gather keeps it. To lose it, " if operand == "params" else ""
    return errors.dtype_error(operand, f"{what}, which would be lost: {keeps}pass detach() of it")


def written(value: Any) -> None:
    """Notifies autograd that saved values of the tensor are outdated."""
    module("torch").autograd.graph.increment_version(value)


def hold(value: Any) -> None:
    """Prevents torch from resizing the storage, as for a storage that is shared with NumPy.

    An export keeps a storage alive, but not its memory: ``resize_`` gives the storage other memory.
    """
    if value.device.type == "cpu":
        torch = module("torch")
        torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage()).numpy()


def configure(torch: Any) -> None:
    """Configures calls to read tensors through torch's exchange table, if torch has it and the required checks."""
    table, forward = dlpack.exchange_of(torch.Tensor), torch.autograd.forward_ad
    if table is None or not hasattr(forward, "_current_level"):
        return

    small = small_dtypes()

    def is_plain(value: Any) -> bool:
        """Returns whether a tensor of real numbers is plain memory."""
        records = value.requires_grad and torch.is_grad_enabled()
        return not (records or forward._current_level >= 0 or value.is_neg() or value.dtype in small)

    told = table, is_plain, torch.Tensor.is_neg, forward, written_of(torch)
    for kind in (torch.Tensor, torch.nn.Parameter):
        _objects.configure_exchange(kind, *told)


def written_of(torch: Any) -> Any:
    """Returns a function that raises the version of a tensor.

    torch's internal function is used if it works as expected.
    """
    probe = torch.empty(1)

    increment: Any = getattr(torch._C, "_increment_version", None)

    def raise_version(value: Any) -> None:
        increment((value,))

    try:
        raise_version(probe)
    except (TypeError, RuntimeError):
        return written
    return raise_version if probe._version == 1 else written


if "torch" in sys.modules:  # true if a caller has a tensor of torch
    configure(sys.modules["torch"])
