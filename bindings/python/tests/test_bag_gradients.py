"""Gradients and positions of gather_bags: compares them with NumPy and torch, and tests kinds of arrays and errors."""

from __future__ import annotations

import array
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from sample_bags import EXTREME, FORMATS, IDS, LENGTHS, OFFSETS, POOLS, WEIGHTS, numbers, weights_for

import libgather


def factors_of(weights: np.ndarray, pool: str) -> np.ndarray:
    """Returns the numbers by which a bag multiplies its rows."""
    return weights / {"sum": 1, "mean": weights.sum(), "sqrtn": np.sqrt((weights**2).sum())}[pool]


def winners_of(rows: np.ndarray, pool: str) -> np.ndarray:
    """Returns the first extreme row of each element."""
    return rows.argmax(axis=0) if pool == "max" else rows.argmin(axis=0)


def oracle(
    given: np.ndarray, params: np.ndarray, weights: np.ndarray, pool: str, padding: int | None = None
) -> np.ndarray:
    sums = np.zeros(params.shape)
    for bag, (start, end) in enumerate(pairwise(OFFSETS)):
        read = [k for k in range(start, end) if IDS[k] != padding]
        if pool in EXTREME:
            winners = winners_of(params[IDS[read]], pool) if read else None
            for i, k in enumerate(read):
                sums[IDS[k]] += np.where(winners == i, given[bag], 0)
            continue
        for k, factor in zip(read, factors_of(weights[read], pool), strict=True):
            sums[IDS[k]] += factor * given[bag]
    return sums


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(8,), (8, 3), (8, 2, 5)])
@pytest.mark.parametrize("padding", [None, 4, 7])
def test_formats_and_pools(pool: Any, form: str, shape: tuple[int, ...], padding: int | None) -> None:
    params, given = numbers(shape), numbers((4, *shape[1:]), seed=7)
    switches: dict[str, Any] = {"pool": pool, "padding_index": padding, **FORMATS[form]}
    for weights in weights_for(pool):
        factors = np.ones(len(IDS)) if weights is None else weights
        expected = oracle(given, params, factors, pool, padding)
        result = libgather.gather_bags_gradient(given, IDS, params, weights=weights, **switches)
        np.testing.assert_allclose(result, expected, rtol=1e-14)
        rows, sums = libgather.gather_bags_sparse_gradient(given, IDS, params, weights=weights, **switches)
        assert rows.dtype == "int64" and (rows == np.unique(IDS[padding != IDS])).all()
        assert (sums == result[rows]).all()
        if pool not in EXTREME:
            from_shape = libgather.gather_bags_gradient(given, IDS, shape, weights=weights, **switches)
            assert (from_shape == result).all()


# The quotient of a difference of the pooled rows, which has no error for a sum.
@pytest.mark.parametrize("pool", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("padding", [None, 4])
def test_weights(pool: Any, padding: int | None) -> None:
    params, given = numbers((8, 3)), numbers((4, 3), seed=7)
    switches: dict[str, Any] = {"pool": pool, "padding_index": padding, "offsets": OFFSETS}
    for weights in (np.ones(len(IDS)), np.abs(WEIGHTS)):
        result = libgather.gather_bags_weight_gradient(given, IDS, params, weights=weights, **switches)
        for k in range(len(IDS)):
            step = np.zeros(len(IDS))
            step[k] = 1e-6
            upper, lower = (
                (given * libgather.gather_bags(params, IDS, weights=each, **switches)).sum()
                for each in (weights + step, weights - step)
            )
            assert result[k] == pytest.approx((upper - lower) / 2e-6, rel=1e-6, abs=1e-6)
    without = libgather.gather_bags_weight_gradient(given, IDS, params, **switches)
    ones = libgather.gather_bags_weight_gradient(given, IDS, params, weights=np.ones(len(IDS)), **switches)
    assert (without == ones).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", ml_dtypes.bfloat16, "int8", "uint64", "complex64"])
def test_dtypes(dtype: Any) -> None:
    given, expected = numbers((4, 3), dtype), oracle(numbers((4, 3)), numbers((8, 3)), np.ones(len(IDS)), "sum")
    result = libgather.gather_bags_gradient(given, IDS.astype("uint8"), (8, 3), lengths=LENGTHS.astype("int16"))
    assert result.dtype == given.dtype and (result == expected.astype(dtype)).all()


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32"])
def test_gradient_of_weights_has_their_dtype(dtype: Any) -> None:
    params, given = numbers((8, 3), dtype), numbers((4, 3), dtype, 7)
    bag_of = np.repeat(np.arange(4), LENGTHS)
    expected = (params.astype("float64")[IDS] * given.astype("float64")[bag_of]).sum(axis=1)
    for weights in (WEIGHTS.astype(dtype), WEIGHTS.astype("float32"), WEIGHTS.tolist()):
        result = libgather.gather_bags_weight_gradient(given, IDS, params, offsets=OFFSETS, weights=weights)
        assert result.dtype == (getattr(weights, "dtype", None) or "float32")
        assert (result.astype("float64") == expected).all()


def test_kinds_of_arrays() -> None:
    given, ids, table = [[1.0, 2.0], [3.0, 4.0]], [[2, 0], [2, -1]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    expected = [[1.0, 2.0], [0.0, 0.0], [4.0, 6.0]]
    switches: dict[str, Any] = {"padding_index": -1}
    assert libgather.gather_bags_gradient(given, ids, table, **switches).tolist() == expected
    rows, sums = libgather.gather_bags_sparse_gradient(given, ids, table, **switches)
    assert (rows.tolist(), sums.tolist()) == ([0, 2], [[1.0, 2.0], [4.0, 6.0]])
    weights = libgather.gather_bags_weight_gradient(given, ids, table, **switches)
    assert weights.tolist() == [[17.0, 5.0], [39.0, 0.0]]
    tensor = libgather.gather_bags_gradient(libgather.Tensor(given), ids, libgather.Tensor(table), **switches)
    assert type(tensor) is libgather.Tensor and tensor.tolist() == expected
    flat = libgather.gather_bags_gradient(array.array("f", [1, 2]), [2, 0, 2], (3,), lengths=array.array("i", [2, 1]))
    assert type(flat) is array.array and flat.tolist() == [1, 0, 3]


def test_any_layout() -> None:
    given = np.asfortranarray(numbers((8, 9)))[::-2, ::3]
    params, ids, offsets = numbers((16, 6))[::-2, ::2], np.repeat(IDS, 2)[::2], np.repeat(OFFSETS, 3)[::3]
    for pool in ("sum", "max"):
        expected = oracle(np.ascontiguousarray(given), np.ascontiguousarray(params), np.ones(len(IDS)), pool)
        result = libgather.gather_bags_gradient(given, ids, params, offsets=offsets, pool=pool)  # type: ignore[arg-type]
        assert (result == expected).all()


# NumPy's argmax and argmin return the first of equal elements, and the first NaN.
@pytest.mark.parametrize("pool", EXTREME)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(8,), (8, 3), (8, 2, 5)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint64"])
def test_positions(pool: Any, form: str, shape: tuple[int, ...], dtype: str) -> None:
    params = (numbers(shape) // 4 + 2).astype(dtype)  # with equal elements
    if dtype.startswith("float"):
        params[3:5].reshape(-1)[::2] = np.nan
    for padding in (None, 4):
        result = libgather.gather_bags_positions(params, IDS, pool=pool, padding_index=padding, **FORMATS[form])
        assert result.dtype == np.int64 and result.shape == (4, *shape[1:])
        for bag, (start, end) in enumerate(pairwise(OFFSETS)):
            read = np.array([k for k in range(start, end) if IDS[k] != padding], dtype=int)
            expected = read[winners_of(params[IDS[read]], pool)] if len(read) else -1
            assert (result[bag] == expected).all()


def test_positions_of_matrices_and_lists() -> None:
    table, ids = [[1.0, 9.0], [7.0, 2.0], [7.0, 4.0]], [[0, 2], [1, 2]]
    assert np.asarray(libgather.gather_bags_positions(table, ids, pool="max")).tolist() == [[1, 0], [2, 3]]
    assert np.asarray(libgather.gather_bags_positions(table, ids, pool="min")).tolist() == [[0, 1], [2, 2]]
    skipped = libgather.gather_bags_positions(np.array(table), [[5, 2], [5, 5]], pool="max", bounds="skip")
    assert skipped.tolist() == [[1, 1], [-1, -1]]
    filled = libgather.gather_bags_positions(
        np.array(table), [[5, 2], [5, 5]], pool="max", bounds="fill", fill_value=5.0
    )
    assert filled.tolist() == [[1, 0], [2, 2]]


def test_errors_of_positions() -> None:
    params = numbers((8, 3))
    find = libgather.gather_bags_positions
    for pool in ("sum", "mean", "sqrtn"):
        with pytest.raises(libgather.OptionError, match="pool"):
            find(params, IDS, offsets=OFFSETS, pool=pool)  # type: ignore[arg-type]
    with pytest.raises(libgather.OptionError, match="weights"):
        find(params, IDS, offsets=OFFSETS, pool="max", weights=WEIGHTS)
    wrong = IDS.copy()
    wrong[5] = 8
    with pytest.raises(libgather.IndexError) as index:
        find(params, wrong, offsets=OFFSETS, pool="max")
    assert (index.value.position, index.value.index, index.value.value) == (5, (5,), 8)
    with pytest.raises(libgather.OffsetsError):
        find(params, IDS, offsets=[0, 3, 2, 4, 9], pool="max")
    with pytest.raises(libgather.DTypeError, match="params"):
        find(params.astype("complex64"), IDS, offsets=OFFSETS, pool="max")
    with pytest.raises(TypeError, match="axis"):
        find(params, IDS, offsets=OFFSETS, pool="max", axis=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_change_bits(threads: int) -> None:
    choose = np.random.default_rng(3)
    given, ids = choose.random((900, 33), "float32"), choose.integers(0, 50, (900, 40))
    expected = np.zeros((50, 33), "float32")
    for bag in range(900):
        for row in ids[bag]:
            expected[row] += given[bag]
    assert (libgather.gather_bags_gradient(given, ids, (50, 33), threads=threads) == expected).all()


def test_errors() -> None:
    params, given = numbers((8, 3)), numbers((4, 3))
    functions = (
        libgather.gather_bags_gradient,
        libgather.gather_bags_sparse_gradient,
        libgather.gather_bags_weight_gradient,
    )
    wrong = IDS.copy()
    wrong[5] = 8
    for function in functions:
        with pytest.raises(libgather.IndexError) as index:
            function(given, wrong, params, offsets=OFFSETS)
        assert (index.value.position, index.value.index, index.value.value) == (5, (5,), 8)
        with pytest.raises(libgather.OffsetsError) as offsets:
            function(given, IDS, params, offsets=[0, 3, 2, 4, 9])
        assert (offsets.value.operand, offsets.value.position, offsets.value.limit) == ("bags", 2, 3)
        with pytest.raises(libgather.ShapeError) as shape:
            function(given[:3], IDS, params, offsets=OFFSETS)
        assert shape.value.operand == "updates"
        with pytest.raises(libgather.DTypeError, match="updates"):
            function(given.astype("float32"), IDS, params, offsets=OFFSETS)
        with pytest.raises(libgather.OptionError, match="segments need"):
            function(given, IDS, params, segments=OFFSETS)
        with pytest.raises(TypeError, match="axis"):
            function(given, IDS, params, offsets=OFFSETS, axis=1)  # type: ignore[call-arg]
    with pytest.raises(libgather.UnsupportedError, match="weights"):
        libgather.gather_bags_weight_gradient(given, IDS, params, offsets=OFFSETS, pool="max")


# torch has weights for sums alone. Its maximum of a bag without ids is zero, and gives no gradient.
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("mode", "weighted"), [("sum", False), ("sum", True), ("mean", False), ("max", False)])
@pytest.mark.parametrize("padding", [None, 4])
def test_embedding_bag_of_torch(dtype: str, mode: Any, weighted: bool, padding: int | None) -> None:
    torch = pytest.importorskip("torch")
    random = torch.Generator().manual_seed(5)
    kind = getattr(torch, dtype)
    params = torch.randn(8, 37, generator=random, dtype=kind).round(decimals=1).requires_grad_()  # with equal elements
    ids, starts = torch.from_numpy(IDS), torch.from_numpy(OFFSETS[:-1].copy())
    weights = torch.from_numpy(WEIGHTS).to(kind).requires_grad_() if weighted else None
    switches: dict[str, Any] = {"mode": mode, "padding_idx": padding, "per_sample_weights": weights}
    given = torch.randn(4, 37, generator=random, dtype=kind)
    torch.nn.functional.embedding_bag(ids, params, starts, **switches).backward(given)
    ours: dict[str, Any] = {"starts": starts, "pool": mode, "padding_index": padding}
    if weights is not None:
        ours["weights"] = weights.detach()
    result = libgather.gather_bags_gradient(given, ids, params.detach(), **ours)
    assert type(result) is torch.Tensor
    torch.testing.assert_close(result, params.grad)
    rows, sums = libgather.gather_bags_sparse_gradient(given, ids, params.detach(), **ours)
    assert rows.dtype == torch.int64 and torch.equal(
        rows, torch.unique(ids[ids != (-1 if padding is None else padding)])
    )
    assert torch.equal(sums, result[rows])
    if mode == "max":  # torch has the row of the maximum, and 0 for a bag without ids
        winners = torch._embedding_bag(params, ids, starts, mode=2, padding_idx=-1 if padding is None else padding)[3]
        positions = libgather.gather_bags_positions(params.detach(), ids, **ours)
        assert type(positions) is torch.Tensor
        assert torch.equal(torch.where(positions < 0, 0, ids[positions]), winners)
    if weights is not None:
        result = libgather.gather_bags_weight_gradient(given, ids, params.detach(), **ours)
        read = ids != (-1 if padding is None else padding)  # torch computes gradients of padding, too
        torch.testing.assert_close(result[read], weights.grad[read])
        assert (result[~read] == 0).all()


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_sparse_gradient_of_torch(mode: Any) -> None:
    torch = pytest.importorskip("torch")
    params = torch.randn(1000, 5, generator=torch.Generator().manual_seed(1)).requires_grad_()
    ids, given = torch.from_numpy(IDS), torch.randn(4, 5, generator=torch.Generator().manual_seed(2))
    starts = torch.from_numpy(OFFSETS[:-1].copy())
    torch.nn.functional.embedding_bag(ids, params, starts, mode=mode, sparse=True).backward(given)
    coalesced = params.grad.coalesce()
    rows, sums = libgather.gather_bags_sparse_gradient(given, ids, (1000, 5), starts=starts, pool=mode)
    assert torch.equal(rows, coalesced.indices()[0])
    torch.testing.assert_close(sums, coalesced.values())
