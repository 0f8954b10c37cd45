"""TensorFlow's tensors and variables, which nothing may write to."""

from __future__ import annotations

from .. import _constants as c
from .. import errors
from .._dtypes import NUMBERS
from ..tensor import Tensor
from . import dlpack, module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..context import Context


def enter(value: Any, context: Context | None, operand: str) -> Tensor:
    tf = module("tensorflow")
    if not tf.is_tensor(value) or not hasattr(value, "numpy"):
        raise errors.dtype_error(operand, f"{type(value).__name__} is not an array that has a value now")
    tensor = tf.convert_to_tensor(value)
    # A tensor of strings must not be asked for DLPack: TensorFlow would end the process.
    if tensor.dtype == tf.string or not exchangeable(tensor):
        from . import numpy_

        return numpy_.enter(tensor.numpy(), context, operand)
    return dlpack.enter(tensor, context, operand)


def exchangeable(tensor: Any) -> bool:
    """Whether TensorFlow's own DLPack knows the dtype; quantised ones it does not."""
    return not tensor.dtype.is_quantized and tensor.dtype.name in _EXCHANGED


_EXCHANGED = frozenset(name for name in NUMBERS if not name.startswith(("float8", "string")))


def leave(tensor: Tensor, like: Any) -> Any:
    tf = module("tensorflow")
    if tensor._dtype != c.DTYPE_STRING and like.dtype.name in _EXCHANGED:
        return tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())
    from . import numpy_

    return tf.constant(numpy_.leave(tensor, like.numpy()), like.dtype)
