"""Runs each row of the pages of migration against the library that it replaces."""

from __future__ import annotations

import importlib
import json
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import libgather
from conftest import BINDING

sys.path.insert(0, str(BINDING.parent / "generate"))
migration: Any = importlib.import_module("migration")

RANDOM = np.random.default_rng(4)
TABLE = RANDOM.permutation(20).reshape(5, 4).astype("f4")
#: Indices of 5 rows and of 4 columns.
IDS = {
    "valid": ([3, 0, 2], [2, 3, 1]),
    "negative": ([-1, 2, -4], [0, -4, -1]),
    "beyond": ([1, 9, 0], [2, 0, 7]),
    "below": ([0, -9, 1], [1, 2, -8]),
    "empty": ([], []),
}


def ids_of(form: str, case: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Returns the indices i and j."""
    rows, columns = (np.array(each, np.int64) for each in IDS[case])
    if form == "tuples":
        return np.stack([rows, columns], -1), columns
    if form == "matrix":
        return np.stack([np.roll(columns, shift) for shift in range(5)]), columns
    if form == "each":
        return np.resize(columns, 5 if columns.size else 0), columns
    return rows, columns


def operands(row: Any, case: str, make: Any) -> dict[str, Any]:
    """Returns the names of a call, whose arrays `make` creates."""
    i, j = ids_of(row.ids, case)
    values = {
        "a": TABLE,
        "x": TABLE,
        "data": TABLE,
        "i": i,
        "j": j,
        "u": RANDOM.standard_normal((len(i), 4)).astype("f4"),
        "v": RANDOM.standard_normal(i.shape if row.ids == "matrix" else len(i)).astype("f4"),
        "out": np.zeros((len(i), 4), "f4"),
        "mask": np.array([True, False, True, True, False]),
        "offsets": np.array([0, min(2, len(i))]),
        "s": np.array([0, 0, 3])[: len(i)],
    }
    return {"dim": 0, "shape": (5, 4), **{name: make(value) for name, value in values.items()}}


def run(call: str, names: dict[str, Any]) -> Any:
    """Returns the result of a call, or the array that a statement has changed. An exception is a result."""
    try:
        if " = " in call or call.startswith(("np.add.at", "np.put_along", "put_along")) or "inplace" in call:
            exec(call, names)
            return names["a"]
        return eval(call, names)
    except Exception as error:
        return error


def scatter_max(src: Any, index: Any, dim: int, out: Any) -> tuple[Any, Any]:
    """Returns scatter_max of torch_scatter for indices of the rows: the maxima, and the first row that has each."""
    result, arg = out.clone(), index.new_full(out.shape, len(index))
    assert dim == 0
    for number, place in enumerate(index.tolist()):
        larger = src[number] > result[place]
        result[place][larger], arg[place][larger] = src[number][larger], number
    return result, arg


def test_scatter_max_is_that_of_torch_scatter() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    recorded = json.loads(Path(__file__).with_name("torch_scatter.json").read_text(encoding="utf-8"))
    cases = [each for each in recorded["cases"] if (each["reduction"], each["dim"]) == ("max", 0) and each["out"]]
    cases = [each for each in cases if np.ndim(each["index"]) == 1]
    assert len(cases) == 8
    for case in cases:
        result, arg = scatter_max(
            *(torch.tensor(case[name]) for name in ("src", "index")), 0, torch.tensor(case["out"])
        )
        assert (result.tolist(), arg.tolist()) == (case["result"], case["arg"])


def compare(name: str, row: Any, case: str, make: Any, **more: Any) -> None:
    drawn = operands(row, case, make)
    modules = {each: getattr(libgather, each) for each in libgather.__all__} | {"libgather": libgather, "np": np}
    modules["torch_scatter"] = SimpleNamespace(scatter_max=scatter_max)
    expected = [run(call, {**modules, **deepcopy(drawn), **more}) for call in row.theirs]
    results = [run(call, {**modules, **deepcopy(drawn), **more}) for call in row.ours]
    for result in expected[1:] + results:
        if isinstance(expected[0], Exception):
            assert isinstance(result, Exception), (name, case, row.ours, expected[0], result)
        else:
            assert not isinstance(result, Exception), (name, case, row.ours, result)
            check_equal(result, expected[0])


def check_equal(result: Any, expected: Any) -> None:
    if hasattr(expected, "equals"):
        assert type(result) is type(expected)
        assert result.equals(expected)
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def cases_of(rows: list[Any]) -> list[Any]:
    return [
        pytest.param(row, case, id=f"{row.theirs[0]}-{case}")
        for row in rows
        if isinstance(row, migration.Row)
        for case in (row.cases.split() or IDS)
    ]


@pytest.mark.parametrize(("row", "case"), cases_of(migration.ROWS["numpy"]))
def test_numpy(row: Any, case: str) -> None:
    compare("numpy", row, case, np.asarray)


@pytest.mark.parametrize(("row", "case"), cases_of(migration.ROWS["torch"]))
def test_torch(row: Any, case: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    compare("torch", row, case, lambda value: torch.from_numpy(value.copy()), torch=torch, F=torch.nn.functional)


@pytest.mark.parametrize(("row", "case"), cases_of(migration.ROWS["jax"]))
def test_jax(row: Any, case: str) -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    compare("jax", row, case, jax.numpy.asarray, jax=jax, jnp=jax.numpy)


@pytest.mark.parametrize(("row", "case"), cases_of(migration.ROWS["tensorflow"]))
def test_tensorflow(row: Any, case: str) -> None:
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    ids = [[max(0, number) for number in IDS[case][0]], [4]]
    sparse = tf.ragged.constant(ids, dtype=tf.int64).to_sparse()
    compare("tensorflow", row, case, tf.convert_to_tensor, tf=tf, ids=sparse)


def node(name: str) -> Any:
    """Returns a function that runs a node with ONNX's own evaluator."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    def call(*operands: Any, **attributes: Any) -> Any:
        inputs = [f"input{number}" for number in range(len(operands))]
        values = [onnx.helper.make_tensor_value_info(each, 0, None) for each in inputs]
        output = onnx.helper.make_tensor_value_info("output", 0, None)
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node(name, inputs, ["output"], **attributes)], "graph", values, [output]
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
        return ReferenceEvaluator(model).run(None, dict(zip(inputs, operands, strict=True)))[0]

    return call


@pytest.mark.parametrize(("row", "case"), cases_of(migration.ROWS["onnx"]))
def test_onnx(row: Any, case: str) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    nodes = {name: node(name) for name in ("Gather", "GatherElements", "GatherND", "ScatterND", "ScatterElements")}
    compare("onnx", row, case, np.asarray, onnx=libgather.onnx, **nodes)


@pytest.mark.parametrize(("row", "case"), cases_of(migration.ROWS["arrow"]))
def test_columns(row: Any, case: str) -> None:
    library = pytest.importorskip(row.of, reason=f"{row.of} is not installed")
    words = ["to", "be", None, "or", "not"]
    given: dict[str, Any] = {}
    if row.of == "pyarrow":
        array, table = library.array(words), library.table({"word": words, "number": range(5)})
        chunked = library.chunked_array([words[:2], words[2:]])
        given = {"array": array, "chunked": chunked, "table": table, "pc": importlib.import_module("pyarrow.compute")}
    else:
        frame = library.DataFrame({"word": words, "number": range(5)})
        given = {"frame": frame, "series": frame["word"]}
    compare("arrow", row, case, np.asarray, **given)


def test_pages_have_the_rows() -> None:
    for page, text in migration.files(None, None).items():
        assert page.read_text() == text, f"{page}: run ./dev generate"
