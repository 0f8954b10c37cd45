"""Tables in files: rows are bit-equal to those of the files, and malformed files are refused."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import libgather
from libgather import FileError, Table, open_table
from libgather.table import main

A = np.random.default_rng(0).standard_normal((100, 16)).astype("f4")
IDS = np.array([[99, 0, 99], [17, 30, 64]])
MODES = "read", "map"


def write_npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, A)


def write_safetensors(path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    numpy.save_file({"x": A, "y": A.astype("f2"), "b": A.astype(ml_dtypes.bfloat16)}, path)


def write_gguf(path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("numbers", [1, 2, 3])
    writer.add_tensor("x", A)
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor("q", gguf.quants.quantize(A.repeat(4, 1), kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_arrow(path: Path, compression: str | None = None, **columns: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    lists = arrow.FixedSizeListArray.from_arrays(arrow.array(A.ravel()), 16)
    table = arrow.table(columns or {"x": lists, "i": np.arange(100), "s": ["text"] * 100})
    options = arrow.ipc.IpcWriteOptions(compression=compression)
    with arrow.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=30)


def write_index(path: Path) -> None:
    for shard in "12":
        write_safetensors(path.with_name(f"{shard}.safetensors"))
    path.write_text(json.dumps({"weight_map": {"x": "2.safetensors", "y": "1.safetensors"}}), encoding="utf-8")


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.npy": write_npy,
    "a.safetensors": write_safetensors,
    "a.gguf": write_gguf,
    "a.arrow": write_arrow,
    "a.index.json": write_index,
}


@pytest.fixture(params=WRITERS)
def file(request: Any, tmp_path: Path) -> Path:
    WRITERS[request.param](tmp_path / request.param)
    return Path(tmp_path / request.param)


@pytest.fixture
def npy(tmp_path: Path) -> Path:
    write_npy(tmp_path / "a.npy")
    return tmp_path / "a.npy"


def name_in(file: Path) -> str | None:
    return None if file.suffix == ".npy" else "x"


def same(result: Any, expected: Any) -> bool:
    expected = np.asarray(expected)
    return type(result) is np.ndarray and result.dtype == expected.dtype and result.tobytes() == expected.tobytes()


# -------------------------------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("mode", MODES)
def test_calls_equal_those_on_the_array_in_memory(file: Path, mode: str) -> None:
    with open_table(file, name_in(file), mode=mode) as table:
        assert (table.shape, len(table), table.ndim, table.dtype, table.nbytes) == ((100, 16), 100, 2, "float32", 6400)
        table.prefetch([5, 1000])
        assert same(table[IDS], A[IDS]) and same(table[7], A[7]) and same(table[-3:200], A[97:])
        assert same(table.gather([-1], negative="wrap"), A[[-1]])
        assert same(table.gather([3, 100], bounds="fill", fill_value=2), [A[3], np.full(16, 2, "f4")])
        assert same(libgather.gather(table, IDS, axis=1, bounds="modulo"), A[:, IDS % 16])
        assert same(libgather.take(table, IDS, 0), A[IDS])
        assert same(libgather.gather_nd(table, [[3, 5], [99, 15]]), A[[3, 99], [5, 15]])
        assert same(libgather.gather_elements(table, np.full((1, 16), 8), axis=0), A[8:9])
        for pool in ("sum", "mean", "max"):
            assert same(table.bags(IDS, pool=pool), libgather.gather_bags(A, IDS, pool=pool))
        out = np.zeros((6, 16), "f4")
        assert libgather.gather(table, IDS.ravel(), out=out) is out and same(out, A[IDS.ravel()])
        plan = libgather.Plan(table, libgather.Spec("int64", (-1,)))
        assert same(plan(table, IDS[1]), A[IDS[1]])
        bound = plan.bind(table, IDS[0], np.zeros((3, 16), "f4"))
        assert same(bound(), A[IDS[0]])
        stats = table.stats()
        assert stats.mode == mode and stats.releases == stats.resident == 0
        assert stats.requested > 0 if mode == "map" else stats.rows > 0
    assert same(bound(), A[IDS[0]])  # it keeps the files open


@pytest.mark.parametrize("file", ["a.safetensors"], indirect=True)
def test_dtypes_and_names(file: Path) -> None:
    for name, dtype in (("y", np.dtype("f2")), ("b", np.dtype(ml_dtypes.bfloat16))):
        assert same(open_table(file, name)[IDS], A.astype(dtype)[IDS])
    for name, message in ((None, r"has 3 arrays, as \['[bxy]', "), ("xx", r"'xx'.* as \['x'\]"), ("", "arrays$")):
        with pytest.raises(libgather.OptionError, match=message):
            open_table(file, name)
    with pytest.raises(libgather.DTypeError, match="dtype is float16, and int8 is given"):
        open_table(file, "y", dtype="int8")


def test_arrays_of_several_files_follow_each_other(tmp_path: Path, npy: Path) -> None:
    write_safetensors(tmp_path / "a.safetensors")
    whole = np.concatenate([A, A])
    table = open_table([npy, tmp_path / "a.safetensors"], [None, "x"])
    assert len(table.segments) == 2 and same(table[[0, 99, 100, 199]], whole[[0, 99, 100, 199]])
    assert same(open_table([npy] * 2)[150:], whole[150:])
    with pytest.raises(FileError, match=r"rows of float16 \(16,\) follow rows of float32"):
        open_table(tmp_path / "a.safetensors", ["x", "y"])
    with pytest.raises(libgather.OptionError, match="2 paths and 3 names"):
        open_table([npy] * 2, ["x", "y", "z"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_quantised_rows_are_decoded(tmp_path: Path, mode: str, dtype: str) -> None:
    write_gguf(tmp_path / "a.gguf")
    quants = pytest.importorskip("gguf").quants
    kind = pytest.importorskip("gguf").GGMLQuantizationType.Q8_0
    expected = quants.dequantize(quants.quantize(A.repeat(4, 1), kind), kind).astype(dtype)
    table = open_table(tmp_path / "a.gguf", "q", mode=mode, dtype=dtype)
    assert table.shape == (100, 64) and table.nbytes == 100 * 68
    assert same(table[IDS], expected[IDS])


@pytest.mark.parametrize("mode", MODES)
def test_functions_of_torch_accept_a_table(npy: Path, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    table, weight, ids = open_table(npy, mode=mode), torch.from_numpy(A), torch.from_numpy(IDS)
    functional = torch.nn.functional
    assert torch.equal(libgather.torch.gather(table, ids), weight[ids])
    assert torch.equal(libgather.torch.gather_bags(table, ids), functional.embedding_bag(ids, weight, mode="sum"))
    assert torch.equal(functional.embedding(ids, table), weight[ids])
    assert torch.equal(functional.embedding_bag(ids, table), functional.embedding_bag(ids, weight))


def test_scales_in_files_belong_to_packed_rows(tmp_path: Path) -> None:
    codes, scales = A.view("i1")[:, :32].copy(), np.exp2(np.arange(100)[:, None] % 5).astype("f4")
    (tmp_path / "codes").write_bytes(codes.tobytes())
    (tmp_path / "scales").write_bytes(scales.tobytes())
    beside = open_table(tmp_path / "scales", dtype="float32", shape=(100, 1))
    table = Table((100, 32), "float32", [(tmp_path / "codes", 0, 100)], codec="int8", scales=beside)
    beside.close()
    assert same(table[IDS], (codes * scales)[IDS])


@pytest.mark.parametrize("mode", MODES)
def test_segments_are_paths_files_descriptors_and_memory(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "rows"
    wide = np.arange(90, dtype="u2").reshape(10, 9)
    path.write_bytes(b"abc" + wide.tobytes())
    with path.open("rb") as opened:
        segments = [(path, 3, 4, 18), (opened, 3 + 36, 2, 36), (opened.fileno(), 3 + 162, 1), (wide, 0, 10, 18)]
        table = Table((17, 3), "uint16", segments, mode=mode)
    expected = np.concatenate([wide[:4], wide[[2, 4]], wide[9:], wide])[:, :3]
    del segments, wide  # the table keeps the memory
    assert same(table[range(17)], expected) and same(table[::-1], expected[::-1])
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(table)


def test_pickle_and_copy_open_the_files_again(npy: Path) -> None:
    table = open_table(npy, mode="map", resident=8 << 20)
    for other in (pickle.loads(pickle.dumps(table)), copy.copy(table)):
        table.close()
        assert same(other[IDS], A[IDS]) and other.stats().mode == "map"


@pytest.mark.parametrize("mode", MODES)
def test_threads_and_children_use_a_table(file: Path, mode: str) -> None:
    table, wrong = open_table(file, name_in(file), mode=mode), []

    def work(seed: int) -> None:
        ids = np.random.default_rng(seed).integers(0, 100, (20, 300))
        wrong.extend(row for row in ids if not same(table[row], A[row]))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            os._exit(0 if same(table[IDS], A[IDS]) else 1)
        assert os.waitpid(child, 0)[1] == 0


# --------------------------------------------------------------------------------------------------------------- errors


def test_index_out_of_bounds_has_its_position(file: Path) -> None:
    table = open_table(file, name_in(file))
    with pytest.raises(libgather.IndexError) as caught:
        table[[[0, 1], [100, 2]]]
    assert (caught.value.position, caught.value.value, caught.value.index) == (2, 100, (1, 0))
    assert table.stats().rows == 0


def test_closed_table(npy: Path) -> None:
    with open_table(npy) as table:
        pass
    for use in (lambda: table[0], table.stats, lambda: table.prefetch([1]), lambda: table.bags([[1]])):
        with pytest.raises(libgather.ClosedError):
            use()
    assert "closed" in repr(table)


def test_table_is_no_other_operand(npy: Path) -> None:
    table = open_table(npy)
    for use in (lambda: libgather.scatter(table, [1], A[:1]), lambda: libgather.gather(A, table)):
        with pytest.raises(libgather.UnsupportedError, match="rows in files are params of gathers alone"):
            use()
    with pytest.raises(TypeError, match="rows in files are params"):
        np.asarray(table)


@pytest.mark.parametrize("mode", MODES)
def test_truncated_file_raises_at_the_row(npy: Path, mode: str) -> None:
    table = open_table([npy, npy], mode=mode)
    if mode == "map" and sys.platform != "linux":
        pytest.skip("the page raises SIGBUS")
    os.truncate(npy, 0 if mode == "map" else 128 + 50 * 64)
    with pytest.raises(FileError, match=r"file: segment 1: cannot read .*: the file ends before") as caught:
        table[[150, 199]]
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, OSError) and error.status_name == "GTH_E_IO" and error.errno is None
    assert (error.operand, error.component, error.position) == ("file", 1, 0 if mode == "map" else error.position)
    with pytest.raises(FileError, match=r"a\.npy"):
        open_table(npy)


@pytest.mark.parametrize("open_", [open_table, lambda path: Table((1,), "int8", [(path, 0, 1)])])
def test_system_errors_have_errno_and_path(tmp_path: Path, open_: Any) -> None:
    for path, errno in ((tmp_path / "absent", "ENOENT"), (tmp_path, "EISDIR")):
        with pytest.raises(FileError, match=path.name) as caught:
            open_(path)
        assert caught.value.errno == getattr(__import__("errno"), errno)


def test_wrong_arguments(npy: Path) -> None:
    cases: list[tuple[type[Exception], Callable[[], Any]]] = [
        (libgather.OptionError, lambda: open_table(npy, mode="direct")),
        (libgather.OptionError, lambda: open_table(npy, mode="map", resident=1)),
        (libgather.OptionError, lambda: Table((1, 8), "float32", [(npy, 0, 1)], codec="q9")),
        (libgather.UnsupportedError, lambda: Table((1,), "string", [(npy, 0, 1)])),
        (libgather.DTypeError, lambda: Table((1,), "f", [(npy, 0, 1)])),
        (libgather.ShapeError, lambda: Table((0,), "int8", [])),
        (libgather.ShapeError, lambda: Table((2,), "int8", [(npy, 0, 1)])),
        (libgather.ShapeError, lambda: Table((1, 8), "int8", [(npy, 0, 1, 7)])),
        (libgather.ShapeError, lambda: Table((2**66,), "int8", [(npy, 0, 2**66)])),
        (libgather.ShapeError, lambda: Table((1, 4), "int8", [(bytes(7), -1, 1)])),
        (libgather.ShapeError, lambda: Table((1, 4), "int8", [(bytes(7), 2**63 - 1, 1)])),
        (libgather.DTypeError, lambda: Table((1,), "int8", [(1.5, 0, 1)])),
        (libgather.DTypeError, lambda: Table((1,), "int8", [(npy, 0.5, 1)])),
        (FileError, lambda: Table((1,), "int8", [("a\0b", 0, 1)])),
        (FileError, lambda: Table((10**6,), "int8", [(npy, 0, 10**6)])),
    ]
    for kind, use in cases:
        with pytest.raises(kind):
            use()


@pytest.mark.parametrize(
    ("memory", "segment", "end"),
    [
        (bytes(7), (0, 2), 8),
        (bytearray(8), (1, 2), 9),
        (memoryview(bytes(8)), (0, 2, 5), 9),
        (b"", (0, 2), 8),
        (bytearray(), (0, 2), 8),
    ],
)
def test_memory_without_all_rows_is_refused(memory: Any, segment: tuple[int, ...], end: int) -> None:
    message = f"file: segment 1: rows reach byte {end} of the {len(memory)} described"
    with pytest.raises(libgather.ShapeError, match=message) as caught:
        Table((3, 4), "int8", [(bytes(4), 0, 1), (memory, *segment)])
    error = caught.value
    assert (error.status_name, error.operand, error.component) == ("GTH_E_STRIDE", "file", 1)
    assert (error.value, error.limit) == (end, len(memory))


@pytest.mark.parametrize("memory", [b"", bytearray(), memoryview(b"")])
def test_memory_of_no_bytes_has_rows_of_no_bytes(memory: Any) -> None:
    assert Table((2, 0), "int8", [(memory, 0, 2)]).shape == (2, 0)


@pytest.mark.parametrize(
    ("package", "file"),
    [("safetensors", "a.safetensors"), ("gguf", "a.gguf"), ("pyarrow", "a.arrow")],
    indirect=["file"],
)
def test_missing_package_is_named(package: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"{file.name}' needs the package {package}: pip install"):
        open_table(file, "x")


# ------------------------------------------------------------------------------------------------------ malformed files


@pytest.mark.parametrize("file", [name for name in WRITERS if "index" not in name], indirect=True)
def test_file_cut_at_each_byte_of_the_header_is_refused(file: Path, tmp_path: Path) -> None:
    content = file.read_bytes()
    end = len(content) if file.suffix == ".arrow" else open_table(file, name_in(file)).segments[0].offset
    cut = tmp_path / f"cut{file.suffix}"
    for size in range(0, end + 1, 29 if file.suffix == ".arrow" else 1):
        cut.write_bytes(content[:size])
        with pytest.raises(FileError, match="cut"):
            open_table(cut, name_in(file))


@pytest.mark.parametrize("file", ["a.npy", "a.safetensors"], indirect=True)
def test_table_of_a_wrong_header_stays_in_the_file(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for place in range(open_table(file, name_in(file)).segments[0].offset):
        for byte in (0, 0x39, 0xFF):
            file.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
            with contextlib.suppress(FileError, libgather.OptionError), open_table(file, name_in(file)) as table:
                (rows,) = table.segments
                assert rows.offset + table.nbytes <= len(content) and table[:].nbytes == table.nbytes


def safetensors(header: Any, size: int | None = None, body: int = 64) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + bytes(body)


def tensor(shape: list[int], begin: int = 0, end: int = 64, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for content in (b"", b"{}", b"some words", bytes(100)):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"notes.txt': it has no known header"):
            open_table(path)


TWICE = (
    b'{"a":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]},"a":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]}}'
)
SAFETENSORS = {
    "shape larger than bytes": safetensors({"a": tensor([400, 4])}),
    "beyond the file": safetensors({"a": tensor([8, 4], 0, 128)}),
    "end before begin": safetensors({"a": tensor([4, 4], 64, 0)}),
    "product overflows": safetensors({"a": tensor([2**62, 4])}),
    "negative": safetensors({"a": tensor([-4, 4])}),
    "overlap": safetensors({"a": tensor([4, 4]), "b": tensor([4, 4])}),
    "a hole": safetensors({"a": tensor([2, 4], 32, 64)}),
    "header of 2^63 bytes": safetensors({}, 2**63),
    "header of 200 MB": safetensors({}, 200 * 10**6),
    "one key twice": safetensors(TWICE),
    "unknown dtype": safetensors({"a": tensor([4, 4], dtype="F31")}),
    "no dtype of a table": safetensors({"a": tensor([8, 16], dtype="F4")}),
    "deep JSON": safetensors(b"{" * 50000),
    "bytes left over": safetensors({"a": tensor([2, 4], 0, 32)}),
    "no rows": safetensors({"a": tensor([0, 4], 0, 0)}, body=0),
    "rank 0": safetensors({"a": tensor([], 0, 4)}, body=4),
}


def npy_file(
    shape: Any, descr: Any = "<f4", is_fortran: bool = False, version: bytes = b"\1\0", body: int = 64
) -> bytes:
    text = repr({"descr": descr, "fortran_order": is_fortran, "shape": shape}).encode()
    return b"\x93NUMPY" + version + struct.pack("<H", len(text) + 1) + text + b"\n" + bytes(body)


NPY = {
    "rows beyond the file": npy_file((400, 4)),
    "2^66 elements": npy_file((2**62, 16)),
    "2^66 rows": npy_file((2**66,)),
    "negative": npy_file((-4, 4)),
    "objects": npy_file((4,), "|O"),
    "Fortran": npy_file((4, 4), is_fortran=True),
    "big endian": npy_file((4, 4), ">f4"),
    "records": npy_file((4,), [("a", "<f4")]),
    "text": npy_file((4,), "<U4"),
    "dates": npy_file((8,), "<M8[s]"),
    "version 3": npy_file((4, 4), version=b"\3\0"),
    "version 9": npy_file((4, 4), version=b"\x09\0"),
    "no tuple": npy_file("4"),
    "code": npy_file((4, 4), "__import__('os')"),
    "no rows": npy_file((0, 4)),
    "rank 0": npy_file(()),
}


@pytest.mark.parametrize("case", [*SAFETENSORS, *(f"npy: {case}" for case in NPY)])
def test_lying_header_is_refused(case: str, tmp_path: Path) -> None:
    if case in SAFETENSORS:
        pytest.importorskip("safetensors")
    path = tmp_path / "lying"
    path.write_bytes(NPY[case[5:]] if case.startswith("npy: ") else SAFETENSORS[case])
    with pytest.raises(FileError, match="lying"):
        open_table(path, "a" if b'"a"' in path.read_bytes() else None)


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [(12, "<Q", 2**40), (12, "<Q", 2**62), (24, "<Q", 2**40), (24, "<Q", 2**63), (20, "<I", 200), (0, "<I", 2**31 - 1)],
    ids=["rows 2^40", "rows 2^62", "offset 2^40", "offset 2^63", "unknown type", "rank 2^31"],
)
def test_lying_gguf_is_refused(place: int, form: str, value: int, tmp_path: Path) -> None:
    path = tmp_path / "lying.gguf"
    write_gguf(path)
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, content.index(b"\1\0\0\0\0\0\0\0x") + 9 + place, value)
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"lying.gguf"):
        open_table(path, "x")


def test_gguf_with_an_endless_array_is_refused(tmp_path: Path) -> None:
    """The reader of gguf would read it for days."""
    path = tmp_path / "lying.gguf"
    write_gguf(path)
    content = bytearray(path.read_bytes())
    struct.pack_into("<Q", content, content.index(b"numbers") + 15, 2**40)
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"lying.gguf'"):
        open_table(path, "x")


def test_columns_that_no_table_has_are_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "lying.arrow"
    inner = arrow.FixedSizeListArray.from_arrays(arrow.array([1, None] * 8), 4)
    columns = {
        "nulls": arrow.array([1, None, 3, 4]),
        "inner": inner,
        "bits": arrow.array([True] * 4),
        "text": arrow.array(["a"] * 4),
        "dates": arrow.array([1] * 4, arrow.timestamp("s")),
        "codes": arrow.array(["a"] * 4).dictionary_encode(),
    }
    write_arrow(path, **columns, right=arrow.array([1, 2, 3, 4]))
    for name in columns:
        with pytest.raises(FileError, match=f"lying.arrow': '{name}': "):
            open_table(path, name)
    assert open_table(path, "right")[[3, 0]].tolist() == [4, 1]
    tensors = arrow.FixedShapeTensorArray.from_numpy_ndarray(A.reshape(100, 4, 4))
    write_arrow(path, x=tensors)
    assert same(open_table(path)[IDS], A.reshape(100, 4, 4)[IDS])
    write_arrow(path, "zstd", x=arrow.array(np.arange(1000) % 3))
    with pytest.raises(FileError, match="it is compressed"):
        open_table(path, "x")


@pytest.mark.parametrize(
    "shard", ["../a.safetensors", "/a", "", "..", 3, "a\0b", "absent.safetensors", "1.safetensors"]
)
def test_index_names_files_beside_it(shard: Any, tmp_path: Path) -> None:
    write_index(tmp_path / "a.index.json")
    write_safetensors(tmp_path.parent / "a.safetensors")
    (tmp_path / "a.index.json").write_text(json.dumps({"weight_map": {"z": shard}}), encoding="utf-8")
    with pytest.raises(FileError):
        open_table(tmp_path / "a.index.json", "z")


# --------------------------------------------------------------------------------------------------------- command line


def test_command_lists_arrays_and_prints_rows(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = name_in(file) or "-"
    assert main([str(file)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["float32", "(100,", "16)", "64", name] in lines
    assert main([str(file), name, "17", "4"]) == 0
    assert capsys.readouterr().out == f"{A[17].tolist()}\n{A[4].tolist()}\n"
    for wrong, message in (([name, "100"], "component 0 of tuple 0 is 100"), (["absent", "1"], "'absent'")):
        assert main([str(file), *wrong]) == 1
        out, error = capsys.readouterr()
        assert out == "" and message in error
    assert main([]) == 2


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="the system has no posix_fadvise")
@pytest.mark.parametrize("file", ["a.index.json"], indirect=True)
def test_bench_measures_four_ways(file: Path) -> None:
    command = [sys.executable, "-m", "libgather.table", "bench", str(file), "x"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == ["1", "18", "256", "4096"]
    assert all(float(cell) > 0 for row in rows for cell in row if cell != "-") and rows[3].count("-") == 2
