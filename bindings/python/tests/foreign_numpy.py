"""Runs NumPy's own tests of take and take_along_axis with the functions of libgather.

    foreign_numpy.py [FOLDER]       prints the row of the table in README.md at the end

Each call ``a.take(..)``, ``np.take(a, ..)`` and ``take_along_axis(a, ..)`` in NumPy's test modules is replaced by a
call of libgather. The modules are written to FOLDER, and their tests of take are run there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MODULES = (
    "numpy._core.tests.test_item_selection",
    "numpy._core.tests.test_multiarray",
    "numpy._core.tests.test_numeric",
    "numpy.lib.tests.test_shape_base",
)
NAMES = ("take", "take_along_axis")
_NAMED = ast.ClassDef, ast.FunctionDef


class Ours(ast.NodeTransformer):
    """Replaces calls of NumPy's functions and methods by calls of this package's functions."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in NAMES:
            return node
        if isinstance(function, ast.Attribute) and getattr(function.value, "id", "") not in ("np", "numpy"):
            node.args.insert(0, function.value)
        node.func = ast.Attribute(ast.Name("libgather", ast.Load()), name, ast.Load())
        return node


def of_take(nodes: list[ast.stmt]) -> list[ast.stmt]:
    """Returns the statements without the other tests, whose collection takes longer than the tests of take."""
    kept = []
    for node in nodes:
        names = [node.name, *map(ast.unparse, node.decorator_list)] if isinstance(node, _NAMED) else []
        is_named = any("take" in name.lower() for name in names)
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not is_named:
            node.body = of_take(node.body) or [ast.Pass()]
        if is_named or not (isinstance(node, ast.FunctionDef) and node.name.startswith("test_")):
            kept.append(node)
    return kept


def rewritten(module: str) -> str:
    tree = Ours().visit(ast.parse(inspect.getsource(importlib.import_module(module))))
    tree.body = of_take(tree.body)
    tree.body.insert(0, ast.Import([ast.alias("libgather")]))
    return ast.unparse(ast.fix_missing_locations(tree))


def run(folder: Path) -> int:
    for module in MODULES:
        (folder / f"{module.rpartition('.')[2]}.py").write_text(rewritten(module), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", "-k", "take or Take"]
    result = subprocess.run([*command, "."], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    counts = {word: count for count, word in re.findall(r"(\d+) (passed|skipped)", result.stdout)}
    passed, skipped = (counts.get(word, 0) for word in ("passed", "skipped"))
    print(result.stdout)
    print(f"| NumPy {np.__version__}: its tests of take | {passed} pass | {skipped} |")
    return result.returncode


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(run(Path(sys.argv[1] if len(sys.argv) > 1 else temporary)))
