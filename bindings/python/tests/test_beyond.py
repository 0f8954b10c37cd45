"""The examples in several processes: MPI in C and Python, and a feature store for PyG."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import libgather
from conftest import BINDING

ROOT = BINDING.parents[1]
EXAMPLES = ROOT / "examples"
PACKAGE = Path(libgather.__file__).parent
ROWS = "500 rows a rank, 0 numbers wrong\n"


def run(*command: str | Path) -> str:
    paths = os.pathsep.join(filter(None, sys.path))
    root = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    result = subprocess.run(
        [*map(str, command)],
        env={**os.environ, **root, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def mpirun(ranks: int, *command: str | Path) -> str:
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
    # Only Open MPI limits the number of ranks by that of the processor cores, and only Open MPI has the option.
    oversubscribe = ["--oversubscribe"] if "Open MPI" in run("mpirun", "--version") else []
    return run("mpirun", *oversubscribe, "-n", str(ranks), *command)


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_mpi_in_c(tmp_path: Path, ranks: int) -> None:
    if shutil.which("mpicc") is None:
        pytest.skip("mpicc is not installed")
    if "GATHER_SANITIZED" in os.environ:
        pytest.skip("the leak sanitizer reports leaks of the compiler")
    program = tmp_path / "lookup"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    library = [PACKAGE / "libgather.so.1", f"-Wl,-rpath,{PACKAGE}"]
    run("mpicc", *strict, "-I", ROOT / "include", EXAMPLES / "mpi/lookup.c", *library, "-o", program)
    assert mpirun(ranks, program) == ROWS


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_mpi_in_python(ranks: int) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    assert mpirun(ranks, sys.executable, EXAMPLES / "mpi/lookup.py") == ROWS


def test_feature_store_example_prints_its_rows() -> None:
    for name in ("torch", "torch_geometric", "ray"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    shown = run(sys.executable, EXAMPLES / "ray/feature_store.py").splitlines()
    assert shown == ["[[10.0, 11.0], [0.0, 1.0], [10.0, 11.0]]", "[[7.0, 8.0], [2.0, 3.0]] (6, 2)"]
