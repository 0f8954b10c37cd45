"""Compares libgather.dask with numpy.take."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_files import replace, write

import libgather

da = pytest.importorskip("dask.array", reason="dask is not installed")
dask: Any = pytest.importorskip("dask")
take: Any = libgather.dask.take

A = np.random.default_rng(1).integers(0, 1000, (10, 7, 6)).astype(np.float32)
CHUNKS: dict[str, Any] = {
    "one": (10, 7, 6),
    "rows": (1, 7, 6),
    "uneven": ((3, 4, 2, 1), (5, 2), (1, 2, 3)),
    "empty ones": ((0, 3, 0, 7, 0), (0, 7), (6, 0)),
}
IDS: dict[str, Any] = {
    "duplicates": [5, 0, 5, 5, 3],
    "sorted": range(6),
    "one": [4],
    "none": [],
    "a number": np.int32(3),
    "two dims": np.array([[5, 1, 0], [2, 5, 5]], np.uint8),
    "no rows of two dims": np.zeros((0, 3), int),
    "strided": np.arange(12)[::-2] // 2,
    "many": np.random.default_rng(2).integers(0, 6, 40),
}


@pytest.fixture(params=["long bands", "short bands"])
def bands(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test with one band for the whole result, and with bands of one or two blocks."""
    if request.param == "short bands":
        monkeypatch.setattr(libgather.dask._graph, "BAND", 400)


def check(result: Any, expected: Any, **options: Any) -> None:
    """Compares a result, and its declared shape, dtype and chunks, with the expected array."""
    assert result.shape == expected.shape and result.dtype == expected.dtype
    assert type(result._meta) is np.ndarray and result._meta.dtype == expected.dtype
    computed = result.compute(scheduler="threads", **options)
    assert type(computed) is type(expected) and computed.dtype == expected.dtype
    np.testing.assert_array_equal(computed, expected)
    blocks = dask.compute(*result.to_delayed().ravel(), scheduler="sync")
    shapes = [result.blocks[number].shape for number in np.ndindex(result.numblocks)]
    assert [block.shape for block in blocks] == shapes


@pytest.mark.usefixtures("bands")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_results_equal_numpy(chunks: str, ids: str, axis: int, lazy: bool) -> None:
    x, given = da.from_array(A, chunks=CHUNKS[chunks]), IDS[ids]
    expected = np.take(A, np.asarray(given, int), axis)
    if lazy:
        array = np.asarray(given, None if np.size(given) else int)
        given = da.from_array(array, chunks=(2,) * array.ndim)
    check(take(x, given, axis), expected)


@pytest.mark.usefixtures("bands")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("out_chunks", [1, 3, 40, -1, (10, 0, 29, 1), [20, 20]])
def test_chunks_of_the_result(out_chunks: Any, lazy: bool) -> None:
    x, ids = da.from_array(A, chunks=CHUNKS["uneven"]), IDS["many"]
    result = take(x, da.from_array(ids) if lazy else ids, 1, out_chunks=out_chunks)
    sizes = tuple(out_chunks) if isinstance(out_chunks, list) else out_chunks
    assert result.chunks == (x.chunks[0], *da.core.normalize_chunks((sizes,), (40,)), x.chunks[2])
    check(result, np.take(A, ids, 1))
    check(result[:, 9:11].rechunk(-1) + 1, np.take(A, ids[9:11], 1) + 1)


def test_default_chunks_are_not_longer_than_those_of_x() -> None:
    x = da.from_array(A, chunks=CHUNKS["uneven"])
    assert take(x, np.zeros(9, int)).chunks == ((4, 4, 1), *x.chunks[1:])
    assert take(x, np.zeros((5, 2), int)).chunks == ((2, 2, 1), (2,), *x.chunks[1:])
    assert take(x, np.zeros((3, 90), int)).chunks == ((1, 1, 1), (90,), *x.chunks[1:])


@pytest.mark.usefixtures("bands")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("switches", "ids"),
    [
        ({"negative": "wrap"}, [-1, 3, -10]),
        ({"profile": "numpy_raise"}, [-1, 3, -10]),
        ({"profile": "numpy_clip"}, [-1, 30, 4]),
        ({"bounds": "clamp"}, [-1, 30, 4]),
        ({"bounds": "modulo"}, [-1, 30, 4]),
        ({"bounds": "fill"}, [-1, 30, 4]),
        ({"bounds": "fill"}, [10, 11]),
        ({"bounds": "skip"}, [-1, 30, 4]),
        ({"fill_value": 7.5}, [-1, 30, 4]),
        ({"fill_value": "by_dtype", "negative": "wrap"}, [-1, 30, 4]),
        ({"profile": "jax_fill"}, [-1, 30, 4]),
        ({"profile": "tensorflow_gpu"}, [-1, 30, 4]),
    ],
)
def test_switches_are_those_of_gather(switches: Any, ids: list[int], lazy: bool) -> None:
    x = da.from_array(A, chunks=CHUNKS["uneven"])
    for out_chunks in (None, 1):
        result = take(x, da.from_array(ids) if lazy else ids, out_chunks=out_chunks, **switches)
        check(result, libgather.gather(A, ids, **switches))


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c16", ">f4", "M8[s]", "S3", "U5", "i4,f8", object])
def test_dtypes(dtype: Any) -> None:
    a = np.arange(20).reshape(10, 2).astype(dtype)
    x = da.from_array(a, chunks=(3, 1))
    check(take(x, [9, 0, 9], 0), np.take(a, [9, 0, 9], 0))
    check(take(x, [1], 1), np.take(a, [1], 1))


def test_objects_are_not_filled() -> None:
    x = da.from_array(A.astype(object), chunks=4)
    with pytest.raises(libgather.UnsupportedError, match="object"):
        take(x, [0], bounds="fill")
    check(take(x, [20], bounds="clamp"), A.astype(object)[[9]])


def test_bad_id_raises_before_the_graph_is_built() -> None:
    x = da.from_array(A, chunks=CHUNKS["rows"])
    with pytest.raises(IndexError, match=r"is 7, valid are \[0, 7\): indices\[1, 0\], axis 1") as caught:
        take(x, [[0, 1], [7, 9]], -2)
    error: Any = caught.value
    assert isinstance(error, libgather.IndexError)
    assert (error.position, error.index, error.axis, error.value, error.limit) == (2, (1, 0), 1, 7, 7)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_bad_id_of_dask_raises_the_same_error_when_computed(scheduler: str) -> None:
    x = da.from_array(A, chunks=CHUNKS["rows"])
    result = take(x, da.from_array(np.array([[0, 1], [7, 9]]), chunks=1), -2)
    with pytest.raises(libgather.IndexError, match=r"is 7, valid are \[0, 7\): indices\[1, 0\], axis 1") as caught:
        result.compute(scheduler=scheduler)
    assert (caught.value.position, caught.value.index, caught.value.axis) == (2, (1, 0), 1)


def test_only_touched_chunks_are_read() -> None:
    read: list[int] = []

    def chunk(block_info: Any = None) -> Any:
        read.append(block_info[None]["chunk-location"][0])
        return np.full((10, 3), read[-1])

    x = da.map_blocks(chunk, chunks=((10,) * 20, (3,)), dtype=int)
    read.clear()
    rows = take(x, [155, 30, 31, 159, 30], out_chunks=2).compute(scheduler="sync")
    assert rows[:, 0].tolist() == [15, 3, 3, 15, 3] and sorted(read) == [3, 15]


def test_graph_has_one_task_per_touched_chunk_and_block() -> None:
    x = da.from_array(A, chunks=CHUNKS["uneven"])
    result = take(x, [0, 1, 9, 0], out_chunks=2)
    names = [name for name in result.dask.layers if name.startswith("libgather")]
    (layer,) = names
    keys = [key[0].rpartition("-")[0] for key in result.dask.layers[layer]]
    beside = 2 * 3
    assert keys.count("libgather-rows") == 2 * beside and keys.count("libgather-take") == 2 * beside
    assert len(keys) == 4 * beside


@pytest.mark.parametrize("lazy", [False, True])
def test_join_depends_on_the_rows_of_its_block(lazy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise one worker must hold the whole result."""
    monkeypatch.setattr(libgather.dask._graph, "BAND", 0, raising=False)
    x, ids = da.from_array(A, chunks=(2, 7, 6)), IDS["many"]
    result = take(x, da.from_array(ids) if lazy else ids, out_chunks=8)
    needed = result.dask.get_all_dependencies()
    for key in result.__dask_keys__():
        while isinstance(key, list):
            (key,) = key
        pieces = dask.get(result.dask, [piece for piece in needed[key] if isinstance(piece, tuple)])
        assert sum(piece.nbytes for piece in pieces) == 8 * A[0].nbytes


def test_blocks_of_a_band_share_their_pieces() -> None:
    """A band has at most 32 MiB, so that many short blocks do not need a task for each chunk in each block."""
    x, row = da.zeros((300, 1 << 18), chunks=(100, -1), dtype=np.float32), 1 << 20
    result = take(x, np.arange(300).reshape(3, 100).T.ravel(), out_chunks=1 << 4)
    names = [key[0].rpartition("-")[0] for key in result.dask if isinstance(key, tuple)]
    in_band = (32 << 20) // row // 16 * 16
    assert names.count("libgather-bands") == 3 and names.count("libgather-rows") == 3 * -(-300 // in_band)


@pytest.mark.parametrize("chunks", [20, 200])
def test_graph_of_a_million_ids_is_smaller_than_that_of_vindex(chunks: int) -> None:
    rows = 1_000_000
    x, ids = da.zeros((rows, 100), chunks=(rows // chunks, 100)), np.random.default_rng(1).integers(0, rows, rows)
    sizes = [len(pickle.dumps(dict(result.dask))) for result in (take(x, ids), x.vindex[ids])]
    assert sizes[0] < 0.8 * sizes[1]


def test_equal_calls_have_equal_names() -> None:
    x, ids = da.from_array(A, chunks=CHUNKS["uneven"]), np.array([3, 1, 3])
    name = take(x, ids).name
    assert name == take(x, ids.tolist()).name == take(x, ids.astype("u1")).name == take(x, ids, -3).name
    lazy = da.from_array(ids)
    assert take(x, lazy).name == take(x, lazy).name
    others = [
        take(x, ids, 1),
        take(x, ids[[1, 0, 0]]),
        take(x, ids[:, None]),
        take(x, ids, out_chunks=1),
        take(x + 1, ids),
        take(x, lazy),
        take(x, lazy, negative="wrap"),
        take(x, [3, 1, 30], bounds="fill"),
        take(x, [3, 1, 30], fill_value=1),
    ]
    assert len({name, *(other.name for other in others)}) == 1 + len(others)


def test_graphs_can_be_optimized_persisted_and_pickled() -> None:
    x = da.from_array(A, chunks=CHUNKS["uneven"])
    with dask.annotate(priority=3):
        result = take(x, [3, 1, 9])
    for each in (*dask.optimize(result), result.persist(scheduler="sync"), pickle.loads(pickle.dumps(result))):
        check(each, A[[3, 1, 9]])
    check(take(take(x, [3, 1, 9]), [2, 0]), A[[9, 3]])


def test_ids_on_many_threads() -> None:
    a = np.random.default_rng(3).random((20_000, 8))
    ids = np.random.default_rng(4).integers(0, 20_000, 50_000)
    check(take(da.from_array(a, chunks=(1000, 4)), ids, out_chunks=-1), a[ids])


@pytest.mark.parametrize(
    ("x", "arguments", "keywords", "kind", "message"),
    [
        (A, ([0],), {}, libgather.DTypeError, "ndarray is not an array of dask"),
        (..., ([0.5],), {}, libgather.DTypeError, "float64"),
        (..., (da.ones(3),), {}, libgather.DTypeError, "float64"),
        (..., ([True],), {}, libgather.DTypeError, "bool"),
        (..., ([0], 3), {}, libgather.RankError, "axis 3 is out of range for rank 3"),
        (..., ([0], -4), {}, libgather.RankError, "axis -4"),
        (..., ([0], 0.0), {}, libgather.DTypeError, "axis is float"),
        (da.ones(()), ([0],), {}, libgather.RankError, "axis 0 is out of range for rank 0"),
        (..., ([0],), {"bounds": "never"}, libgather.OptionError, "never"),
        (..., (da.ones(3, dtype=int),), {"bounds": "never"}, libgather.OptionError, "never"),
        (..., ([0],), {"bounds": "clamp", "fill_value": 1}, libgather.OptionError, "fill_value"),
        (..., ([0],), {"fill_value": "seven"}, libgather.Error, "seven"),
        (..., ([0],), {"out_chunks": 0}, libgather.ShapeError, "out_chunks 0"),
        (..., ([0],), {"out_chunks": "auto"}, libgather.ShapeError, "out_chunks 'auto'"),
        (..., ([0],), {"out_chunks": (2, 1)}, libgather.ShapeError, "out_chunks"),
        (..., ([0],), {"out_chunks": (1, -1, 1)}, libgather.ShapeError, "negative"),
        (..., ([0],), {"out_chunks": (float("nan"),)}, libgather.ShapeError, "not known"),
        (..., ([0],), {"out_chunks": -2}, libgather.ShapeError, "out_chunks -2"),
        (..., (0,), {"out_chunks": 1}, libgather.ShapeError, "rank 0 have none"),
    ],
)
def test_invalid_arguments_are_refused(
    x: Any, arguments: Any, keywords: Any, kind: type[Exception], message: str
) -> None:
    x = da.from_array(A, chunks=CHUNKS["uneven"]) if x is ... else x
    with pytest.raises(kind, match=message):
        take(x, *arguments, **keywords)


def test_chunks_of_unknown_size_are_refused() -> None:
    x = da.from_array(A, chunks=CHUNKS["uneven"])
    unknown = x[x[:, 0, 0] > 500]
    with pytest.raises(libgather.ShapeError, match="params: chunks of unknown size"):
        take(unknown, [0])
    ids = da.from_array(np.arange(4))
    with pytest.raises(libgather.ShapeError, match="indices: chunks of unknown size"):
        take(x, ids[ids > 1])
    check(take(unknown.compute_chunk_sizes(), [0]), A[A[:, 0, 0] > 500][[0]])


def test_chunks_of_other_kinds_are_refused() -> None:
    x = da.from_array(np.ma.masked_array(A, A > 500), chunks=4)
    with pytest.raises(libgather.DTypeError, match="MaskedArray"):
        take(x, [0])


# ------------------------------------------------------------------------------------------------- tuples and elements


TUPLES: dict[str, Any] = {
    "rows": [[9], [0], [9]],
    "two dims": [[9, 6], [0, 0], [3, 5], [9, 6]],
    "elements": np.random.default_rng(5).integers(0, 6, (40, 3)),
    "of two dims": np.random.default_rng(6).integers(0, 7, (4, 5, 2)).astype(np.uint8),
    "one": [3, 2],
    "none": np.zeros((0, 2), int),
}


@pytest.mark.usefixtures("bands")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("tuples", TUPLES)
@pytest.mark.parametrize("chunks", CHUNKS)
def test_slices_by_tuples(chunks: str, tuples: str, lazy: bool) -> None:
    x, given = da.from_array(A, chunks=CHUNKS[chunks]), np.asarray(TUPLES[tuples])
    expected = A[tuple(np.moveaxis(given, -1, 0))]
    for out_chunks in (None, 3) if given.ndim > 1 else (None,):
        result = libgather.dask.gather_nd(x, da.from_array(given, chunks=2) if lazy else given, out_chunks=out_chunks)
        check(result, np.asarray(expected))


@pytest.mark.usefixtures("bands")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    "switches",
    [
        {"bounds": "fill", "fill_value": 3},
        {"bounds": "skip"},
        {"bounds": "clamp"},
        {"bounds": "modulo"},
        {"negative": "wrap", "bounds": "fill"},
        {"profile": "jax_fill"},
        {"profile": "tensorflow_gpu"},
    ],
)
def test_switches_of_tuples(switches: Any, lazy: bool) -> None:
    x, tuples = da.from_array(A, chunks=CHUNKS["uneven"]), np.array([[3, 9], [-1, 2], [20, -1], [9, 6], [4, -3]])
    result = libgather.dask.gather_nd(x, da.from_array(tuples, chunks=2) if lazy else tuples, **switches)
    check(result, libgather.gather_nd(A, tuples, **switches))


@pytest.mark.parametrize("lazy", [False, True])
def test_tuple_out_of_bounds_is_named(lazy: bool) -> None:
    x, tuples = da.from_array(A, chunks=CHUNKS["uneven"]), np.array([[[0, 0], [9, 7]], [[10, 0], [0, -1]]])
    with pytest.raises(libgather.IndexError, match=r"is 7, valid are \[0, 7\): indices\[0, 1, 1\], axis 1") as caught:
        libgather.dask.gather_nd(x, da.from_array(tuples, chunks=1) if lazy else tuples).compute(scheduler="sync")
    assert (caught.value.position, caught.value.component, caught.value.value) == (1, 1, 7)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "S3", object, "i4,f8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_elements_along_an_axis(chunks: str, axis: int, dtype: Any, lazy: bool) -> None:
    a, random = A.astype(dtype), np.random.default_rng(7)
    x = da.from_array(a, chunks=CHUNKS[chunks])
    for along in (5, 0, 1):
        shape = [*A.shape]
        shape[axis] = along
        ids = random.integers(-A.shape[axis], A.shape[axis], shape)
        result = libgather.dask.take_along_axis(x, da.from_array(ids, chunks=3) if lazy else ids, axis)
        check(result, np.take_along_axis(a, ids, axis))
    few = np.array([2, -1]).reshape([2 if dim == axis % 3 else 1 for dim in range(3)])
    check(libgather.dask.take_along_axis(x, few, axis), np.take_along_axis(a, few, axis))


@pytest.mark.parametrize("lazy", [False, True])
def test_index_out_of_bounds_along_axis_is_named(lazy: bool) -> None:
    x, ids = da.from_array(A, chunks=CHUNKS["uneven"]), np.zeros((10, 7, 4), int)
    ids[8, 6, 3] = -7
    given: Any = da.from_array(ids, chunks=2) if lazy else ids
    with pytest.raises(libgather.IndexError, match=r"is -7, valid are \[-6, 6\): indices\[8, 6, 3\], axis 2") as caught:
        libgather.dask.take_along_axis(x, given).compute(scheduler="sync")
    error = caught.value
    assert (error.position, error.value, error.limit, error.axis) == (8 * 28 + 6 * 4 + 3, -7, 6, 2)


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda x: libgather.dask.gather_nd(x, 3), libgather.RankError, "last axis"),
        (
            lambda x: libgather.dask.gather_nd(x, [[0, 0, 0, 0]]),
            libgather.RankError,
            "tuples of 4 for params of rank 3",
        ),
        (lambda x: libgather.dask.gather_nd(x, np.zeros((2, 0), int)), libgather.UnsupportedError, "whole array"),
        (lambda x: libgather.dask.gather_nd(x, [[0.5]]), libgather.DTypeError, "float64"),
        (lambda x: libgather.dask.gather_nd(x, da.ones((2, 1))), libgather.DTypeError, "float64"),
        (lambda x: libgather.dask.gather_nd(A, [[0]]), libgather.DTypeError, "ndarray"),
        (lambda x: libgather.dask.take_along_axis(x, [0]), libgather.RankError, "rank 1, that of params is 3"),
        (
            lambda x: libgather.dask.take_along_axis(x, np.zeros((2, 7, 1), int)),
            libgather.ShapeError,
            "extent 2 of dim 0",
        ),
        (lambda x: libgather.dask.take_along_axis(x, [[[0.5]]]), libgather.DTypeError, "float64"),
        (lambda x: libgather.dask.take_along_axis(x, [[[0]]], 3), libgather.RankError, "axis 3"),
    ],
)
def test_invalid_tuples_and_elements_are_refused(ask: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask(da.from_array(A, chunks=CHUNKS["uneven"]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: take(x, [5, 2**63]),
        lambda x: libgather.dask.gather_nd(x, [[5], [2**63]]),
        lambda x: libgather.dask.take_along_axis(x, [5, 2**63]),
    ],
)
def test_lists_of_large_ids_stay_integers(ask: Any) -> None:
    with pytest.raises(libgather.IndexError, match=f"component 0 of tuple 1 is {2**63}, "):
        ask(da.zeros(10, chunks=4))


def lying(array: np.ndarray, chunks: Any, number: tuple[int, ...], change: Any) -> Any:
    """Returns a dask array with one chunk whose shape differs from the declared one."""

    def changed(block: Any, block_info: Any = None) -> Any:
        return change(block) if tuple(block_info[0]["chunk-location"]) == number else block

    honest = da.from_array(array, chunks=chunks)
    return da.map_blocks(changed, honest, dtype=array.dtype, meta=honest._meta)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda block: block[1:], "has length 1 along dim 0, 2 is declared"),
        (lambda block: np.concatenate([block, block]), "has length 4 along dim 0, 2 is declared"),
        (lambda block: block[:, :-1], "has length 2 along dim 1, 3 is declared"),
        (lambda block: block[0], "has rank 1, 2 is declared"),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda x: take(x, [2, 3, 0]),
        lambda x: take(x, da.from_array(np.array([2, 3, 0]), chunks=2)),
        lambda x: take(x, [3, 4], axis=1),
        lambda x: libgather.dask.gather_nd(x, [[2, 4], [3, 3]]),
        lambda x: libgather.dask.gather_nd(x, da.from_array(np.array([[2], [3]]))),
        lambda x: libgather.dask.take_along_axis(x, np.full((1, 6), 2), axis=0),
    ],
)
def test_chunk_of_undeclared_length_is_named(ask: Any, change: Any, message: str) -> None:
    """Otherwise ids would select wrong rows of the chunk."""
    table = np.arange(36.0).reshape(6, 6)
    x = lying(table, (2, 3), (1, 1), change)
    with pytest.raises(libgather.Error, match=rf"params: chunk \(1, 1\) {message}") as caught:
        ask(x).compute(scheduler="sync")
    assert caught.value.operand == "params"
    if "length" in message:
        length, dim, needed = (int(part) for part in message.replace(",", "").split() if part.isdecimal())
        assert (caught.value.value, caught.value.component, caught.value.limit) == (length, dim, needed)


@pytest.mark.parametrize(
    ("ask", "ids", "chunks"),
    [
        (lambda ids: take(da.from_array(np.arange(6.0), chunks=2), ids), np.array([2, 3, 0, 1]), 2),
        (lambda ids: libgather.dask.gather_nd(da.from_array(np.arange(6.0)), ids), np.array([[2], [3], [0], [1]]), 2),
        (lambda ids: libgather.dask.take_along_axis(da.from_array(np.arange(6.0)), ids), np.array([2, 3, 0, 1]), 2),
    ],
)
@pytest.mark.parametrize("change", [lambda block: block[1:], lambda block: np.concatenate([block, block[:1]])])
def test_chunk_of_ids_of_undeclared_length_is_named(ask: Any, ids: Any, chunks: Any, change: Any) -> None:
    length = len(change(np.zeros(2)))
    with pytest.raises(
        libgather.ShapeError, match=rf"indices: chunk \(1,.*\) has length {length} along dim 0, 2 is decl"
    ):
        ask(lying(ids, chunks, (1,) + (0,) * (ids.ndim - 1), change)).compute(scheduler="sync")


# ---------------------------------------------------------------------------------------------------------------- files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.save(tmp_path / "a.npy", A)
    return tmp_path / "a.npy"


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("chunks", [None, *CHUNKS.values()])
def test_rows_of_a_file(file: Path, chunks: Any, lazy: bool) -> None:
    x, ids = libgather.dask.from_file(file, chunks), IDS["many"]
    tuples = np.column_stack([ids, ids])
    given, pairs = (da.from_array(each) if lazy else each for each in (ids, tuples))
    for axis in (0, 1, 2):
        check(take(x, given, axis), np.take(A, ids, axis))
    check(libgather.dask.gather_nd(x, pairs), A[ids, ids])
    check(libgather.dask.take_along_axis(x, A.argsort(0), 0), np.sort(A, 0))
    check(x[3:, ::2] + 1, A[3:, ::2] + 1)
    check(take(x[:, 1:], given, 0), A[ids, 1:])
    assert x.chunks == da.from_array(A, chunks=(10, 7, 6) if chunks is None else chunks).chunks


def test_graph_of_a_file_has_its_path_only(file: Path) -> None:
    np.save(file, np.zeros((1000, 1000)))
    x = libgather.dask.from_file(file)
    assert len(pickle.dumps(x.dask)) < 2000
    assert len(pickle.dumps(dict(take(x, [0, 999]).dask))) < 4000
    check(pickle.loads(pickle.dumps(take(x, [0, 999]))), np.zeros((2, 1000)))


def test_task_reads_only_the_rows_of_a_file(file: Path) -> None:
    x = libgather.dask.from_file(file, chunks=5)
    (optimized,) = dask.optimize(take(x, [7, 0]))
    assert not any(key[0] == x.name for key in optimized.dask if isinstance(key, tuple))


@pytest.mark.parametrize("change", [replace, write, Path.unlink])
def test_changed_file_raises_an_error(file: Path, change: Any) -> None:
    x = libgather.dask.from_file(file, chunks=5)
    results = [take(x, [0]), take(x, da.from_array(np.array([0]))), libgather.dask.gather_nd(x, [[0]]), x + 1]
    change(file)
    for result in results:
        with pytest.raises(libgather.FileError, match=r"a.npy: No such|a.npy has been replaced or written"):
            result.compute(scheduler="sync")
    if file.exists():
        check(take(libgather.dask.from_file(file), [9]), np.load(file)[[9]])


@pytest.mark.parametrize("change", [replace, write])
def test_file_changed_during_a_task_raises_an_error(file: Path, change: Any) -> None:
    part = libgather.dask._files.part_of(libgather.dask.from_file(file), (0, 0, 0))

    def work(array: Any) -> Any:
        change(file)
        return array.copy()

    with pytest.raises(libgather.FileError, match=r"a.npy has been replaced or written"):
        part.read(work)


def test_file_is_not_read_after_an_assignment(file: Path) -> None:
    x = libgather.dask.from_file(file, chunks=5)
    x[2] = 7
    check(take(x, [2, 3]), np.concatenate([np.full_like(A[[2]], 7), A[[3]]]))


def test_equal_files_have_equal_names(file: Path) -> None:
    x = libgather.dask.from_file(file)
    assert x.name == libgather.dask.from_file(str(file)).name != libgather.dask.from_file(file, chunks=5).name
    replace(file)
    assert x.name != libgather.dask.from_file(file).name


def test_copy_on_another_machine_has_the_same_size_and_time() -> None:
    version = libgather._arrays.npy_files.Version
    here, copy = version(80, 5, "here", 3, 7), version(80, 5, "there", 4, 8)
    assert here.matches(copy) and not here.matches(copy._replace(written=6))
    assert not here.matches(here._replace(inode=4)) and not here.matches(here._replace(changed=8))
