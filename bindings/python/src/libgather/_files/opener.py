"""open_table: opens an array in a file as a table."""

from __future__ import annotations

from .. import types as t
from .._base.integers import integers
from .table import Table


def open_table(
    path: t.Any,
    name: t.Any = None,
    *,
    mode: str = "read",
    resident: int = 0,
    dtype: t.Any = None,
    shape: t.Sequence[int] | None = None,
    offset: int = 0,
) -> Table:
    """Opens an array in a file as a :class:`Table`. Only the header is read.

    These files are known by their first bytes:

    - safetensors, and the index of its shards (``model.safetensors.index.json``). They need the package `safetensors`.
    - GGUF, also with quantised rows, which gathers decode. It needs the package `gguf`.
    - ``.npy``. It needs NumPy.
    - Arrow IPC and Feather, not compressed: columns of numbers, and of lists of a fixed size. They need `pyarrow`.

    Args:
        path: The file. Several paths mean that the rows of the arrays follow each other.
        name: The name of the tensor or column. It may be left out if the file has only one. For several arrays, a list
            has the name of each.
        mode, resident: As for :class:`Table`.
        dtype: The dtype of decoded rows, by default float32. With `shape`: the dtype of the elements.
        shape: The file has no header. It contains elements of `dtype` from the byte `offset` on.
        offset: The byte of the first row, for a file without a header.

    Raises:
        FileError: A file cannot be read, is malformed, or has rows that no table has: a compressed file, nulls,
            objects, the order of Fortran or the other byte order.
        OptionError: `name` is not in the file, or is needed.
        ImportError: The package for the format is not installed.

    >>> import numpy, libgather
    >>> numpy.save("/tmp/libgather-rows.npy", numpy.arange(20).reshape(10, 2))
    >>> with libgather.open_table("/tmp/libgather-rows.npy") as table:
    ...     table[[9, 0]].tolist()
    [[18, 19], [0, 1]]
    """
    if shape is not None:
        dims = integers("shape", shape)
        return Table(dims, dtype, [(path, offset, dims[0] if dims else 0)], mode=mode, resident=resident)
    from .headers import opened  # only files with a header need the modules that it imports

    return opened(path, name, mode, resident, dtype)
