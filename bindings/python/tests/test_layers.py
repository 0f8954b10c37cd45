"""The modules of the package and the sources of the C code have layers, and neither has a circle."""

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

#: The layers of the package. The folders and modules of a layer import those of the layers before it. Adapters do not
#: import each other. The package itself has an empty name, and imports all of them.
PACKAGE_LAYERS = (
    {"_abi", "_bounds", "_low", "_objects", "_base", "errors", "types"},
    {"_memory"},
    {"_arrays"},
    {"_requests"},
    {"_operations"},
    {"_files"},
    {"dask", "jax", "onnx", "ray", "table", "tf", "torch"},
    {""},
)
LOWEST, *_, ADAPTERS, _ = PACKAGE_LAYERS

#: The layers of the C code. A module is a header together with the source of the same name. It may include modules of
#: its own layer and of the layers before it.
LAYERS = (
    {"cdef", "dlpack", "numbers", "option_table", "options_reader", "state", "xla"},
    {"error", "handle", "operand", "switches"},
    {"arrow", "buffer", "described", "exchange", "numpy", "repeat"},
    {"array", "capsules", "open", "request"},
    {"column", "dense", "rows"},
    {"partition", "plan", "program", "run", "view"},
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


def imports_of(name: str, modules: dict[str, Path], added: str = "") -> Iterator[str]:
    """Yields the modules that a module imports at import time, in functions, or for type checking.

    `added` is code at the end of the module.
    """
    package = name if modules[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(f"{modules[name].read_text(encoding='utf-8')}\n{added}\n")):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
            source = absolute(".".join(base), node.module)
            for alias in node.names:
                inner = absolute(source, alias.name)
                yield inner if inner in modules else source
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from named_by(node.args[0], name, package, modules)


def named_by(argument: ast.expr, name: str, package: str, modules: dict[str, Path]) -> Iterator[str]:
    """Yields the modules that a call of import_module may import: those beside or in the module that calls it."""
    if isinstance(argument, ast.JoinedStr) and isinstance(argument.values[0], ast.FormattedValue):
        base = {"__name__": name, "__package__": package}[ast.unparse(argument.values[0].value)]
        yield from (each for each in modules if each != base and each.rpartition(".")[0] == base)


def graph_of(package: Path) -> dict[str, set[str]]:
    modules = modules_of(package)
    return {name: {*imports_of(name, modules)} & {*modules} - {name} for name in modules}


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    """Returns the modules of a circle. Modules without remaining imports are removed until none is left."""
    left = dict(graph)
    while True:
        free = [name for name, needed in left.items() if not needed & {*left}]
        if not free:
            return sorted(left)
        for name in free:
            del left[name]


def room_of(name: str) -> str:
    """Returns the folder of a module in the package. The lowest layer has several, which count as one."""
    room = name.partition(".")[0]
    return "_base" if room in LOWEST else room


def upward_in(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Returns the pairs of a module and a module that it must not import: of a later layer, or of another adapter."""
    layer_of = {room_of(room): number for number, layer in enumerate(PACKAGE_LAYERS) for room in layer}
    return [
        (name, other)
        for name in graph
        for other in graph[name]
        if layer_of[room_of(other)] > layer_of[room_of(name)]
        or (room_of(name) in ADAPTERS and room_of(other) in ADAPTERS - {room_of(name)})
    ]


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return graph_of(PACKAGE)


def test_package_has_layers(graph: dict[str, set[str]]) -> None:
    assert len(graph) > 30 and sum(map(len, graph.values())) > 100
    assert {name.partition(".")[0] for name in graph} == set().union(*PACKAGE_LAYERS)
    assert not upward_in(graph)
    assert not circle_in(graph)
    assert "_arrays.arrow" in graph["_arrays.kinds"]  # import_module is read too
    assert ADAPTERS - {"dask", "jax", "ray", "table", "torch"} <= graph[""]


def with_line(graph: dict[str, set[str]], name: str, line: str) -> dict[str, set[str]]:
    """Returns the imports of the package if a module had another line."""
    modules = modules_of(PACKAGE)
    return {**graph, name: {*imports_of(name, modules, line)} & {*modules} - {name}}


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("_memory.memory", "from .._arrays.kinds import enter"),
        ("_memory.memory", "def late():\n    from .._requests.tensor import Tensor"),
        ("_requests.options_struct", "def late():\n    from .fill_values import fill_of"),
        ("_arrays.numpy_carried", "def late():\n    from .._operations.gathers import run"),
        ("_arrays.tensors", "from .._requests import tensor"),
        ("_memory.device_site", "if TYPE_CHECKING:\n    from .._requests.site_of_call import site_of"),
        ("errors", "from ._base.library_calls import call"),
        ("_requests.spec", "from .._operations import gather_plan"),
        ("_operations.gather_plan", "def late():\n    from .. import gather"),
        ("tf._arguments", "from . import gather"),
    ],
)
def test_added_circle_is_detected(graph: dict[str, set[str]], module: str, line: str) -> None:
    assert module in circle_in(with_line(graph, module, line))


@pytest.mark.parametrize(
    ("module", "line", "other"),
    [
        ("_base.devices", "from .._memory.context import Context", "_memory.context"),
        ("_base.request_fields", "if TYPE_CHECKING:\n    from .._memory.context import Context", "_memory.context"),
        ("errors", "def late():\n    from ._arrays import numpy_", "_arrays.numpy_"),
        ("_memory.memory", "from .._arrays.nested_lists import nested", "_arrays.nested_lists"),
        ("_arrays.kinds", "def late():\n    from .._requests.spec import Spec", "_requests.spec"),
        ("_requests.spec", "if TYPE_CHECKING:\n    from .. import Plan", ""),
        ("_operations.gathers", "def late():\n    from ..jax import gather", "jax"),
        ("torch._common", "from ..jax import gather", "jax"),
        ("onnx.backend", "from .. import gather", ""),
    ],
)
def test_added_upward_import_is_detected(graph: dict[str, set[str]], module: str, line: str, other: str) -> None:
    assert upward_in(with_line(graph, module, line)) == [(module, other)]


# -------------------------------------------------------------------------------------------------------- the C code


def includes_of(folder: Path) -> dict[str, set[str]]:
    """Returns the modules that each module of the C code includes."""
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
    """Returns the headers whose functions another source may define."""
    complete = {"cdef", "dlpack", "option_table", "options_reader"}
    return {path.stem for path in folder.glob("*.h")} - {path.stem for path in folder.glob("*.c")} - complete


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


def test_each_function_of_the_library_is_called_from_one_half() -> None:
    """XLA calls its handler in compiled programs, so xla.c belongs to neither half."""
    called = r"\b(gth_[a-z_]+)\("
    sources = (path.read_text(encoding="utf-8") for path in NATIVE.glob("*.c") if path.stem != "xla")
    in_c = {name for source in sources for name in re.findall(called, source)}
    modules = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    in_python = {name for module in modules for name in re.findall(r"\blib\.(gth_[a-z_]+)", module)}
    assert {"gth_run", "gth_make", "gth_plan_run", "gth_partition"} <= in_c
    assert {"gth_tensor_borrow", "gth_context_create"} <= in_python
    assert not in_c & in_python
