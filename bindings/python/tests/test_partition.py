"""partition: compares it with NumPy's searchsorted and stable argsort."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import libgather

ROWS = 100
#: The layout, and the first row of each shard. The list is empty for modulo.
LAYOUTS: dict[str, tuple[dict[str, Any], list[int]]] = {
    "one": ({"shards": 1}, [0]),
    "blocks": ({"shards": 7}, list(range(0, 100, 15))),
    "more shards than rows": ({"shards": 150}, [*range(100), *[100] * 50]),
    "modulo": ({"shards": 7, "kind": "modulo"}, []),
    "borders": ({"borders": [0, 10, 11, 90, 100]}, [0, 10, 11, 90]),
    "empty shards": ({"borders": np.array([0, 0, 40, 40, 40, 100, 100], "u1")}, [0, 0, 40, 40, 40, 100]),
}


def shards_of(rows: np.ndarray, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the shard of each row, and its row number in the shard."""
    keywords, first = LAYOUTS[layout]
    if not first:
        return rows % keywords["shards"], rows // keywords["shards"]
    shard = np.searchsorted(first, rows, "right") - 1
    return shard, rows - np.array(first)[shard]


def check(parts: libgather.Partition, rows: np.ndarray, layout: str, once: bool) -> None:
    """Compares a partition with the oracle. `rows` has the row of each id, or -1 for an id in no shard."""
    flat = rows.reshape(-1)
    wanted = np.flatnonzero(flat >= 0)
    shard, local = shards_of(flat[wanted], layout)
    order = np.argsort(shard, kind="stable")
    for array in (parts.counts, parts.local, parts.place, *([] if parts.order is None else [parts.order])):
        assert type(array) is np.ndarray and array.dtype == np.int64
    assert parts.place.shape == rows.shape and len(parts.local) == parts.counts.sum()
    assert [len(parts.local[rows]) for rows in parts.slices] == parts.counts.tolist()
    of_local = np.repeat(np.arange(len(parts.counts)), parts.counts)
    place = parts.place.reshape(-1)
    assert (place[flat < 0] == -1).all()
    assert (of_local[place[wanted]] == shard).all() and (parts.local[place[wanted]] == local).all()
    if once:
        assert parts.order is None
        pairs = list(zip(of_local.tolist(), parts.local.tolist(), strict=True))
        assert len(pairs) == len({*pairs}) == len({*flat[wanted].tolist()})
        return
    assert parts.order is not None
    assert (parts.counts == np.bincount(shard, minlength=len(parts.counts))).all()
    assert (parts.local == local[order]).all() and (parts.order == wanted[order]).all()
    assert (place[parts.order] == np.arange(len(parts.order))).all()


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1000,), (20, 30), (3, 0, 2)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_partition_equals_the_oracle(layout: str, shape: tuple[int, ...], once: bool) -> None:
    random = np.random.default_rng(5)
    ids = random.integers(0, ROWS, shape)
    for keywords, given, meant in (
        ({}, ids, ids),
        ({"threads": 1}, ids, ids),
        ({"negative": "wrap"}, ids - ROWS // 2, (ids - ROWS // 2) % ROWS),
        ({"bounds": "clamp"}, ids * 2 - 50, np.clip(ids * 2 - 50, 0, ROWS - 1)),
        ({"bounds": "modulo"}, ids * 3 - 90, (ids * 3 - 90) % ROWS),
        ({"bounds": "skip"}, ids * 2, np.where(ids * 2 < ROWS, ids * 2, -1)),
        ({"bounds": "fill"}, ids * 2, np.where(ids * 2 < ROWS, ids * 2, -1)),
        ({"profile": "numpy_wrap"}, ids * 3 - 90, (ids * 3 - 90) % ROWS),
    ):
        switches: Any = keywords
        parts = libgather.partition(np.asarray(given), ROWS, once=once, **LAYOUTS[layout][0], **switches)
        check(parts, np.asarray(meant), layout, once)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
def test_dtypes_and_strides(dtype: str) -> None:
    ids = np.random.default_rng(6).integers(0, ROWS, (12, 10)).astype(dtype)
    for view in (ids, ids.T, ids[::2, ::-3], ids[:, 3], ids[::-1]):
        parts = libgather.partition(view, ROWS, shards=7)
        check(parts, view.astype(int), "blocks", False)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ids_in_lists(layout: str, once: bool) -> None:
    ids = np.random.default_rng(8).integers(0, ROWS, (12, 10))
    check(libgather.partition(ids.tolist(), ROWS, once=once, **LAYOUTS[layout][0]), ids, layout, once)


def test_contexts_of_the_host() -> None:
    context, ids = libgather.Context(threads=1), np.random.default_rng(7).integers(0, ROWS, 1000)
    for given in (ids, ids.tolist(), ids.astype(">i8")):
        check(libgather.partition(given, ROWS, shards=7, context=context), ids, "blocks", False)
    context.close()
    with pytest.raises(libgather.ClosedError, match="context"):
        libgather.partition(ids, ROWS, shards=7, context=context)
    wrong: Any = "cpu"
    with pytest.raises(libgather.DTypeError, match="str is not a"):
        libgather.partition(ids, ROWS, shards=7, context=wrong)


def test_many_ids() -> None:
    """The number of ids is large enough for several threads."""
    ids = np.random.default_rng(7).integers(0, ROWS, 300_000)
    for threads in (None, 1, 2):
        check(libgather.partition(ids, ROWS, shards=7, threads=threads), ids, "blocks", False)
        check(libgather.partition(ids, ROWS, shards=7, once=True, threads=threads), ids, "blocks", True)


@pytest.mark.parametrize("once", [False, True])
def test_rows_of_a_partition_are_gathered(once: bool) -> None:
    table, ids = np.random.default_rng(8).random((ROWS, 3)), np.random.default_rng(9).integers(0, ROWS, (20, 30))
    parts = libgather.partition(ids, ROWS, shards=7, once=once)
    rows = np.concatenate([table[15 * s :][parts.local[of]] for s, of in enumerate(parts.slices)])
    assert (libgather.gather(rows, parts.place) == table[ids]).all()
    if parts.order is not None:
        out = np.empty((ids.size, 3))
        libgather.scatter(out, parts.order, rows, inplace=True)
        assert (out.reshape(20, 30, 3) == table[ids]).all()


def answers_of(parts: libgather.Partition, table: np.ndarray, layout: str) -> list[np.ndarray]:
    """Returns the rows that the shards of a table return."""
    shard, local = shards_of(np.arange(ROWS), layout)
    found = []
    for s, rows in enumerate(parts.slices):
        held = table[shard == s]
        assert (np.sort(local[shard == s]) == np.arange(len(held))).all()
        found.append(held[parts.local[rows]])
    return found


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1000,), (20, 30), (3, 0, 2)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_join_equals_gather(layout: str, shape: tuple[int, ...], once: bool) -> None:
    random = np.random.default_rng(10)
    ids = random.integers(0, ROWS, shape)
    for table in (
        random.random((ROWS, 3)).astype("f4"),
        random.integers(0, 9, ROWS),
        random.random((ROWS, 2, 2)) > 0.5,
        random.random((ROWS, 0)),
        np.array([f"row {row}" for row in range(ROWS)]),
        np.arange(ROWS).astype("M8[s]").reshape(ROWS, 1),
    ):
        parts = libgather.partition(ids, ROWS, once=once, **LAYOUTS[layout][0])
        answers = answers_of(parts, table, layout)
        expected = table[ids]
        made = parts.join(answers)
        assert type(made) is np.ndarray and made.dtype == table.dtype and made.shape == np.shape(expected)
        assert (made == expected).all()
        out = np.zeros_like(table, shape=made.shape)
        assert parts.join(iter(answers), out) is out and (out == expected).all()
        backwards = np.zeros_like(table, shape=made.shape[::-1]).T
        assert parts.join(answers, out=backwards) is backwards and (backwards == expected).all()


@pytest.mark.parametrize("once", [False, True])
def test_rows_of_ids_without_a_shard(once: bool) -> None:
    table, ids = np.random.default_rng(8).random((ROWS, 3)), np.arange(0, 2 * ROWS, 3)
    parts = libgather.partition(ids, ROWS, shards=7, once=once, bounds="skip")
    answers, is_there = answers_of(parts, table, "blocks"), ids < ROWS
    made, kept = parts.join(answers), parts.join(answers, np.full((len(ids), 3), 7.0))
    assert (made[is_there] == table[ids[is_there]]).all() and (made[~is_there] == 0).all()
    turned = parts.join(answers, np.full((3, len(ids)), 7.0).T)
    for out in (kept, turned):
        assert (out[is_there] == table[ids[is_there]]).all() and (out[~is_there] == 7).all()


def test_join_into_an_array_of_numbers() -> None:
    parts = libgather.partition([7, 0, 7], 8, shards=2)
    out = np.zeros((3, 2))
    assert parts.join([np.full((1, 2), 1.5), np.full((2, 2), 2.5)], out) is out
    assert out.tolist() == [[2.5, 2.5], [1.5, 1.5], [2.5, 2.5]]


@pytest.mark.parametrize("once", [False, True])
def test_join_refuses_answers_of_another_shape_or_dtype(once: bool) -> None:
    parts = libgather.partition([7, 0, 7, 3], 8, shards=2, once=once)
    good = [np.ones((count, 3)) for count in parts.counts]
    longer, wider = np.ones((len(good[0]) + 1, 3)), np.ones((len(good[1]), 4))
    for answers, message in (
        ([], "answers: 0 of them, needed is one a shard, 2"),
        (good[:1], "answers: 1 of them"),
        ([*good, good[0]], "answers: 3 of them"),
        ([longer, good[1]], "answers: number 0 has shape"),
        ([longer, good[1][:-1]], "answers: number 0 has shape"),
        ([good[0], wider], "answers: number 1 has shape"),
        ([good[0], np.float64(3)], "answers: number 1 has shape"),
        ([good[0], good[1].ravel()], "answers: number 1 has shape"),
    ):
        out = np.full((4, 3), 5.0)
        for written in ({}, {"out": out}):
            with pytest.raises(libgather.ShapeError, match=message):
                parts.join(answers, **written)
        assert (out == 5).all()
    with pytest.raises(libgather.DTypeError, match="answers: number 1 has dtype float32, needed is float64"):
        parts.join([good[0], good[1].astype("f4")], out := np.full((4, 3), 5.0))
    assert (out == 5).all()
    with pytest.raises(libgather.ShapeError, match=r"out: shape is \(5, 3\), needed is \(4, 3\)"):
        parts.join(good, np.zeros((5, 3)))


def test_join_refuses_read_only_and_overlapping_outputs() -> None:
    parts = libgather.partition([7, 0, 7, 3], 8, shards=2)
    rows = np.ones((4, 3))
    answers = [rows[:2], np.ones((2, 3))]
    with pytest.raises(libgather.OutputError):
        parts.join(answers, rows)
    rows.flags.writeable = False
    with pytest.raises(libgather.OutputError):
        parts.join([np.ones((2, 3)), np.ones((2, 3))], rows)
    assert (rows == 1).all()


def test_answers_of_other_libraries() -> None:
    torch = pytest.importorskip("torch")
    parts = libgather.partition([7, 0, 7, 3], 8, shards=2)
    answers = [torch.tensor([[0.0], [3.0]]), torch.tensor([[7.0], [7.5]])]
    assert parts.join(answers).tolist() == [[7.0], [0.0], [7.5], [3.0]]
    assert parts.join(answers, np.zeros((4, 1), "f4")).tolist() == [[7.0], [0.0], [7.5], [3.0]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_first_id_out_of_bounds_is_named(layout: str) -> None:
    ids = np.zeros((300, 1000), int)
    ids[299, 999], ids[200, 7], ids[250, 0] = -1, ROWS, 2**62
    with pytest.raises(IndexError) as caught:
        libgather.partition(ids, ROWS, **LAYOUTS[layout][0])
    error = caught.value
    assert isinstance(error, libgather.IndexError)
    assert (error.operand, error.position, error.index, error.axis) == ("indices", 200_007, (200, 7), 0)
    assert (error.value, error.limit) == (ROWS, ROWS)


def test_no_rows() -> None:
    assert libgather.partition([], 0, shards=3).counts.tolist() == [0, 0, 0]
    assert libgather.partition([], 0, borders=[0, 0]).counts.tolist() == [0]
    for bounds in ("error", "clamp", "modulo"):
        with pytest.raises(libgather.IndexError):
            libgather.partition([0], 0, shards=3, bounds=bounds)


#: Invalid arguments, on the CPU and on devices: ids, rows, other arguments, and the error.
MISTAKES: list[tuple[Any, Any, dict[str, Any], type[Exception], str]] = [
    ([0], 8, {}, libgather.OptionError, "exactly one of shards and borders"),
    ([0], 8, {"shards": 1, "borders": [0, 8]}, libgather.OptionError, "exactly one of shards and borders"),
    ([0], 8, {"borders": [0, 8], "kind": "modulo"}, libgather.OptionError, "kind 'modulo' needs shards"),
    ([0], 8, {"shards": 1, "kind": "rows"}, libgather.OptionError, "kind 'rows' is none of blocks, modulo"),
    ([0], 8, {"shards": 1, "bounds": "never"}, libgather.OptionError, "bounds 'never'"),
    ([0], 8, {"shards": 0}, libgather.ShapeError, "count is 0"),
    ([0], 8, {"shards": 2**62}, libgather.ShapeError, "beyond int64"),
    ([0], 8, {"shards": 1.0}, libgather.DTypeError, "shards is float"),
    ([0], -1, {"shards": 1}, libgather.ShapeError, "rows is -1"),
    ([0], 8.0, {"shards": 1}, libgather.DTypeError, "rows is float"),
    ([0], 8, {"borders": []}, libgather.ShapeError, "count is -1"),
    ([0], 8, {"borders": [0, 9]}, libgather.ShapeError, "border 1 is 9, not 8"),
    ([0], 8, {"borders": [0, 5, 4, 8]}, libgather.ShapeError, "border 2 is 4"),
    ([0], 8, {"borders": [0, 2**70]}, libgather.ShapeError, "too big"),
    ([0], 8, {"borders": [0.0, 8.0]}, libgather.DTypeError, "no sequence of integers"),
    ([0.5], 8, {"shards": 1}, libgather.DTypeError, "float64"),
    ([True], 8, {"shards": 1}, libgather.DTypeError, "nonzero"),
]


@pytest.mark.parametrize(
    ("ids", "rows", "keywords", "kind", "message"),
    [
        *MISTAKES,
        (["a"], 8, {"shards": 1}, libgather.DTypeError, "string"),
        (object(), 8, {"shards": 1}, libgather.DTypeError, "object"),
    ],
)
def test_invalid_arguments_are_refused(ids: Any, rows: Any, keywords: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        libgather.partition(ids, rows, **keywords)


def test_partition_is_immutable_and_can_be_pickled() -> None:
    parts = libgather.partition([7, 0, 3], 8, shards=2)
    with pytest.raises(AttributeError):
        parts.counts = parts.local  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(parts))
    assert again.local.tolist() == parts.local.tolist() and again.slices == parts.slices
