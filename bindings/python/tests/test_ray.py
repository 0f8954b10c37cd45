"""libgather.ray: compares tables on real actors with numpy.take. Some actors are killed or stopped."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_files import replace, write

import libgather

ray: Any = pytest.importorskip("ray", reason="ray is not installed")
lgr: Any = libgather.ray
Table: Any = lgr.ShardedTable

A = np.random.default_rng(1).random((1000, 7), np.float32)
IDS = np.random.default_rng(2).integers(0, 1000, (40, 5))
#: A timeout in seconds that only a failing test reaches. A busy machine may pause a process for a while.
LONG = 120.0


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    started()
    yield
    ray.shutdown()


def started(attempts: int = 4) -> None:
    """Starts Ray. It is tried several times, because Ray's processes may need more than its 30 s on a busy machine."""
    for attempt in range(attempts):
        try:
            ray.init(
                num_cpus=4,
                object_store_memory=400 << 20,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}},
            )
            return
        except Exception:
            ray.shutdown()
            if attempt == attempts - 1:
                raise


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file: Path = tmp_path_factory.mktemp("table") / "a.npy"
    np.save(file, A)
    return file


@pytest.fixture(scope="module")
def tables(cluster: None, path: Path) -> Iterator[dict[str, Any]]:
    part = path.with_name("part.npy")
    np.save(part, A[700:])
    made = {
        "a file": Table.from_file(path, shards=3),
        "an array": Table.from_array(A, shards=4, batched=True),
        "shards": Table.from_shards([A[:300], A[300:300], ray.put(A[300:700]), part]),
        "more shards than rows": Table.from_array(A[:2], shards=3),
    }
    yield made
    for table in made.values():
        table.close()


def pid_of(table: Any, shard: int, replica: int = 0) -> int:
    (pid,) = [each.pid for each in table.stats() if (each.shard, each.replica) == (shard, replica)]
    return int(pid)


# -------------------------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("kind", ["a file", "an array", "shards"])
@pytest.mark.parametrize(
    "ids",
    [IDS, IDS[0].tolist(), [], 3, np.zeros((0, 2), int), [999] * 50, [0], np.arange(1000, dtype=np.uint16)[::-3]],
    ids=["two dims", "a list", "none", "a number", "none of two dims", "one shard", "one", "strided"],
)
def test_gathered_rows_equal_numpy(tables: dict[str, Any], kind: str, ids: Any, once: bool) -> None:
    table, expected = tables[kind], np.take(A, np.asarray(ids, int), 0)
    for rows in (table.gather(ids, once=once), ray.get(table.gather_async(ids, once=once), timeout=LONG)):
        assert rows.dtype == A.dtype and rows.shape == expected.shape
        assert rows.tobytes() == expected.tobytes()


def test_shards_without_rows(tables: dict[str, Any]) -> None:
    table = tables["more shards than rows"]
    assert table.borders == (0, 1, 2, 2) and len(table) == 2
    assert table.gather([1, 0, 1]).tolist() == A[[1, 0, 1]].tolist()
    assert tables["shards"].borders == (0, 300, 300, 700, 1000)
    empty = Table.from_array(A[:0], shards=2)
    assert empty.gather([]).shape == (0, 7)
    with pytest.raises(IndexError, match=r"valid are \[0, 0\)"):
        empty.gather([0])
    empty.close()


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize(
    "switches",
    [
        {"negative": "wrap"},
        {"profile": "numpy_raise"},
        {"bounds": "fill"},
        {"bounds": "skip"},
        {"fill_value": 7.5},
        {"fill_value": "by_dtype", "negative": "wrap"},
        {"bounds": "clamp"},
        {"bounds": "modulo"},
        {"profile": "jax_fill"},
        {"profile": "tensorflow_gpu"},
    ],
)
def test_switches_are_those_of_gather(tables: dict[str, Any], switches: Any, once: bool) -> None:
    ids = [-1, 3, 999, -1000] if {"negative", "profile"} & {*switches} else [-1, 3, 5000, 999]
    expected = libgather.gather(A, ids, **switches)
    np.testing.assert_array_equal(tables["a file"].gather(ids, once=once, **switches), expected)
    np.testing.assert_array_equal(ray.get(tables["a file"].gather_async(ids, once=once, **switches)), expected)


@pytest.mark.parametrize("once", [False, True])
def test_gather_writes_to_the_output(tables: dict[str, Any], once: bool) -> None:
    table = tables["a file"]
    wide = np.full((40, 5, 14), 9, np.float32)
    for out in (np.empty((40, 5, 7), np.float32), wide[:, :, ::2]):
        assert table.gather(IDS, out=out, once=once) is out
        np.testing.assert_array_equal(out, A[IDS])
    assert (wide[:, :, 1::2] == 9).all()
    for out in (np.full((3, 7), 5, np.float32), np.full((3, 14), 5, np.float32)[:, ::2]):
        table.gather([1, 2000, 2], out=out, bounds="skip", once=once)
        assert out.tolist() == [A[1].tolist(), [5] * 7, A[2].tolist()]
    before = out.copy()
    with pytest.raises(IndexError):
        table.gather([1, 2, 2000], out=out)
    assert (out == before).all()


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c16", ">f4", "M8[s]", "S3", "U5", "i4,f8"])
def test_dtypes(dtype: str) -> None:
    array = (np.arange(24).reshape(12, 2) % 10).astype(dtype)
    with Table.from_array(array, shards=2) as table:
        rows = table.gather([11, 0, 11])
        assert rows.dtype == array.dtype and rows.tobytes() == array[[11, 0, 11]].tobytes()
        assert table.gather([11, 0], once=True).tobytes() == array[[11, 0]].tobytes()


@pytest.mark.parametrize(
    "tuples", [[[1], [999]], [[3, 6], [3, 0], [998, 1]], [[[5, 5]], [[999, 0]]], np.zeros((0, 2), int)]
)
def test_tuples(tables: dict[str, Any], tuples: Any) -> None:
    expected = libgather.gather_nd(A, np.asarray(tuples))
    for kind in ("a file", "an array"):
        np.testing.assert_array_equal(tables[kind].gather_nd(tuples), expected)


@pytest.mark.parametrize(
    "switches",
    [
        {"bounds": "fill", "fill_value": 3},
        {"bounds": "clamp"},
        {"bounds": "modulo"},
        {"negative": "wrap", "bounds": "fill"},
    ],
)
def test_switches_of_tuples(tables: dict[str, Any], switches: Any) -> None:
    tuples = [[3, 9], [-1, 2], [2000, -1], [999, 6], [4, -3]]
    expected = libgather.gather_nd(A, tuples, **switches)
    np.testing.assert_array_equal(tables["a file"].gather_nd(tuples, **switches), expected)


def test_calls_of_many_threads_are_combined() -> None:
    with Table.from_array(A, shards=1, batched=True, in_flight=500) as table:
        ids = [np.random.default_rng(number).integers(0, 1000, 3) for number in range(300)]
        found: list[Any] = [None] * len(ids)

        def call(first: int) -> None:
            for number in range(first, len(ids), 10):
                found[number] = table.gather(ids[number])

        threads = [threading.Thread(target=call, args=(first,)) for first in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for rows, asked in zip(found, ids, strict=True):
            np.testing.assert_array_equal(rows, A[asked])
        (stats,) = table.stats()
        assert stats.calls == 300 and stats.ids == 900 and 0 < stats.batches <= stats.calls


def test_calls_of_one_loop_iteration_are_combined() -> None:
    actor = ray.remote(lgr._shard.BatchedShard).remote(0, 0, *made_by_hand())
    refs = [actor.gather.remote(np.array([number])) for number in range(200)]
    assert [rows[0].tolist() for rows in ray.get(refs)] == A[:200].tolist()
    stats = ray.get(actor.stats.remote())
    assert stats.calls == 200 and stats.batches < 200
    ray.kill(actor)


def made_by_hand() -> tuple[Any, Any]:
    part = lgr._sources.part_of(A, LONG)
    return part.source, lgr._table.laid_out(A.shape, A.dtype, (0, 1000), 1, False, LONG, 1)


def test_table_can_be_passed_to_tasks_until_it_is_closed(path: Path) -> None:
    table = Table.from_file(path, shards=2)
    rows = ray.get(ray.remote(lambda table: table.gather([1, 999])).remote(table), timeout=LONG)
    np.testing.assert_array_equal(rows, A[[1, 999]])
    table.close()
    table.close()
    for use in (lambda: table.gather([0]), lambda: table.gather_async([0]), table.stats, lambda: pickle.dumps(table)):
        with pytest.raises(libgather.ClosedError, match="table"):
            use()


def test_number_of_concurrent_gathers_is_limited(path: Path) -> None:
    with Table.from_file(path, shards=1, in_flight=2) as table:
        refs = []
        for number in range(12):
            refs.append(table.gather_async([number]))
            running = len(refs) - len(ray.wait(refs, num_returns=len(refs), timeout=0)[0])
            assert running <= 2
        assert [ray.get(ref)[0].tolist() for ref in refs] == A[:12].tolist()


# ------------------------------------------------------------------------------------------------------------- errors


def test_bad_id_raises_in_the_caller(tables: dict[str, Any]) -> None:
    for ask in (tables["a file"].gather, tables["a file"].gather_async):
        with pytest.raises(IndexError, match=r"is 1000, valid are \[0, 1000\): indices\[1, 0\], axis 0") as caught:
            ask([[999, 5], [1000, -1]])
        error: Any = caught.value
        assert type(error) is libgather.IndexError
        assert (error.position, error.index, error.axis, error.value, error.limit) == (2, (1, 0), 0, 1000, 1000)
    with pytest.raises(libgather.IndexError) as caught:
        tables["a file"].gather_nd([[0, 0], [999, 7], [1000, 0]])
    error = caught.value
    assert (error.position, error.component, error.index, error.axis, error.value) == (1, 1, (1, 1), 1, 7)


def test_errors_keep_their_type_and_fields_in_other_processes(tables: dict[str, Any]) -> None:
    task = ray.remote(lambda table: table.gather([3, 1001]))
    with pytest.raises(libgather.IndexError) as caught:
        ray.get(task.remote(tables["a file"]), timeout=LONG)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (1, 1001, 1000)
    for error in (lgr.ShardError.of(3, "gone"), lgr.ShardTimeoutError.of(3, "late")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and again.shard == 3


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda t: t.gather([0.5]), libgather.DTypeError, "float64"),
        (lambda t: t.gather([0], bounds="never"), libgather.OptionError, "never"),
        (lambda t: t.gather([0], fill_value="seven"), libgather.Error, "seven"),
        (lambda t: t.gather([0], timeout=0), libgather.OptionError, "timeout 0"),
        (lambda t: t.gather([0], out=[1]), libgather.DTypeError, "list is not an array"),
        (lambda t: t.gather([0], out=np.zeros(7, "f4")), libgather.ShapeError, r"\(1, 7\) is needed"),
        (lambda t: t.gather([0], out=np.zeros((1, 7))), libgather.DTypeError, "float64"),
        (lambda t: t.gather([0], out=np.broadcast_to(A[0], (1, 7))), libgather.OutputError, "read-only"),
        (lambda t: t.gather_nd([[0, 0, 0]]), libgather.Error, "3"),
        (lambda t: t.gather_nd(3), libgather.RankError, "indices"),
        (lambda t: t.gather_nd(np.zeros((2, 0), int)), libgather.UnsupportedError, "whole table"),
        (lambda t: t.update([0], A[:1]), libgather.UnsupportedError, "writable=True"),
        (lambda t: Table.from_array(A, shards=0), libgather.OptionError, "shards 0"),
        (lambda t: Table.from_array(A, shards=1, replicas=0), libgather.OptionError, "replicas 0"),
        (lambda t: Table.from_array(A, shards=1, replicas=2, writable=True), libgather.OptionError, "would differ"),
        (lambda t: Table.from_array(A, shards=1, timeout=-1), libgather.OptionError, "timeout -1"),
        (lambda t: Table.from_array(3, shards=1), libgather.RankError, "at least one dim"),
        (lambda t: Table.from_array([None], shards=1), libgather.DTypeError, "object"),
        (lambda t: Table.from_shards([]), libgather.OptionError, "none are given"),
        (lambda t: Table.from_shards([A, A[:, :3]]), libgather.ShapeError, r"\(3,\) in shard 1"),
        (lambda t: Table.from_shards([A, A.astype(int)]), libgather.DTypeError, "int64 in shard 1"),
        (lambda t: Table.attach("nobody's"), lgr.ShardError, "no table of the name"),
    ],
)
def test_invalid_arguments_are_refused(tables: dict[str, Any], ask: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask(tables["a file"])


# ------------------------------------------------------------------------------------------------------------ updates


@pytest.mark.parametrize("batched", [False, True])
def test_updates(batched: bool) -> None:
    held, table = A.copy(), Table.from_array(A, shards=3, writable=True, batched=batched)
    ids, rows = IDS.ravel(), np.random.default_rng(3).random((200, 7), np.float32)
    for reduction in ("none", "add", "max"):
        table.update(ids, rows, reduction)
        libgather.scatter(held, ids, rows, 0, reduction=reduction, inplace=True)
        assert table.gather(np.arange(1000)).tobytes() == held.tobytes()
    table.update(ids, rows, "mean", include_self=False)
    libgather.scatter(held, ids, rows, 0, reduction="mean", include_self=False, inplace=True)
    assert table.gather(np.arange(1000)).tobytes() == held.tobytes()
    table.update([[-1, 5000]], [[[1] * 7, [2] * 7]], negative="wrap", bounds="skip")
    held[-1] = 1
    assert table.gather(np.arange(1000)).tobytes() == held.tobytes()
    assert (held != A).any() and A[0, 0] == np.random.default_rng(1).random((1000, 7), np.float32)[0, 0]
    for ids, rows, kind, message in (
        ([0, 5000], A[:2], libgather.IndexError, r"indices\[1\], axis 0"),
        ([0], A[:2], libgather.ShapeError, r"\(1, 7\) is needed"),
        ([0], A[:1].astype(int), libgather.DTypeError, "int64"),
    ):
        with pytest.raises(kind, match=message):
            table.update(ids, rows)
    with pytest.raises(libgather.OptionError, match="sum"):
        table.update([0], A[:1], "sum")
    assert table.gather(np.arange(1000)).tobytes() == held.tobytes()
    table.close()


def test_lost_updates_raise_an_error() -> None:
    with Table.from_array(A, shards=2, writable=True) as table:
        table.update([0], A[1:2])
        os.kill(pid_of(table, 0), signal.SIGKILL)
        with pytest.raises(lgr.ShardError, match="shard 0: ") as caught:
            table.gather([0, 999])
        assert caught.value.shard == 0
        np.testing.assert_array_equal(table.gather([999]), A[[999]])


def test_late_update_is_sent_once() -> None:
    with Table.from_array(np.zeros(4, int), shards=2, writable=True) as table:
        pid = pid_of(table, 1)
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(lgr.ShardTimeoutError, match="shard 1: "):
                table.update([0, 3, 3], [1, 1, 1], "add", timeout=1)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert table.gather(range(4)).tolist() == [1, 0, 0, 2]


# --------------------------------------------------------------------------------------------------- failures of actors


@pytest.mark.parametrize("kind", ["a file", "an array"])
@pytest.mark.parametrize("batched", [False, True])
def test_actor_killed_during_gather(path: Path, kind: str, batched: bool) -> None:
    table = (
        Table.from_file(path, shards=2, batched=batched)
        if kind == "a file"
        else Table.from_array(A, shards=2, batched=batched)
    )
    with table:
        pid = pid_of(table, 1)
        os.kill(pid, signal.SIGSTOP)  # the calls are running when the actor is killed
        refs = [table.gather_async(IDS) for _ in range(4)]
        time.sleep(1)
        os.kill(pid, signal.SIGKILL)
        for ref in refs:
            np.testing.assert_array_equal(ray.get(ref, timeout=LONG), A[IDS])
        np.testing.assert_array_equal(table.gather(IDS), A[IDS])
        assert pid_of(table, 1) != pid and [each.restarted for each in table.stats()] == [False, True]


def test_stopped_shard_is_named_and_works_after_it_continues(path: Path) -> None:
    with Table.from_file(path, shards=2) as table:
        pid = pid_of(table, 1)
        os.kill(pid, signal.SIGSTOP)
        try:
            for ask in (lambda: table.gather(IDS, timeout=1), lambda: ray.get(table.gather_async(IDS, timeout=1))):
                with pytest.raises(lgr.ShardTimeoutError, match="shard 1: no answer within 1 s") as caught:
                    ask()
                assert isinstance(caught.value, TimeoutError) and caught.value.shard == 1
            np.testing.assert_array_equal(table.gather([0, 499]), A[[0, 499]])
            assert [each.shard for each in table.stats(timeout=5)] == [0]
        finally:
            os.kill(pid, signal.SIGCONT)
        np.testing.assert_array_equal(table.gather(IDS), A[IDS])


def test_replica_replaces_a_stopped_one(path: Path) -> None:
    with Table.from_file(path, shards=2, replicas=2) as table:
        first = table._actors.preferred[1]
        pid = pid_of(table, 1, first)
        os.kill(pid, signal.SIGSTOP)
        try:
            np.testing.assert_array_equal(table.gather(IDS, timeout=5), A[IDS])
            assert table._actors.preferred[1] != first
            np.testing.assert_array_equal(table.gather(IDS, timeout=5), A[IDS])
        finally:
            os.kill(pid, signal.SIGCONT)


def test_replica_replaces_a_killed_one() -> None:
    with Table.from_array(A, shards=2, replicas=2, actors={"max_restarts": 0, "max_task_retries": 0}) as table:
        os.kill(pid_of(table, 0, table._actors.preferred[0]), signal.SIGKILL)
        np.testing.assert_array_equal(table.gather(IDS), A[IDS])
        os.kill(pid_of(table, 0, table._actors.preferred[0]), signal.SIGKILL)
        with pytest.raises(lgr.ShardError, match="shard 0: "):
            table.gather(IDS)


def test_replaced_file_raises_an_error(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.npy"
    np.save(file, A)
    with Table.from_file(file, shards=2) as table:
        np.testing.assert_array_equal(table.gather(IDS), A[IDS])
        np.save(tmp_path / "c.npy", A + 1)
        (tmp_path / "c.npy").replace(file)
        with pytest.raises(lgr.ShardError, match=r"shard \d: .*b.npy has been replaced"):
            table.gather(IDS)
        os.kill(ray.get(table._actors.replicas[0][0].__ray_call__.remote(lambda self: os.getpid())), signal.SIGKILL)
        with pytest.raises(lgr.ShardError, match="has been replaced"):
            table.gather(IDS)
        file.unlink()
        with pytest.raises(lgr.ShardError, match=r"b.npy: No such file"):
            table.gather(IDS)
    with pytest.raises(FileNotFoundError):
        Table.from_file(file, shards=2)


@pytest.mark.parametrize("change", [replace, write])
def test_file_changed_during_a_gather_raises_an_error(tmp_path: Path, change: Any) -> None:
    """Otherwise the rows may be those of two versions."""
    file = tmp_path / "b.npy"
    np.save(file, A)
    source = lgr._sources.part_of(file, LONG).source
    shard = lgr._shard.Shard(1, 0, source, lgr._table.laid_out(A.shape, A.dtype, (0, 0, 1000), 1, False, LONG, 1))

    def work(rows: Any) -> Any:
        change(file)
        return rows.copy()

    shard.described()
    with pytest.raises(lgr.ShardError, match=r"shard 1: .*b.npy has been replaced or written since the table was made"):
        shard.timed(work, 1, 1)


def test_restarted_actor_does_not_read_a_file_of_equal_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "b.npy"
    np.save(file, A)
    with Table.from_file(file, shards=2) as table:
        pid = pid_of(table, 1)
        replace(file)
        os.kill(pid, signal.SIGKILL)
        for ids in ([999], [0]):
            with pytest.raises(lgr.ShardError, match=r"b.npy has been replaced or written"):
                table.gather(ids)


# ------------------------------------------------------------------------------------------------------------- waiting


def test_gather_async_needs_no_cpu(path: Path) -> None:
    """The actors use all CPUs."""
    with Table.from_file(path, shards=4, actors={"num_cpus": 1}) as table:
        np.testing.assert_array_equal(ray.get(table.gather_async(IDS), timeout=LONG), A[IDS])
        part = ray.put(A)
        with Table.from_shards([part], actors={"num_cpus": 0}) as other:
            np.testing.assert_array_equal(other.gather(IDS), A[IDS])


def test_gather_async_does_not_wait_longer_than_its_timeout(path: Path) -> None:
    with Table.from_file(path, shards=1, in_flight=1) as table:
        pid = pid_of(table, 0)
        os.kill(pid, signal.SIGSTOP)
        try:
            first = table.gather_async([0], timeout=LONG)
            with pytest.raises(lgr.ShardTimeoutError, match=r"none of 1 running gathers has ended within 1 s"):
                table.gather_async([1], timeout=1)
        finally:
            os.kill(pid, signal.SIGCONT)
        np.testing.assert_array_equal(ray.get(first, timeout=LONG), A[[0]])
        np.testing.assert_array_equal(ray.get(table.gather_async([1]), timeout=LONG), A[[1]])


def test_shards_that_cannot_be_placed_do_not_wait_longer_than_the_timeout(path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(
        lgr.ShardTimeoutError, match=r"shard 0: its actor has not started within 2 s, or its options need"
    ):
        Table.from_file(path, shards=3, timeout=2, actors={"resources": {"absent": 1}})
    assert time.monotonic() - began < 30


def test_lists_of_large_ids_stay_integers(tables: dict[str, Any]) -> None:
    for ask, ids in ((tables["a file"].gather, [5, 2**63]), (tables["a file"].gather_nd, [[5], [2**63]])):
        with pytest.raises(libgather.IndexError) as of_array:
            ask(np.array(ids, np.uint64))
        with pytest.raises(libgather.IndexError, match=re.escape(str(of_array.value))):
            ask(ids)


def test_shard_out_of_memory_raises_an_error(tmp_path: Path) -> None:
    """The requested rows are larger than the memory limit of the process."""
    file, wide = tmp_path / "wide.npy", np.random.default_rng(5).random((64, 1 << 17))
    np.save(file, wide)

    def limit(shard: Any, room: int) -> int:
        import resource

        (pages,) = [int(each) for each in Path("/proc/self/statm").read_text().split()[:1]]
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, resource.RLIM_INFINITY))
        return os.getpid()

    with Table.from_file(file, shards=2) as table:
        np.testing.assert_array_equal(table.gather([0, 63]), wide[[0, 63]])
        actor = table._actors.replicas[1][0]
        ray.get(actor.__ray_call__.remote(limit, 32 << 20))
        with pytest.raises(MemoryError, match="shard 1: ") as caught:
            table.gather(np.full(200, 63))
        assert isinstance(caught.value, libgather.OutOfMemoryError)
        np.testing.assert_array_equal(table.gather([0, 63]), wide[[0, 63]])


# ------------------------------------------------------------------------------------------------------------- drivers


DRIVER = """
import sys
import numpy as np, ray, libgather.ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error")
{}
"""


def drive(code: str, *arguments: str) -> str:
    """Returns the output of another driver of the cluster."""
    address = ray.get_runtime_context().gcs_address
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", DRIVER.format(code), address, *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_named_table_outlives_its_driver(path: Path) -> None:
    drive("libgather.ray.ShardedTable.from_file(sys.argv[2], shards=2, replicas=2, name='vectors')", str(path))
    rows = drive("print(libgather.ray.ShardedTable.attach('vectors').gather([999, 0]).tolist())")
    assert rows.strip() == str(A[[999, 0]].tolist())
    table = Table.attach("vectors")
    assert (table.shape, table.dtype, table.borders) == (A.shape, A.dtype, (0, 500, 1000))
    with pytest.raises(libgather.OptionError, match="'vectors'"):
        Table.from_file(path, shards=3, name="vectors")
    os.kill(pid_of(table, 1, table._actors.preferred[1]), signal.SIGKILL)
    np.testing.assert_array_equal(table.gather(IDS), A[IDS])
    table.close()
    deadline = time.monotonic() + LONG
    while True:  # Ray releases the names of killed actors with a delay
        try:
            Table.attach("vectors", timeout=5)
        except lgr.ShardError:
            break
        assert time.monotonic() < deadline


def test_named_table_in_memory_is_lost_with_its_actor(path: Path) -> None:
    drive("libgather.ray.ShardedTable.from_array(np.arange(10), shards=2, name='numbers', writable=True)")
    with Table.attach("numbers") as table:
        table.update([1, 9], [10, 90])
        assert table.gather([9, 1, 0]).tolist() == [90, 10, 0]
        os.kill(pid_of(table, 1), signal.SIGKILL)
        with pytest.raises(lgr.ShardError, match="shard 1: "):
            table.gather([9])


@pytest.mark.skipif(not os.environ.get("GATHER_LARGE"), reason="GATHER_LARGE=1 tests tables of 1 GB")
@pytest.mark.parametrize("once", [False, True])
def test_gather_from_one_gigabyte_is_right_while_actor_is_killed(tmp_path: Path, once: bool) -> None:
    """Gathers rows of all parts of the table while an actor is killed. The result must be equal bit by bit."""
    file = tmp_path / "large.npy"
    table = np.lib.format.open_memmap(file, "w+", np.float32, (2_600_000, 100))
    for first in range(0, len(table), 100_000):
        table[first : first + 100_000] = np.random.default_rng(first).random((100_000, 100), np.float32)
    table.flush()
    with Table.from_file(file, shards=4) as sharded:
        for round_ in range(4):
            ids = np.random.default_rng(round_).integers(0, len(table), 50_000)
            if round_ == 2:
                os.kill(pid_of(sharded, 2), signal.SIGKILL)
            assert sharded.gather(ids, once=once).tobytes() == np.take(table, ids, 0).tobytes()
