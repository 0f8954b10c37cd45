"""Converts the conformance cases to Python arguments. tests/conformance/README.md of the tree defines the format."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from libgather import Codec, Error, Packed, Tensor, _objects
from libgather._arrays.numpy_ import dtype_named
from libgather._base.dtypes import NUMBERS
from libgather._requests.operation_table import OPERATIONS, Operation

ROOT = Path(__file__).resolve().parents[3]
CASES = Path(os.environ.get("GATHER_CONFORMANCE_CASES", ROOT / "build" / "conformance" / "cases"))
#: The number of cases of each file.
COUNTS: dict[Path, int] = {}
for _line in (ROOT / "tests" / "conformance" / "digests.txt").read_text().splitlines()[1:]:
    _digest, _count, _recorded, _path = _line.split()
    _part, _, _name = _path.partition("/")
    if _part != "cases":
        continue
    COUNTS[CASES / _name] = int(_count)
    if not (CASES / _name).is_file():
        raise FileNotFoundError(
            f"there is no {CASES / _name}. These commands in the tree compute it: "
            "cmake --preset test && cmake --build --preset test --target conformance_cases"
        )

SWITCHES = ("negative", "bounds", "extents", "reduction", "accumulate")


@dataclass
class Case:
    name: str
    keys: dict[str, str]

    @property
    def operation(self) -> Operation:
        return {row.name: row for row in OPERATIONS.values()}[self.keys["op"].removesuffix("_gradient")]

    @property
    def attributes(self) -> dict[str, Any]:
        """axis, batch_dims, profile and opset. output_shape accepts them too."""
        found: dict[str, Any] = {k: int(self.keys[k]) for k in ("axis", "batch_dims", "opset") if k in self.keys}
        if "profile" in self.keys:
            found["profile"] = self.keys["profile"]
        return found

    @property
    def switches(self) -> dict[str, Any]:
        found: dict[str, Any] = {k: self.keys[k] for k in SWITCHES if k in self.keys}
        if "padding_index" in self.keys:
            found["padding_index"] = int(self.keys["padding_index"])
        if "initial" in self.keys:
            found["include_self"] = self.keys["initial"] == "target"
        if self.keys.get("fill") == "value":
            return {**found, "fill_value": bytes.fromhex(self.keys["fill_value"])}
        return {**found, "fill_value": self.keys["fill"]} if "fill" in self.keys else found

    @property
    def is_refused(self) -> bool:
        """Returns True if this package rejects the case.

        The library ignores a fill if `bounds` is not fill, and this package does not.
        """
        fills = self.keys.get("bounds", "fill") == "fill" or "padding_index" in self.keys
        return "fill" in self.keys and not fills

    @property
    def expected(self) -> list[str]:
        return self.keys["expect"].split(" ")


def cases(path: Path) -> Iterator[Case]:
    """Reads the cases of a file, of which there must be as many as digests.txt states."""
    count = 0
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line.split(" ", 1) for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            count += 1
            yield Case(lines[0][1], dict(lines[1:]))
    assert count == COUNTS[path], f"{path} has {count} cases"


def integers(text: str) -> tuple[int, ...]:
    return () if text == "." else tuple(map(int, text.split(",")))


def layout_of(text: str) -> tuple[int, tuple[int, ...] | None]:
    if text == ".":
        return 0, None
    offset, strides = text.split(";")
    return int(offset.removeprefix("offset=")), integers(strides.removeprefix("strides="))


def strings_of(shape: tuple[int, ...], data: str) -> np.ndarray:
    array = np.empty(math.prod(shape), object)
    array[:] = [] if data == "." else [b"" if s == "-" else bytes.fromhex(s) for s in data.split(",")]
    return array.reshape(shape)


def array_of(text: str) -> Any:
    """Returns the NumPy array of an argument, or a tensor over its memory if NumPy has no such array."""
    name, extents, layout, data = text.split(" ")
    shape = integers(extents)
    if name == "string":
        return strings_of(shape, data)
    offset, strides = layout_of(layout)
    memory = bytearray.fromhex("" if data == "." else data)
    try:
        return np.ndarray(shape, dtype_named(name), memory, offset, strides)
    except (ValueError, TypeError):
        address = _objects.buffer_of(memory)[1] + offset
        return Tensor._borrow(memory, address, NUMBERS[name], shape, strides, False)


def packed_of(case: Case, kind: Any) -> Packed:
    """Returns the packed params of a case. `kind` converts the arrays."""
    name, *texts = case.keys["codec"].split(" ")
    fields: dict[str, Any] = {}
    for field, _, text in (each.partition("=") for each in texts):
        fields[field] = float(text) if field in ("zero", "factor") else int(text)
    # A codec without a name has all its fields in the case.
    codec = Codec(name, **fields) if name != "." else Codec("affine8", **fields)
    dtype, extents, layout, data = case.keys["params"].split(" ")
    shape, (offset, strides) = integers(extents), layout_of(layout)
    rows: Any = np.frombuffer(bytes.fromhex(data), np.uint8)
    if strides is not None:
        rows = np.ndarray((*shape[:-1], codec.row_bytes(shape[-1])), np.uint8, rows, offset, (*strides[:-1], 1))
    scales, zeros = (kind(array_of(case.keys[key])) if key in case.keys else None for key in ("scales", "zeros"))
    return Packed(codec, kind(rows), shape, scales=scales, zeros=zeros, dtype=dtype)


def data_of(result: Any) -> tuple[str, tuple[int, ...], str]:
    """Returns a result in the notation of the cases: dtype, shape, data."""
    if isinstance(result, Tensor):
        result = np.asarray(result)
    if isinstance(result, (bytes, str)):
        return "string", (), hex_of(result)
    array = np.asarray(result)
    if array.dtype == object:
        return "string", array.shape, ",".join(map(hex_of, array.reshape(-1))) or "."
    return array.dtype.name, array.shape, array.tobytes().hex() or "."


def hex_of(string: Any) -> str:
    """Returns the bytes of a string. An array without strings has the type str."""
    return (string.encode() if isinstance(string, str) else string).hex() or "-"


def expected_error(case: Case) -> tuple[Any, ...]:
    """Returns the error of a case, as `fields_of` returns the fields of an error."""
    _, status, operand, component, position, value, limit, flags = case.expected
    return status, operand, *map(int, (component, position, value, limit)), flags


def fields_of(error: Error) -> tuple[Any, ...]:
    """Returns the fields of an error that a case states."""
    unsigned = error.value >= 2**63
    flags = ",".join(flag for flag, on in (("wrap", error.wraps), ("unsigned", unsigned)) if on) or "."
    value = error.value - 2**64 if unsigned else error.value
    name = error.status_name.removeprefix("GTH_E_")
    return name, error.operand, error.component, error.position, value, error.limit, flags
