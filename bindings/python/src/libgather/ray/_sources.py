"""The sources of a shard's rows. An actor opens its source at its start and after each restart."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import ray
from ray.exceptions import GetTimeoutError

from .. import types as t
from .._arrays.npy_files import File, file_of, mapped
from .._files.headers import npy_rows
from ._errors import ShardTimeoutError
from ._layout import check_table


class FileRows(NamedTuple):
    """Rows of a ``.npy`` file. The processes of a node share the page cache.

    Attributes:
        file: The file, which has the same path on each node.
        first, last: The range of rows.
    """

    file: File
    first: int
    last: int

    def open(self, writable: bool) -> t.Any:
        return npy_rows(self.file.path, slice(self.first, self.last))

    def changed(self) -> str | None:
        """Returns a message if the file has changed, else None."""
        changed = self.file.changed()
        return None if changed is None else f"{changed} since the table was made"


class ArrayRows(NamedTuple):
    """Rows in Ray's store, which are shared by the processes of a node. Writable rows are copied."""

    array: ray.ObjectRef[t.Any]

    def open(self, writable: bool) -> t.Any:
        array = ray.get(self.array)
        return np.array(array) if writable else np.asarray(array)

    def changed(self) -> str | None:
        return None


Source = FileRows | ArrayRows


class Part(NamedTuple):
    """A source before its rows are assigned."""

    source: Source
    shape: tuple[int, ...]
    dtype: np.dtype[t.Any]


def part_of(value: t.Any, timeout: float) -> Part:
    """Returns the part of a path, of a Ray reference to an array, or of an array."""
    if isinstance(value, (str, os.PathLike)):
        file = file_of(value)
        array = mapped(file.path)
        check_table(array.shape, array.dtype)
        return Part(FileRows(file, 0, len(array)), array.shape, array.dtype)
    if isinstance(value, ray.ObjectRef):
        shape, dtype = facts_of_reference(value, timeout)
        return Part(ArrayRows(value), shape, dtype)
    array = np.asarray(value)
    shape, dtype = facts_of(array)
    return Part(ArrayRows(ray.put(array)), shape, dtype)


def facts_of_reference(reference: ray.ObjectRef[t.Any], timeout: float) -> tuple[tuple[int, ...], np.dtype[t.Any]]:
    """Returns shape and dtype of an array in Ray's store. The task needs no CPU, because actors may use all."""
    try:
        facts: tuple[tuple[int, ...], np.dtype[t.Any]] = ray.get(FACTS.remote(reference), timeout=timeout)
    except GetTimeoutError:
        raise ShardTimeoutError(f"an array in Ray's store is not available within {timeout:g} s") from None
    return facts


def facts_of(value: t.Any) -> tuple[tuple[int, ...], np.dtype[t.Any]]:
    array = np.asarray(value)
    check_table(array.shape, array.dtype)
    return array.shape, array.dtype


FACTS = ray.remote(num_cpus=0)(facts_of)
