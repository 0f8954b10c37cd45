"""The compiled extension: C++ operators for one version of torch, in a shared object beside the package or in a cache.

A shared object is found by the minor version of torch and by a digest of its sources and of gather.h. Loading the wrong
one would fail with an undefined symbol. Patch releases of torch and its builds for other devices have the same C++ ABI.
"""

from __future__ import annotations

import os
import platform
from hashlib import sha256
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The folder with the sources of the extension.
SOURCES = Path(__file__).parent / "native"
#: The name of the Python module in the shared object.
MODULE = "libgather_torch"
COMMAND = "python -m libgather.torch.build"


def minor_of(version: str) -> tuple[int, int]:
    """Returns the numbers of the minor version, such as (2, 14) of "2.14.1+cu130"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def file_name(version: str = torch.__version__) -> str:
    """Returns the name of the shared object for the sources and a version of torch."""
    major, minor = minor_of(version)
    digest = sha256()
    for source in sorted(SOURCES.rglob("*.*")):
        digest.update(source.read_bytes())
    return f"{MODULE}-{major}.{minor}-{platform.machine()}-{digest.hexdigest()[:16]}.so"


def cache_folder() -> Path:
    """Returns the folder in which the command builds."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "libgather"


def found() -> Path | None:
    """Returns the shared object, or None if it has not been built."""
    name = file_name()
    places = (folder / name for folder in (SOURCES.parent, cache_folder()))
    return next((place for place in places if place.is_file()), None)


def loaded() -> Any:
    """Returns the module of the extension, or None if there is none for this torch."""
    path = found()
    if path is None:
        return None
    spec = spec_from_file_location(MODULE, path, loader=ExtensionFileLoader(MODULE, str(path)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


extension: Any = loaded()
