"""Compares gth_arrow_take and gth_column_take with the take of pyarrow, on random columns of every type.

    columns.py LIBRARY [--seed N] [--cases N] [--large]

--large also takes strings of more than 2 GiB, which need as much memory.

The expected rows are those of Python's lists. They are also compared with pyarrow's own take, with some exceptions.
pyarrow 26 has no take for views of strings and for runs. It takes wrong rows of fixed-size lists of fixed-size lists,
and of chunks with different dictionaries of float16.
"""

import argparse
import ctypes
import datetime
import decimal
import itertools
import random
import sys
from pathlib import Path

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from c_structs import fields_of

GTH_E_INDEX, GTH_E_ARROW = -16, -13
TAKE_NULL, TAKE_RECORD = 1, 2
NEGATIVE_WRAP = 2
INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
#: The lengths of chunks, and the numbers of indices. They are on both sides of the sizes at which the library takes
#: rows in another way: 8 and 64 rows of validity bits, and four times the rows of the column.
LENGTHS = (0, 1, 7, 8, 9, 40, 63, 64, 65, 100)
COUNTS = (0, 1, 3, 17, 63, 64, 65, 200, 700)
DLPACK_DTYPES = [8, 16, 32, 64, 264, 272, 288, 320]


class Desc(ctypes.Structure):
    _fields_ = fields_of("gth_tensor_desc")


class Take(ctypes.Structure):
    _fields_ = fields_of("gth_take", indices=ctypes.POINTER(Desc))


class Error(ctypes.Structure):
    _fields_ = fields_of("gth_error")


class Options(ctypes.Structure):
    _fields_ = fields_of("gth_options")


class TakeFailure(Exception):
    def __init__(self, error):
        super().__init__(error.status, error.position, error.value, error.limit, error.message.decode())
        self.status, self.position = error.status, error.position


def describe(indices):
    """Returns gth_take for a pyarrow array of indices, and what it refers to."""
    shape = ctypes.c_int64(len(indices))
    validity, data = indices.buffers()
    width = indices.type.bit_width // 8
    desc = Desc(ctypes.sizeof(Desc), DLPACK_DTYPES[INTEGERS.index(indices.type)], ndim=1)
    desc.shape = ctypes.addressof(shape)
    desc.data = data.address if data and len(indices) else None
    desc.offset = indices.offset * width if desc.data else 0
    options = Options(ctypes.sizeof(Options), negative=NEGATIVE_WRAP)
    take = Take(ctypes.sizeof(Take), 0, ctypes.pointer(desc))
    take.validity = validity.address if validity else None
    take.validity_offset = indices.offset if validity else 0
    take.options = ctypes.addressof(options)
    return take, (shape, desc, options, indices)


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.gth_column_release.argtypes = [ctypes.c_void_p]

    def check(self, status, error):
        if status:
            raise TakeFailure(error)

    def export(self, chunks, kind):
        """Returns the schema and the structs of some arrays, with the memory that holds them."""
        schema = ctypes.create_string_buffer(72)
        kind._export_to_c(ctypes.addressof(schema))
        arrays = [ctypes.create_string_buffer(80) for _ in chunks]
        for chunk, array in zip(chunks, arrays, strict=True):
            chunk._export_to_c(ctypes.addressof(array))
        pointers = (ctypes.c_void_p * max(1, len(arrays)))(*[ctypes.addressof(array) for array in arrays])
        return schema, arrays, pointers

    @staticmethod
    def drop(schema, arrays=()):
        """Releases a schema, and arrays that the library has not consumed, by importing them."""
        kind = pa.DataType._import_from_c(ctypes.addressof(schema))
        for array in arrays:
            if any(array.raw[64:72]):
                pa.Array._import_from_c(ctypes.addressof(array), kind)

    def take(self, chunks, kind, indices, flags=0, through_handle=False):
        schema, arrays, pointers = self.export(chunks, kind)
        take, kept = describe(indices)
        take.flags = flags
        error = Error(ctypes.sizeof(Error))
        out_schema, out = ctypes.create_string_buffer(72), ctypes.create_string_buffer(80)
        try:
            if through_handle:
                column = ctypes.c_void_p()
                self.check(
                    self.c.gth_column_from_arrow(
                        None, schema, ctypes.c_int64(len(arrays)), pointers, ctypes.byref(column), ctypes.byref(error)
                    ),
                    error,
                )
                status = self.c.gth_column_take(None, column, ctypes.byref(take), out_schema, out, ctypes.byref(error))
                self.c.gth_column_release(column)
            else:
                status = self.c.gth_arrow_take(
                    None,
                    schema,
                    ctypes.c_int64(len(arrays)),
                    pointers,
                    ctypes.byref(take),
                    out_schema,
                    out,
                    ctypes.byref(error),
                )
            self.check(status, error)
        finally:
            self.drop(schema, arrays)
        del kept
        return pa.Array._import_from_c(ctypes.addressof(out), ctypes.addressof(out_schema))


class Point(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.list_(pa.int16(), 2), "test.point")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage, _serialized):
        return cls()


def times(unit):
    return datetime.timedelta(**{unit: 1})


def flat_types():
    """Returns types and functions that make a random value of each."""
    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
    rows = [
        (pa.null(), lambda r: None),
        (pa.bool_(), lambda r: r.random() < 0.5),
        (pa.float16(), lambda r: float(r.randrange(99))),
        (pa.float32(), lambda r: float(r.randrange(99))),
        (pa.float64(), lambda r: r.random()),
        (pa.decimal32(5, 1), lambda r: decimal.Decimal(r.randrange(999)) / 10),
        (pa.decimal64(9, 1), lambda r: decimal.Decimal(r.randrange(999)) / 10),
        (pa.decimal128(20, -2), lambda r: decimal.Decimal(r.randrange(999)) * 100),
        (pa.decimal256(50, 2), lambda r: decimal.Decimal(r.randrange(999)) / 100),
        (pa.date32(), lambda r: day + datetime.timedelta(days=r.randrange(999))),
        (pa.date64(), lambda r: day + datetime.timedelta(days=r.randrange(999))),
        (pa.month_day_nano_interval(), lambda r: pa.MonthDayNano([r.randrange(9), r.randrange(9), r.randrange(9)])),
        (pa.binary(5), lambda r: r.randbytes(5)),
        (pa.binary(16), lambda r: r.randbytes(16)),
        (pa.binary(0), lambda r: b""),
    ]
    rows += [(kind, lambda r: r.randrange(100)) for kind in INTEGERS]
    rows += [(kind, lambda r: datetime.time(r.randrange(24))) for kind in (pa.time32("s"), pa.time32("ms"))]
    rows += [(kind, lambda r: datetime.time(r.randrange(24))) for kind in (pa.time64("us"), pa.time64("ns"))]
    for unit in ("s", "ms", "us", "ns"):
        rows.append((pa.duration(unit), lambda r: datetime.timedelta(seconds=r.randrange(9999))))
        for zone in (None, "Europe/Berlin"):
            rows.append((pa.timestamp(unit, zone), lambda r: moment + datetime.timedelta(seconds=r.randrange(9999))))
    texts = (pa.string(), pa.large_string(), pa.string_view())
    rows += [(kind, lambda r: "".join(r.choices("abcdeé", k=r.choice((0, 3, 12, 13, 40, 200))))) for kind in texts]
    binaries = (pa.binary(), pa.large_binary(), pa.binary_view())
    rows += [(kind, lambda r: r.randbytes(r.choice((0, 3, 12, 13, 40, 200)))) for kind in binaries]
    return rows


def random_type(r, depth):
    """Returns a random type, and a function that makes a random value of it."""
    flat = flat_types()
    if depth == 0 or r.random() < 0.3:
        return r.choice(flat)
    below, value = random_type(r, depth - 1)
    width = r.randrange(4)

    def values(r):
        return [maybe(r, value) for _ in range(r.choice((0, 0, 1, 2, 5)))]

    kinds = [
        (pa.list_(below), values),
        (pa.large_list(below), values),
        (pa.list_view(below), values),
        (pa.large_list_view(below), values),
        (pa.list_(below, width), lambda r: [maybe(r, value) for _ in range(width)]),
        (pa.map_(pa.string(), below), lambda r: [(f"k{i}", maybe(r, value)) for i in range(r.randrange(3))]),
        (
            pa.struct([pa.field("x", below), pa.field("y", pa.string(), metadata={"a": "b"})]),
            lambda r: {"x": maybe(r, value), "y": maybe(r, lambda r: str(r.randrange(50)))},
        ),
    ]
    return r.choice(kinds)


def maybe(r, value):
    return None if r.random() < 0.15 else value(r)


def run_encoded(r, values):
    """Returns arrays of runs with these values. Some arrays are slices."""
    kind, made = r.choice((pa.int16(), pa.int32(), pa.int64())), []
    for each in values:
        ends = list(itertools.accumulate(r.randrange(1, 4) for _ in range(len(each))))
        length = ends[-1] if ends else 0
        first = r.randrange(length + 1)
        runs = pa.RunEndEncodedArray.from_arrays(pa.array(ends, kind), each)
        made.append(runs.slice(first, r.randrange(length - first + 1)) if r.random() < 0.5 else runs)
    return made


def random_chunks(r, kind, value):
    """Returns some arrays of one type. Some are slices."""
    chunks = []
    for _ in range(r.choice((0, 1, 1, 1, 2, 3, 9))):
        count = r.choice(LENGTHS)
        nulls = r.random() < 0.5
        array = pa.array([maybe(r, value) if nulls else value(r) for _ in range(count)], kind)
        if r.random() < 0.5 and count:
            first = r.randrange(count)
            array = array.slice(first, r.randrange(count - first + 1))
        chunks.append(array)
    return chunks


def random_indices(r, extent):
    kind = r.choice(INTEGERS)
    most = min(extent, 2 ** (kind.bit_width - 1) - 1)
    count = r.choice(COUNTS) if most else 0
    low = -most if str(kind).startswith("int") else 0
    ids = [r.randrange(low, most) for _ in range(count)]
    if r.random() < 0.4:
        ids = [None if r.random() < 0.2 else i for i in ids]
    array = pa.array(ids, kind)
    if count and r.random() < 0.3:
        array = array.slice(r.randrange(count))
    return array


def peer_is_right(kind, chunks):
    """Returns whether pyarrow takes rows of a type, and the right ones. It does not unify dictionaries with nulls."""
    text = str(kind)
    if pa.types.is_dictionary(kind) and any(chunk.dictionary.null_count for chunk in chunks):
        return False
    is_half_dictionary = "dictionary" in text and "halffloat" in text
    has_take = not any(name in text for name in ("string_view", "binary_view", "run_end_encoded"))
    return has_take and text.count("fixed_size_list") < 2 and not is_half_dictionary


def is_right(kind, chunks, indices, got):
    rows = [row for chunk in chunks for row in chunk.to_pylist()]
    ids = indices.to_pylist()
    want = [None if i is None else rows[i] for i in ids]
    got.validate(full=True)
    if got.type != kind or got.to_pylist() != want:
        return False
    if not peer_is_right(kind, chunks):
        return True
    places = pa.array([i if i is None or i >= 0 else i + len(rows) for i in ids], pa.int64())
    return pa.chunked_array(chunks, kind).take(places).to_pylist() == want


def encoded(r, chunks):
    """Returns the chunks as dictionaries, which differ between chunks."""
    try:
        values = sum(len(chunk.unique()) for chunk in chunks)
        codes = r.choice((pa.int16(), pa.uint16(), pa.int32(), pa.int64(), *[pa.int8(), pa.uint8()] * (values < 100)))
        return [
            with_odd_dictionary(r, chunk.dictionary_encode().cast(pa.dictionary(codes, chunk.type))) for chunk in chunks
        ]
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None


def with_odd_dictionary(r, chunk):
    """Returns the same rows with a dictionary that is a slice, or that has a null value which is also a row."""
    values, codes = chunk.dictionary, chunk.indices
    kind = r.choice(("plain", "slice", "null"))
    if kind == "slice":
        values = pa.concat_arrays([values, values, values])[len(values) : 2 * len(values)]
    elif kind == "null" and len(values) < 99:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
        codes = codes.fill_null(len(values) - 1)
    return pa.DictionaryArray.from_arrays(codes, values)


def run_case(library, r):
    kind, value = random_type(r, r.choice((0, 0, 1, 2, 3)))
    chunks = random_chunks(r, kind, value)
    if r.random() < 0.3 and not pa.types.is_nested(kind) and kind != pa.null() and chunks:
        chunks = encoded(r, chunks) or chunks
        kind = chunks[0].type
    elif r.random() < 0.2 and chunks:
        chunks = run_encoded(r, chunks)
        kind = chunks[0].type
    elif r.random() < 0.05:
        point = lambda r: [maybe(r, lambda r: r.randrange(9)) for _ in range(2)]  # noqa: E731
        kind = Point()
        chunks = random_chunks(r, kind.storage_type, point)
        chunks = [pa.ExtensionArray.from_storage(kind, chunk) for chunk in chunks]
    indices = random_indices(r, sum(map(len, chunks)))
    got = library.take(chunks, kind, indices, through_handle=r.random() < 0.5)
    return is_right(kind, chunks, indices, got), f"{kind}, chunks {list(map(len, chunks))}, {indices.to_pylist()}"


def check_null_policy(library, r):
    """Out of bounds is null with GTH_TAKE_NULL, and an error with the position otherwise."""
    kind, value = random_type(r, 1)
    chunks = [pa.array([value(r) for _ in range(5)], kind)]
    ids = pa.array([4, 99, 0], pa.int64())
    rows = chunks[0].to_pylist()
    got = library.take(chunks, kind, ids, TAKE_NULL).to_pylist()
    try:
        library.take(chunks, kind, ids)
    except TakeFailure as failure:
        return got == [rows[4], None, rows[0]] and (failure.status, failure.position) == (GTH_E_INDEX, 1), str(kind)
    return False, str(kind)


def check_codes(library, r):
    """A code that is the length of its dictionary is an error, although the memory behind it has values."""
    length = r.randrange(1, 9)
    values = pa.array([f"v{i}" for i in range(length + 3)])[1 : length + 1]
    codes = [r.randrange(length) for _ in range(70)]
    place = r.randrange(70)
    codes[place] = length
    bad = pa.DictionaryArray.from_arrays(pa.array(codes, r.choice(INTEGERS)), values, safe=False)
    good = pa.DictionaryArray.from_arrays(pa.array([0], bad.type.index_type), values)
    for chunks in ([bad], [bad, good], [bad, pa.array(["other"]).dictionary_encode().cast(bad.type)]):
        # With this number of rows, valid chunks would be joined.
        others = pa.array([i for i in range(70) if i != place] * r.choice((1, 5)))
        if library.take(chunks, bad.type, others).to_pylist() != [values[codes[i.as_py()]].as_py() for i in others]:
            return False, str(bad.type)
        try:
            library.take(chunks, bad.type, pa.array([*others[:5].to_pylist(), place]))
        except TakeFailure as failure:
            if (failure.status, failure.position) == (GTH_E_ARROW, 5):
                continue
        return False, str(bad.type)
    return True, ""


def check_table(library, r):
    """A null index gives null in each column of a table."""
    columns = [random_type(r, 1) for _ in range(3)]
    data = [pa.array([maybe(r, value) for _ in range(9)], kind) for kind, value in columns]
    batch = pa.RecordBatch.from_arrays(data, names=["a", "b", "c"])
    ids = pa.array([3, None, 8], pa.int64())
    array = batch.to_struct_array()
    got = library.take([array], array.type, ids, TAKE_RECORD)
    got.validate(full=True)
    rows = batch.to_pylist()
    want = [rows[3], dict.fromkeys("abc"), rows[8]]
    return got.null_count == 0 and got.to_pylist() == want, str(array.type)


def check_large(library):
    """A string array of more than 2 GiB becomes a large one, also below a list."""
    text = "x" * 2**26
    ids = pa.array([0] * 33, pa.int64())
    got = library.take([pa.array([text])], pa.string(), ids)
    below = library.take([pa.array([[text]])], pa.list_(pa.string()), ids)
    right = got.type == pa.large_string() and got[32].as_py() == text
    return right and below.type == pa.list_(pa.large_string()) and below[32].as_py() == [text]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    pa.register_extension_type(Point())
    library = Library(given.library)
    wrong = 0
    for case in range(given.cases):
        r = random.Random(f"{given.seed} {case}")
        for check in (run_case, check_null_policy, check_codes, check_table):
            right, what = check(library, r)
            wrong += not right
            if not right and wrong < 10:
                print(f"case {case}, {check.__name__}: {what}")
    if given.large and not check_large(library):
        wrong += 1
        print("strings of more than 2 GiB")
    print(f"{given.cases} cases, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
