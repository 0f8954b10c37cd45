"""What nvcc needs to build the wheel of libgather-cuda. wheels.py uses it.

GCC compiles the kernels' code for the host, because nvcc does not support zig. zig compiles the other sources, and
links all of them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

LICENCES = Path(__file__).resolve().parents[2] / "src/package/cuda_licences.py"


def nvcc(folder: Path, project: Path) -> dict[str, str]:
    """Copies the licences of the toolkit into the project of the wheel, and returns CMake's definitions."""
    (project / "licences").mkdir()
    subprocess.run([sys.executable, LICENCES, os.environ["CUDACXX"], project / "licences"], check=True)
    # CUB includes this header. That of GCC needs objects of GCC's runtime, which zig does not have.
    folder.mkdir(parents=True)
    (folder / "iostream").write_text("#include <ostream>\n", encoding="utf-8")
    return {"CMAKE_CUDA_HOST_COMPILER": shutil.which("g++") or "", "CMAKE_CUDA_FLAGS": f"-isystem {folder}"}
