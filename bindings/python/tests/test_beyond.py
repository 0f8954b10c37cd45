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
#: A time in seconds that only a program that hangs needs.
LONG = 600
ROWS = "500 rows a rank, 0 numbers wrong\n"


def run(*command: str | Path) -> str:
    result = completed(*command)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def completed(*command: str | Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, sys.path))
    root = dict.fromkeys(("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    return subprocess.run(
        [*map(str, command)],
        env={**os.environ, **root, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG,
    )


def mpirun(ranks: int, *command: str | Path) -> list[str | Path]:
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
    # Only Open MPI limits the number of ranks by that of the processor cores, and only Open MPI has the option.
    oversubscribe = ["--oversubscribe"] if "Open MPI" in run("mpirun", "--version") else []
    return ["mpirun", *oversubscribe, "-n", str(ranks), *command]


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
    assert run(*mpirun(ranks, program)) == ROWS


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_mpi_in_python(ranks: int) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    assert run(*mpirun(ranks, sys.executable, EXAMPLES / "mpi/lookup.py")) == ROWS


def test_invalid_id_of_one_rank_ends_all_ranks(tmp_path: Path) -> None:
    """The other ranks wait for a message of this rank."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    code = (EXAMPLES / "mpi/lookup.py").read_text(encoding="utf-8")
    assert code.count(" + 17 * rank) % ROWS\n") == 1
    invalid = tmp_path / "lookup.py"
    invalid.write_text(code.replace(" + 17 * rank) % ROWS\n", " + 17 * rank) % ROWS + (rank == 1) * ROWS\n"))
    ended = completed(*mpirun(3, sys.executable, invalid))
    assert ended.returncode != 0 and "indices: component 0 of tuple 0 is 1017" in ended.stderr


def test_feature_store_example_prints_its_rows() -> None:
    for name in ("torch", "torch_geometric", "ray"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    shown = run(sys.executable, EXAMPLES / "ray/feature_store.py").splitlines()
    assert shown == ["[[10.0, 11.0], [0.0, 1.0], [10.0, 11.0]]", "[[7.0, 8.0], [2.0, 3.0]] (6, 2)"]
