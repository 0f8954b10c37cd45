"""The actors of a table: starts them, calls them, and calls another replica if one fails."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import NamedTuple

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from .. import errors
from .. import types as t
from .._base import constants as c
from ._errors import ShardError, ShardTimeoutError
from ._layout import Layout, refused
from ._shard import BatchedShard, Shard, ShardStats
from ._sources import FileRows, Source

#: The Ray namespace of tables that have a name. All drivers of the cluster use it.
NAMESPACE = "libgather"
Actor = t.Any


class ShardCall(NamedTuple):
    shard: int
    method: str
    arguments: tuple[t.Any, ...]


class Actors:
    """The replicas of each shard. A shard's calls use the same replica until it fails."""

    def __init__(self, replicas: Sequence[Sequence[Actor]]) -> None:
        self.replicas = replicas
        # Each process begins with another replica.
        self.preferred: list[int] = [os.getpid() % len(each) for each in replicas]

    def call(self, calls: list[ShardCall], timeout: float) -> list[t.Any]:
        """Returns the results of the shards. If a replica fails or is late, the next one is called."""
        began = monotonic()
        refs = [self.sent(call) for call in calls]
        try:
            answers: list[t.Any] = ray.get(refs, timeout=timeout)
        except RayError:
            return self.settled(calls, refs, began, timeout)
        return answers

    def settled(self, calls: list[ShardCall], refs: list[t.Any], began: float, timeout: float) -> list[t.Any]:
        """The same as `call` for calls that have been sent.

        No replica is called twice, because that would repeat an update.
        """
        answers: dict[int, t.Any] = {}
        failures: dict[int, Exception] = {}
        pending = dict(enumerate(refs))
        for attempt in range(max(len(replicas) for replicas in self.replicas)):
            if attempt:
                began, pending = monotonic(), {number: self.sent(calls[number]) for number in failures}
            left = max(0.0, began + timeout - monotonic())
            ray.wait([*pending.values()], num_returns=len(pending), timeout=left)
            failures = {}
            for number, ref in pending.items():
                try:
                    answers[number] = ray.get(ref, timeout=0)
                except RayError as error:
                    shard = calls[number].shard
                    failures[number] = failure_of(shard, error, timeout)
                    self.preferred[shard] = (self.preferred[shard] + 1) % len(self.replicas[shard])
            if not failures:
                return [answers[number] for number in range(len(calls))]
        raise failures[min(failures)]

    def sent(self, call: ShardCall) -> t.Any:
        shard, method, arguments = call
        actor = self.replicas[shard][self.preferred[shard]]
        return getattr(actor, method).remote(*arguments)

    def stats(self, timeout: float) -> list[ShardStats]:
        """Returns the statistics of all actors that respond in time."""
        refs = [actor.stats.remote() for replicas in self.replicas for actor in replicas]
        ready, _ = ray.wait(refs, num_returns=len(refs), timeout=timeout)
        found = []
        for ref in ready:
            try:
                found.append(ray.get(ref))
            except RayError:
                continue
        return sorted(found)


def failure_of(shard: int, error: RayError, timeout: float) -> Exception:
    """Returns the error for the failure of a replica. Raises an error that all replicas would return."""
    if isinstance(error, GetTimeoutError):
        return ShardTimeoutError.of(shard, f"no answer within {timeout:g} s")
    cause = error.cause if isinstance(error, RayTaskError) else error
    if isinstance(cause, ShardError):
        return cause
    if isinstance(cause, MemoryError):
        return errors.OutOfMemoryError(f"shard {shard}: {cause or 'out of memory'}", status=c.E_NOMEM)
    if isinstance(cause, (RayError, OSError)):
        failure = ShardError.of(shard, str(cause).strip().partition("\n")[0] or type(cause).__name__)
        failure.__cause__ = cause
        return failure
    raise cause from error


# -------------------------------------------------------------------------------------------------------- start and end


def started(
    sources: Sequence[Source], layout: Layout, name: str | None, batched: bool, options: Mapping[str, t.Any] | None
) -> Actors:
    """Starts the actors and waits until they have their rows. On an error all of them are stopped."""
    kind = ray.remote(BatchedShard if batched else Shard)
    shared = {**defaults_of(sources, layout, name), **(options or {})}
    replicas: list[list[Actor]] = [[] for _ in sources]
    try:
        for number, replica in reversed(numbers(layout)):  # the first one is named last, so all others exist with it
            named = {} if name is None else {"name": name_of(name, number, replica)}
            actor = kind.options(**shared, **named).remote(number, replica, sources[number], layout)
            replicas[number].insert(0, actor)
        deadline = monotonic() + layout.timeout
        for number, each in enumerate(replicas):
            for actor in each:
                described(number, actor, deadline - monotonic(), layout.timeout)
    except BaseException as error:
        end(replicas)
        if name is not None and isinstance(error, ValueError) and "already taken" in str(error):
            raise refused(f"name {name!r}: there is a table of that name") from None
        raise
    return Actors(replicas)


def found(name: str, timeout: float) -> tuple[Layout, Actors]:
    """Finds the table with a name, which any driver may have made."""
    layout, failure = None, ShardError(f"there is no table of the name {name!r}")
    replica = 0
    while layout is None:
        try:
            actor = ray.get_actor(name_of(name, 0, replica), namespace=NAMESPACE)
        except ValueError:
            raise failure from None
        try:
            layout = described(0, actor, timeout, timeout)
        except ShardError as error:
            failure, replica = error, replica + 1
    replicas: list[list[Actor]] = [[] for _ in range(layout.shards)]
    for number, replica in numbers(layout):
        replicas[number].append(ray.get_actor(name_of(name, number, replica), namespace=NAMESPACE))
    return layout, Actors(replicas)


def numbers(layout: Layout) -> list[tuple[int, int]]:
    return [(shard, replica) for shard in range(layout.shards) for replica in range(layout.replicas)]


def name_of(name: str, shard: int, replica: int) -> str:
    return f"{name}/{shard}/{replica}"


def described(shard: int, actor: Actor, left: float, timeout: float) -> Layout:
    """Returns the layout of the table from an actor, after the actor has loaded its rows. Waits for the time left."""
    try:
        layout: Layout = ray.get(actor.described.remote(), timeout=max(0.0, left))
    except GetTimeoutError:
        message = f"its actor has not started within {timeout:g} s, or its options need resources that no node has"
        raise ShardTimeoutError.of(shard, message) from None
    except RayError as error:
        raise failure_of(shard, error, timeout) from error
    return layout


def defaults_of(sources: Sequence[Source], layout: Layout, name: str | None) -> dict[str, t.Any]:
    """Returns the default options of actors.

    Actors are restarted, and calls are repeated, except if data could be lost silently. This concerns written rows, and
    rows in memory whose driver may have ended.
    """
    lasting = all(isinstance(source, FileRows) for source in sources)
    again = 0 if layout.writable or (name is not None and not lasting) else -1
    detached = {} if name is None else {"lifetime": "detached", "namespace": NAMESPACE}
    return {"max_restarts": again, "max_task_retries": again, "scheduling_strategy": "SPREAD", **detached}


def end(replicas: Sequence[Sequence[Actor]]) -> None:
    for each in replicas:
        for actor in each:
            ray.kill(actor)
