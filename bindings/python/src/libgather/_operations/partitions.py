"""partition: assigns each id to the shard of a table that has its row."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._arrays.kinds import enter
from .._base import constants as c
from .._base.integers import integer, integers
from .._base.library import NULL, ffi, lib
from .._base.library_calls import call, extents, new
from .._base.optional_packages import module
from .._base.request_fields import Request
from .._objects import partition as partition_buffers
from .._requests.index_errors import locate
from .._requests.operation_table import GATHER
from .._requests.options_struct import SHARD_KINDS, choice, options_of
from .._requests.site_of_call import site_of
from .._requests.tensor import Tensor
from .partition_result import Partition

_NUMBERS = ffi.typeof("int64_t[]")


def partition(
    ids: t.Any,
    rows: int,
    *,
    shards: int | None = None,
    borders: t.Any = None,
    kind: t.ShardKind = "blocks",
    once: bool = False,
    negative: t.Negative | None = None,
    bounds: t.Bounds | None = None,
    profile: t.Profile | None = None,
    threads: int | None = None,
) -> Partition:
    """Partitions ids by shard: finds the rows that each shard gathers, and their places in the result.

    This serves tables that are too large for one process or one machine. The ids are validated as the indices of a
    gather from the whole table, before any shard is called. The ids of a shard keep their order, for any number of
    threads.

    Args:
        ids: Integers of any shape. Any array on the host.
        rows: The number of rows of the whole table.
        shards: The number of shards. `kind` assigns the rows to them.
        borders: Instead of `shards`: shard s has the rows from ``borders[s]`` up to ``borders[s + 1]``. The numbers
            must not decrease. They begin with 0 and end with `rows`.
        kind: ``"blocks"`` (default): each shard has ``ceil(rows / shards)`` rows, and the last shards may have fewer or
            none. ``"modulo"``: row r is row ``r // shards`` of shard ``r % shards``.
        once: If true, duplicate ids request their row once. The result then has `place`, and `order` is None.
        negative, bounds, profile, threads: As for :func:`gather`. With ``bounds="fill"`` or ``"skip"``, an id out of
            bounds is in no shard.

    Returns:
        Arrays of NumPy, which must be installed.

    Raises:
        IndexError: An id is out of bounds. The error has its place in `ids`.
        ShapeError: `rows`, `shards` or `borders` are invalid.
        DTypeError: `ids` are not integers.
        OptionError: An option has an unknown value, or `shards` and `borders` are both given, or none of them.
        UnsupportedError: `ids` are on a device.

    >>> import libgather
    >>> parts = libgather.partition([7, 0, 7, 3], rows=8, shards=2)
    >>> parts.counts.tolist(), parts.local.tolist(), parts.order.tolist()
    ([2, 2], [0, 3, 3, 3], [1, 3, 0, 2])
    >>> parts = libgather.partition([7, 0, 7, 3], rows=8, borders=[0, 4, 4, 8], once=True)
    >>> parts.counts.tolist(), parts.local.tolist(), parts.place.tolist()
    ([2, 0, 1], [0, 3, 3], [2, 0, 2, 1])
    """
    try:
        found = partition_buffers(
            ids, rows, shards, borders, kind, once, negative, bounds, None, profile, None, threads
        )
    except errors.IndexError as error:
        locate_id(error, ids, 0)
        raise
    if found is not NotImplemented:
        return Partition._make(found)
    request = Request(negative=negative, bounds=bounds, profile=profile, threads=threads)
    return partition_ids(ids, shards_of(rows, shards, borders, kind), once, request)


class Shards:
    """A layout: the number of rows, and either the borders of the shards or their number and kind."""

    __slots__ = ("borders", "count", "kind", "rows")

    def __init__(
        self,
        rows: int,
        count: int | None = None,
        borders: tuple[int, ...] | None = None,
        kind: t.ShardKind | None = None,
    ) -> None:
        self.rows, self.count, self.borders, self.kind = integer("rows", rows), count, borders, kind


def shards_of(rows: int, shards: int | None, borders: t.Any, kind: t.ShardKind) -> Shards:
    number = choice("kind", kind, SHARD_KINDS)
    if (shards is None) == (borders is None):
        message = "options: give exactly one of shards and borders"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    if shards is not None:
        return Shards(rows, integer("shards", shards), kind=kind)
    if number == c.SHARDS_MODULO:
        message = f"options: kind {kind!r} needs shards, and borders are given"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    return bordered(rows, borders)


def bordered(rows: int, borders: t.Any) -> Shards:
    return Shards(rows, borders=integers("borders", borders))


def partition_ids(ids: t.Any, shards: Shards, once: bool, request: Request, axis: int = 0) -> Partition:
    """Partitions ids of one axis of a larger table. Errors name that axis."""
    try:
        found = partition_buffers(
            ids,
            shards.rows,
            shards.count,
            shards.borders,
            shards.kind,
            once,
            request.negative,
            request.bounds,
            request.fill_value,
            request.profile,
            request.opset,
            request.threads,
        )
        return partition_ids_slow(ids, shards, once, request) if found is NotImplemented else Partition._make(found)
    except errors.IndexError as error:
        locate_id(error, ids, axis)
        raise


def array_of(ids: t.Any) -> t.Any:
    """Returns ids as an array of NumPy. NumPy would convert a list with large integers to floats."""
    return module("numpy").asarray(Tensor(ids) if isinstance(ids, (list, tuple)) else ids)


def locate_id(error: errors.IndexError, ids: t.Any, axis: int) -> None:
    """Adds the place of the id to an error."""
    locate(error, GATHER, 1, enter(ids, None, "indices")[0].shape, axis, 0)


def partition_ids_slow(ids: t.Any, shards: Shards, once: bool, request: Request) -> Partition:
    """The same as `partition_ids` for calls that partition_buffers() does not support."""
    options = options_of(request)
    if site_of(None, None, ("indices", ids)) is not None:
        raise errors.unsupported("indices", "partition accepts only arrays in host memory")
    index, borders = enter(ids, None, "indices")[0], numbers_of(shards.borders)
    (desc, _handle), layout = index._operand(), struct_of(shards, borders)
    scratch, place = scratch_for(desc, layout, once), room(index.shape)
    counts, local = room(layout.count), room(place.size)
    order = None if once else room(place.size)
    call(lib.gth_partition, NULL, desc, layout, options, parts_of(counts, local, order, place, scratch))
    total = int(counts.sum())
    return Partition(counts, local[:total], None if order is None else order[:total], place)


def numbers_of(borders: tuple[int, ...] | None) -> t.Any:
    """Returns borders as a C array, or NULL for None."""
    try:
        return NULL if borders is None else extents(borders)
    except OverflowError as error:
        raise errors.ShapeError(f"shards: {error}", status=c.E_SHAPE) from None


def struct_of(shards: Shards, borders: t.Any) -> t.Any:
    """Returns the library's struct of a layout. `borders` must outlive it."""
    layout = new("gth_shards")
    layout.rows, layout.borders = shards.rows, borders
    if shards.borders is None:
        layout.kind = choice("kind", shards.kind, SHARD_KINDS) or c.SHARDS_BLOCKS
        layout.count = shards.count
    else:
        layout.kind, layout.count = c.SHARDS_BORDERS, len(shards.borders) - 1
    return layout


def scratch_for(desc: t.Any, layout: t.Any, once: bool) -> t.Any:
    needed = ffi.new("int64_t *")
    call(lib.gth_partition_scratch, desc, layout, c.PARTS_ONCE if once else 0, needed)
    return room(-(-needed[0] // 8))


def room(shape: t.Any) -> t.Any:
    return module("numpy").empty(shape, "int64")


def parts_of(counts: t.Any, local: t.Any, order: t.Any, place: t.Any, scratch: t.Any) -> t.Any:
    """Returns the library's struct over arrays, which must outlive it."""
    parts = new("gth_parts")
    parts.flags = c.PARTS_ONCE if order is None else 0
    parts.capacity, parts.scratch_bytes = place.size, scratch.nbytes
    parts.counts, parts.local, parts.place, parts.scratch = map(memory_of, (counts, local, place, scratch))
    if order is not None:
        parts.order = memory_of(order)
    return parts


def memory_of(array: t.Any) -> t.Any:
    return ffi.from_buffer(_NUMBERS, array.reshape(-1), require_writable=True)
