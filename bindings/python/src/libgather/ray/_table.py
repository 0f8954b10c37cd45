"""ShardedTable: a table whose rows are stored by actors."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from threading import Lock

import numpy as np
import ray

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.request_fields import Request
from .._operations.gather_plan import Plan
from .._operations.gathers import gather
from .._operations.missing_rows import missing_of
from .._operations.partition_join import placed
from .._operations.partition_result import Partition
from .._operations.partitions import array_of, bordered, partition_ids
from .._operations.scatters import scatter
from .._requests.spec import Spec
from ._actors import Actors, ShardCall, end, found, started
from ._errors import ShardTimeoutError
from ._layout import Layout, equal_borders, positive, refused, seconds
from ._shard import ShardStats
from ._sources import ArrayRows, FileRows, Part, part_of

#: The default time to wait for an actor in seconds, and the default number of concurrent gathers of a handle.
TIMEOUT, IN_FLIGHT = 60.0, 16


class ShardedTable:
    """A table whose rows are partitioned among actors of Ray. Each process of the cluster can gather rows by id.

    :meth:`from_file`, :meth:`from_array` and :meth:`from_shards` create a table. :meth:`attach` finds an existing one.
    All need ``ray.init()`` first. A table can be passed to tasks and actors, and used by many threads. ``with`` closes
    it at the end. A table without a name also ends with the handle that created it.

    The three methods share these options:

    - ``replicas``: The number of actors of each shard. If one has ended or does not respond in time, the next one is
        called.
    - ``name``: The table outlives its driver, and other drivers find it by :meth:`attach`.
    - ``batched``: The actors are asynchronous and combine the calls of one event loop iteration into one gather. This
      serves many callers with few rows each. A single caller is faster without it.
    - ``timeout``: The time to wait for an actor, and for the start of all actors, in seconds.
    - ``in_flight``: The largest number of concurrent gathers of :meth:`gather_async`. The next call waits.
    - ``actors``: Options of Ray for the actors, such as ``{"num_cpus": 1}``. Actors are restarted, and calls are
      repeated, without limit. Exceptions are a ``writable`` table and a table in memory with a name. There a restart
      could silently lose written rows, or rows whose driver has ended.

    >>> import ray, libgather.ray  # doctest: +SKIP
    >>> table = libgather.ray.ShardedTable.from_array([[1, 2], [3, 4], [5, 6]], shards=2)  # doctest: +SKIP
    >>> table.gather([2, 0]).tolist()  # doctest: +SKIP
    [[5, 6], [1, 2]]
    """

    def __init__(self, layout: Layout, actors: Actors, name: str | None) -> None:
        self._layout, self._name = layout, name
        self._actors: Actors | None = actors
        self._shards = bordered(layout.shape[0], layout.borders)
        self._kept: t.Any = ()  # references that keep the rows in Ray's store
        self._shared: t.Any = None
        self._under_way: list[ray.ObjectRef[t.Any]] = []
        self._lock = Lock()

    # --------------------------------------------------------------------------------------------------------- creation

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        shards: int,
        replicas: int = 1,
        name: str | None = None,
        batched: bool = False,
        timeout: float = TIMEOUT,
        in_flight: int = IN_FLIGHT,
        actors: Mapping[str, t.Any] | None = None,
    ) -> t.Self:
        """Creates a table from a ``.npy`` file that has the same path on each node. Rows are read when they are needed.

        If the file is replaced or written, this call and later ones raise :class:`ShardError`. No call returns rows of
        another version. Writes through mapped memory may be detected late.

        Args:
            path: The path of the file.
            shards: The number of shards. Each has ``ceil(rows / shards)`` rows, and the last ones may have fewer or
                none.
            replicas, name, batched, timeout, in_flight, actors: See above.

        Raises:
            RankError, DTypeError: The array has no dims, or has Python objects.
            ShardError: An actor cannot load its rows, or its node has another file.
            ShardTimeoutError: An actor does not start.
            OptionError: Another table has the name, or a number is out of range.
        """
        source, shape, dtype = part_of(path, seconds(timeout))
        if not isinstance(source, FileRows):
            raise errors.dtype_error("params", f"{type(path).__name__} is no path")
        layout = laid_out(shape, dtype, equal_borders(shape[0], shards), replicas, False, timeout, in_flight)
        ends = [layout.rows(shard) for shard in range(layout.shards)]
        sources = [source._replace(first=rows.start, last=rows.stop) for rows in ends]
        return cls(layout, started(sources, layout, name, batched, actors), name)

    @classmethod
    def from_array(
        cls,
        array: t.Any,
        *,
        shards: int,
        writable: bool = False,
        replicas: int = 1,
        name: str | None = None,
        batched: bool = False,
        timeout: float = TIMEOUT,
        in_flight: int = IN_FLIGHT,
        actors: Mapping[str, t.Any] | None = None,
    ) -> t.Self:
        """Creates a table in memory.

        Its shards are stored in Ray's store, which the actors of a node read without a copy.

        Args:
            array: Any object that NumPy converts to an array.
            shards: As for :meth:`from_file`.
            writable: If true, :meth:`update` can write the table. Each actor then has a copy of its rows, and each
                shard has one replica.
            replicas, name, batched, timeout, in_flight, actors: See above.

        Raises:
            Error: As for :meth:`from_file`.
        """
        whole = np.asarray(array)
        borders = equal_borders(len(whole) if whole.ndim else 0, shards)
        blocks = [whole[first:last] for first, last in pairwise(borders)] if whole.ndim else [whole]
        return cls.from_shards(
            blocks,
            writable=writable,
            replicas=replicas,
            name=name,
            batched=batched,
            timeout=timeout,
            in_flight=in_flight,
            actors=actors,
        )

    @classmethod
    def from_shards(
        cls,
        shards: Sequence[t.Any],
        *,
        writable: bool = False,
        replicas: int = 1,
        name: str | None = None,
        batched: bool = False,
        timeout: float = TIMEOUT,
        in_flight: int = IN_FLIGHT,
        actors: Mapping[str, t.Any] | None = None,
    ) -> t.Self:
        """Creates a table from existing shards: paths of ``.npy`` files, Ray references to arrays, or arrays.

        Args:
            shards: The shards in the order of the rows. A shard may have any number of rows.
            writable: As for :meth:`from_array`. Files cannot be written.
            replicas, name, batched, timeout, in_flight, actors: See above.

        Raises:
            ShapeError, DTypeError: The rows of two shards differ in shape or dtype.
            Error: As for :meth:`from_file`.
        """
        parts = [part_of(shard, seconds(timeout)) for shard in shards]
        if not parts:
            raise refused("shards: none are given")
        check_alike(parts)
        if writable and not all(isinstance(part.source, ArrayRows) for part in parts):
            raise errors.unsupported("params", "files are not written to: their shards cannot be writable")
        borders = tuple(accumulate((part.shape[0] for part in parts), initial=0))
        shape = (borders[-1], *parts[0].shape[1:])
        layout = laid_out(shape, parts[0].dtype, borders, replicas, writable, timeout, in_flight)
        table = cls(layout, started([part.source for part in parts], layout, name, batched, actors), name)
        table._kept = parts
        return table

    @classmethod
    def attach(cls, name: str, *, timeout: float = TIMEOUT) -> t.Self:
        """Finds the table with a name. Its driver may be another one, and may have ended.

        Raises:
            ShardError: There is no such table, or it does not respond.
        """
        return cls(*found(name, seconds(timeout)), name)

    # ---------------------------------------------------------------------------------------------------------- gathers

    def gather(
        self,
        ids: t.Any,
        *,
        negative: t.Negative | None = None,
        bounds: t.Bounds | None = None,
        fill_value: t.Any = None,
        profile: t.Profile | None = None,
        once: bool = False,
        out: t.Any = None,
        timeout: float | None = None,
    ) -> t.Any:
        """Gathers the rows of ids, as :func:`libgather.gather` from the whole table.

        The ids are validated before any shard is called.

        Args:
            ids: Integers of any shape. Any array on the host.
            negative, bounds, fill_value, profile: As for :func:`libgather.gather`.
            once: If true, duplicate ids transfer their row once.
            out: A NumPy array of the result's shape and dtype that the call writes. It is unchanged on an error.
            timeout: The time to wait for an actor in seconds. None means the table's.

        Returns:
            `out`, or a new array of shape ``ids.shape + table.shape[1:]``.

        Raises:
            IndexError: An id is out of bounds. The error has its place in `ids`.
            ShardTimeoutError: No replica of a shard has responded in time.
            ShardError: A shard has ended, or its file has been replaced.
            OutOfMemoryError: A shard cannot allocate its rows.
            Error: As for :func:`libgather.gather`.
        """
        request = Request(negative=negative, bounds=bounds, fill_value=fill_value, profile=profile)
        parts, missing = self._partition(ids, request, once)
        if out is not None:
            check_out(out, parts.place.shape + self._layout.shape[1:], self.dtype)
            missing = None if bounds == "skip" else missing
        return self._collected(parts, missing, out, timeout)

    def gather_async(
        self,
        ids: t.Any,
        *,
        negative: t.Negative | None = None,
        bounds: t.Bounds | None = None,
        fill_value: t.Any = None,
        profile: t.Profile | None = None,
        once: bool = False,
        timeout: float | None = None,
    ) -> ray.ObjectRef[t.Any]:
        """The same as :meth:`gather` in a task of Ray.

        Returns a reference to the rows, which are not transferred to this process.

        ``await`` and ``ray.get`` return the rows, which are read-only if Ray stores them. Ids are validated at once.
        Errors of shards are raised by the reference. The call waits while ``in_flight`` gathers are running. The task
        needs no CPU of Ray.

        Raises:
            ShardTimeoutError: No running gather has ended within `timeout`.
            Error: As for :meth:`gather`.
        """
        request = Request(negative=negative, bounds=bounds, fill_value=fill_value, profile=profile)
        parts, missing = self._partition(ids, request, once)
        self._open_actors()
        with self._lock:
            if self._shared is None:
                self._shared = ray.put(self)
            if len(self._under_way) >= self._layout.in_flight:
                self._wait_for_one(self._seconds_to_wait(timeout))
            rows = COLLECTED.remote(self._shared, parts, missing, timeout)
            self._under_way.append(rows)
        return rows

    def gather_nd(
        self,
        tuples: t.Any,
        *,
        negative: t.Negative | None = None,
        bounds: t.Bounds | None = None,
        fill_value: t.Any = None,
        profile: t.Profile | None = None,
        timeout: float | None = None,
    ) -> t.Any:
        """Gathers slices by tuples, as :func:`libgather.gather_nd`. The first component of a tuple is the id.

        Raises:
            IndexError: A tuple is out of bounds. `position` is the number of the tuple, and `component` is its invalid
                index.
            Error: As for :meth:`gather`.
        """
        request = Request(negative=negative, bounds=bounds, fill_value=fill_value, profile=profile)
        tuples = array_of(tuples)
        shape = self._checked_nd(tuples, request)
        parts = partition_ids(tuples[..., 0], self._shards, False, request)
        missing = missing_of(self.dtype, request)
        flat = tuples.reshape(-1, tuples.shape[-1])
        calls = []
        for shard, rows in ranges_of(parts):
            local = flat[parts.order[rows]]
            local = np.column_stack([parts.local[rows], local[:, 1:]])
            calls.append(ShardCall(shard, "gather_nd", (local, request)))
        answers = self._open_actors().call(calls, self._seconds_to_wait(timeout))
        return placed(parts, answers, shape, self.dtype, missing, None)

    # ---------------------------------------------------------------------------------------------------------- updates

    def update(
        self,
        ids: t.Any,
        rows: t.Any,
        reduction: t.Reduction = "none",
        *,
        include_self: bool = True,
        accumulate: t.Accumulate | None = None,
        negative: t.Negative | None = None,
        bounds: t.ScatterBounds | None = None,
        timeout: float | None = None,
    ) -> None:
        """Writes rows of a writable table by id, as :func:`libgather.scatter` does in place.

        The last row of an id wins, or a reduction combines the rows in their order. Without `include_self`, it ignores
        the row of the table. All arguments are validated before any row is written. If a shard has ended or is late,
        other shards may have written their rows.

        Raises:
            IndexError: An id is out of bounds. The error has its place in `ids`, and no row is written.
            UnsupportedError: The table is not writable.
            ShapeError, DTypeError: `rows` have another shape or dtype.
            ShardError: A shard has ended.
            ShardTimeoutError: A shard is late, and may still write its rows.
        """
        if not self._layout.writable:
            raise errors.unsupported("target", "the table has not been made with writable=True")
        updates = rows if isinstance(rows, np.ndarray) else np.asarray(rows, self.dtype)
        row = self._layout.shape[1:]
        switches: t.Any = {"reduction": reduction, "include_self": include_self, "accumulate": accumulate}
        validate_update(self.dtype, updates.dtype, switches | {"bounds": bounds})
        parts = partition_ids(ids, self._shards, False, Request(negative=negative, bounds=bounds))
        if updates.shape != parts.place.shape + row:
            message = f"updates: shape {updates.shape}, {parts.place.shape + row} is needed"
            raise errors.ShapeError(message, status=c.E_SHAPE, operand="updates")
        ordered = gather(updates.reshape(-1, *row), parts.order)
        self._open_actors().call(
            [
                ShardCall(shard, "update", (parts.local[part], ordered[part], switches))
                for shard, part in ranges_of(parts)
            ],
            self._seconds_to_wait(timeout),
        )

    # ------------------------------------------------------------------------------------------------------- properties

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole table."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[t.Any]:
        """The dtype of its elements."""
        return self._layout.dtype

    @property
    def borders(self) -> tuple[int, ...]:
        """Shard s has the rows from ``borders[s]`` up to ``borders[s + 1]``."""
        return self._layout.borders

    def __len__(self) -> int:
        return self._layout.shape[0]

    def __repr__(self) -> str:
        name = "" if self._name is None else f", name={self._name!r}"
        return f"libgather.ray.ShardedTable({self.dtype}, {self.shape}, shards={self._layout.shards}{name})"

    def stats(self, timeout: float | None = None) -> list[ShardStats]:
        """Returns the statistics of all actors that respond in time."""
        return self._open_actors().stats(self._seconds_to_wait(timeout))

    # ------------------------------------------------------------------------------------------------------------ close

    def close(self) -> None:
        """Stops the actors for all users of the table, also if it has a name. A second call does nothing."""
        actors, self._actors = self._actors, None
        if actors is not None:
            end(actors.replicas)
        self._kept, self._shared, self._under_way = (), None, []

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[t.Any, ...]:
        return _handed_on, (self._layout, self._open_actors().replicas, self._name)

    # -------------------------------------------------------------------------------------------------------- internals

    def _open_actors(self) -> Actors:
        if self._actors is None:
            raise errors.closed("table")
        return self._actors

    def _seconds_to_wait(self, timeout: float | None) -> float:
        return self._layout.timeout if timeout is None else seconds(timeout)

    def _wait_for_one(self, timeout: float) -> None:
        """Waits until one of the running gathers has ended."""
        ended, self._under_way = ray.wait(self._under_way, num_returns=1, timeout=timeout, fetch_local=False)
        if not ended:
            raise ShardTimeoutError(f"none of {len(self._under_way)} running gathers has ended within {timeout:g} s")

    def _partition(self, ids: t.Any, request: Request, once: bool) -> tuple[Partition, t.Any]:
        """Partitions ids.

        Also returns the element of ids out of bounds. None means that there are none, or they are skipped.
        """
        parts = partition_ids(ids, self._shards, once, request)
        usual = request.bounds is None and request.fill_value is None and request.profile is None
        return parts, None if usual else missing_of(self.dtype, request)

    def _collected(self, parts: Partition, missing: t.Any, out: t.Any, timeout: float | None) -> t.Any:
        calls = [ShardCall(shard, "gather", (parts.local[rows],)) for shard, rows in ranges_of(parts)]
        answers = self._open_actors().call(calls, self._seconds_to_wait(timeout)) if calls else []
        shape = parts.place.shape + self._layout.shape[1:]
        return placed(parts, answers, shape, self.dtype, missing, out)

    def _checked_nd(self, tuples: t.Any, request: Request) -> tuple[int, ...]:
        """Validates tuples against the shape of the whole table. Returns the shape of the result."""
        switches: t.Any = {name: getattr(request, name) for name in ("negative", "bounds", "profile")}
        plan = Plan(Spec("uint8", self.shape), Spec(tuples.dtype, tuples.shape), op="gather_nd", **switches)
        if tuples.shape[-1] == 0:
            raise errors.unsupported("indices", "tuples of no index select the whole table")
        plan.check(tuples)
        return (*tuples.shape[:-1], *self.shape[tuples.shape[-1] :])


def _handed_on(layout: Layout, replicas: t.Any, name: str | None) -> ShardedTable:
    return ShardedTable(layout, Actors(replicas), name)


def _collected(table: ShardedTable, parts: Partition, missing: t.Any, timeout: float | None) -> t.Any:
    return table._collected(parts, missing, None, timeout)


# The task waits for actors. If it needed a CPU, actors that use all would stop it forever.
COLLECTED = ray.remote(num_cpus=0)(_collected)


def ranges_of(parts: Partition) -> list[tuple[int, slice]]:
    """Returns the shards that have any of the rows, and the range of their rows."""
    return [(shard, rows) for shard, rows in enumerate(parts.slices) if rows.start < rows.stop]


def laid_out(
    shape: tuple[int, ...],
    dtype: np.dtype[t.Any],
    borders: tuple[int, ...],
    replicas: int,
    writable: bool,
    timeout: float,
    in_flight: int,
) -> Layout:
    if writable and replicas != 1:
        raise refused("replicas of a writable table would differ: it has one")
    replicas, in_flight = positive("replicas", replicas), positive("in_flight", in_flight)
    return Layout(shape, dtype, borders, replicas, writable, seconds(timeout), in_flight)


def check_alike(parts: list[Part]) -> None:
    first = parts[0]
    for number, part in enumerate(parts):
        if part.shape[1:] != first.shape[1:]:
            message = f"params: rows of shape {part.shape[1:]} in shard {number}, {first.shape[1:]} in shard 0"
            raise errors.ShapeError(message, status=c.E_SHAPE, operand="params")
        if part.dtype != first.dtype:
            raise errors.dtype_error("params", f"dtype is {part.dtype} in shard {number}, {first.dtype} in shard 0")


def check_out(out: t.Any, shape: tuple[int, ...], dtype: np.dtype[t.Any]) -> None:
    if not isinstance(out, np.ndarray):
        raise errors.dtype_error("out", f"{type(out).__name__} is not an array of NumPy")
    if out.shape != shape:
        raise errors.ShapeError(f"out: shape {out.shape}, {shape} is needed", status=c.E_SHAPE, operand="out")
    if out.dtype != dtype:
        raise errors.dtype_error("out", f"dtype is {out.dtype}, {dtype} is needed")
    if not out.flags.writeable:
        raise errors.read_only("out", "it is read-only")


def validate_update(dtype: np.dtype[t.Any], given: np.dtype[t.Any], switches: dict[str, t.Any]) -> None:
    """Validates an update with an empty scatter before a shard writes any row."""
    scatter(np.empty(0, dtype), np.empty(0, np.int64), np.empty(0, given), 0, **switches)
