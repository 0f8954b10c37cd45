"""Table: rows in files that may be larger than memory. A gather reads the rows that its indices select."""

from __future__ import annotations

import math
import os
from collections import namedtuple

from .. import errors
from .. import types as t
from .._arrays.kinds import call_library, enter, kind_of
from .._base import constants as c
from .._base.dtypes import number_of, size_of
from .._base.integers import integer, integers
from .._base.library import NULL, ffi, lib
from .._base.library_calls import call, created, extents, new
from .._memory.memory import Memory
from .._memory.packed_memory import PackedMemory, PackedRows
from .._operations.bags import gather_bags
from .._operations.gathers import gather
from .._requests.codec import Codec, row_bytes
from .._requests.packed import described, like_of, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class SegmentFields(NamedTuple):
        source: t.Any
        offset: int
        rows: int
        row_stride: int = 0

    class StatsFields(NamedTuple):
        mode: str
        rows: int
        requested: int
        releases: int
        resident: int

else:
    # The module typing would double the time to import this package.
    SegmentFields = namedtuple("SegmentFields", "source offset rows row_stride", defaults=(0,))
    StatsFields = namedtuple("StatsFields", "mode rows requested releases resident")

_MODES = {"read": c.FILES_READ, "map": c.FILES_MAP}
_REASON = "rows in files are params of gathers alone: table[ids] reads them"


class Segment(SegmentFields):
    """Consecutive rows of a :class:`Table`.

    Attributes:
        source: A path, an open file, the descriptor of one, or an object with the buffer protocol.
        offset: The byte of the first row. It needs no alignment.
        rows: The number of rows, at least 1.
        row_stride: The bytes from row to row. 0 means the bytes of a row.

    >>> import libgather
    >>> libgather.Table((2, 3), "uint8", [libgather.Segment(b"abc.def.", 0, 2, row_stride=4)])[1].tolist()
    [100, 101, 102]
    """

    __slots__ = ()


class TableStats(StatsFields):
    """Counters of a :class:`Table` since it was opened.

    Attributes:
        mode: The mode in use.
        rows: Rows that were read from files. Parts of a row count too.
        requested: Rows (``"read"``) or pages (``"map"``) that were not in memory and were requested.
        releases: The number of times that pages left the memory of the process because of the budget.
        resident: The mapped memory after the last call in bytes. 0 without a budget.

    >>> import libgather
    >>> libgather.Table((3,), "uint8", [(b"abc", 0, 3)]).stats().mode
    'read'
    """

    __slots__ = ()


class TableMemory(PackedMemory):
    """The handle of a table in files. The library does not describe it."""

    __slots__ = ()
    _reason = _REASON


class Table(PackedRows):
    """A table in files or in pieces of memory. Gathers read only the rows that indices select.

    :func:`open_table` opens the formats that have a header. This class is the general form: any ranges of rows in any
    files. :func:`gather`, :func:`gather_nd`, :func:`gather_elements`, :func:`gather_bags` and :class:`Plan` accept the
    table as `params`, and so do the functions of :mod:`libgather.torch`. Results are NumPy arrays (tensors of this
    library without NumPy). Any number of threads may use it, and a child process of fork. ``with`` closes it.

    A file must not be changed while a table uses it. If it becomes shorter, calls raise :class:`FileError`. With
    ``mode="map"``, a page that was read before then raises SIGBUS, which ends the process.

    Args:
        shape: The shape of the whole table. Its first dim counts the rows.
        dtype: The dtype of the elements, or of the decoded numbers.
        segments: The ranges of rows in order: :class:`Segment`, or tuples of the same items.
        mode: ``"read"`` (default) reads rows by calls of the system and maps no memory. ``"map"`` is faster for rows
            that are read again and again.
        resident: With ``"map"``: the budget of mapped memory in bytes, at least 8 MiB. 0 means no budget.
        codec: The format of packed rows: a name or a :class:`Codec`, as for :class:`Packed`.
        scales, zeros: Scales and zero points beside packed rows: arrays or tables, with as many dims as the table.

    Raises:
        FileError: A file cannot be opened, or is too short for its rows.
        ShapeError: The segments do not have the rows of `shape`, or a piece of memory is too short.
        OptionError: The mode is unknown, or the budget is too small.
        DTypeError: `dtype` is not a dtype of the library.

    >>> import libgather
    >>> with libgather.Table((4, 2), "uint8", [(b"abcdef", 0, 3), (b"..yz", 2, 1)]) as table:
    ...     bytes(table[[3, 0]].ravel()), len(table)
    (b'yzab', 4)
    """

    __slots__ = ("_given", "_mode", "_row", "_segments")

    def __init__(
        self,
        shape: t.Sequence[int],
        dtype: t.Any,
        segments: t.Sequence[t.Any],
        *,
        mode: str = "read",
        resident: int = 0,
        codec: str | Codec | None = None,
        scales: t.Any = None,
        zeros: t.Any = None,
    ) -> None:
        if mode not in _MODES:
            raise errors.OptionError(f"options: mode cannot be {mode!r}", status=c.E_VERSION, operand="options")
        dims, number = numbers("shape", shape), number_of(dtype)
        desc, options, room = new("gth_tensor_desc"), new("gth_files_options"), extents(dims)
        desc.dtype, desc.ndim, desc.shape = number, len(dims), room
        options.mode, options.resident = _MODES[mode], integer("resident", resident)
        self._row: int = size_of(number) * math.prod(dims[1:])
        packing, kept = packing_of(codec, scales, zeros, len(dims))
        if packing is not None and len(dims) > 1:
            self._row = row_bytes(packing, dims[-1]) * math.prod(dims[1:-1])
        desc.codec = NULL if packing is None else packing
        self._segments = tuple(Segment(*each) for each in segments)
        opened = [structure(i, each) for i, each in enumerate(self._segments)]
        array = ffi.new("gth_segment *[]", [each for each, _ in opened])
        try:
            handle = created(lib.gth_tensor_open, NULL, desc, len(opened), array, options)
        except errors.FileError as error:
            name = self._segments[error.component].source if 0 <= error.component < len(opened) else None
            if isinstance(name, (str, os.PathLike)) and f"'{os.fspath(name)}'" not in str(error):
                error.args = (f"{error}: '{os.fspath(name)}'",)
            raise
        memory = TableMemory._of_handle(handle, ([keep for _, keep in opened], kept))
        steps = tuple(size_of(number) * math.prod(dims[dim + 1 :]) for dim in range(len(dims)))
        memory._described = (number, c.DEVICE_CPU, 0, c.TENSOR_READONLY, dims, steps, 0, 0)
        self._register(memory, like_of(None, memory.dtype))
        self._mode, self._given = mode, (dims, self.dtype, resident, codec, scales, zeros)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table."""
        return self._dims

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self._dims)

    @property
    def dtype(self) -> str:
        """The name of the dtype of results."""
        return self._memory.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of all rows in the files."""
        return self._row * self._dims[0]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The ranges of rows. `component` of a :class:`FileError` is the number of one."""
        return self._segments

    def __len__(self) -> int:
        return self._dims[0]

    def __getitem__(self, ids: t.Any) -> t.Any:
        """Returns the rows of a slice, an integer or an array of integers, as :meth:`gather`."""
        return gather(self, range(*ids.indices(len(self))) if isinstance(ids, slice) else ids)

    def gather(self, ids: t.Any, **options: t.Any) -> t.Any:
        """Returns the rows of ids, as :func:`libgather.gather`, whose options it has.

        Raises:
            IndexError: An id is out of bounds. No file has been read.
            FileError: A row cannot be read. `position` is that of its first id, and `component` is the segment.
        """
        return gather(self, ids, **options)

    def bags(self, ids: t.Any, **options: t.Any) -> t.Any:
        """Returns the pooled rows of bags of ids, as :func:`libgather.gather_bags`, whose options it has."""
        return gather_bags(self, ids, **options)

    def prefetch(self, ids: t.Any) -> None:
        """Requests the rows of ids from the system, and does not wait. A later gather of these rows waits less.

        Ids out of bounds are ignored.
        """
        table, indices = self._memory._live, enter(ids, None, "indices")[0]
        call(lib.gth_tensor_prefetch, NULL, table, described(indices), NULL)

    def stats(self) -> TableStats:
        """Returns the counters of the table."""
        stats = new("gth_files_stats")
        call(lib.gth_tensor_stats, self._memory._live, stats)
        mode = next(name for name, number in _MODES.items() if number == stats.mode)
        return TableStats(mode, stats.rows, stats.requested, stats.releases, stats.resident)

    def close(self) -> None:
        """Closes the files. Each later use raises :class:`ClosedError`. A bound plan keeps them open."""
        self._host_handle = None
        self._memory.close()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._memory._handle is None else f"mode={self._mode!r}"
        form = f"shape={self._dims}, dtype={self._given[1]!r}, segments={len(self._segments)}"
        return f"libgather.Table({form}, {state})"

    def __reduce__(self) -> t.Any:
        if not all(isinstance(each.source, (str, os.PathLike)) for each in self._segments):
            raise TypeError("a table of open files or of memory cannot be pickled: one of paths is opened again")
        dims, dtype, resident, *packing = self._given
        return table_again, (dims, dtype, [tuple(each) for each in self._segments], self._mode, resident, *packing)

    def _leave(self, tensor: Memory) -> t.Any:
        like = self._like
        return tensor if like is None else call_library(kind_of(like).leave, tensor, "out", like)

    def _memory_for(self, operand: str) -> PackedMemory:
        if operand not in ("params", "scales", "zeros"):
            raise errors.unsupported(operand, _REASON)
        if self._memory._handle is None:
            raise errors.closed(operand)
        return self._memory

    def __array__(self, *_: object, **__: object) -> t.Any:
        raise TypeError(_REASON)


def table_again(
    shape: t.Any, dtype: str, segments: t.Any, mode: str, resident: int, codec: t.Any, scales: t.Any, zeros: t.Any
) -> Table:
    """Opens the files of a table again after it was copied or pickled."""
    return Table(shape, dtype, segments, mode=mode, resident=resident, codec=codec, scales=scales, zeros=zeros)


def numbers(name: str, values: t.Any) -> tuple[int, ...]:
    """Returns integers of 64 bits."""
    found = integers(name, values)
    if not all(-(2**63) <= each < 2**63 for each in found):
        raise errors.ShapeError(f"tensor: {name} {found} is beyond 64 bits", status=c.E_SIZE, operand="tensor")
    return found


def packing_of(codec: str | Codec | None, scales: t.Any, zeros: t.Any, ndim: int) -> tuple[t.Any, t.Any]:
    """Returns the struct of a codec or None, and the objects that its addresses need."""
    if codec is None:
        return None, None
    struct, code_table = (codec if isinstance(codec, Codec) else Codec(codec))._struct()
    parts = [part_of(name, value, ndim) for name, value in (("scales", scales), ("zeros", zeros))]
    struct.scales, struct.zeros = others = [NULL if part is None else described(part) for part in parts]
    held = [(part._live, part._keep) for part in parts if part is not None]  # a caller may close a part
    return struct, (code_table, held, others)


def structure(number: int, segment: Segment) -> tuple[t.Any, t.Any]:
    """Returns the struct of a segment, and the objects that its addresses need."""
    struct, source = new("gth_segment"), segment.source
    struct.offset, struct.rows, struct.row_stride = numbers("segment", segment[1:])
    if isinstance(source, (str, os.PathLike)):
        path = os.fsencode(source)
        if b"\0" in path:
            raise errors.FileError(f"file: segment {number}: {source!r} is no path", status=c.E_IO, operand="file")
        struct.path = keep = ffi.new("char[]", path)
        return struct, (struct, keep)
    if hasattr(source, "fileno"):
        source = source.fileno()
    if isinstance(source, int):
        struct.file, struct.flags = descriptor(source), c.SEGMENT_FILE
        return struct, struct
    try:
        memory = ffi.from_buffer(source)
    except (TypeError, ValueError, BufferError) as error:
        raise errors.of_library(error, source, "file") from error
    struct.data = memory if len(memory) else struct  # NULL is no memory
    struct.extent, struct.flags = len(memory), c.SEGMENT_EXTENT
    return struct, (struct, memory)


def descriptor(file: int) -> int:
    """Returns what the library needs of an open file: the descriptor, and on Windows the handle."""
    if os.name != "nt":
        return file
    import msvcrt

    return msvcrt.get_osfhandle(file)  # type: ignore[attr-defined,no-any-return,unused-ignore]
