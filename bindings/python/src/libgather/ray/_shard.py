"""The actors of a table. Each has some of its rows and gathers from them."""

from __future__ import annotations

import asyncio
import os
from time import perf_counter
from typing import NamedTuple

import numpy as np
import ray

from .. import types as t
from .._base.request_fields import Request
from .._operations.gathers import gather, gather_nd
from .._operations.scatters import scatter
from ._errors import ShardError
from ._layout import Layout
from ._sources import Source

#: The largest size of a batch of calls, in bytes of rows.
BATCH = 16 << 20


class ShardStats(NamedTuple):
    """Statistics of an actor since its start.

    Attributes:
        shard, replica: The numbers of the actor.
        node, pid: The node and the process of the actor.
        rows, nbytes: The number and the size of its rows.
        calls, ids: The number of calls, and of their ids.
        batches: The number of gathers. It is smaller than `calls` if calls were combined.
        seconds: The total time of the gathers.
        restarted: True if Ray has restarted the actor.
    """

    shard: int
    replica: int
    node: str
    pid: int
    rows: int
    nbytes: int
    calls: int
    ids: int
    batches: int
    seconds: float
    restarted: bool


class Shard:
    """Runs one call after another. If its rows cannot be loaded, each call raises the error."""

    def __init__(self, number: int, replica: int, source: Source, layout: Layout) -> None:
        self.number, self.replica, self.source, self.layout = number, replica, source, layout
        self.calls = self.ids = self.batches = 0
        self.seconds = 0.0
        self.rows: t.Any = None

    def described(self) -> Layout:
        self.opened()
        return self.layout

    def gather(self, local: t.Any) -> t.Any:
        return self.gathered(local, 1)

    def gathered(self, local: t.Any, calls: int) -> t.Any:
        return self.timed(lambda rows: gather(rows, local), len(local), calls)

    def gather_nd(self, tuples: t.Any, request: Request) -> t.Any:
        switches = {name: getattr(request, name) for name in ("negative", "bounds", "fill_value", "profile")}
        return self.timed(lambda rows: gather_nd(rows, tuples, **switches), len(tuples), 1)

    def update(self, local: t.Any, updates: t.Any, switches: t.Any) -> None:
        self.timed(lambda rows: scatter(rows, local, updates, 0, inplace=True, **switches), len(local), 1)

    def stats(self) -> ShardStats:
        rows = self.opened()
        context = ray.get_runtime_context()
        return ShardStats(
            self.number,
            self.replica,
            context.get_node_id(),
            os.getpid(),
            len(rows),
            rows.nbytes,
            self.calls,
            self.ids,
            self.batches,
            self.seconds,
            context.was_current_actor_reconstructed,
        )

    def opened(self) -> t.Any:
        """Returns the rows. Raises ShardError if their file has changed."""
        self.check()
        if self.rows is None:
            self.rows = self.source.open(self.layout.writable)
        return self.rows

    def check(self) -> None:
        changed = self.source.changed()
        if changed is not None:
            raise ShardError.of(self.number, changed)

    def timed(self, work: t.Callable[[t.Any], t.Any], ids: int, calls: int) -> t.Any:
        begin = perf_counter()
        result = work(self.opened())
        self.check()  # the file may have been written during the work
        self.calls, self.ids, self.batches = self.calls + calls, self.ids + ids, self.batches + 1
        self.seconds += perf_counter() - begin
        return result


class BatchedShard(Shard):
    """Combines the gathers of one event loop iteration. This serves many callers with few rows each."""

    def __init__(self, number: int, replica: int, source: Source, layout: Layout) -> None:
        super().__init__(number, replica, source, layout)
        self.waiting: list[tuple[t.Any, asyncio.Future[t.Any]]] = []

    async def gather(self, local: t.Any) -> t.Any:
        loop = asyncio.get_running_loop()
        if not self.waiting:
            loop.call_soon(self.answer)
        answer: asyncio.Future[t.Any] = loop.create_future()
        self.waiting.append((local, answer))
        return await answer

    def update(self, local: t.Any, updates: t.Any, switches: t.Any) -> None:
        self.answer()  # runs the gathers that were called before
        super().update(local, updates, switches)

    def answer(self) -> None:
        waiting, self.waiting = self.waiting, []
        for batch in self.batches_of(waiting):
            try:
                rows = self.gathered(np.concatenate([local for local, _ in batch]), len(batch))
            except Exception as error:  # each caller gets the error
                for _, answer in waited_for(batch):
                    answer.set_exception(error)
                continue
            begin = 0
            for local, answer in batch:
                if not answer.done():
                    answer.set_result(rows[begin : begin + len(local)])
                begin += len(local)

    def batches_of(self, waiting: list[t.Any]) -> list[list[t.Any]]:
        room = max(1, BATCH // max(1, self.row_bytes()))
        batches: list[list[t.Any]] = []
        left = 0
        for each in waiting:
            if len(each[0]) > left:
                batches.append([])
                left = room
            batches[-1].append(each)
            left -= len(each[0])
        return batches

    def row_bytes(self) -> int:
        count = 1
        for extent in self.layout.shape[1:]:
            count *= extent
        return count * self.layout.dtype.itemsize


def waited_for(batch: list[t.Any]) -> list[t.Any]:
    """Returns the calls that have not been cancelled."""
    return [each for each in batch if not each[1].done()]
