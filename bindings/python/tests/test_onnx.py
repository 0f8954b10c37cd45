"""libgather.onnx: the attributes and dtypes of each opset, and ONNX's own node tests."""

from __future__ import annotations

import unittest
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test import BackendTest

import libgather
from libgather.onnx import backend

Gather, GatherElements, GatherND = libgather.onnx.Gather, libgather.onnx.GatherElements, libgather.onnx.GatherND
DATA = np.arange(6, dtype="f4").reshape(3, 2)


def test_opsets() -> None:
    half = DATA.astype(ml_dtypes.bfloat16)
    assert (Gather(half, [-1]) == half[[-1]]).all()
    for opset in (1, 11, 12):
        with pytest.raises(libgather.DTypeError):
            Gather(half, [0], opset=opset)
    with pytest.raises(libgather.IndexError):
        Gather(DATA, [-1], opset=1)
    assert (Gather(DATA, [[0, 1]], axis=1, opset=30) == DATA[:, [[0, 1]]]).all()
    with pytest.raises(libgather.DTypeError):
        GatherElements(half, [[0, 0]], opset=12)
    assert (GatherElements(half, [[-1, 0]]) == [[half[-1, 0], half[0, 1]]]).all()
    refused = ((Gather, 0), (GatherND, 10), (GatherND, 0), (Gather, -1), (GatherElements, 10), (GatherElements, 0))
    for function, opset in refused:
        with pytest.raises(libgather.Error) as caught:
            function(DATA, [[0]], opset=opset)
        assert caught.value.status_name == "GTH_E_VERSION"
    with pytest.raises(libgather.Error):
        GatherND(DATA[None], [[[0]]], batch_dims=1, opset=11)
    assert (GatherND(DATA[None], [[[0]]], batch_dims=1, opset=12) == DATA[None, :1]).all()


def test_types() -> None:
    with pytest.raises(libgather.DTypeError):
        GatherND(DATA, np.array([[0]], "i4"))
    with pytest.raises(libgather.DTypeError):
        Gather(DATA, np.array([0], "u8"))
    with pytest.raises(libgather.DTypeError):
        Gather(DATA.astype(ml_dtypes.float8_e5m2), [0])
    with pytest.raises(libgather.DTypeError):
        GatherElements(DATA, np.array([[0, 0]], "u8"))
    assert Gather(np.array(["a", "b"]), [1]).tolist() == ["b"]
    assert GatherElements(np.array(["a", "b"]), [1, 1]).tolist() == ["b", "b"]
    for wrong in (None, 1.5, "1"):
        with pytest.raises(libgather.DTypeError):
            GatherND(DATA, [[0]], batch_dims=wrong)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[D]", "longdouble", "V8", "V3", ml_dtypes.int4, ml_dtypes.float4_e2m1fn])
def test_types_of_no_opset(dtype: Any) -> None:
    for function, indices in ((Gather, [0]), (GatherND, [[0]]), (GatherElements, [[0, 0]])):
        for opset in (11, 13, 30):
            with pytest.raises(libgather.DTypeError, match="params"):
                function(np.zeros((2, 2), dtype), indices, opset=opset)


def test_gather_elements() -> None:
    indices = np.array([[1, 0], [-1, -2]])
    for opset in (11, 13, 30):
        assert (GatherElements(DATA, indices, opset=opset) == np.take_along_axis(DATA, indices, 0)).all()
    prefix = indices[:, :1]
    assert (GatherElements(DATA, prefix, axis=1) == np.take_along_axis(DATA[:2], prefix, 1)).all()
    with pytest.raises(libgather.ShapeError):
        GatherElements(DATA, np.zeros((1, 3), int))
    with pytest.raises(libgather.RankError):
        GatherElements(DATA, [0])
    with pytest.raises(libgather.IndexError) as caught:
        GatherElements(DATA, [[0, 1], [2, 3]])
    assert (caught.value.position, caught.value.value, caught.value.limit) == (3, 3, 3)


NODE_TESTS = 24  # of Gather, GatherElements, GatherND, ScatterElements and ScatterND in onnx


ScatterElements, ScatterND = libgather.onnx.ScatterElements, libgather.onnx.ScatterND
SCATTERS = [(ScatterND, np.array([[1], [0]])), (ScatterElements, np.array([[1, 0], [-1, -2]]))]


@pytest.mark.parametrize(("function", "indices"), SCATTERS, ids=["ScatterND", "ScatterElements"])
def test_opsets_of_scatters(function: Any, indices: np.ndarray) -> None:
    updates = np.full((2, 2), 7, "f4")
    for opset in (11, 13, 16, 18, 30):
        assert (function(DATA, indices, updates, opset=opset) == 7).sum() == 4
    first = {"add": 16, "mul": 16, "max": 18, "min": 18}
    for reduction, opset in first.items():
        assert function(DATA, indices, updates, reduction=reduction, opset=opset).shape == DATA.shape
        with pytest.raises(libgather.OptionError):
            function(DATA, indices, updates, reduction=reduction, opset=opset - 1)
    for opset in (10, 0, -1):
        with pytest.raises(libgather.OptionError):
            function(DATA, indices, updates, opset=opset)
    half = ml_dtypes.bfloat16
    assert function(DATA.astype(half), indices, updates.astype(half), opset=13).dtype == half
    with pytest.raises(libgather.DTypeError, match="target: "):
        function(DATA.astype(half), indices, updates.astype(half), opset=12)
    for dtype in (ml_dtypes.float8_e5m2, "M8[s]", "longdouble", "V8", ml_dtypes.int4):
        with pytest.raises(libgather.DTypeError, match="target: "):
            function(np.zeros((3, 2), dtype), indices, np.zeros((2, 2), dtype))
    with pytest.raises(libgather.DTypeError, match="indices: "):
        function(DATA, indices.astype("u8"), updates)
    with pytest.raises(libgather.IndexError):
        function(DATA, indices + 3, updates)
    words = np.array([["a", "b"], ["c", "d"], ["e", "f"]])
    assert (function(words, indices, np.full((2, 2), "g")) == "g").sum() == 4
    with pytest.raises(libgather.DTypeError, match="target: "):
        function(words, indices, np.full((2, 2), "g"), reduction="add")


class Counted(unittest.TestResult):
    """Counts passed tests. Some releases of Python count skipped tests in a TestResult, and others do not."""

    passed = 0

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.passed += 1


@pytest.fixture(scope="module")
def node_tests() -> Any:
    runner = BackendTest(backend, __name__)
    runner.include(r"^test_(gather|scatter_elements|scatternd)\w*_cpu$")
    return runner.test_cases


def test_onnx_node_tests(node_tests: dict[str, Any]) -> None:
    suite = unittest.TestSuite()
    for cases in node_tests.values():
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(cases))
    result = Counted()
    suite.run(result)
    assert result.wasSuccessful(), result.failures + result.errors
    assert result.passed == NODE_TESTS


def test_backend() -> None:
    node = helper.make_node("GatherND", ["data", "indices"], ["out"])
    graph = helper.make_graph(
        [node],
        "lookup",
        [helper.make_tensor_value_info("indices", TensorProto.INT64, [1, 1])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 2])],
        [numpy_helper.from_array(DATA, "data")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    assert backend.is_compatible(model) and not backend.is_compatible(model, "CUDA")
    assert backend.run_model(model, [np.array([[2]])])[0].tolist() == [[4, 5]]
    other = helper.make_model(helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "other", [], []))
    assert not backend.is_compatible(other) and not backend.supports_device("CUDA")


def model_of(node: Any, inputs: list[Any], initializers: list[Any]) -> Any:
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 2])
    domains = {"", node.domain}
    model = helper.make_model(
        helper.make_graph([node], "lookup", inputs, [out], initializers),
        opset_imports=[helper.make_opsetid(domain, 13) for domain in sorted(domains)],
    )
    model.ir_version = 8
    return model


INDICES = helper.make_tensor_value_info("indices", TensorProto.INT64, [1])
TABLE = helper.make_tensor_value_info("data", TensorProto.FLOAT, [3, 2])


def test_inputs_are_matched_by_the_names_of_the_graph() -> None:
    node = helper.make_node("Gather", ["data", "indices"], ["out"])
    default = numpy_helper.from_array(DATA, "data")
    optional = backend.prepare(model_of(node, [INDICES, TABLE], [default]))
    assert optional.run([np.array([2])])[0].tolist() == [[4, 5]]
    assert optional.run([np.array([2]), DATA * 10])[0].tolist() == [[40, 50]]  # an initializer is a default value
    swapped = backend.prepare(model_of(node, [INDICES, TABLE], []))
    assert swapped.run([np.array([1]), DATA])[0].tolist() == [[2, 3]]
    twice = helper.make_node("Gather", ["indices", "indices"], ["out"])
    assert backend.prepare(model_of(twice, [INDICES], [])).run([np.array([0])])[0].tolist() == [0]
    for rep, counts in ((optional, (0, 3)), (swapped, (0, 1, 3))):
        for count in counts:
            with pytest.raises(libgather.Error, match=rf"inputs: {count} are given, \d are needed"):
                rep.run([np.array([2])] * count)
    with pytest.raises(libgather.Error, match="inputs: 1 are given, 2 are needed"):
        backend.run_node(node, [DATA])


def test_nodes_of_another_domain_are_refused() -> None:
    node = helper.make_node("Gather", ["data", "indices"], ["out"], domain="com.example")
    assert not backend.is_compatible(model_of(node, [TABLE, INDICES], []))
    with pytest.raises(NotImplementedError):
        backend.prepare(model_of(node, [TABLE, INDICES], []))
    with pytest.raises(NotImplementedError):
        backend.run_node(node, [DATA, np.array([0])])
