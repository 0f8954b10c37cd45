"""The readers of the headers of files. Each returns the arrays of a file, of which no row has been read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import zip_longest
from typing import NamedTuple

from .. import errors
from .. import types as t
from .._arrays.npy_files import mapped
from .._base import constants as c
from .._base.dtypes import NUMBERS
from .._base.optional_packages import module
from .table import Segment, Table


class Entry(NamedTuple):
    """An array in a file.

    Attributes:
        dtype: The name of the dtype, of the codec, or of a type of the format that no table has.
        shape, nbytes: The shape, and the bytes of all rows.
        segments: The ranges of rows.
        refusal: Why there is no table of the array, or "".
    """

    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    segments: tuple[Segment, ...]
    refusal: str = ""


Entries = dict[str, Entry]
_KNOWN = NUMBERS.keys() - {"string"}

_SAFETENSORS = {
    "BOOL": "bool",
    "BF16": "bfloat16",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
} | {f"{letter}{bits}": f"{kind}{bits}" for letter, kind in (("I", "int"), ("U", "uint"), ("F", "float"))
     for bits in (8, 16, 32, 64)}  # fmt: skip
_GGUF = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16"} | {
    f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)
}
_ARROW = {"halffloat": "float16", "float": "float32", "double": "float64"}


# ---------------------------------------------------------------------------------------------------------- the errors


def refused(path: str, reason: str) -> errors.FileError:
    return errors.FileError(f"file: '{path}': {reason}", status=c.E_IO, operand="file")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Raises FileError for each error of a reader. A malformed header causes errors of any type."""
    try:
        yield
    except errors.FileError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__
        made = refused(path, reason)
        made.native = getattr(error, "errno", None) or 0
        raise made from error


def package(name: str, path: str) -> t.Any:
    try:
        return module(name)
    except ImportError as error:
        root = name.partition(".")[0]
        raise ImportError(f"'{path}' needs the package {root}: pip install {root}", name=root) from error


# --------------------------------------------------------------------------------------------------------- the formats


def safetensors_entries(path: str) -> Entries:
    """Reads a header after the package has accepted it, because the package does not return offsets."""
    reader = package("safetensors", path)
    with reading(path):
        with reader.safe_open(path, "np"):
            pass
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
        header.pop("__metadata__", None)
        return {name: safetensors_entry(path, 8 + size, **fields) for name, fields in header.items()}


def safetensors_entry(path: str, base: int, dtype: str, shape: list[int], data_offsets: list[int]) -> Entry:
    begin, end = data_offsets
    rows = Segment(path, base + begin, shape[0] if shape else 0)
    return Entry(_SAFETENSORS.get(dtype, dtype), tuple(shape), end - begin, (rows,))


def index_entries(path: str, name: str | None) -> Entries:
    """Returns the tensors of all shards of an index, or of the shard that has the tensor with a name."""
    with reading(path):
        with open(path, encoding="utf-8") as file:
            places = json.load(file)["weight_map"]
        shards: dict[str, list[str]] = {}
        for each, shard in places.items():
            # An index is data of others: a shard is a file beside it.
            if not isinstance(shard, str) or shard in ("", ".", "..") or {"/", "\\", "\0", ":"} & {*shard}:
                raise refused(path, f"{shard!r} is no name of a shard")
            shards.setdefault(shard, []).append(each)
        if name is not None and name in places:
            shards = {places[name]: [name]}
    found: Entries = {}
    for shard, names in shards.items():
        whole = os.path.join(os.path.dirname(path), shard)
        entries = safetensors_entries(whole)
        missing = next((each for each in names if each not in entries), None)
        if missing is not None:
            raise refused(whole, f"it has no {missing!r}, which '{path}' places there")
        found |= {each: entries[each] for each in names}
    return found


def gguf_entries(path: str) -> Entries:
    kind = package("gguf", path).GGUFReader
    with reading(path):
        file = type("Reader", (kind,), {"_get": complete(kind._get)})(path)
        if file.byte_order != "I":
            raise refused(path, "it has the other byte order")
        return {tensor.name: gguf_entry(path, tensor) for tensor in file.tensors}


def complete(get: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    """Returns a method of gguf that reads numbers, and stops at the end of the file.

    Otherwise gguf reads empty arrays there, as many as the header says.
    """

    def read(self: t.Any, offset: int, dtype: t.Any, count: int = 1, *others: t.Any, **named: t.Any) -> t.Any:
        found = get(self, offset, dtype, count, *others, **named)
        if len(found) < count:
            raise ValueError(f"the file ends before byte {offset}")
        return found

    return read


def gguf_entry(path: str, tensor: t.Any) -> Entry:
    kind, shape = tensor.tensor_type.name.lower(), tuple(int(extent) for extent in reversed(tensor.shape))
    rows = Segment(path, int(tensor.data_offset), shape[0] if shape else 0)
    return Entry(_GGUF.get(kind, kind), shape, int(tensor.n_bytes), (rows,))


def npy_entries(path: str) -> Entries:
    formats = package("numpy.lib.format", path)
    with reading(path), open(path, "rb") as file:
        version = formats.read_magic(file)
        read = {(1, 0): formats.read_array_header_1_0, (2, 0): formats.read_array_header_2_0}.get(version)
        if read is None:
            raise refused(path, f"the version {version} of the format is for records")
        shape, is_fortran, dtype = read(file)
        refusal = (
            "the dtype is no number"
            if dtype.name not in _KNOWN
            else "the elements have the other byte order"
            if not dtype.isnative
            else "the elements have the order of Fortran"
            if is_fortran and len(shape) > 1
            else ""
        )
        rows = Segment(path, file.tell(), shape[0] if shape else 0)
        return {"": Entry(dtype.name, shape, dtype.itemsize * math.prod(shape), (rows,), refusal)}


def arrow_entries(path: str) -> Entries:
    """Reads the addresses of the columns in a map of the file. The batches are views, unless they are compressed."""
    arrow, ipc = package("pyarrow", path), package("pyarrow.ipc", path)
    with reading(path), arrow.memory_map(path) as source:
        whole = source.read_buffer()
        file = ipc.open_file(whole)
        found: Entries = {}
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                found[name] = joined(found.get(name), arrow_entry(arrow, path, column, whole), path)
        return found


def arrow_entry(arrow: t.Any, path: str, column: t.Any, whole: t.Any) -> Entry:
    rows, kind, sizes = len(column), column.type, []
    column.validate()
    is_tensor = isinstance(kind, arrow.FixedShapeTensorType)
    column = column.storage if is_tensor else column
    nulls = column.null_count
    while arrow.types.is_fixed_size_list(column.type):
        sizes.append(column.type.list_size)
        column = column.values
        nulls += column.null_count
    shape = (rows, *(kind.shape if is_tensor else sizes))
    dtype = _ARROW.get(str(column.type), str(column.type))
    if dtype not in _KNOWN - {"bool"} or (is_tensor and kind.permutation not in (None, [*range(len(kind.shape))])):
        return Entry(str(kind), (rows,), 0, (), f"{kind} is neither a number nor a list of a fixed size")
    if rows == 0:
        return Entry(dtype, shape, 0, ())
    buffer = column.buffers()[1]
    offset, size = buffer.address - whole.address, len(column) * column.type.bit_width // 8
    refusal = "it has nulls" if nulls else ""
    if not 0 <= offset <= whole.size - size or column.offset:
        refusal = "it is compressed, or has the other byte order"
    return Entry(dtype, shape, size, (Segment(path, offset, rows),), refusal)


def entries_of(path: str, name: str | None = None) -> Entries:
    """Returns the arrays of a file by name. With a name, an index of shards may return only that array."""
    if path.endswith(".json"):
        return index_entries(path, name)
    with reading(path), open(path, "rb") as file:
        magic = file.read(9)
    for beginning, read in ((b"\x93NUMPY", npy_entries), (b"ARROW1", arrow_entries), (b"GGUF", gguf_entries)):
        if magic.startswith(beginning):
            return read(path)
    if magic[8:] != b"{":  # the begin of a header in JSON, after its size
        raise refused(path, "it has no known header: shape= and dtype= describe a file without one")
    return safetensors_entries(path)


# ---------------------------------------------------------------------------------------------------------- the tables


def joined(first: Entry | None, second: Entry, path: str) -> Entry:
    """Returns the rows of two arrays as one array."""
    if first is None:
        return second
    if (first.dtype, first.shape[1:]) != (second.dtype, second.shape[1:]):
        rows = f"rows of {second.dtype} {second.shape[1:]} follow rows of {first.dtype} {first.shape[1:]}"
        raise refused(path, rows)
    shape = (first.shape[0] + second.shape[0], *first.shape[1:])
    segments = first.segments + second.segments
    return Entry(first.dtype, shape, first.nbytes + second.nbytes, segments, first.refusal or second.refusal)


def entry_of(path: str, name: str | None) -> Entry:
    entries = entries_of(path, name)
    if name is None and len(entries) == 1:
        (name,) = entries
    entry = None if name is None else entries.get(name)
    if entry is not None:
        if not entry.shape or entry.shape[0] < 1:
            raise refused(path, f"{name!r} has shape {entry.shape} and no rows")
        if entry.refusal:
            raise refused(path, f"{name!r}: {entry.refusal}" if name else entry.refusal)
        return entry
    near = [*entries][:3] if name is None else get_close_matches(name, entries, 3)
    message = f"options: name is {name!r}, and '{path}' has {len(entries)} arrays" + (f", as {near}" if near else "")
    raise errors.OptionError(message, status=c.E_VERSION, operand="options")


def npy_rows(path: str, rows: slice) -> t.Any:
    """Returns rows of a ``.npy`` file as a table, or as a mapped array if no table can have them."""
    try:
        entry = npy_entries(path)[""]
    except errors.FileError:
        return mapped(path)[rows]
    count = rows.stop - rows.start
    if entry.refusal or count < 1:
        return mapped(path)[rows]
    begin = entry.segments[0].offset + rows.start * (entry.nbytes // entry.shape[0])
    return Table((count, *entry.shape[1:]), entry.dtype, [Segment(path, begin, count)])


def opened(path: t.Any, name: t.Any, mode: str, resident: int, dtype: t.Any) -> Table:
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else list(path)
    names = [name] if name is None or isinstance(name, str) else list(name)
    if not paths or not names or (len(paths) != len(names) and 1 not in (len(paths), len(names))):
        message = f"options: {len(paths)} paths and {len(names)} names"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    whole = None
    for each, of in zip_longest(paths, names):
        file = os.fsdecode(paths[0] if len(paths) == 1 else each)
        whole = joined(whole, entry_of(file, names[0] if len(names) == 1 else of), file)
    assert whole is not None
    is_number = whole.dtype in _KNOWN
    if is_number and dtype is not None and NUMBERS.get(getattr(dtype, "name", dtype)) != NUMBERS[whole.dtype]:
        raise errors.dtype_error("params", f"dtype is {whole.dtype}, and {dtype} is given")
    codec, element = (None, whole.dtype) if is_number else (whole.dtype, "float32" if dtype is None else dtype)
    segments = [each for each in whole.segments if each.rows]
    try:
        table = Table(whole.shape, element, segments, mode=mode, resident=resident, codec=codec)
    except errors.OptionError as error:
        if error.operand == "options":
            raise
        raise refused(file, f"no table has the type {whole.dtype}") from error
    except (errors.ShapeError, errors.RankError) as error:
        raise refused(file, str(error)) from error
    if table.nbytes != whole.nbytes:
        table.close()
        raise refused(file, f"rows of {whole.dtype} {whole.shape} have {table.nbytes} bytes, not {whole.nbytes}")
    return table
