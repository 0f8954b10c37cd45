"""ShardedTable: the rows of a table, by id, from the actors that have them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from threading import Lock

import numpy as np
import ray

from .. import _constants as c
from .. import errors
from .. import types as t
from .._join import placed
from .._missing import missing_of
from .._operations import gather
from .._partition import bordered, dealt
from .._parts import Partition
from .._request import Request
from .._scatters import scatter
from ..plan import Plan
from ..spec import Spec
from ._actors import Actors, Question, end, found, started
from ._layout import Layout, equal_borders, positive, refused, seconds
from ._shard import ShardStats
from ._sources import ArrayRows, FileRows, Part, part_of

#: Seconds to wait for an actor, and gathers of a handle at once, unless a caller says otherwise.
TIMEOUT, IN_FLIGHT = 60.0, 16


class ShardedTable:
    """A table whose rows are dealt out to actors of Ray, which are asked for them by id from anywhere in the cluster.

    It is made by :meth:`from_file`, :meth:`from_array` or :meth:`from_shards`, or found by :meth:`attach`;
    ``ray.init()`` comes first. It can be handed to tasks and actors, and be used by many threads. With ``with`` it is
    closed at the end. One that has no name ends with the handle that made it, too.

    Options of all three:

    - ``replicas``: how many actors have each shard. One that is gone, or does not answer in time, is not waited for:
      the next one is asked
    - ``name``: the table outlives its driver, and any other one finds it by :meth:`attach`
    - ``batched``: the actors are asynchronous and answer what came in a tick of their loop by one gather: for many
      callers that ask for few rows each. A single caller is answered sooner without
    - ``timeout``: for how many seconds an actor is waited for
    - ``in_flight``: how many gathers of :meth:`gather_async` are under way at once; the next call waits
    - ``actors``: options of Ray for them, such as ``{"num_cpus": 1}``. They are restarted and asked again without
      limit, but not those of a table that is ``writable``, nor of one in memory that has a name: what was written, or
      had been put into memory by a driver that is gone, would be lost without a word

    >>> import ray, libgather.ray  # doctest: +SKIP
    >>> table = libgather.ray.ShardedTable.from_array([[1, 2], [3, 4], [5, 6]], shards=2)  # doctest: +SKIP
    >>> table.gather([2, 0]).tolist()  # doctest: +SKIP
    [[5, 6], [1, 2]]
    """

    def __init__(self, layout: Layout, actors: Actors, name: str | None) -> None:
        self._layout, self._name = layout, name
        self._actors: Actors | None = actors
        self._shards = bordered(layout.shape[0], layout.borders)
        self._kept: t.Any = ()  # what Ray would let go of
        self._shared: t.Any = None
        self._under_way: list[ray.ObjectRef[t.Any]] = []
        self._lock = Lock()

    # ---------------------------------------------------------------------------------------------------------- made

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
        """A table in a ``.npy`` file that each node has by the same path: it is mapped, and read as rows are asked for.

        A file that is replaced or written to later is a :class:`ShardError` at the next call: a table is of one file.

        Args:
            path: the file
            shards: how many there are; each has ``ceil(rows / shards)`` rows, the last ones fewer or none
            replicas, name, batched, timeout, in_flight, actors: see above

        Raises:
            RankError, DTypeError: an array of no dims, or of Python's objects
            ShardError: an actor cannot have its rows; the file is another one there
            ShardTimeoutError: an actor does not start
            OptionError: a name that another table has, numbers out of range
        """
        source, shape, dtype = part_of(path)
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
        """A table in memory: its shards are put into Ray's store, which the actors of a node read without a copy.

        Args:
            array: what NumPy makes an array of
            shards: as for :meth:`from_file`
            writable: :meth:`update` can write to it: each actor has a copy of its own. Such a table has one replica
            replicas, name, batched, timeout, in_flight, actors: see above

        Raises:
            Error: as :meth:`from_file`
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
        """A table of shards that are there already: paths of ``.npy`` files, references of Ray's to arrays, or arrays.

        Args:
            shards: the first one has the first rows, and so on; of any number of rows, none included
            writable: as for :meth:`from_array`; not of files
            replicas, name, batched, timeout, in_flight, actors: see above

        Raises:
            ShapeError, DTypeError: shards whose rows differ in shape or dtype
            Error: as :meth:`from_file`
        """
        parts = [part_of(shard) for shard in shards]
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
        """The table that has been made under a name, by this driver or another one, which may be gone.

        Raises:
            ShardError: there is no such table, or it does not answer
        """
        return cls(*found(name, seconds(timeout)), name)

    # ------------------------------------------------------------------------------------------------------ asked for

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
        """The rows of ids, as :func:`libgather.gather` has them of the whole table.

        The ids are judged before any shard is asked.

        Args:
            ids: integers of any shape, any array on the host
            negative, bounds, fill_value, profile: as for :func:`libgather.gather`
            once: a row that several ids name travels once
            out: an array of NumPy's of the result's shape and dtype to write to; unchanged on an error
            timeout: instead of the table's

        Returns:
            `out`, or a new array of shape ``ids.shape + table.shape[1:]``.

        Raises:
            IndexError: an id out of bounds, with its place in `ids`
            ShardTimeoutError: a shard of which no replica has answered in time
            ShardError: a shard that is gone, or whose file has been replaced
            OutOfMemoryError: a shard without memory for its rows
            Error: as :func:`libgather.gather`
        """
        request = Request(None, 0, negative, bounds, fill_value, profile)
        parts, missing = self._dealt(ids, request, once)
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
        """As :meth:`gather`, by a task of Ray's: a reference to the rows, which need not come here.

        ``await`` and ``ray.get`` have them, read-only where Ray keeps them. Ids are judged at once; what a shard cannot
        answer is told by the reference. It waits while as many gathers are under way as the table may have.
        """
        request = Request(None, 0, negative, bounds, fill_value, profile)
        parts, missing = self._dealt(ids, request, once)
        self._alive()
        with self._lock:
            if self._shared is None:
                self._shared = ray.put(self)
            if len(self._under_way) >= self._layout.in_flight:
                _, self._under_way = ray.wait(self._under_way, num_returns=1, fetch_local=False)
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
        """Slices by tuples along the last axis of `tuples`, as :func:`libgather.gather_nd`: ids come first in them.

        Raises:
            IndexError: a tuple out of bounds: the attribute `position` is its number, `component` which index of it
            Error: as :meth:`gather`
        """
        request = Request(None, 0, negative, bounds, fill_value, profile)
        tuples = np.asarray(tuples)
        shape = self._checked_nd(tuples, request)
        parts = dealt(tuples[..., 0], self._shards, False, request)
        missing = missing_of(self.dtype, request)
        flat = tuples.reshape(-1, tuples.shape[-1])
        questions = []
        for shard, rows in asked(parts):
            local = flat[parts.order[rows]]  # type: ignore[index]
            local = np.column_stack([parts.local[rows], local[:, 1:]])
            questions.append(Question(shard, "gather_nd", (local, request)))
        answers = self._alive().ask(questions, self._patience(timeout))
        return placed(parts, answers, shape, self.dtype, missing, None)

    # ---------------------------------------------------------------------------------------------------- written to

    def update(
        self,
        ids: t.Any,
        rows: t.Any,
        reduction: t.Reduction = "none",
        *,
        accumulate: t.Accumulate | None = None,
        negative: t.Negative | None = None,
        bounds: t.ScatterBounds | None = None,
        timeout: float | None = None,
    ) -> None:
        """Writes rows to a writable table, by id, as :func:`libgather.scatter` does in place.

        Of several rows of one id the last one wins, or they are combined in their order. All is judged before anything
        is written; of a call that fails later, as a shard is gone or late, some shards may have written their rows.

        Raises:
            IndexError: an id out of bounds, with its place in `ids`; nothing is written
            UnsupportedError: a table that is not writable
            ShapeError, DTypeError: rows of another shape or dtype
            ShardError: a shard that is gone; ShardTimeoutError: one that is late, and may still write
        """
        if not self._layout.writable:
            raise errors.unsupported("target", "the table has not been made with writable=True")
        updates = rows if isinstance(rows, np.ndarray) else np.asarray(rows, self.dtype)
        row = self._layout.shape[1:]
        judge_update(self.dtype, updates.dtype, {"reduction": reduction, "accumulate": accumulate, "bounds": bounds})
        parts = dealt(ids, self._shards, False, Request(None, 0, negative, bounds))
        if updates.shape != parts.place.shape + row:
            message = f"updates: shape {updates.shape}, {parts.place.shape + row} is needed"
            raise errors.ShapeError(message, status=c.E_SHAPE, operand="updates")
        ordered = gather(updates.reshape(-1, *row), parts.order)
        self._alive().ask(
            [
                Question(shard, "update", (parts.local[part], ordered[part], reduction, accumulate))
                for shard, part in asked(parts)
            ],
            self._patience(timeout),
        )

    # ---------------------------------------------------------------------------------------------------------- known

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the whole table."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[t.Any]:
        """That of its elements."""
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
        """What each actor has and has done, of those that answer in time."""
        return self._alive().stats(self._patience(timeout))

    # ---------------------------------------------------------------------------------------------------------- ended

    def close(self) -> None:
        """Ends the actors, for everyone who uses the table, one with a name too; a second time it does nothing."""
        actors, self._actors = self._actors, None
        if actors is not None:
            end(actors.replicas)
        self._kept, self._shared, self._under_way = (), None, []

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[t.Any, ...]:
        return _handed_on, (self._layout, self._alive().replicas, self._name)

    # --------------------------------------------------------------------------------------------------------- inside

    def _alive(self) -> Actors:
        if self._actors is None:
            raise errors.closed("table")
        return self._actors

    def _patience(self, timeout: float | None) -> float:
        return self._layout.timeout if timeout is None else seconds(timeout)

    def _dealt(self, ids: t.Any, request: Request, once: bool) -> tuple[Partition, t.Any]:
        """Ids dealt out, and what those that no shard has are to give; None: nothing is missing, or nothing written."""
        parts = dealt(ids, self._shards, once, request)
        usual = request.bounds is None and request.fill_value is None and request.profile is None
        return parts, None if usual else missing_of(self.dtype, request)

    def _collected(self, parts: Partition, missing: t.Any, out: t.Any, timeout: float | None) -> t.Any:
        questions = [Question(shard, "gather", (parts.local[rows],)) for shard, rows in asked(parts)]
        answers = self._alive().ask(questions, self._patience(timeout)) if questions else []
        shape = parts.place.shape + self._layout.shape[1:]
        return placed(parts, answers, shape, self.dtype, missing, out)

    def _checked_nd(self, tuples: t.Any, request: Request) -> tuple[int, ...]:
        """Judges tuples against the whole table, of whose elements nothing is needed for that."""
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


COLLECTED = ray.remote(_collected)


def asked(parts: Partition) -> list[tuple[int, slice]]:
    """The shards that have any of the rows, and which are theirs."""
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


def judge_update(dtype: np.dtype[t.Any], given: np.dtype[t.Any], switches: dict[str, t.Any]) -> None:
    """Whether elements can be written so, asked of none: before a shard writes any."""
    scatter(np.empty(0, dtype), np.empty(0, np.int64), np.empty(0, given), 0, **switches)
