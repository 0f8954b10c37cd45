"""The choice between the library of libgather and that of libgather-cuda, with a fake package of the latter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import libgather

(OWN,) = Path(libgather.__file__).parent.glob("libgather.so.*")
REPORT = f"""
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import libgather
assert libgather.gather(b"abc", [2, 0]) == b"ca"
with open("/proc/self/maps") as maps:
    print(*sorted({{line.split()[-1] for line in maps if {OWN.name!r} in line}}))
for each in caught:
    print(each.category.__name__, each.filename, each.message)
"""


def imported(folder: Path) -> tuple[str, list[str]]:
    """Imports libgather beside the packages of a folder. Returns the file of its library, and the warnings."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = [sys.executable, "-c", REPORT]
    result = subprocess.run(
        command, env=environment | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    library, *warnings = result.stdout.splitlines()
    return library, warnings


def make_package(folder: Path, version: str) -> Path:
    """Makes the package of libgather-cuda with a copy of the library. Returns the copy."""
    package = folder / "libgather_cuda"
    package.mkdir()
    (package / "__init__.py").write_text(f'__version__ = "{version}"\n', encoding="utf-8")
    return shutil.copy(OWN, package / OWN.name)


def test_library_of_equal_version_is_used(tmp_path: Path) -> None:
    library = make_package(tmp_path, libgather.__version__)
    assert imported(tmp_path) == (str(library), [])


def test_library_of_other_version_is_not_used_and_warning_names_both(tmp_path: Path) -> None:
    make_package(tmp_path, "0.0.9")
    ours = libgather.__version__
    assert imported(tmp_path) == (
        str(OWN),
        [
            "RuntimeWarning <string> libgather runs without CUDA, because it does not use the package libgather-cuda: "
            f'its version is 0.0.9, and that of libgather is {ours}. Install "libgather[cuda]=={ours}".'
        ],
    )


def test_library_that_cannot_be_loaded_is_not_used_and_warning_states_why(tmp_path: Path) -> None:
    make_package(tmp_path, libgather.__version__).write_bytes(b"no library")
    library, (warning,) = imported(tmp_path)
    assert library == str(OWN)
    assert warning.startswith("RuntimeWarning <string> libgather runs without CUDA")
    assert "libgather_cuda" in warning and "file too short" in warning


def test_without_the_package_the_own_library_is_used(tmp_path: Path) -> None:
    assert imported(tmp_path) == (str(OWN), [])
