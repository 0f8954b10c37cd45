"""Arrays of dask whose chunks are parts of a file. A task maps the file, so only the selected rows are read."""

from __future__ import annotations

from typing import NamedTuple

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.utils import cached_cumsum

from .. import types as t
from .._arrays import npy_files as files
from .._arrays.npy_files import File, mapped
from .._files.headers import npy_rows


class Part(NamedTuple):
    """A part of an array in a file."""

    file: File
    where: tuple[slice, ...]
    rows_are_whole: bool

    def read(self, work: t.Callable[[t.Any], t.Any]) -> t.Any:
        return self.file.read(lambda array: work(array[self.where]))

    def gather(self, work: t.Callable[[t.Any], t.Any]) -> t.Any:
        """The same as `read` for work that gathers. If the part has whole rows, only the gathered ones are read."""
        if not self.rows_are_whole:
            return self.read(work)
        return self.file.read(work, lambda path: npy_rows(path, self.where[0]))


class Table:
    """The array in a file, as an object that dask slices."""

    def __init__(self, file: File) -> None:
        array = mapped(file.path)
        file.check()
        self.file, self.shape, self.dtype, self.ndim = file, array.shape, array.dtype, array.ndim

    def __getitem__(self, where: tuple[slice, ...]) -> t.Any:
        return Part(self.file, where, False).read(np.array)


def from_file(path: t.Any, chunks: t.Any = None) -> da.Array:
    """Creates an array from a ``.npy`` file that has the same path on each worker. The graph contains only the path.

    :func:`take` and :func:`gather_nd` read only the rows that they gather. Other operations read whole chunks.

    Args:
        path: The path of the file.
        chunks: As for :func:`dask.array.from_array`. None means whole rows, in chunks of dask's ``array.chunk-size``.

    Raises:
        FileError: The file has been replaced or written since this call. A task raises it before it returns rows of
            another version. Writes through mapped memory may be detected late.
        OSError, ValueError: The file does not exist, is not a ``.npy`` file, or contains Python objects.

    >>> import numpy, libgather.dask
    >>> numpy.save("/tmp/libgather-table.npy", numpy.arange(20).reshape(10, 2))
    >>> x = libgather.dask.from_file("/tmp/libgather-table.npy")
    >>> libgather.dask.take(x, [9, 0]).compute().tolist()
    [[18, 19], [0, 1]]
    """
    table = Table(files.file_of(path))
    if chunks is None:
        chunks = ("auto", *(-1 for _ in table.shape[1:]))[: table.ndim]
    array: da.Array = da.from_array(table, chunks, name=f"libgather-file-{tokenize(table.file, chunks)}")
    vars(array)["_libgather_file"] = (array.name, table.file)
    return array


def file_of(array: da.Array) -> File | None:
    """Returns the file of an array that :func:`from_file` has made. An array that was assigned to has another name."""
    name, file = getattr(array, "_libgather_file", (None, None))
    return file if name == array.name else None


def part_of(array: da.Array, number: tuple[int, ...]) -> Part | None:
    """Returns the part of a file that is a chunk of an array, or None if the array is not in a file."""
    file = file_of(array)
    if file is None:
        return None
    borders = [cached_cumsum(sizes, initial_zero=True) for sizes in array.chunks]
    rows_are_whole = array.ndim > 0 and all(len(sizes) == 1 for sizes in array.chunks[1:])
    where = tuple(slice(*ends[place : place + 2]) for ends, place in zip(borders, number, strict=True))
    return Part(file, where, rows_are_whole)
