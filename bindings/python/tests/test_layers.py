"""The modules of the package have no circular imports, and the sources of the C half no circular includes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import libgather
from conftest import BINDING

PACKAGE = Path(libgather.__file__).parent
NATIVE = BINDING / "native"

#: The layers of the C half. A module is a header together with the source of the same name. It may include modules of
#: its own layer and of the layers before it.
LAYERS = (
    {"cdef", "dlpack", "numbers", "state", "xla"},
    {"error", "handle", "operand", "switches"},
    {"arrow", "buffer", "exchange", "numpy", "repeat"},
    {"array", "open", "request"},
    {"dense"},
    {"capsules", "join", "partition", "plan", "put", "run", "view"},
    {"function"},
    {"module"},
)


def sources_of(package: Path) -> Iterator[Path]:
    """Returns the modules of a package, and the stubs of its C modules."""
    return (path for path in package.rglob("*.py*") if path.suffix in (".py", ".pyi"))


def modules_of(package: Path) -> dict[str, Path]:
    """Returns the modules by name. The name of the package itself is empty."""
    found = {}
    for path in sources_of(package):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def absolute(base: str, module: str | None) -> str:
    return ".".join(filter(None, [base, module]))


def imports_of(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Yields the modules that a module imports at import time, in functions, or for type checking."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
            source = absolute(".".join(base), node.module)
            for alias in node.names:
                inner = absolute(source, alias.name)
                yield inner if inner in modules else source
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from named_by(node.args[0], modules)


def named_by(argument: ast.expr, modules: dict[str, Path]) -> Iterator[str]:
    """Yields the modules that a call of import_module with a formatted name may import."""
    if not isinstance(argument, ast.JoinedStr):
        return
    literal = "".join(part.value for part in argument.values if isinstance(part, ast.Constant))
    inside = literal.strip(".")
    for name in modules:
        if name.startswith(f"{inside}.") if inside else name in ("onnx", "tf", "torch", "jax"):
            yield name


def graph_of(package: Path) -> dict[str, set[str]]:
    modules = modules_of(package)
    return {name: {*imports_of(name, path, modules)} & {*modules} - {name} for name, path in modules.items()}


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """Returns the modules of a circle. Modules without remaining imports are removed until none is left."""
    left = dict(graph)
    while True:
        free = [name for name, needed in left.items() if not needed & {*left}]
        if not free:
            return sorted(left)
        for name in free:
            del left[name]


def test_imports_have_no_circle() -> None:
    graph = graph_of(PACKAGE)
    assert len(graph) > 30 and sum(map(len, graph.values())) > 100
    assert not circle_in(graph)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("_memory", "from ._arrays import enter"),
        ("_memory", "def late():\n    from .tensor import Tensor"),
        ("_options", "def late():\n    from ._fills import fill_of"),
        ("_kinds/records", "def late():\n    from .._operations import run"),
        ("_kinds/own", "from .. import tensor"),
        ("_site", "if TYPE_CHECKING:\n    from ._sites import site_of"),
        ("errors", "from ._call import call"),
        ("spec", "from . import plan"),
        ("plan", "def late():\n    from . import gather"),
        ("tf/_arguments", "from . import gather"),
    ],
)
def test_added_circle_is_detected(tmp_path: Path, module: str, line: str) -> None:
    for path in sources_of(PACKAGE):
        copy = tmp_path / path.relative_to(PACKAGE)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    changed = tmp_path / f"{module}.py"
    changed.write_text(f"{changed.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    assert module.replace("/", ".") in circle_in(graph_of(tmp_path))


def test_memory_module_imports_no_kind_of_array() -> None:
    graph = graph_of(PACKAGE)
    below, waiting = set[str](), ["_memory"]
    while waiting:
        for name in graph[waiting.pop()] - below:
            below.add(name)
            waiting.append(name)
    assert not {name for name in below if name.startswith("_kinds")} | below & {"_arrays", "_sites", "tensor"}
    assert {"_library", "_places", "_streams", "context"} <= below


# -------------------------------------------------------------------------------------------------------- the C half


def includes_of(folder: Path) -> dict[str, set[str]]:
    """Returns the modules that each module of the C half includes."""
    graph: dict[str, set[str]] = {}
    for path in (*folder.glob("*.c"), *folder.glob("*.h")):
        included = re.findall(r'^#include "(\w+)\.h"', path.read_text(encoding="utf-8"), re.MULTILINE)
        graph.setdefault(path.stem, set()).update({*included} - {path.stem})
    return graph


def wrong_layers_in(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Returns the pairs of a module and a module of a later layer that it includes."""
    layer_of = {module: number for number, layer in enumerate(LAYERS) for module in layer}
    return [(module, other) for module in graph for other in graph[module] if layer_of[other] > layer_of[module]]


def headers_without_source(folder: Path) -> set[str]:
    """Returns the headers whose functions another source may define. Headers of formats declare none."""
    return {path.stem for path in folder.glob("*.h")} - {path.stem for path in folder.glob("*.c")} - {"cdef", "dlpack"}


def test_sources_of_c_half_have_layers() -> None:
    graph = includes_of(NATIVE)
    assert {*graph} == {module for layer in LAYERS for module in layer} | {"abi"}
    assert sum(map(len, graph.values())) > 40
    assert not circle_in(graph)
    assert not wrong_layers_in({module: others for module, others in graph.items() if module != "abi"})
    assert not headers_without_source(NATIVE)


@pytest.mark.parametrize(
    ("file", "included"),
    [("operand.c", "numpy"), ("state.h", "operand"), ("handle.c", "open"), ("error.h", "array"), ("numpy.h", "run")],
)
def test_added_include_of_later_layer_is_detected(tmp_path: Path, file: str, included: str) -> None:
    for path in NATIVE.glob("*.[ch]"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    with (tmp_path / file).open("a", encoding="utf-8") as changed:
        changed.write(f'#include "{included}.h"\n')
    graph = includes_of(tmp_path)
    del graph["abi"]
    assert (file.partition(".")[0], included) in wrong_layers_in(graph)
