"""Packed rows: gathers decode them exactly as NumPy formulas and the libraries that have made them."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import types
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather import Codec, Packed

IDS = np.array([[4, 0, 4], [2, 5, 1]])
ROWS = 6


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def halves(codes: np.ndarray) -> np.ndarray:
    """Returns the codes of blocks of 16 bytes: the low bits of all bytes, and then the high ones."""
    return np.concatenate([codes & 15, codes >> 4], axis=-1)


def nibbles(codes: np.ndarray) -> np.ndarray:
    """Returns the codes of bytes with the low bits first."""
    return np.stack([codes & 15, codes >> 4], axis=-1).reshape(*codes.shape[:-1], -1)


def q8_0(data: np.ndarray) -> np.ndarray:
    blocks = data.reshape(len(data), -1, 34)
    scale = np.ascontiguousarray(blocks[..., :2]).view("f2").astype("f4")
    return (blocks[..., 2:].view("i1").astype("f4") * scale).reshape(len(data), -1)


def q4_0(data: np.ndarray) -> np.ndarray:
    blocks = data.reshape(len(data), -1, 18)
    scale = np.ascontiguousarray(blocks[..., :2]).view("f2").astype("f4")
    return ((halves(blocks[..., 2:]).astype("f4") - np.float32(8)) * scale).reshape(len(data), -1)


def rowwise8(data: np.ndarray) -> np.ndarray:
    scale, bias = np.ascontiguousarray(data[:, -8:]).view("f4").astype("f8").T[:, :, None]
    return (data[:, :-8] * scale + bias).astype("f4")  # float64 holds these sums


def rowwise4(data: np.ndarray) -> np.ndarray:
    scale, bias = np.ascontiguousarray(data[:, -4:]).view("f2").astype("f4").T[:, :, None]
    return nibbles(data[:, :-4]) * scale + bias


def random_rows(rng: np.random.Generator, codec: str, values: int) -> np.ndarray:
    """Returns rows of random codes with scales that are no NaN."""
    rows = rng.integers(0, 256, (ROWS, Codec(codec).row_bytes(values)), dtype=np.uint8)
    if codec.startswith("q"):
        size = Codec(codec).row_bytes(32)
        rows.reshape(ROWS, -1, size)[..., 1] = 0x2C + (rows.reshape(ROWS, -1, size)[..., 1] & 3)
    elif codec == "rowwise8":
        rows[:, -8:] = rng.standard_normal((ROWS, 2)).astype("f4").view(np.uint8)
    else:
        rows[:, -4:] = rng.standard_normal((ROWS, 2)).astype("f2").view(np.uint8)
    return rows


def same(result: Any, expected: np.ndarray) -> bool:
    result = np.asarray(result)
    return result.dtype == expected.dtype and result.shape == expected.shape and result.tobytes() == expected.tobytes()


FORMULAS: dict[str, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "q8_0": (64, q8_0),
    "q4_0": (64, q4_0),
    "rowwise8": (24, rowwise8),
    "rowwise4": (24, rowwise4),
}


@pytest.mark.parametrize("codec", FORMULAS)
def test_blocks_and_tails_are_those_of_formula(codec: str, rng: np.random.Generator) -> None:
    values, formula = FORMULAS[codec]
    rows = random_rows(rng, codec, values)
    table, expected = Packed(codec, rows), formula(rows)
    assert table.shape == (ROWS, values) and table.dtype == "float32" and table.nbytes == rows.nbytes
    assert same(table.dequantize(), expected)
    assert same(libgather.gather(table, IDS), expected[IDS])
    wide = np.zeros((ROWS, rows.shape[1] + 5), np.uint8)
    wide[:, 2:-3] = rows
    assert same(libgather.gather(Packed(codec, wide[::-2, 2:-3]), [1]), expected[::-2][[1]])


CODES = [
    ("int8", lambda b: b.view("i1"), 0),
    ("uint8", lambda b: b, 128),
    ("uint4", nibbles, 0),
    ("int4", lambda b: (nibbles(b).astype("i1") ^ 8) - 8, 0),
    ("fp8_e4m3fn", lambda b: b.view(ml_dtypes.float8_e4m3fn).astype("f4"), 0),
    ("fp8_e5m2", lambda b: b.view(ml_dtypes.float8_e5m2).astype("f4"), 0),
    ("e2m1", lambda b: nibbles(b).astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype("f4"), 0),
]


@pytest.mark.parametrize("scale_dtype", ["float32", "float16", "bfloat16", "float8_e8m0fnu"])
@pytest.mark.parametrize(("codec", "decode", "zero"), CODES, ids=[code[0] for code in CODES])
def test_scales_beside_rows_are_those_of_formula(
    codec: str, decode: Callable[[np.ndarray], np.ndarray], zero: int, scale_dtype: str, rng: np.random.Generator
) -> None:
    rows = rng.integers(0, 0x70, (ROWS, 24), dtype=np.uint8)  # no NaN
    codes = decode(rows).astype("f4")
    dtype = getattr(ml_dtypes, scale_dtype, scale_dtype)
    scales = np.exp2(rng.integers(-4, 4, (ROWS, codes.shape[1] // 8))).astype(dtype)
    wide = scales.astype("f4").repeat(8, axis=1)
    table = Packed(codec, rows, scales=scales, block=8)
    assert table.shape == codes.shape and same(table.dequantize(), (codes - np.float32(zero)) * wide)
    assert table.nbytes == rows.nbytes + scales.nbytes
    by_row = Packed(codec, rows, scales=scales[:, 0])
    assert same(by_row.dequantize(), (codes - np.float32(zero)) * wide[:, :1])
    one = Packed(codec, rows, scales=0.3, zeros=3)
    assert same(one.dequantize(), (codes - np.float32(3)) * np.float32(0.3))
    zeros = rng.integers(0, 16, scales.shape).astype("i1")
    assert same(
        Packed(codec, rows, scales=scales, zeros=zeros, block=8).dequantize(),
        (codes - zeros.astype("f4").repeat(8, axis=1)) * wide,
    )


def test_words_count_as_bytes_and_biases_are_added(rng: np.random.Generator) -> None:
    words = rng.integers(0, 2**32, (ROWS, 16), dtype=np.uint32)
    scales, biases = rng.standard_normal((2, ROWS, 2)).astype("f2")
    wide = [part.astype("f4").repeat(64, axis=1) for part in (scales, biases)]
    table = Packed("affine4", words, scales=scales, zeros=biases)
    assert same(table.dequantize(), nibbles(words.view(np.uint8)) * wide[0] + wide[1])


def test_bits_4_of_bitsandbytes_have_high_bits_first(rng: np.random.Generator) -> None:
    rows, absmax = rng.integers(0, 256, (ROWS, 32), dtype=np.uint8), rng.random((ROWS, 1), np.float32)
    codes = np.stack([rows >> 4, rows & 15], axis=-1).reshape(ROWS, -1)
    values = np.arange(16, dtype="f4")
    table = Packed(Codec("nf4", code_table=values), rows, scales=absmax)
    assert same(table.dequantize(), values[codes] * absmax)


def test_codecs_keep_a_copy_of_their_table() -> None:
    values, rows = np.arange(16, dtype="f4"), np.full((ROWS, 32), 0x21, np.uint8)
    codec = Codec("nf4", code_table=values)
    assert codec == Codec("nf4", code_table=iter(values)) == pickle.loads(pickle.dumps(codec)) == eval(repr(codec))
    values[:] = 0
    assert libgather.gather(Packed(codec, rows, scales=1.0), 0)[:2].tolist() == [2, 1]
    assert codec != Codec("nf4", code_table=values)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_other_dtypes_are_rounded_once(dtype: str, rng: np.random.Generator) -> None:
    rows = random_rows(rng, "q8_0", 64)
    expected = q8_0(rows).astype(getattr(ml_dtypes, dtype, dtype))
    table = Packed("q8_0", rows, dtype=dtype)
    assert table.dtype == dtype and same(libgather.gather(table, IDS), expected[IDS])
    sums = libgather.gather_bags(table, IDS, out_dtype="float32")
    assert same(sums, q8_0(rows)[IDS].astype("f8").sum(axis=1).astype("f4"))


def test_arrays_of_float8_need_no_codec() -> None:
    numbers = np.array([[1, -2, 0.5], [448, 0, -0.0]], ml_dtypes.float8_e4m3fn)
    assert same(Packed(None, numbers).dequantize(), numbers.astype("f4"))
    assert same(
        Packed(None, numbers, scales=[[2.0], [4.0]]).dequantize(), numbers.astype("f4") * np.float32([[2], [4]])
    )


def test_arrays_of_codes_need_no_codec() -> None:
    codes = np.array([[1, 2, 0xFE], [0x40, 0, 0x80]], np.uint8)
    for name, zero in (("int8", 0), ("uint8", 128), ("float8_e5m2", 0), ("float8_e4m3fn", 0)):
        numbers = codes.view(getattr(ml_dtypes, name, name)).astype("f4")
        found = Packed(None, numbers.astype(getattr(ml_dtypes, name, name))).dequantize()
        assert np.array_equal(found, numbers - np.float32(zero), equal_nan=True)


def test_zero_points_of_4_bits_share_a_byte() -> None:
    scales, zeros = np.ones((1, 2), "f4"), np.array([[0x9C]], np.uint8)
    for name, expected in (("uint4", [-12, -12, -9, -9]), ("int4", [4, 4, 7, 7])):
        codec = Codec("int4", zero_dtype=name, block_values=2)
        assert Packed(codec, b"\0\0", (1, 4), scales=scales, zeros=zeros).dequantize().tolist() == [expected]


def test_tensor_of_gguf_has_the_given_dtype_and_factor() -> None:
    data = np.arange(36, dtype=np.uint8).reshape(1, 36)
    kind = types.SimpleNamespace(name="NVFP4")
    reader = types.SimpleNamespace(tensor_type=kind, data=data, shape=np.array([64, 1], np.uint64))
    whole, table = Packed.from_gguf(reader), Packed.from_gguf(reader, dtype="bfloat16", factor=0.5)
    assert whole.shape == (1, 64) and same(table.dequantize(), (whole.dequantize() / 2).astype(ml_dtypes.bfloat16))


@pytest.fixture
def table(rng: np.random.Generator) -> Packed:
    return Packed("q8_0", random_rows(rng, "q8_0", 32))


def test_every_call_with_params_reads_packed_rows(table: Packed) -> None:
    expected = table.dequantize()
    out = np.zeros((2, 3, 32), np.float32)
    assert libgather.gather(table, IDS, out=out) is out and same(out, expected[IDS])
    assert same(libgather.gather(table, 3), expected[3])
    zeros = np.zeros(32, "f4")
    assert same(libgather.gather(table, [-1, 9], negative="wrap", bounds="fill"), np.stack([expected[-1], zeros]))
    filled = libgather.gather(table, [9], fill_value=1.5)
    assert filled.dtype == np.float32 and (filled == 1.5).all()
    assert same(libgather.gather(table, np.array([], int)), expected[:0])
    assert same(libgather.gather_nd(table, IDS[..., None]), expected[IDS])
    assert same(libgather.take(table, [-1], 0), expected[[-1]])
    assert same(libgather.gather_bags(table, IDS, pool="max"), expected[IDS].max(axis=1))
    weighted = libgather.gather_bags(table, IDS[0], offsets=[0, 3], weights=[1, 2, 4])
    assert np.allclose(weighted, np.float32([1, 2, 4]) @ expected[IDS[0]])
    assert libgather.output_shape(table, (5,)) == (5, 32)
    assert same(libgather.tf.gather(table, IDS), expected[IDS])
    assert same(libgather.tf.gather_nd(table, IDS[..., None]), expected[IDS])
    assert same(libgather.onnx.Gather(table, [-1]), expected[[-1]])
    assert same(libgather.gather(table, [8, 0], profile="ort"), np.stack([zeros, expected[0]]))
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather(table, IDS + 1)
    assert caught.value.index == (1, 1) and caught.value.value == 6


def test_tables_may_be_empty() -> None:
    for table in (Packed("q8_0", b"", (0, 64)), Packed("int8", b"", (2**40, 0), scales=1.0)):
        assert libgather.gather(table, np.zeros((2, 0), int)).shape == (2, 0, table.shape[1])
        assert table.dequantize().shape == table.shape and table.nbytes in (0, 4)
    with pytest.raises(libgather.IndexError):
        libgather.gather(Packed("q8_0", b"", (0, 64)), [0])


def test_batches_of_tables_are_gathered(rng: np.random.Generator) -> None:
    rows = random_rows(rng, "q8_0", 32).reshape(2, 3, 34)
    table, ids = Packed("q8_0", rows), np.array([[2, 0], [1, 1]])
    expected = table.dequantize()
    assert expected.shape == (2, 3, 32)
    assert same(libgather.gather(table, ids, batch_dims=1), expected[[[0], [1]], ids])
    assert same(libgather.tf.batch_gather(table, ids), expected[[[0], [1]], ids])
    assert same(libgather.gather(table, [2, 1], axis=1), expected[:, [2, 1]])
    assert same(libgather.gather_nd(table, [[1, 2]]), expected[[1], [2]])
    one = Packed("q8_0", rows[0, 0])
    assert one.shape == (32,) and same(one.dequantize(), expected[0, 0])


def test_plan_is_bound_to_its_table(table: Packed) -> None:
    expected, ids, out = table.dequantize(), np.array([5, 0]), np.zeros((2, 32), np.float32)
    plan = libgather.Plan(table, libgather.Spec("int64", (-1,)))
    assert plan.output_shape(4) == (4, 32)
    assert same(plan(table, ids), expected[ids])
    assert same(plan(table, [1]), expected[[1]]) and plan(table, ids, out) is out
    bound = plan.bind(table, ids, out)
    ids[0] = 1
    assert same(bound(), expected[[1, 0]])
    for other in (copy.copy(table), expected):
        with pytest.raises(libgather.UnsupportedError, match="another packed table is planned"):
            plan(other, ids)
    with pytest.raises(libgather.UnsupportedError, match="no packed table is planned"):
        libgather.Plan(expected, ids)(table, ids)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(plan)
    with pytest.raises(libgather.IndexError):
        plan(table, [6, 0])
    del table
    gc.collect()
    assert same(bound(), expected[[1, 0]])


def test_table_keeps_memory_of_its_arrays(rng: np.random.Generator) -> None:
    rows, scales = rng.integers(0, 256, (1000, 64), dtype=np.uint8), rng.random((1000, 1), np.float32)
    expected = rows[::7].view("i1") * scales[::7]
    table = Packed("int8", rows.copy()[::7], scales=scales.copy()[::7])
    gc.collect()
    assert same(table.dequantize(), expected)
    memory = bytearray(rows)
    run = Packed("int8", memory, (1000, 64), scales=1.0)
    with pytest.raises(BufferError):
        memory.clear()
    memory[0:1] = b"\x05"
    assert libgather.gather(run, 0)[0] == 5


def test_tables_are_copied_and_pickled_with_their_arrays(table: Packed) -> None:
    for other in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert repr(other) == repr(table) and same(other.dequantize(), table.dequantize())
    assert repr(table) == "libgather.Packed('q8_0', shape=(6, 32), dtype='float32', nbytes=204, 8.5 bits a number)"
    assert len(table) == 6 and table.ndim == 2 and table.codec == Codec("q8_0")
    codec = Codec("int4", zero_dtype="uint4", block_values=16)
    again = pickle.loads(pickle.dumps(codec))
    assert again == codec and hash(again) == hash(codec) and again != Codec("int4") and codec.name == "int4"
    assert eval(repr(codec)) == codec and codec.fields == {"zero_dtype": "uint4", "block_values": 16}


def test_copies_have_every_argument(rng: np.random.Generator) -> None:
    rows, scales = rng.integers(0, 256, ROWS * 8, dtype=np.uint8), rng.random((ROWS, 2), np.float32)
    for zeros in (rng.integers(0, 16, (ROWS, 2)).astype("u1"), 3):
        table = Packed(
            "uint4", rows, (ROWS, 16), scales=scales, zeros=zeros, block=8, dtype="bfloat16", factor=np.float32(0.5)
        )
        for other in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
            assert repr(other) == repr(table) and same(other.dequantize(), table.dequantize())
        wide = np.broadcast_to(zeros, (ROWS, 2)).astype("f4").repeat(8, axis=1)
        numbers = (nibbles(rows.reshape(ROWS, 8)) - wide) * (scales * np.float32(0.5)).repeat(8, axis=1)
        assert same(table.dequantize(), numbers.astype(ml_dtypes.bfloat16))


def test_scales_of_rows_may_be_strided(rng: np.random.Generator) -> None:
    rows, scales = rng.integers(0, 256, (ROWS, 8), dtype=np.uint8), rng.random((ROWS, 3), np.float32)
    for given in (scales[::-1, 1], scales[::-1, 1:2]):
        expected = rows.view("i1") * given.reshape(ROWS, 1)
        assert same(Packed("int8", rows, scales=given).dequantize(), expected)


def test_threads_share_a_table(table: Packed) -> None:
    expected, failures = table.dequantize(), []

    def run() -> None:
        for _ in range(300):
            if not same(libgather.gather(table, IDS), expected[IDS]):
                failures.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


BYTES = np.zeros((4, 34), np.uint8)
INVALID: list[tuple[type[Exception], str | None, Callable[[], object]]] = [
    (libgather.OptionError, None, lambda: Packed("q9_9", BYTES)),
    (libgather.OptionError, "codec", lambda: Packed(Codec("int8", code=99), BYTES, scales=1.0)),
    (libgather.OptionError, "codec", lambda: Codec("int8", code="uint9")),
    (libgather.OptionError, "codec", lambda: Codec("nf4", code_table=[1.0])),
    (libgather.OptionError, "codec", lambda: Codec("nf4", block_values=2**70)),
    (TypeError, None, lambda: Codec("nf4", scales=1)),
    (libgather.DTypeError, "codec", lambda: Packed(8, BYTES)),  # type: ignore[arg-type]
    (libgather.DTypeError, "data", lambda: Packed(None, BYTES.view("u2"))),
    (libgather.DTypeError, "data", lambda: Packed("q8_0", [[1] * 34])),
    (libgather.DTypeError, "data", lambda: Packed("q8_0", BYTES.astype("f4"))),
    (libgather.DTypeError, "data", lambda: Packed("q8_0", object())),
    (libgather.ShapeError, "data", lambda: Packed("q8_0", BYTES[:, :33])),
    (libgather.ShapeError, "data", lambda: Packed("q8_0", BYTES, (5, 32))),
    (libgather.ShapeError, "data", lambda: Packed("q8_0", BYTES, 64)),
    (libgather.ShapeError, None, lambda: Packed("q8_0", BYTES, 31)),
    (libgather.ShapeError, None, lambda: Packed("q8_0", BYTES, -32)),
    (libgather.ShapeError, None, lambda: Packed("q8_0", BYTES.reshape(-1), (-4, -32))),
    (libgather.ShapeError, None, lambda: Packed("int8", BYTES, (4, 2**70), scales=1.0)),
    (libgather.ShapeError, "data", lambda: Packed("int8", b"", (2**70, 0), scales=1.0)),
    (libgather.OptionError, "codec", lambda: Codec("nf4", code_table=1)),
    (libgather.OptionError, "codec", lambda: Codec("nf4", code_table=[10**400] * 16)),
    (libgather.Error, "zeros", lambda: Packed("rowwise8", BYTES, zeros=np.ones((4, 1), "f4"))),
    (
        libgather.ShapeError,
        "zeros",
        lambda: Packed.from_ort(BYTES, np.ones((4, 2), "f4"), np.ones((4, 2), "u1"), 4, 64),
    ),
    (libgather.ShapeError, None, lambda: Packed("int8", BYTES, scales=1.0, block=2**62)),
    (libgather.ShapeError, "data", lambda: Packed("q8_0", np.zeros((34, 4), np.uint8).T)),
    (libgather.RankError, "data", lambda: Packed("q8_0", BYTES[0, 0])),
    (libgather.RankError, "data", lambda: Packed("q8_0", BYTES, ())),
    (libgather.DTypeError, None, lambda: Packed("q8_0", BYTES, dtype="float64")),
    (libgather.DTypeError, "scales", lambda: Packed("int8", BYTES, scales=np.ones((4, 1)))),
    (libgather.ShapeError, "scales", lambda: Packed("int8", BYTES, scales=np.ones((3, 1), "f4"))),
    (libgather.RankError, "scales", lambda: Packed("int8", BYTES, scales=np.ones((4, 1, 1, 1), "f4"))),
    (libgather.ShapeError, "zeros", lambda: Packed("int8", BYTES, scales=1.0, zeros=np.ones((4, 2), "i1"))),
    (libgather.DTypeError, "zeros", lambda: Packed("int8", BYTES, scales=1.0, zeros=np.ones((4, 1), "i4"))),
    (libgather.Error, "scales", lambda: Packed("int8", BYTES)),
    (libgather.Error, None, lambda: Packed("q8_0", BYTES, scales=1.0)),
    (libgather.UnsupportedError, "data", lambda: Packed.from_ort(BYTES.view("i1"), np.ones((4, 1), "f4"))),
    (libgather.UnsupportedError, "data", lambda: Packed.from_ort(BYTES, np.ones((4, 1), "f4"), bits=3)),
    (libgather.UnsupportedError, "data", lambda: Packed.from_ort(np.ones((4, 3), ml_dtypes.float4_e2m1fn), 1.0)),
]


@pytest.mark.parametrize("case", range(len(INVALID)))
def test_invalid_arguments_are_refused(case: int) -> None:
    kind, operand, call = INVALID[case]
    with pytest.raises(kind) as caught:
        call()
    if operand:
        assert getattr(caught.value, "operand") == operand  # noqa: B009


REFUSED: list[tuple[str, Callable[[Packed], object]]] = [
    ("params", lambda table: libgather.gather_elements(table, np.zeros((6, 32), int))),
    ("params", lambda table: libgather.take_along_axis(table, [[0]])),
    ("params", lambda table: libgather.take(table, [0])),
    ("options", lambda table: libgather.gather(table, [0], axis=1)),
    ("options", lambda table: libgather.gather_nd(table, [[0, 0]])),
    ("indices", lambda table: libgather.gather(BYTES, table)),
    ("out", lambda table: libgather.gather(BYTES, [0], out=table)),
    ("out", lambda table: libgather.gather(table, [0] * 6, out=table)),
    ("weights", lambda table: libgather.gather_bags(np.ones((6, 32)), IDS, weights=table)),
    ("target", lambda table: libgather.scatter(table, [0], np.ones((1, 32), "f4"))),
    ("target", lambda table: libgather.scatter(table, [0], np.ones((1, 32), "f4"), inplace=True)),
    ("updates", lambda table: libgather.scatter(np.ones((6, 32), "f4"), [0], table)),
    ("updates", lambda table: libgather.gather_gradient(table, [0], (6, 32))),
    ("params", lambda table: libgather.gather_bags_positions(table, IDS, pool="max")),
    ("tensor", lambda table: libgather.Tensor(table)),
    ("params", lambda table: libgather.Plan(table, libgather.Spec("int64", (6, -1)), op="gather_elements")),
    ("target", lambda table: libgather.ScatterPlan(table, libgather.Spec("int64", (1,)))),
    ("indices", lambda table: libgather.partition(table, 8, shards=2)),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_packed_rows_are_whole_rows_of_params(case: int, table: Packed) -> None:
    operand, call = REFUSED[case]
    with pytest.raises((libgather.UnsupportedError, libgather.RankError)) as caught:
        call(table)
    assert caught.value.operand == operand
    for convert in (memoryview, np.asarray, iter):
        with pytest.raises(TypeError):
            convert(table)


@pytest.mark.parametrize("block", [16, 32, 0])
@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("bits", [8, 4, 2, "int4", "uint4"])
def test_initialisers_of_onnx_runtime(bits: int | str, zeros: bool, block: int, rng: np.random.Generator) -> None:
    values = 50 if isinstance(bits, int) else 51  # blocks in the middle of a byte, and rows
    values += 2 if bits == 2 else 0
    width, lowest = (bits, 0) if isinstance(bits, int) else (4, -8 if bits == "int4" else 0)
    blocks = -(-values // block) if block else 1
    codes = rng.integers(lowest, lowest + 2**width, (ROWS, values))
    points = rng.integers(lowest, lowest + 2**width, (ROWS, blocks))
    scales = rng.standard_normal((ROWS, blocks)).astype("f2")
    zero = points if zeros else np.full_like(points, 2 ** (width - 1) if isinstance(bits, int) else 0)
    wide = [part.repeat(block or values, axis=1)[:, :values].astype("f4") for part in (scales, zero)]
    expected = ((codes.astype("f4") - wide[1]) * wide[0]).astype("f2")
    data, given = (packed(part, bits) for part in (codes, points))
    table = Packed.from_ort(data, scales, given if zeros else None, width, block)
    assert table.dtype == "float16" and same(table.dequantize(), expected)


def packed(codes: np.ndarray, bits: int | str) -> np.ndarray:
    """Returns codes as ONNX Runtime has them: rows of bytes, or the dtypes of ml_dtypes."""
    if isinstance(bits, str):
        return codes.astype(getattr(ml_dtypes, bits))
    a_byte = 8 // bits
    padded = np.pad(codes, ((0, 0), (0, -codes.shape[1] % a_byte))).reshape(len(codes), -1, a_byte)
    return (padded << np.arange(0, 8, bits)).sum(axis=-1).astype(np.uint8)


def test_onnx_tensors_are_initialisers() -> None:
    helper = pytest.importorskip("onnx.numpy_helper")
    codes, scales = np.array([[1, -2, 7], [0, 3, -8]], ml_dtypes.int4), np.float32([[1], [2]])
    table = Packed.from_ort(helper.from_array(codes), helper.from_array(scales), block_size=0)
    assert same(table.dequantize(), codes.astype("f4") * scales)


def test_formats_of_gguf_are_those_of_its_package(rng: np.random.Generator) -> None:
    gguf = pytest.importorskip("gguf")
    names = "q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl q2_k q3_k q4_k q5_k q6_k iq4_xs mxfp4 nvfp4"
    for name in names.split():
        kind = getattr(gguf.GGMLQuantizationType, name.upper())
        data = rng.integers(0, 256, (ROWS, Codec(name).row_bytes(512)), dtype=np.uint8)
        reader = gguf.ReaderTensor(name, kind, np.array([512, ROWS]), 512 * ROWS, data.nbytes, 0, data, None)
        table = Packed.from_gguf(reader)
        with np.errstate(all="ignore"):
            expected = gguf.quants.dequantize(data, kind)[IDS]
        result = libgather.gather(table, IDS)
        assert ((result.view("u4") == expected.view("u4")) | (np.isnan(result) & np.isnan(expected))).all(), name
