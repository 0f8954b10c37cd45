"""The sources of a shard's rows. An actor opens its source at its start and after each restart."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import ray

from .. import types as t
from ._layout import check_table


class FileRows(NamedTuple):
    """Rows of a mapped ``.npy`` file. The processes of a node share the memory.

    Attributes:
        path: The path of the file, which is the same on each node.
        stamp: The size and the time of the last write. They identify the version of the file.
        first, last: The range of rows.
    """

    path: str
    stamp: tuple[int, int]
    first: int
    last: int

    def open(self, writable: bool) -> t.Any:
        return mapped(self.path)[self.first : self.last]

    def changed(self) -> str | None:
        """Returns a message if the file has changed, else None."""
        try:
            now = stamp_of(self.path)
        except OSError as error:
            return f"{self.path}: {error.strerror}"
        return None if now == self.stamp else f"{self.path} has been replaced since the table was made"


class ArrayRows(NamedTuple):
    """Rows in Ray's store, which are shared by the processes of a node. Writable rows are copied."""

    array: ray.ObjectRef[t.Any]

    def open(self, writable: bool) -> t.Any:
        array = ray.get(self.array)
        return np.array(array) if writable else np.asarray(array)

    def changed(self) -> str | None:
        return None


Source = FileRows | ArrayRows


def mapped(path: str) -> t.Any:
    array = np.load(path, mmap_mode="r")
    check_table(array.shape, array.dtype)
    return array.view(np.ndarray)


def stamp_of(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


class Part(NamedTuple):
    """A source before its rows are assigned."""

    source: Source
    shape: tuple[int, ...]
    dtype: np.dtype[t.Any]


def part_of(value: t.Any) -> Part:
    """Returns the part of a path, of a Ray reference to an array, or of an array."""
    if isinstance(value, (str, os.PathLike)):
        array, path = mapped(os.fspath(value)), os.path.abspath(value)
        return Part(FileRows(path, stamp_of(path), 0, len(array)), array.shape, array.dtype)
    if isinstance(value, ray.ObjectRef):
        shape, dtype = ray.get(ray.remote(facts_of).remote(value))
        return Part(ArrayRows(value), shape, dtype)
    array = np.asarray(value)
    shape, dtype = facts_of(array)
    return Part(ArrayRows(ray.put(array)), shape, dtype)


def facts_of(value: t.Any) -> tuple[tuple[int, ...], np.dtype[t.Any]]:
    array = np.asarray(value)
    check_table(array.shape, array.dtype)
    return array.shape, array.dtype
