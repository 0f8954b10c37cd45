"""A backend for ONNX's test runner. It runs models that consist of one gather or scatter node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import onnx
from onnx import defs, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep

from .. import errors
from .._base import constants as c
from . import Gather, GatherElements, GatherND, ScatterElements, ScatterND

_DOMAINS = ("", "ai.onnx")
_OPERATORS: dict[str, Any] = {
    operator.__name__: operator for operator in (Gather, GatherElements, GatherND, ScatterElements, ScatterND)
}
_NAMES = ", ".join(_OPERATORS)


class GatherRep(BackendRep):
    """A prepared model of one node."""

    def __init__(self, operator: Any, graph: onnx.GraphProto) -> None:
        self._operator = operator
        self._arguments = list(graph.node[0].input)
        self._inputs = [value.name for value in graph.input]
        self._constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the node on inputs in the order of the graph. Inputs with an initializer may be omitted together.

        Raises:
            Error: The number of inputs is wrong.
        """
        given = self._constants | dict(zip(self._names_of(len(inputs)), inputs, strict=True))
        return (self._operator(*(given[name] for name in self._arguments)),)

    def _names_of(self, count: int) -> list[str]:
        needed = [name for name in self._inputs if name not in self._constants]
        for names in (needed, self._inputs):
            if len(names) == count:
                return names
        raise other_count(count, len(needed))


class GatherBackend(Backend):
    """Runs models of one node on the CPU: Gather, GatherElements, GatherND, ScatterElements or ScatterND.

    >>> from onnx import TensorProto, helper
    >>> import libgather.onnx.backend
    >>> node = helper.make_node("Gather", ["data", "indices"], ["out"], axis=1)
    >>> libgather.onnx.backend.run_node(node, [[[1, 2], [3, 4]], [1]])[0].tolist()
    [[2], [4]]
    """

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Returns whether the model is one node that this backend supports."""
        nodes = model.graph.node
        return cls.supports_device(device) and len(nodes) == 1 and is_ours(nodes[0])

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> GatherRep:
        """Validates a model and prepares it."""
        super().prepare(model, device, **kwargs)
        if not cls.is_compatible(model, device):
            raise NotImplementedError(f"only models of one node, on the CPU: {_NAMES}")
        opset = next((o.version for o in model.opset_import if o.domain in _DOMAINS), defs.onnx_opset_version())
        return GatherRep(operator_of(model.graph.node[0], opset), model.graph)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Runs one node."""
        if not is_ours(node):
            raise NotImplementedError(f"only nodes of ONNX's own domain: {_NAMES}")
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        if len(inputs) != len(node.input):
            raise other_count(len(inputs), len(node.input))
        return (operator_of(node, kwargs.get("opset_version", defs.onnx_opset_version()))(*inputs),)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Returns whether the device is the CPU."""
        return device == "CPU"


def is_ours(node: onnx.NodeProto) -> bool:
    return node.op_type in _OPERATORS and node.domain in _DOMAINS


def other_count(count: int, needed: int) -> errors.OptionError:
    message = f"inputs: {count} are given, {needed} are needed"
    return errors.OptionError(message, status=c.E_NULL, value=count, limit=needed)


def operator_of(node: onnx.NodeProto, opset: int) -> Any:
    values = ((attribute.name, helper.get_attribute_value(attribute)) for attribute in node.attribute)
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in values}
    return partial(_OPERATORS[node.op_type], opset=opset, **attributes)


is_compatible: Callable[..., bool] = GatherBackend.is_compatible
prepare: Callable[..., GatherRep] = GatherBackend.prepare
run_model: Callable[..., tuple[Any, ...]] = GatherBackend.run_model
run_node: Callable[..., tuple[Any, ...]] = GatherBackend.run_node
supports_device: Callable[[str], bool] = GatherBackend.supports_device
