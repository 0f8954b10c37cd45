"""The shared objects of the extension: their names, and the folders that have them. This needs no torch.

A shared object is for one minor version of torch. Its name has that version, and a digest of its sources and gather.h.
Loading the wrong one would fail with an undefined symbol. Patch releases of torch and its builds for other devices have
the same C++ ABI.
"""

from __future__ import annotations

import os
import platform
import re
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

from ._checked_files import checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

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


def cache_folder() -> Path | None:
    """Returns the folder in which the command builds, or None if the user has no home. It ignores relative paths."""
    bases = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")
    return next((Path(base, "libgather") for base in bases if os.path.isabs(base)), None)


def found(version: str) -> list[Path]:
    """Returns the shared objects for a version of torch: that of the package, and that of the user's cache."""
    folders = [folder for folder in (SOURCES.parent, cache_folder()) if folder is not None]
    return [folder / file_name(version) for folder in folders if os.path.lexists(folder / file_name(version))]


def opened(path: Path) -> AbstractContextManager[str]:
    """Returns the name by which a shared object is loaded. A shared object of the package is as safe as the package
    itself.

    Raises:
        ImportError: The file of a cache may be that of another user, or is not complete.
    """
    return nullcontext(str(path)) if path.parent == SOURCES.parent else checked(path)
