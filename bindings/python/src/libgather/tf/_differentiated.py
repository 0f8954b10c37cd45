"""Calls that TensorFlow traces or differentiates. TensorFlow is loaded if an argument is one of its tensors."""

from __future__ import annotations

import sys

from .. import errors
from .._arrays.tensorflow_ import is_recorded, recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])


def unconverted(function: _FunctionT) -> _FunctionT:
    """Marks a function that AutoGraph calls as it is. ``tf.autograph`` sets the same attribute."""
    call: _FunctionT = errors.naming("tf", function)
    call.__dict__["autograph_info__"] = {}
    return call


def is_differentiated(*operands: Any) -> bool:
    """Returns whether TensorFlow traces a function with an operand, or records the gradient of an operand."""
    tf = sys.modules.get("tensorflow")
    if tf is None:
        return False
    if not tf.executing_eagerly():
        return any(isinstance(operand, (tf.Tensor, tf.Variable)) for operand in operands)
    if not recording().could_possibly_record():
        return False
    tensors = [operand for operand in operands if isinstance(operand, (tf.Tensor, tf.Variable))]
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
    tensors = [tf.convert_to_tensor(operand) for operand in operands]
    if tf.executing_eagerly():
        return recorded(call, gradient, tensors)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def operator(*tensors: Any) -> Any:
        result = tf.numpy_function(errors.naming("tf", call), tensors, tensors[0].dtype)
        result.set_shape(shape)
        return result, lambda upstream: gradient(tensors, result, upstream)

    return operator(*tensors)


def recorded(call: Callable[..., Any], gradient: Callable[..., Any], tensors: list[Any]) -> Any:
    """Runs a call and records its gradient, as ``tf.custom_gradient`` does in several operations more."""
    tf, record, is_transposed = sys.modules["tensorflow"], recording(), True

    def backward(upstream: Any) -> Any:
        parts = gradient(tensors, result, upstream)
        return [as_tensor(part) for part in parts] if is_transposed else parts

    def as_tensor(part: Any) -> Any:
        return tf.convert_to_tensor(part) if isinstance(part, tf.IndexedSlices) else part

    with record.stop_recording():
        result = call(*tensors)
    # A forward accumulator transposes the gradient at once, and needs tensors.
    record.record_operation("libgather", [result], tensors, backward)
    is_transposed = False
    return result
