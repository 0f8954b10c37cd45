"""Adds the extension of libgather.torch to a wheel: a shared object for each minor version of torch.

wheels.py uses it. The headers of a version come from its wheel, which has more than 500 MB. They remain in the folder
of this Python environment, where they take 65 MB.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

#: The versions with which the tests of the operators ran. A shared object serves all patch releases.
VERSIONS = "2.14.1", "2.15.0"
#: The newest symbols that a shared object may need: those of GCC 12 on Debian 12. An older system has the pure form.
NEWEST = {"GLIBC": (2, 32), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}


def headers(version: str) -> Path:
    """Returns a folder with the headers of a version of torch."""
    folder = Path(sys.prefix, "torch", version)
    if not (folder / "torch").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as temporary:
            download = "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", temporary
            subprocess.run([sys.executable, "-m", "pip", *download, f"torch=={version}"], check=True)
            (wheel,) = Path(temporary).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                wanted = (
                    name for name in archive.namelist() if name.startswith(("torch/include/", "torch/version.py"))
                )
                archive.extractall(temporary, wanted)
            Path(temporary, "torch").rename(folder / "torch")
    return folder / "torch"


def require_old_symbols(built: Path) -> None:
    """Ends the program if the shared object needs newer symbols than NEWEST."""
    symbols = subprocess.check_output(["objdump", "-T", built], text=True)
    for library, number in re.findall(r"\((GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)", symbols):
        if tuple(map(int, number.split("."))) > NEWEST[library]:
            sys.exit(f"{built.name} needs {library}_{number}")


def add_objects(package: Path) -> None:
    """Builds the shared objects with the sources of an unpacked wheel, in its folder of libgather.torch."""
    # A package without the __init__.py of libgather.torch, which needs torch.
    without_torch = ModuleType("extension")
    without_torch.__path__ = [str(package / "torch")]
    sys.modules[without_torch.__name__] = without_torch
    builder = import_module("extension.build")
    for version in VERSIONS:
        require_old_symbols(builder.build(package / "torch", headers(version)))
