"""Changes of a file of float32 that its size does not show."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np


def replace(file: Path) -> None:
    """Replaces a file by another version of the same size and time of the last write."""
    before, other = file.stat(), file.with_name("other.npy")
    np.save(other, np.load(file) + 1)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)


def write(file: Path) -> None:
    """Writes the last bytes of a file in place."""
    with file.open("r+b") as opened:
        opened.seek(-4, os.SEEK_END)
        opened.write(b"1234")
