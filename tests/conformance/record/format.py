"""The format of cases: the classes of one case, its text, and the parser of the text.

README.md beside this package defines the text.
"""

import functools
import itertools
import math
from dataclasses import dataclass, field, replace

from . import dtypes, numbers

NO_FLAGS = ()
PREFILL = b"\xa5"


@functools.cache
def row_major_strides(shape, size):
    strides, step = [], size
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


@dataclass(frozen=True)
class Tensor:
    dtype: str
    shape: tuple
    memory: object  # bytes, or a tuple of bytes objects for strings
    offset: int = 0
    strides: tuple | None = None  # bytes; None is dense row-major

    @property
    def size(self):
        return math.prod(self.shape)

    def at(self, coordinates):
        """Returns the memory image of one element."""
        if self.dtype == "string":
            strides = row_major_strides(self.shape, 1)
            return self.memory[sum(c * s for c, s in zip(coordinates, strides))]
        size = dtypes.ALL[self.dtype].size
        strides = self.strides if self.strides is not None else row_major_strides(self.shape, size)
        start = self.offset + sum(c * s for c, s in zip(coordinates, strides))
        return self.memory[start : start + size]

    def elements(self):
        """Returns all elements in row-major order."""
        if self.dtype == "string":
            return list(self.memory)
        if self.strides is None:
            size = dtypes.ALL[self.dtype].size
            return [self.memory[at : at + size] for at in range(0, len(self.memory), size)]
        return [self.at(coordinates) for coordinates in itertools.product(*map(range, self.shape))]

    def integer(self, coordinates):
        signed = dtypes.ALL[self.dtype].kind == "int"
        return int.from_bytes(self.at(coordinates), "little", signed=signed)

    def integers(self):
        if 0 in self.shape:  # Another dim may be huge.
            return []
        signed = dtypes.ALL[self.dtype].kind == "int"
        return [int.from_bytes(element, "little", signed=signed) for element in self.elements()]

    def dense(self):
        """Returns the memory of the dense tensor with these elements."""
        return self.memory if self.strides is None else b"".join(self.elements())

    def numbers(self):
        """Returns all elements as numbers in row-major order."""
        return numbers.unpack(self.dtype, self.dense())

    def numpy(self):
        """Returns a view of the memory. Strings are an object array of bytes."""
        import numpy as np

        if self.dtype == "string":
            array = np.empty(self.size, dtype=object)
            array[:] = self.memory
            return array.reshape(self.shape)
        numpy_dtype = dtypes.ALL[self.dtype].numpy
        return np.ndarray(self.shape, numpy_dtype, self.memory, self.offset, self.strides)


def tensor(array):
    """Returns a dense tensor of a NumPy array. Object arrays contain bytes."""
    if array.dtype == object:
        return Tensor("string", array.shape, tuple(array.reshape(-1)))
    return Tensor(dtypes.by_numpy(array.dtype), array.shape, array.tobytes())


@dataclass(frozen=True)
class Ok:
    dtype: str
    shape: tuple
    data: object  # as Tensor.memory, dense


@dataclass(frozen=True)
class Error:
    """An error of the library. The error of a system has no fields."""

    status: str | None = None
    operand: str = "none"
    component: int = -1
    position: int = -1
    value: int = 0
    limit: int = 0
    flags: tuple = NO_FLAGS


@dataclass(frozen=True)
class Crc:
    """A dense tensor by its digest, in which each NaN is the positive quiet one without a payload."""

    dtype: str
    shape: tuple
    crc: int


ABORT = "abort"
HANG = "hang"


@dataclass(frozen=True)
class Case:
    name: str
    op: str
    params: Tensor
    indices: Tensor
    profile: str = "none"
    opset: int = 0
    axis: int | None = None
    batch_dims: int = 0
    extents: str | None = None  # gather_elements and scatter_elements only
    negative: str | None = None
    bounds: str | None = None
    fill: str | None = None
    fill_value: bytes | None = None
    # This field is for scatters. Their target is in the field params.
    updates: Tensor | None = None
    reduction: str | None = None
    initial: str | None = None
    accumulate: str | None = None
    padding_index: int | None = None
    # These fields are for bags.
    bags: Tensor | None = None
    weights: Tensor | None = None
    bag_format: str | None = None
    pool: str | None = None
    empty: str | None = None
    bag_count: int | None = None
    # These fields are for packed rows. The memory of params is then rows of bytes, and its shape counts numbers.
    codec: str | None = None
    scales: Tensor | None = None
    zeros: Tensor | None = None
    # It is set if a system runs the case in an unusual way. It is never written to the file.
    variant: str | None = field(default=None, compare=False)
    difference: str | None = None
    system: object = None
    expect: object = None
    source: str | None = None

    def with_outcome(self, expect, source, difference=None, system=None):
        return replace(self, expect=expect, source=source, difference=difference, system=system)


def _shape_text(shape):
    return ",".join(map(str, shape)) or "."


def _data_text(dtype, data):
    if dtype == "string":
        return ",".join(e.hex() or "-" for e in data) or "."
    return data.hex() or "."


def _layout_text(t):
    if t.strides is None:
        return "."
    return f"offset={t.offset};strides={_shape_text(t.strides)}"


def _tensor_text(t):
    return f"{t.dtype} {_shape_text(t.shape)} {_layout_text(t)} {_data_text(t.dtype, t.memory)}"


def outcome_text(outcome):
    if outcome in (ABORT, HANG):
        return outcome
    if isinstance(outcome, Ok):
        return f"ok {outcome.dtype} {_shape_text(outcome.shape)} {_data_text(outcome.dtype, outcome.data)}"
    if isinstance(outcome, Crc):
        return f"crc {outcome.dtype} {_shape_text(outcome.shape)} {outcome.crc:08x}"
    if outcome.status is None:
        return "error"
    e = outcome
    flags = ",".join(e.flags) or "."
    return f"error {e.status} {e.operand} {e.component} {e.position} {e.value} {e.limit} {flags}"


def dump(case):
    lines = [
        ("case", case.name),
        ("op", case.op),
        ("profile", case.profile if case.profile != "none" else None),
        ("opset", case.opset or None),
        ("axis", case.axis),
        ("batch_dims", case.batch_dims or None),
        ("extents", case.extents),
        ("negative", case.negative),
        ("bounds", case.bounds),
        ("fill", case.fill),
        ("fill_value", case.fill_value.hex() if case.fill_value is not None else None),
        ("reduction", case.reduction),
        ("initial", case.initial),
        ("accumulate", case.accumulate),
        ("bag_format", case.bag_format),
        ("pool", case.pool),
        ("empty", case.empty),
        ("padding_index", case.padding_index),
        ("bag_count", case.bag_count),
        ("codec", case.codec),
        ("params" if case.updates is None else "target", _tensor_text(case.params)),
        ("scales", case.scales and _tensor_text(case.scales)),
        ("zeros", case.zeros and _tensor_text(case.zeros)),
        ("indices", _tensor_text(case.indices)),
        ("updates", case.updates and _tensor_text(case.updates)),
        ("bags", case.bags and _tensor_text(case.bags)),
        ("weights", case.weights and _tensor_text(case.weights)),
        ("difference", case.difference),
        ("system", case.system and outcome_text(case.system)),
        ("expect", case.expect and outcome_text(case.expect)),
        ("source", case.source),
    ]
    return "".join(f"{key} {value}\n" for key, value in lines if value is not None) + "\n"


def _parse_shape(text):
    return () if text == "." else tuple(map(int, text.split(",")))


def _parse_data(dtype, text):
    if dtype == "string":
        elements = [] if text == "." else text.split(",")
        return tuple(b"" if e == "-" else bytes.fromhex(e) for e in elements)
    return b"" if text == "." else bytes.fromhex(text)


def _parse_tensor(text):
    dtype, shape, layout, data = text.split(" ")
    memory = _parse_data(dtype, data)
    if layout == ".":
        return Tensor(dtype, _parse_shape(shape), memory)
    offset, strides = (part.split("=")[1] for part in layout.split(";"))
    return Tensor(dtype, _parse_shape(shape), memory, int(offset), _parse_shape(strides))


def parse_outcome(text):
    word, *rest = text.split(" ")
    if word in (ABORT, HANG):
        return word
    if word == "ok":
        dtype, shape, data = rest
        return Ok(dtype, _parse_shape(shape), _parse_data(dtype, data))
    if word == "crc":
        dtype, shape, digits = rest
        return Crc(dtype, _parse_shape(shape), int(digits, 16))
    if not rest:
        return Error()
    status, operand, *numbers, flags = rest
    return Error(status, operand, *map(int, numbers), NO_FLAGS if flags == "." else tuple(flags.split(",")))


_PARSERS = {
    "opset": int,
    "axis": int,
    "batch_dims": int,
    "fill_value": bytes.fromhex,
    "params": _parse_tensor,
    "indices": _parse_tensor,
    "updates": _parse_tensor,
    "bags": _parse_tensor,
    "weights": _parse_tensor,
    "scales": _parse_tensor,
    "zeros": _parse_tensor,
    "padding_index": int,
    "bag_count": int,
    "system": parse_outcome,
    "expect": parse_outcome,
}


def parse(text):
    """Returns the cases of a file in order."""
    cases, fields = [], {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line:
            key, value = line.split(" ", 1)
            key = {"case": "name", "target": "params"}.get(key, key)
            fields[key] = _PARSERS.get(key, str)(value)
        elif fields:
            cases.append(Case(**fields))
            fields = {}
    return cases
