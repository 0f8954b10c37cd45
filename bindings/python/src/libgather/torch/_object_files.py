"""The shared objects of the extension: their names, and the folders that have them. This needs no torch.

A shared object is for one minor version of torch. Its name has that version, and a digest of its sources and gather.h.
Loading the wrong one would fail with an undefined symbol. Patch releases of torch and its builds for other devices have
the same C++ ABI.
"""

from __future__ import annotations

import os
import platform
import re
from hashlib import sha256
from pathlib import Path

#: The folder with the sources of the extension.
SOURCES = Path(__file__).parent / "native"
#: The name of the Python module in the shared object.
MODULE = "libgather_torch"


def minor_of(version: str) -> tuple[int, int]:
    """Returns the numbers of the minor version, such as (2, 14) of "2.14.1+cu130" and of "2.14rc1"."""
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def file_name(version: str) -> str:
    """Returns the name of the shared object for the sources and a version of torch."""
    major, minor = minor_of(version)
    digest = sha256()
    for source in sorted(SOURCES.rglob("*.*")):
        digest.update(source.read_bytes())
    return f"{MODULE}-{major}.{minor}-{platform.machine()}-{digest.hexdigest()[:16]}.so"


def cache_folder() -> Path:
    """Returns the folder in which the command builds."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "libgather"


def found(version: str) -> list[Path]:
    """Returns the shared objects for a version of torch: that of the package, and that of the user's cache."""
    name = file_name(version)
    return [path for folder in (SOURCES.parent, cache_folder()) if (path := folder / name).is_file()]
