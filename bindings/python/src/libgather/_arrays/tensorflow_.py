"""Tensors and variables of TensorFlow, which cannot be written."""

from __future__ import annotations

from functools import cache

from .. import errors
from .._base import constants as c
from .._base.devices import HOST
from .._base.dtypes import NUMBERS
from .._base.optional_packages import module
from .._memory.memory import Memory
from . import dlpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._base.devices import Place
    from .._memory.device_site import Site


def enter(value: Any, site: Site | None, operand: str) -> Memory:
    tf = checked(value, operand)
    if not hasattr(value, "numpy"):
        message = (
            f"{type(value).__name__} has no value while TensorFlow traces: tf.numpy_function() calls this with values"
        )
        raise errors.dtype_error(operand, message)
    tensor = value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(value)  # the conversion is slow
    if is_recorded(tensor):
        message = "its gradient is being recorded, which would be lost: pass tf.stop_gradient() of it"
        raise errors.dtype_error(operand, message)
    # A DLPack export of a tensor of strings would abort the process.
    if not exchangeable(tensor.dtype):
        from . import numpy_

        return numpy_.enter(tensor.numpy(), site, operand)
    return dlpack.enter(tensor, site, operand)


def checked(value: Any, operand: str) -> Any:
    """Returns the module tensorflow. Raises DTypeError for ragged and sparse tensors and for slices."""
    tf = module("tensorflow")
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array")
    return tf


def recording() -> Any:
    """Returns the private module of TensorFlow that records operations on tapes and forward accumulators."""
    return module("tensorflow.python.eager.record")


def is_recorded(tensor: Any) -> bool:
    """Returns whether a tape or a forward accumulator records a tensor."""
    record = recording()
    if not record.could_possibly_record():
        return False
    if record.should_record_backprop([tensor]):
        return True
    return bool(module("tensorflow.python.eager.forwardprop_util").pack_tangents([tensor]).tangents)


def place_of(value: Any, operand: str) -> Place:
    """Returns the device from its name, because ``__dlpack_device__`` would wait until the memory is ready."""
    device = str(getattr(value, "device", None) or "")
    _, on_gpu, number = device.rpartition("GPU:")
    return (c.DEVICE_CUDA, int(number)) if on_gpu and number.isdecimal() else HOST


@cache  # the name of a TensorFlow dtype is slow
def exchangeable(dtype: Any) -> bool:
    """Returns whether TensorFlow's DLPack supports the dtype. It does not support strings and quantised dtypes."""
    return not dtype.is_quantized and dtype.name in _EXCHANGED


_EXCHANGED = frozenset(name for name in NUMBERS if not name.startswith(("float8", "string")))


def carried_of(value: Any) -> Any:
    dtype = value.dtype
    if exchangeable(dtype) or dtype.name in _EXCHANGED or dtype.name == "string":
        return None
    return module("numpy").dtype(dtype.as_numpy_dtype)


def flat(value: Any) -> Any:
    return checked(value, "params").reshape(value, [-1])


def leave(tensor: Memory, like: Any) -> Any:
    tf = module("tensorflow")
    if tensor._dtype != c.DTYPE_STRING and like.dtype.name in _EXCHANGED:
        if tensor._live_context is not None:
            # TensorFlow does not name its stream, and expects that memory is ready.
            tensor._live_context._wait_for_work()
        return tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())
    from . import numpy_

    return tf.constant(numpy_.leave(tensor, like.numpy()), like.dtype)
