"""Times gth_column_take beside the take of pyarrow, in interleaved rounds, and prints the tables of docs/columns.md.

    columns.py LIBRARY [--rows N...] [--rounds N] [--taken N...]
    columns.py package [--rows N...] [--rounds N] [--taken N...] [--kinds pyarrow pandas polars numpy]

A call of the library includes the release of its result. It is made with cffi, and creates no object of pyarrow. The
second form times the function gather of the Python package beside the take of each library. With several lengths of a
column, it compares a take of one row of each of them.
"""

import argparse
import datetime
import functools
import statistics
import tempfile
import time

import numpy as np
import pyarrow as pa
from cffi import FFI

DECLARATIONS = """
typedef struct { uint32_t size; int32_t dtype, device, device_id, ndim; uint32_t flags; const void *tensor, *data;
                 const int64_t *shape, *strides; const void *codec; int64_t offset, extent; } desc;
typedef struct { uint32_t size, flags; const desc *indices; const void *validity; int64_t validity_offset;
                 const void *options; } take;
struct ArrowArray { int64_t length, null_count, offset, n_buffers, n_children; const void **buffers;
                    void **children, *dictionary; void (*release)(struct ArrowArray *); void *private_data; };
int32_t gth_column_from_arrow(void *, void *, int64_t, void **, void **, void *);
int32_t gth_column_take(void *, void *, const take *, void *, struct ArrowArray *, void *);
int32_t gth_column_release(void *);
"""


class Column:
    """A column of the library, and a function that takes rows of it."""

    def __init__(self, ffi, c, array):
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        schema = ffi.new("char[72]")
        array.type._export_to_c(int(ffi.cast("uintptr_t", schema)))
        structs = [ffi.new("struct ArrowArray *") for _ in chunks]
        for chunk, struct in zip(chunks, structs, strict=True):
            chunk._export_to_c(int(ffi.cast("uintptr_t", struct)))
        out = ffi.new("void **")
        status = c.gth_column_from_arrow(ffi.NULL, schema, len(structs), ffi.new("void *[]", structs), out, ffi.NULL)
        assert status == 0, status
        pa.DataType._import_from_c(int(ffi.cast("uintptr_t", schema)))
        self.ffi, self.c, self.handle = ffi, c, out[0]

    def taker(self, ids):
        ffi, c, handle = self.ffi, self.c, self.handle
        shape = ffi.new("int64_t *", len(ids))
        desc = ffi.new("desc *")
        desc.size, desc.dtype, desc.ndim, desc.shape = ffi.sizeof("desc"), 64, 1, shape
        desc.data = ffi.cast("void *", ids.ctypes.data)
        take = ffi.new("take *")
        take.size, take.indices = ffi.sizeof("take"), desc
        out = ffi.new("struct ArrowArray *")
        call, null = c.gth_column_take, ffi.NULL

        def run(_kept=(shape, desc, ids)):
            if call(null, handle, take, null, out, null):
                raise RuntimeError
            out.release(out)

        return run

    def close(self):
        self.c.gth_column_release(self.handle)


def columns(n, r):
    """Returns the columns of the table by name."""
    words = [f"word number {i}" for i in range(1000)]
    codes = r.integers(0, 1000, n)
    text = pa.array(words).take(pa.array(codes))
    valid = pa.array(r.random(n) > 0.1)
    numbers = pa.array(r.integers(0, 1000, n))
    nullable = pa.Array.from_buffers(pa.int64(), n, [valid.buffers()[1], numbers.buffers()[1]])
    offsets = pa.array(np.arange(n + 1, dtype="i4") * 4)
    flat = pa.array(r.integers(0, 99, 4 * n).astype("i4"))
    cut = max(1, n // 10)
    return {
        "bool": pa.array(r.random(n) > 0.5),
        "int64": numbers,
        "int64 with nulls": nullable,
        "timestamp with zone": numbers.cast(pa.timestamp("us", "UTC")),
        "decimal128": numbers.cast(pa.decimal128(25, 2)),
        "string": text,
        "large_string": text.cast(pa.large_string()),
        "string_view": text.cast(pa.string_view()),
        "fixed_size_binary(16)": pa.Array.from_buffers(pa.binary(16), n, [None, pa.py_buffer(r.bytes(16 * n))]),
        "fixed_size_list(float32, 16)": pa.FixedSizeListArray.from_arrays(pa.array(r.random(16 * n).astype("f4")), 16),
        "list(int32)": pa.ListArray.from_arrays(offsets, flat),
        "list(string)": pa.ListArray.from_arrays(pa.array(np.arange(n + 1, dtype="i4") // 2), text),
        "struct(int64, string)": pa.StructArray.from_arrays([numbers, text], ["a", "b"]),
        "dictionary(string)": pa.DictionaryArray.from_arrays(pa.array(codes.astype("i4")), pa.array(words)),
        "string in 10 chunks": pa.chunked_array([text.slice(i, cut) for i in range(0, n, cut)]),
    }


def columns_of_pyarrow(n, r):
    found = columns(n, r)
    found["table of 5"] = pa.table({name: found[name] for name in [*list(found)[:4], "string"]})
    for name, column in found.items():
        peer = column.cast(pa.string()) if name == "string_view" else column
        yield name, column, lambda ids, peer=peer: functools.partial(peer.take, pa.array(ids))


def columns_of_pandas(n, r):
    import pandas as pd

    arrow, numbers = columns(n, r), r.integers(0, 1000, n)
    text = type(pd.array(["a"], "str"))
    dtype = pd.array(["a"], "str").dtype
    found = {
        "str": text(arrow["large_string"], dtype=dtype),
        "str in 10 chunks": text(arrow["string in 10 chunks"].cast(pa.large_string()), dtype=dtype),
        "str (python)": pd.array(arrow["string"].to_pylist(), pd.StringDtype("python", na_value=np.nan)),
        "category": pd.Categorical.from_codes(numbers, [f"w{i}" for i in range(1000)]),
        "Int64 with nulls": pd.arrays.IntegerArray(numbers, r.random(n) > 0.9),
        "datetime with zone": pd.DatetimeIndex(numbers.astype("M8[us]"), tz="UTC").array,
        "period": pd.arrays.PeriodArray(numbers, dtype="period[s]"),
        "interval": pd.arrays.IntervalArray.from_arrays(numbers, numbers + 1),
        "ArrowDtype(decimal)": pd.arrays.ArrowExtensionArray(pa.chunked_array([arrow["decimal128"]])),
        "float64": numbers * 0.5,
    }
    found = {name: pd.Series(values, name="n") for name, values in found.items()}
    names = ["str", "category", "Int64 with nulls", "datetime with zone", "float64"]
    found["table of 5"] = pd.DataFrame({name: found[name] for name in names})
    for name, column in found.items():
        yield name, column, lambda ids, column=column: functools.partial(column.take, ids)


def columns_of_polars(n, r):
    import polars as pl

    arrow, numbers = columns(n, r), pl.Series(r.integers(0, 1000, n))
    text = pl.Series(arrow["string"])
    cut = max(1, n // 10)
    found = {
        "String": text,
        "String in 10 chunks": pl.concat([text.slice(i, cut) for i in range(0, n, cut)], rechunk=False),
        "Categorical": text.cast(pl.Categorical),
        "Enum": text.cast(pl.Enum([f"word number {i}" for i in range(1000)])),
        "Int64 with nulls": pl.Series(arrow["int64 with nulls"]),
        "Boolean": pl.Series(arrow["bool"]),
        "Datetime with zone": numbers.cast(pl.Datetime("us", "UTC")),
        "Duration": numbers.cast(pl.Duration("us")),
        "Decimal": pl.Series(arrow["decimal128"]),
        "Array(Float32, 16)": pl.Series(arrow["fixed_size_list(float32, 16)"]),
        "List(Int32)": pl.Series(arrow["list(int32)"]),
        "Struct(Int64, String)": pl.Series(arrow["struct(int64, string)"]),
    }
    names = ["String", "Categorical", "Int64 with nulls", "Datetime with zone", "Boolean"]
    for name, column in found.items():
        yield name, column, lambda ids, column=column: functools.partial(column.gather, ids)
    table = pl.DataFrame([found[name].alias(name) for name in names])
    yield "table of 5", table, lambda ids: lambda: table[ids]


def columns_of_numpy(n, r):
    numbers = r.integers(0, 1000, n)
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, "i8", "w+", shape=n)
    mapped[:] = numbers
    found = {
        "memmap": mapped,
        "datetime64": numbers.astype("M8[us]"),
        "big-endian": numbers.astype(">i8"),
        "S8": numbers.astype("S8"),
        "U8": numbers.astype("U8"),
        "records of 12 bytes": np.zeros(n, "i4,f8"),
        "StringDType": numbers.astype(np.dtypes.StringDType()),
        "objects": numbers.astype("U8").astype(object),
    }
    for name, column in found.items():
        yield name, column, lambda ids, column=column: functools.partial(np.take, column, ids, 0)


def contestants_of_package(given, n, r):
    """Yields the name of each column, and functions from ids to a call of the package and to one of its library."""
    import libgather

    for kind in given.kinds:
        for name, column, own in globals()[f"columns_of_{kind}"](n, r):
            yield f"{kind} {name}", lambda ids, column=column: functools.partial(libgather.gather, column, ids), own


def contestants_of_library(given, n, r):
    """The same as contestants_of_package for the library and pyarrow."""
    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    c = ffi.dlopen(given.library)
    for name, array in columns(n, r).items():
        column = Column(ffi, c, array)
        peer = array.cast(pa.string()) if name == "string_view" else array
        yield name, column.taker, lambda ids, peer=peer: functools.partial(peer.take, pa.array(ids))
        column.close()


def timed(call, count):
    begin = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - begin) / count * 1e6


def compare(contestants, rounds):
    """Returns the median of each in microseconds."""
    counts = []
    for call in contestants:
        call()
        counts.append(max(1, min(500, int(3000 / max(timed(call, 1), 1)))))
    rows = [[timed(call, count) for call, count in zip(contestants, counts, strict=True)] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*rows, strict=True)]


def print_lengths(contestants, given, r):
    print("| column |" + "".join(f" of {n:,} rows |" for n in given.rows) + " ratio |")
    for lengths in zip(*(contestants(given, n, r) for n in given.rows), strict=True):
        calls = [ours_of(r.integers(0, n, 1)) for (_, ours_of, _), n in zip(lengths, given.rows, strict=True)]
        times = compare(calls, given.rounds)
        cells = [f"{time:.1f}" for time in times] + [f"{times[-1] / times[0]:.2f}"]
        print(f"| {lengths[0][0]} | {' | '.join(cells)} |", flush=True)


def print_takes(contestants, given, r):
    print("| column |" + "".join(f" {count:,} rows |" for count in given.taken))
    for name, ours_of, theirs_of in contestants(given, given.rows[0], r):
        cells = []
        for count in given.taken:
            ids = r.integers(0, given.rows[0], count)
            ours, theirs = compare((ours_of(ids), theirs_of(ids)), given.rounds)
            cells.append(f" {ours:.1f} / {theirs:.1f} = {ours / theirs:.2f} |")
        print(f"| {name} |" + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--taken", type=int, nargs="+", default=[1, 1000, 100_000])
    parser.add_argument("--kinds", nargs="+", default=["pyarrow", "pandas", "polars", "numpy"])
    given = parser.parse_args()
    pa.set_cpu_count(1)
    r = np.random.default_rng(1)
    print(f"{given.rows[0]} rows, {datetime.date.today()}, pyarrow {pa.__version__}")
    contestants = contestants_of_package if given.library == "package" else contestants_of_library
    (print_takes if len(given.rows) == 1 else print_lengths)(contestants, given, r)


if __name__ == "__main__":
    main()
