"""A backend for ONNX's own test runner: models of one Gather or GatherND."""

from __future__ import annotations

from functools import partial

import onnx
from onnx import defs, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep

from . import Gather, GatherND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_OPERATORS = {"Gather": Gather, "GatherND": GatherND}


class GatherRep(BackendRep):
    """A model of one node, ready to run."""

    def __init__(self, operator: Any, names: list[str], constants: dict[str, Any]) -> None:
        self._operator = operator
        self._names = names
        self._constants = constants

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the node on the inputs that are not initializers, in their order."""
        given = iter(inputs)
        return (self._operator(*(self._constants[n] if n in self._constants else next(given) for n in self._names)),)


class GatherBackend(Backend):
    """Runs models of one node, Gather or GatherND, on the CPU.

    >>> from onnx import TensorProto, helper
    >>> import libgather.onnx.backend
    >>> node = helper.make_node("Gather", ["data", "indices"], ["out"], axis=1)
    >>> libgather.onnx.backend.run_node(node, [[[1, 2], [3, 4]], [1]])[0].tolist()
    [[2], [4]]
    """

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether the model is one node that this backend runs."""
        nodes = model.graph.node
        return cls.supports_device(device) and len(nodes) == 1 and nodes[0].op_type in _OPERATORS

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> GatherRep:
        """Checks a model and makes it ready to run."""
        super().prepare(model, device, **kwargs)
        if not cls.is_compatible(model, device):
            raise NotImplementedError("only models of one Gather or GatherND, on the CPU")
        opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), defs.onnx_opset_version())
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        node = model.graph.node[0]
        return GatherRep(operator_of(node, opset), list(node.input), constants)

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
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        return (operator_of(node, kwargs.get("opset_version", defs.onnx_opset_version()))(*inputs),)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether it is the CPU."""
        return device == "CPU"


def operator_of(node: onnx.NodeProto, opset: int) -> Any:
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return partial(_OPERATORS[node.op_type], opset=opset, **attributes)


is_compatible = GatherBackend.is_compatible
prepare = GatherBackend.prepare
run_model = GatherBackend.run_model
run_node = GatherBackend.run_node
supports_device = GatherBackend.supports_device
