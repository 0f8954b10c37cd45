"""gather_bags: compares it with loops in NumPy and with torch, and tests formats, pools, kinds of arrays and errors."""

from __future__ import annotations

import array
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from sample_bags import EXTREME, FORMATS, IDS, LENGTHS, OFFSETS, POOLS, WEIGHTS, numbers

import libgather


def table(dtype: Any = "float64", shape: tuple[int, ...] = (8, 3)) -> np.ndarray:
    return numbers(shape, dtype)


def pooled(rows: np.ndarray, weights: np.ndarray, pool: str) -> Any:
    """Returns the pool of the rows of one bag."""
    factors = weights.reshape(-1, *(1,) * (rows.ndim - 1))
    if not len(rows):
        return np.zeros(rows.shape[1:])
    if pool in EXTREME:
        return rows.max(axis=0) if pool == "max" else rows.min(axis=0)
    divisor = {"sum": 1, "mean": weights.sum(), "sqrtn": np.sqrt((weights**2).sum())}[pool]
    return (rows * factors).sum(axis=0) / divisor


def oracle(params: np.ndarray, weights: np.ndarray, pool: str, padding: int | None = None) -> np.ndarray:
    rows = []
    for start, end in pairwise(OFFSETS):
        read = [k for k in range(start, end) if IDS[k] != padding]
        rows.append(pooled(params[IDS[read]], weights[read], pool))
    return np.array(rows)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(8,), (8, 3), (8, 2, 5)])
@pytest.mark.parametrize("padding", [None, 4, 7])
def test_formats_and_pools(pool: Any, form: str, shape: tuple[int, ...], padding: int | None) -> None:
    params, ones = table(shape=shape), np.ones(len(IDS))
    switches: dict[str, Any] = {"pool": pool, "padding_index": padding}
    result = libgather.gather_bags(params, IDS, **FORMATS[form], **switches)
    np.testing.assert_allclose(result, oracle(params, ones, pool, padding), rtol=1e-14)
    if pool not in EXTREME:
        result = libgather.gather_bags(params, IDS, **FORMATS[form], weights=WEIGHTS, **switches)
        np.testing.assert_allclose(result, oracle(params, WEIGHTS, pool, padding), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", ml_dtypes.bfloat16, "int8", "uint64", "complex64"])
@pytest.mark.parametrize("out", [False, True])
def test_dtypes(dtype: Any, out: bool) -> None:
    params = table(dtype)
    target = np.full((4, 3), 9, dtype) if out else None
    result = libgather.gather_bags(params, IDS.astype("uint8"), lengths=LENGTHS.astype("int16"), out=target)
    expected = np.array([params[IDS[a:b]].sum(axis=0) for a, b in pairwise(OFFSETS)])
    assert result.dtype == params.dtype and (result == expected).all()
    assert target is None or result is target


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32"])
def test_weights_are_of_params_or_float32(dtype: Any) -> None:
    params, expected = table(dtype), oracle(table(), WEIGHTS, "sum")
    for weights in (WEIGHTS.astype(dtype), WEIGHTS.astype("float32"), WEIGHTS.tolist()):
        result = libgather.gather_bags(params, IDS, offsets=OFFSETS, weights=weights)
        assert (result.astype("float64") == expected).all()
    with pytest.raises(libgather.DTypeError, match="weights") as caught:
        libgather.gather_bags(params, IDS, offsets=OFFSETS, weights=WEIGHTS)
    assert caught.value.operand == "weights"


def test_weights_of_half_are_not_rounded_to_it() -> None:
    params = np.array([[2048.0]], "float16")
    assert libgather.gather_bags(params, [[0]], weights=[[1.0004]])[0, 0] == np.float16(np.float32(1.0004) * 2048)
    assert np.float16(1.0004) == 1


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
@pytest.mark.parametrize("pool", ["sum", "mean", "max"])
def test_float32_results_of_half_are_not_rounded(pool: Any, dtype: Any) -> None:
    params = (1 + np.arange(24).reshape(8, 3) / 128).astype(dtype)
    wide = params.astype("float32")
    expected = np.array([pooled(wide[IDS[low:high]], np.ones(high - low), pool) for low, high in pairwise(OFFSETS)])
    result = libgather.gather_bags(params, IDS, offsets=OFFSETS, pool=pool, out_dtype="float32")
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    out = np.zeros((4, 3), "float32")
    assert libgather.gather_bags(params, IDS, offsets=OFFSETS, pool=pool, out_dtype="float32", out=out) is out
    np.testing.assert_array_equal(out, result)
    scalars = libgather.gather_bags(params[:, 0], IDS, offsets=OFFSETS, pool=pool, out_dtype="float32")
    np.testing.assert_array_equal(scalars, result[:, 0])
    with pytest.raises(libgather.DTypeError, match="out"):
        libgather.gather_bags(params, IDS, offsets=OFFSETS, pool=pool, out=out)


def test_float32_results_of_other_tables_and_arrays() -> None:
    torch = pytest.importorskip("torch")
    half = torch.ones(4, 3, dtype=torch.bfloat16)
    result = libgather.gather_bags(half, torch.tensor([[0, 1]]), out_dtype="float32")
    assert result.dtype == torch.float32 and result.tolist() == [[2, 2, 2]]
    assert libgather.gather_bags(table("float32"), [[1]], out_dtype="float32").dtype == np.float32
    with pytest.raises(libgather.DTypeError):
        libgather.gather_bags(table("float64"), [[1]], out_dtype="float32")
    with pytest.raises(libgather.OptionError, match="out_dtype"):
        libgather.gather_bags(half, [[1]], out_dtype="float64")  # type: ignore[call-overload]


def test_rows_of_indices_are_bags() -> None:
    params, ids = table(), np.array([[[1, 2], [3, 3]], [[0, 7], [5, 1]]])
    assert (libgather.gather_bags(params, ids) == params[ids].sum(axis=2)).all()
    assert (libgather.gather_bags(params, ids[0, 0], pool="max") == params[[1, 2]].max(axis=0)).all()
    total = libgather.gather_bags(params[:, 0], [1, 2])
    assert type(total) is np.float64 and total == params[[1, 2], 0].sum()


def test_any_layout() -> None:
    wide = np.asfortranarray(table(shape=(16, 7)))
    params, ids, offsets = wide[::-2, ::3], np.repeat(IDS, 2)[::2], np.repeat(OFFSETS, 3)[::3]
    expected = oracle(np.ascontiguousarray(params), np.ones(len(IDS)), "sum")
    assert (libgather.gather_bags(params, ids, offsets=offsets) == expected).all()
    swapped = params.astype(">f8"), ids.astype(">i4"), offsets.astype(">u2")
    assert (libgather.gather_bags(swapped[0], swapped[1], offsets=swapped[2]) == expected).all()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_change_bits(threads: int) -> None:
    choose = np.random.default_rng(3)
    params, ids = choose.random((50, 33), "float32"), choose.integers(0, 50, (900, 40))
    expected = np.zeros((900, 33), "float32")
    for k in range(40):
        expected += params[ids[:, k]]
    assert (libgather.gather_bags(params, ids, threads=threads) == expected).all()


def test_empty_bags() -> None:
    params = table()
    switches: dict[str, Any] = {"offsets": [0, 0, 1]}
    assert libgather.gather_bags(params, [9], padding_index=9, **switches).tolist() == [[0.0] * 3] * 2
    filled = libgather.gather_bags(params, [2], empty="fill", fill_value=-1.5, **switches)
    assert filled.tolist() == [[-1.5] * 3, params[2].tolist()]
    with pytest.raises(libgather.OffsetsError) as caught:
        libgather.gather_bags(params, [2], empty="error", **switches)
    assert (caught.value.operand, caught.value.position, caught.value.value) == ("bags", 0, 0)
    assert libgather.gather_bags(params, [], lengths=[]).shape == (0, 3)
    assert libgather.gather_bags(params, [], segments=[], count=2).tolist() == [[0.0] * 3] * 2


def test_a_fill_value_of_empty_bags_keeps_bounds() -> None:
    params = table()
    for switches in ({}, {"bounds": "error"}):
        with pytest.raises(libgather.IndexError) as caught:
            libgather.gather_bags(params, [1, 8], lengths=[1, 0, 1], empty="fill", fill_value=1, **switches)
        assert (caught.value.position, caught.value.index, caught.value.value) == (1, (1,), 8)
    both = libgather.gather_bags(params, [1, 8], lengths=[1, 0, 1], empty="fill", fill_value=1, bounds="fill")
    assert both.tolist() == [params[1].tolist(), [1.0] * 3, [1.0] * 3]
    skipped = libgather.gather_bags(params, [1, 8], lengths=[1, 1], empty="fill", fill_value=1, bounds="skip")
    assert skipped.tolist() == [params[1].tolist(), [1.0] * 3]
    with pytest.raises(libgather.OptionError, match="fill_value"):
        libgather.gather_bags(params, [1, 8], lengths=[1, 1], fill_value=1, bounds="skip")
    with pytest.raises(libgather.DTypeError, match="fill_value"):
        libgather.gather_bags(table("int32"), [1], lengths=[1, 0], empty="fill", fill_value=0.5)


def test_bounds() -> None:
    params = table()
    assert (libgather.gather_bags(params, [[-1, 0]], negative="wrap") == params[[-1, 0]].sum(axis=0)).all()
    assert (libgather.gather_bags(params, [[9, 1]], bounds="clamp") == params[[7, 1]].sum(axis=0)).all()
    assert (libgather.gather_bags(params, [[9, 1]], pool="mean", bounds="skip") == params[1]).all()
    assert (libgather.gather_bags(params, [[9, 1]], pool="mean", fill_value=4) == (params[1] + 4) / 2).all()


WRONG = [
    ({"offsets": [0, 5, 3, 9]}, 2, 3, 5),  # decreases
    ({"offsets": [1, 9]}, 0, 1, 0),  # does not begin with 0
    ({"offsets": [0, 10]}, 1, 10, 9),  # beyond the indices
    ({"starts": [0, 10]}, 1, 10, 9),
    ({"lengths": [4, -1, 6]}, 1, -1, 0),
    ({"segments": [0, 0, 0, 2, 1, 2, 2, 2, 2], "count": 3}, 4, 1, 2),
    ({"segments": [0, 0, 0, 0, 0, 0, 0, 0, 3], "count": 3}, 8, 3, 3),
]


@pytest.mark.parametrize(("bags", "position", "value", "limit"), WRONG)
def test_wrong_bags(bags: dict[str, Any], position: int, value: int, limit: int) -> None:
    arrays = {name: given if name == "count" else np.array(given) for name, given in bags.items()}
    for given in (bags, arrays):
        out = np.full((len(next(iter(bags.values()))), 3), 7.0)
        out = out[: bags.get("count", len(out) - ("offsets" in bags))]
        with pytest.raises(libgather.OffsetsError) as caught:
            libgather.gather_bags(table(), IDS, out=out, **given)
        error = caught.value
        assert (error.operand, error.position, error.value, error.limit) == ("bags", position, value, limit)
        assert (out == 7).all()


def test_wrong_options() -> None:
    params = table()
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (libgather.OptionError, "offsets and lengths are given", {"offsets": OFFSETS, "lengths": LENGTHS}),
        (libgather.OptionError, "count is for segments", {"offsets": OFFSETS, "count": 4}),
        (libgather.OptionError, "segments need", {"segments": np.zeros(9, "int64")}),
        (libgather.OptionError, "pool 'median' is none of sum, mean", {"offsets": OFFSETS, "pool": "median"}),
        (libgather.OptionError, "empty 'skip' is none of", {"offsets": OFFSETS, "empty": "skip"}),
        (libgather.OptionError, "weights", {"offsets": OFFSETS, "pool": "max", "weights": WEIGHTS}),
        (libgather.DTypeError, "padding_index is float", {"offsets": OFFSETS, "padding_index": 1.0}),
        (libgather.DTypeError, "count is str", {"segments": [0] * 9, "count": "4"}),
        (libgather.DTypeError, "bags", {"offsets": OFFSETS.astype("float64")}),
        (libgather.ShapeError, "weights", {"offsets": OFFSETS, "weights": WEIGHTS[:-1]}),
        (libgather.RankError, "bags", {"offsets": OFFSETS[None]}),
        (libgather.OptionError, "profile", {"offsets": OFFSETS, "profile": "onnx"}),
        (TypeError, "mode", {"mode": "sum"}),
    ]
    for kind, message, switches in wrong:
        with pytest.raises(kind, match=message):
            libgather.gather_bags(params, IDS, **switches)
    for refused in (np.array(["a", "b"]), np.zeros(9, "M8[s]"), np.zeros(9, bool), np.zeros(9, "i4,f4")):
        with pytest.raises(libgather.DTypeError, match="params"):
            libgather.gather_bags(refused, [[0, 1]])


def test_profile_torch_reads_no_id_behind_the_last_offset() -> None:
    params = table()
    result = libgather.gather_bags(params, IDS, offsets=[0, 3, 5], profile="torch")
    assert (result == [params[IDS[:3]].sum(axis=0), params[IDS[3:5]].sum(axis=0)]).all()
    with pytest.raises(libgather.OffsetsError):
        libgather.gather_bags(params, IDS, offsets=[0, 3, 5])


def test_kinds_of_arrays() -> None:
    params = table()
    expected = oracle(params, WEIGHTS, "sum")
    tensors = [libgather.Tensor(each) for each in (params, IDS, OFFSETS, WEIGHTS)]
    result = libgather.gather_bags(tensors[0], tensors[1], offsets=tensors[2], weights=tensors[3])
    assert isinstance(result, libgather.Tensor) and (np.asarray(result) == expected).all()
    lists = libgather.gather_bags(params.tolist(), IDS.tolist(), offsets=OFFSETS.tolist(), weights=WEIGHTS.tolist())
    assert (lists == expected).all()
    column = array.array("d", params[:, 0])
    result = libgather.gather_bags(column, pa.array(IDS), offsets=array.array("i", OFFSETS), weights=WEIGHTS)
    assert type(result) is array.array and result.tolist() == expected[:, 0].tolist()
    result = libgather.gather_bags(pa.array(params[:, 0]), IDS, offsets=pa.array(OFFSETS), weights=pa.array(WEIGHTS))
    assert isinstance(result, pa.Array) and result.to_pylist() == expected[:, 0].tolist()


def test_jax() -> None:
    jnp = pytest.importorskip("jax").numpy
    params, weights = jnp.asarray(table("float32")), jnp.asarray(WEIGHTS, "float32")
    result = libgather.gather_bags(params, jnp.asarray(IDS), offsets=jnp.asarray(OFFSETS), weights=weights)
    assert type(result) is type(params) and (np.asarray(result) == oracle(table(), WEIGHTS, "sum")).all()


# torch has weights for sums alone.
@pytest.mark.parametrize(("mode", "weighted"), [("sum", False), ("sum", True), ("mean", False), ("max", False)])
@pytest.mark.parametrize("padding", [None, 4])
def test_embedding_bag_of_torch(mode: Any, padding: int | None, weighted: bool) -> None:
    torch = pytest.importorskip("torch")
    params = torch.randn(8, 37, generator=torch.Generator().manual_seed(5))
    ids, starts = torch.from_numpy(IDS), torch.from_numpy(OFFSETS[:-1].copy())
    weights = torch.from_numpy(WEIGHTS).float() if weighted else None
    expected = torch.nn.functional.embedding_bag(
        ids, params, starts, mode=mode, per_sample_weights=weights, padding_idx=padding
    )
    switches: dict[str, Any] = {"pool": mode, "padding_index": padding, "weights": weights}
    result = libgather.gather_bags(params, ids, starts=starts, **switches)
    assert type(result) is torch.Tensor and torch.equal(result, expected)
    out = torch.full_like(expected, 9)
    assert libgather.gather_bags(params, ids, starts=starts, out=out, **switches) is out and torch.equal(out, expected)
    with pytest.raises(libgather.DTypeError, match="params"):
        libgather.gather_bags(params.requires_grad_(), ids, starts=starts, **switches)
