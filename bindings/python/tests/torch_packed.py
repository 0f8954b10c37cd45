"""Packed rows of torch, and the functions and compiled programs that read them. test_torch.py runs this file."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

import libgather
import libgather.torch as own
from libgather import Packed

IDS = np.array([[4, 0, 4], [2, 5, 1]])
ROWS = 6


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_prepacked_rows_are_those_of_unpack(bits: int) -> None:
    word = {8: "byte", 4: "4bit", 2: "2bit"}[bits]
    rows = getattr(torch.ops.quantized, f"embedding_bag_{word}_prepack")(torch.randn(ROWS, 64))
    expected = getattr(torch.ops.quantized, f"embedding_bag_{word}_unpack")(rows)
    table, ids = Packed.from_torch_rowwise(rows, bits), torch.from_numpy(IDS)
    assert torch.equal(table.dequantize(), expected) and torch.equal(libgather.gather(table, ids), expected[ids])
    half = Packed.from_torch_rowwise(rows, bits, dtype="bfloat16")
    assert torch.equal(libgather.gather(half, IDS), expected[ids].bfloat16())
    sums = libgather.gather_bags(table, ids, profile="torch")
    offsets = torch.tensor([0, 3])
    name = f"embedding_bag_{word}_rowwise_offsets"
    assert torch.equal(sums, getattr(torch.ops.quantized, name)(rows, ids.reshape(-1), offsets))


def test_functions_of_torch_read_packed_rows() -> None:
    rows = torch.ops.quantized.embedding_bag_byte_prepack(torch.randn(ROWS, 64))
    ids, expected = torch.from_numpy(IDS), Packed.from_torch_rowwise(rows).dequantize()
    for table in (Packed.from_torch_rowwise(rows), Packed("rowwise8", rows.numpy())):
        for result in (
            own.gather(table, ids),
            own.gather_nd(table, ids[..., None]),
            own.embedding(ids, table, padding_idx=-1),
            functional.embedding(ids, table),
            own.index_select(table, 0, ids),
        ):
            assert torch.equal(result, expected[ids])
        assert torch.equal(torch.index_select(table, 0, ids[0]), expected[ids[0]])
        for mode in ("sum", "mean", "max"):
            bags = functional.embedding_bag(ids, expected, mode=mode)
            for result in (
                own.embedding_bag(ids, table, mode=mode),
                functional.embedding_bag(ids, table, mode=mode),
                own.embedding_bag(ids.reshape(-1), table, torch.tensor([0, 3]), mode=mode),
                own.gather_bags(table, ids, pool=mode),
            ):
                assert torch.allclose(result, bags, atol=1e-5)
        with pytest.raises(libgather.UnsupportedError):
            own.gather_elements(table, ids)
        with pytest.raises(libgather.UnsupportedError):
            functional.embedding(ids, table, max_norm=1.0)
        with pytest.raises(libgather.IndexError):
            own.gather(table, ids + 1)
        with pytest.raises(TypeError, match="__torch_function__"):
            torch.add(table, 1)


def test_bags_have_the_arguments_of_torch() -> None:
    table = Packed.from_torch_rowwise(torch.ops.quantized.embedding_bag_byte_prepack(torch.randn(ROWS, 64)))
    ids, expected, weights = torch.from_numpy(IDS), table.dequantize(), torch.rand(2, 3)
    last = {"input": ids.reshape(-1), "offsets": torch.tensor([0, 1, 6]), "include_last_offset": True}
    for arguments in (
        {"input": ids},
        {"input": ids, "padding_idx": -2},
        {"input": ids, "padding_idx": 5},
        {"input": ids, "mode": "sum", "per_sample_weights": weights},
        last,
    ):
        bags = functional.embedding_bag(weight=expected, **arguments)
        assert torch.allclose(functional.embedding_bag(weight=table, **arguments), bags, atol=1e-5)
        own_arguments = {"ids" if name == "input" else name: value for name, value in arguments.items()}
        assert torch.allclose(own.embedding_bag(weight=table, **own_arguments), bags, atol=1e-5)
    for padding_idx in (ROWS, -ROWS - 1):
        with pytest.raises(libgather.RankError):
            own.embedding_bag(ids, table, padding_idx=padding_idx)
    for name in ("max_norm", "scale_grad_by_freq"):
        with pytest.raises(libgather.UnsupportedError):
            functional.embedding_bag(ids, table, **{name: 1})
    cubes = Packed("int8", torch.ones(2, 3, 4, dtype=torch.int8), scales=1.0)
    for function in (own.embedding, own.embedding_bag):
        with pytest.raises(libgather.RankError):
            function(ids, cubes)


def doubled(rows: torch.Tensor) -> tuple[torch.Tensor, tuple[int, ...]]:
    """Returns twice the rows, and their shape, which is known before a program runs."""
    return rows * 2, tuple(rows.shape)


def test_compiled_programs_read_packed_rows() -> None:
    table = Packed.from_torch_rowwise(torch.ops.quantized.embedding_bag_byte_prepack(torch.randn(ROWS, 64)))
    ids, starts, weights = torch.from_numpy(IDS), torch.tensor([0, 3]), torch.rand(6)
    cubes = Packed("int8", torch.arange(24, dtype=torch.int8).reshape(2, 3, 4), scales=1.0)
    for function in (
        lambda: own.gather(table, ids + 1, fill_value=2.0),
        lambda: own.gather_nd(table, ids[..., None]),
        lambda: own.gather_nd(cubes, ids[:, :2, None] % 3, batch_dims=1),
        lambda: functional.embedding(ids, table),
        lambda: own.gather_bags(table, ids.reshape(-1), offsets=starts * 2),
        lambda: own.embedding_bag(ids.reshape(-1), table, starts, mode="mean"),
        lambda: own.gather_bags(table, ids.reshape(-1), starts=starts, weights=weights),
        lambda: own.gather_bags(table, ids[0], segments=ids[0] // 9, count=2, pool="max"),
    ):
        run = torch.compile(lambda call=function: doubled(call()), backend="aot_eager", fullgraph=True, dynamic=True)
        found, shape = run()
        assert torch.equal(found, function() * 2) and shape == found.shape
    with pytest.raises(libgather.IndexError):
        torch.compile(lambda: own.gather(table, ids + 1), backend="aot_eager", fullgraph=True)()
    weighted = torch.compile(lambda given: own.gather_bags(table, ids[0], starts=starts[:1], weights=given))
    with pytest.raises(libgather.UnsupportedError, match="no gradient"):
        weighted(torch.rand(3, requires_grad=True))


@pytest.mark.parametrize("kind", ["qint8", "quint8"])
def test_quantized_tensors_have_the_numbers_of_dequantize(kind: str) -> None:
    numbers, dtype = torch.randn(ROWS, 24), getattr(torch, kind)
    scales, zeros = (torch.rand(ROWS) / 20 + 0.01).double(), torch.randint(0, 9, (ROWS,))
    for tensor in (
        torch.quantize_per_tensor(numbers, 0.0371, 3, dtype),
        torch.quantize_per_channel(numbers, scales, zeros, 0, dtype),
    ):
        assert torch.equal(Packed.from_torch_quantized(tensor).dequantize(), tensor.dequantize())
    with pytest.raises(libgather.UnsupportedError, match="axis 1"):
        Packed.from_torch_quantized(torch.quantize_per_channel(numbers[:, :6], scales, zeros, 1, dtype))
    with pytest.raises(libgather.UnsupportedError):
        Packed.from_torch_quantized(numbers)
