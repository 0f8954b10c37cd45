"""Files of arrays whose content must not change while a table uses them."""

from __future__ import annotations

import os
import socket
import time
from typing import NamedTuple

import numpy as np

from .. import errors
from .. import types as t
from .._base import constants as c

#: File systems record times in steps of up to 10 ms. A younger version is identified after a pause, in nanoseconds.
STEP = 20_000_000


class Version(NamedTuple):
    """The version of a file.

    Attributes:
        size, written: The size and the time of the last write.
        machine, inode, changed: The name of a machine, and the file's inode and change time there. A copy on another
            machine has others.
    """

    size: int
    written: int
    machine: str
    inode: int
    changed: int

    def matches(self, other: Version) -> bool:
        return self == other or (self.machine != other.machine and self[:2] == other[:2])


class File(NamedTuple):
    """A version of a ``.npy`` file. The path may be that of a copy on each machine."""

    path: str
    version: Version

    def changed(self) -> str | None:
        """Returns a message if the file has another version, else None."""
        try:
            now = version_of(self.path)
        except OSError as error:
            return f"{self.path}: {error.strerror}"
        return None if self.version.matches(now) else f"{self.path} has been replaced or written"

    def check(self) -> None:
        """Raises FileError if the file has another version."""
        changed = self.changed()
        if changed is not None:
            raise errors.FileError(changed, status=c.E_IO)

    def read(self, work: t.Callable[[t.Any], t.Any], load: t.Callable[[str], t.Any] | None = None) -> t.Any:
        """Returns the result of `work` with the mapped array, or with what `load` returns for the path.

        Raises FileError if it may have read another version.
        """
        self.check()
        result = work((load or mapped)(self.path))
        self.check()
        return result


def file_of(path: str | os.PathLike[str]) -> File:
    whole = os.path.abspath(path)
    version = version_of(whole)
    if 0 <= time.time_ns() - version.changed < STEP:
        time.sleep(STEP / 1e9)
        version = version_of(whole)
    return File(whole, version)


def version_of(path: str) -> Version:
    status = os.stat(path)
    return Version(status.st_size, status.st_mtime_ns, socket.gethostname(), status.st_ino, status.st_ctime_ns)


def mapped(path: str) -> t.Any:
    return np.load(path, mmap_mode="r").view(np.ndarray)
