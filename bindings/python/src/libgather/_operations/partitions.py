"""partition: assigns each id to the shard of a table that has its row."""

from __future__ import annotations

from .. import _objects, errors
from .. import types as t
from .._arrays.kinds import enter
from .._base import constants as c
from .._base.devices import is_host
from .._base.integers import integer, integers
from .._base.optional_packages import module
from .._base.request_fields import Request
from .._memory.context import Context
from .._requests.index_errors import locate
from .._requests.operation_table import GATHER
from .._requests.options_struct import SHARD_KINDS, check_options, choice, require_flag
from .._requests.site_of_call import place_of, site_of
from .._requests.tensor import Tensor
from .described_calls import NewResult
from .partition_result import Partition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._memory.device_site import Site

#: A layout: the number of rows, the number of shards or None, their borders or None, and the kind.
Shards = tuple[int, int | None, tuple[int, ...] | None, str | None]


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
    context: Context | None = None,
    stream: t.Any = None,
    sync: bool = False,
) -> Partition:
    """Partitions ids by shard: finds the rows that each shard gathers, and their places in the result.

    This serves tables that are too large for one process or one machine. The ids are validated as the indices of a
    gather from the whole table, before any shard is called. The ids of a shard keep their order, for any number of
    threads.

    Args:
        ids: Integers of any shape. Any array that :func:`gather` takes as indices, on the host or on a device.
        rows: The number of rows of the whole table.
        shards: The number of shards. `kind` assigns the rows to them.
        borders: Instead of `shards`: shard s has the rows from ``borders[s]`` up to ``borders[s + 1]``. The numbers
            must not decrease. They begin with 0 and end with `rows`.
        kind: ``"blocks"`` (default): each shard has ``ceil(rows / shards)`` rows, and the last shards may have fewer or
            none. ``"modulo"``: row r is row ``r // shards`` of shard ``r % shards``.
        once: If true, duplicate ids request their row once. The result then has `place`, and `order` is None.
        negative, bounds, profile, threads: As for :func:`gather`. With ``bounds="fill"`` or ``"skip"``, an id out of
            bounds is in no shard.
        context: The context of the call. Calls on the CPU do not need one.
        stream, sync: For ids on a device, as for :func:`gather`.

    Returns:
        Arrays of NumPy, which must be installed. For ids on a device, they are new arrays of the kind of `ids` on that
        device, and the call does not wait for it. So `local` and `order` then have one element for each id, and those
        after the last slice are not used.

    Raises:
        IndexError: An id is out of bounds. The error has its place in `ids`. On a device, the next wait for the stream
            raises it, and the results are zero.
        ShapeError: `rows`, `shards` or `borders` are invalid.
        DTypeError: `ids` are not integers.
        OptionError: An option has an unknown value, or `shards` and `borders` are both given, or none of them.
        DeviceError: As for :func:`gather`.
        UnsupportedError: On a device, there are 2**32 - 1 ids, shards or rows of unique ids, or more.

    >>> import libgather
    >>> parts = libgather.partition([7, 0, 7, 3], rows=8, shards=2)
    >>> parts.counts.tolist(), parts.local.tolist(), parts.order.tolist()
    ([2, 2], [0, 3, 3, 3], [1, 3, 0, 2])
    >>> parts = libgather.partition([7, 0, 7, 3], rows=8, borders=[0, 4, 4, 8], once=True)
    >>> parts.counts.tolist(), parts.local.tolist(), parts.place.tolist()
    ([2, 0, 1], [0, 3, 3], [2, 0, 2, 1])
    """
    request = Request(
        negative=negative,
        bounds=bounds,
        profile=profile,
        threads=threads,
        context=context,
        stream=stream,
        sync=sync,
    )
    return partition_ids(ids, (rows, shards, borders, kind), once, request, host_only=False)


def bordered(rows: int, borders: t.Any) -> Shards:
    return checked(rows, None, borders, None)


def checked(rows: t.Any, count: t.Any, borders: t.Any, kind: str | None) -> Shards:
    """Returns a layout of integers. Raises the error of an invalid one."""
    number = choice("kind", kind, SHARD_KINDS)
    if (count is None) == (borders is None):
        message = "options: give exactly one of shards and borders"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    if borders is None:
        return integer("rows", rows), integer("shards", count), None, kind
    if number == c.SHARDS_MODULO:
        message = f"options: kind {kind!r} needs shards, and borders are given"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    numbers = integers("borders", borders)
    if any(not -(2**63) <= border < 2**63 for border in numbers):
        raise errors.ShapeError("shards: a border is too big, it is beyond 64 bits", status=c.E_SHAPE)
    return integer("rows", rows), None, numbers, kind


def partition_ids(
    ids: t.Any, shards: Shards, once: bool, request: Request, axis: int = 0, host_only: bool = True
) -> Partition:
    """Partitions ids of one axis of a larger table. Errors name that axis."""
    try:
        found = _objects.partition(new_integers, False, False, ids, shards, once, request)
        if found is not NotImplemented:
            return Partition._make(found)
        shards = checked(*shards)
        check_options(request)
        require_flag("sync", request.sync)
        site = site_of(request.context, request.stream, ("indices", ids))
        named = request if request.fill_value is None else request._replace(fill_value="zero")  # no id is filled
        if site is not None:
            if host_only:
                raise errors.unsupported("indices", "they are on a device, and this table is on the CPU")
            return on_device(site, ids, shards, once, named._replace(context=site.context, stream=None))
        operand = enter(ids, None, "indices")[0]._described_operand()
        return Partition._make(_objects.partition(new_integers, False, True, operand, shards, once, named))
    except errors.IndexError as error:
        if is_host(place_of(ids, "indices")):  # the error of a device has no index
            locate(error, GATHER, 1, enter(ids, None, "indices")[0].shape, axis, 0)
        raise


def on_device(site: Site, ids: t.Any, shards: Shards, once: bool, request: Request) -> Partition:
    """Partitions ids in the order of a stream. The arrays keep their largest sizes, so that the call does not wait."""

    def new_result(shape: tuple[int, ...]) -> NewResult:
        return NewResult(ids, "indices", site, shape, "int64")

    operand = enter(ids, site, "indices")[0]._described_operand()
    made = _objects.partition(new_result, True, True, operand, shards, once, request)
    return Partition._make(None if result is None else result.left(request.sync) for result in made)


def new_integers(shape: tuple[int, ...]) -> t.Any:
    """Creates an array. Its module configures the C code, which then creates the next ones."""
    from .._arrays import numpy_  # noqa: F401

    return module("numpy").empty(shape, "int64")


def array_of(ids: t.Any) -> t.Any:
    """Returns ids as an array of NumPy. NumPy would convert a list with large integers to floats."""
    return module("numpy").asarray(Tensor(ids) if isinstance(ids, (list, tuple)) else ids)
