"""The parity table detects a changed declaration in each language."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BINDING

TREE = BINDING.parents[1]
HPP = "../include/gather/gather.hpp"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Returns a copy of the files that the table is generated from."""
    bindings = tmp_path / "bindings"
    ignored = shutil.ignore_patterns("target", "__pycache__", "core", "vendor")
    for part in ("python/src", "rust/gather/src", "go", "java/src/main", "generate"):
        shutil.copytree(TREE / "bindings" / part, bindings / part, ignore=ignored)
    for name in ("parity.py", "parity.md", "surfaces.py"):
        shutil.copy(TREE / "bindings" / name, bindings)
    for part in ("include", "src/core/base"):
        shutil.copytree(TREE / part, tmp_path / part)
    return tmp_path


def check(tree: Path) -> tuple[int, str]:
    command = [sys.executable, str(tree / "bindings" / "parity.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def test_table_is_up_to_date(tree: Path) -> None:
    assert check(tree)[0] == 0


@pytest.mark.parametrize(
    ("path", "before", "after", "message"),
    [
        ("python/src/libgather/_memory/context.py", "def wait(", "def wait_for(", "Python declares no Context.wait"),
        ("python/src/libgather/_memory/memory.py", "def strings(", "def texts(", "Python declares no Tensor.strings"),
        (
            "python/src/libgather/_operations/gathers.py",
            "    threads: int",
            "    strands: int",
            "declares no gather(threads)",
        ),
        ("python/src/libgather/__init__.py", '    "shutdown",\n', "", "Python declares no shutdown"),
        (
            "python/src/libgather/_operations/gather_plan.py",
            "def bind(self, params",
            "def bind(self, table",
            "parity.md is out of date",
        ),
        (HPP, "static Column from_arrow(", "static Column of_arrow(", "C++ declares no Column::from_arrow"),
        (HPP, "detail::Into scatter_into{", "detail::Into scatter_in{", "C++ declares no scatter_into"),
        (HPP, "resolve(int64_t extent,", "resolve(int64_t rows,", "parity.md is out of date"),
        (
            HPP,
            "const View& updates, const Options& options = {},\n",
            "const View& rows, const Options& options = {},\n",
            "parity.md is out of date",
        ),
        (HPP, "  /// Runs the plan. Alloc", " private:\n  /// Runs the plan. Alloc", "C++ declares no Plan::run"),
        ("rust/gather/src/options.rs", "given axis:", "given axle:", "Rust declares no Options::axis"),
        ("rust/gather/src/context.rs", "pub fn zeros(", "fn zeros(", "Rust declares no Context::zeros"),
        (
            "rust/gather/src/plan.rs",
            "fn shape(&self, n: usize)",
            "fn shape(&self, m: usize)",
            "parity.md is out of date",
        ),
        ("go/context.go", ") TakeError(", ") TakeErr(", "Go declares no Context.TakeError"),
        ("go/gather.go", "func GatherND[", "func GatherNd[", "Go declares no GatherND"),
        ("go/setters.go", "func Axis(axis int)", "func Axis(dim int)", "parity.md is out of date"),
        (
            "java/src/main/java/io/libgather/Plan.java",
            "void check(long n,",
            "void test(long n,",
            "declares no Plan.check",
        ),
        (
            "java/src/main/java/io/libgather/Options.java",
            "Builder axis(",
            "Builder axle(",
            "declares no Options.Builder.axis",
        ),
        ("java/src/main/java/io/libgather/tf/GatherNd.java", "Scope scope,", "Scope env,", "parity.md is out of date"),
    ],
)
def test_changed_declaration_is_detected(tree: Path, path: str, before: str, after: str, message: str) -> None:
    source = tree / "bindings" / path
    text = source.read_text(encoding="utf-8")
    assert before in text
    source.write_text(text.replace(before, after), encoding="utf-8")
    code, output = check(tree)
    assert code == 1 and message in output


def test_new_function_of_the_header_is_detected(tree: Path) -> None:
    header = tree / "include" / "gather" / "gather.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(text + "\nGTH_API int32_t gth_fresh(void);\n", encoding="utf-8")
    assert check(tree) == (1, "parity: no row has gth_fresh of the header\n")
