"""Calls that TensorFlow traces or differentiates. TensorFlow is loaded if an argument is one of its tensors."""

from __future__ import annotations

import sys

from .._arrays.tensorflow_ import is_recorded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def unconverted(function: _FunctionT) -> _FunctionT:
    """Marks a function that AutoGraph calls as it is. ``tf.autograph`` sets the same attribute."""
    function.__dict__["autograph_info__"] = {}
    return function


def is_differentiated(*operands: Any) -> bool:
    """Returns whether TensorFlow traces a function with an operand, or records the gradient of an operand."""
    tf = sys.modules.get("tensorflow")
    if tf is None:
        return False
    tensors = [operand for operand in operands if isinstance(operand, (tf.Tensor, tf.Variable))]
    if not tf.executing_eagerly():
        return bool(tensors)
    return any(is_recorded(tf.convert_to_tensor(tensor)) for tensor in tensors)


def differentiated(call: Callable[..., Any], gradient: Callable[..., Any], shape: Any, *operands: Any) -> Any:
    """Returns the result of a call as a tensor that has a gradient. Traced functions call it by ``tf.numpy_function``.

    Args:
        call: Returns the result for the operands, which are arrays or tensors. It has the dtype of the first one.
        gradient: Returns the gradients of all operands, from the operands, the result and the gradient of the result.
            It consists of operations that have gradients themselves.
        shape: The known shape of the result.
    """
    tf = sys.modules["tensorflow"]

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def operator(*tensors: Any) -> Any:
        if tf.executing_eagerly():
            result = call(*map(tf.stop_gradient, tensors))
        else:
            result = tf.numpy_function(call, tensors, tensors[0].dtype)
            result.set_shape(shape)
        return result, lambda upstream: gradient(tensors, result, upstream)

    return operator(*map(tf.convert_to_tensor, operands))
