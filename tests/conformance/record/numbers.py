"""Numbers of each dtype as bytes, with the standard library alone. A NaN always has the same bytes."""

import functools
import math
import struct

from . import dtypes

NAN = float("nan")
LETTERS = {"float16": "e", "float32": "f", "float64": "d"}
PARTS = {"complex64": "float32", "complex128": "float64"}
#: The bytes of 1, 0 and NaN. The cases convert no other numbers to float8. E8M0 has no 0.
FLOAT8 = {
    "float8_e3m4": ("30", "00", "78"),
    "float8_e4m3": ("38", "00", "7c"),
    "float8_e4m3b11fnuz": ("58", "00", "80"),
    "float8_e4m3fn": ("38", "00", "7f"),
    "float8_e4m3fnuz": ("40", "00", "80"),
    "float8_e5m2": ("3c", "00", "7e"),
    "float8_e5m2fnuz": ("40", "00", "80"),
    "float8_e8m0fnu": ("7f", "ff", "ff"),
}


def pack(dtype, values):
    """Returns the memory of dense numbers. A float is rounded to the nearest number of the dtype."""
    return b"".join(map(_packer(dtype), values))


@functools.cache
def _packer(dtype):
    kind = dtypes.ALL[dtype].kind
    if kind == "bool":
        return lambda value: bytes([bool(value)])
    if kind in ("int", "uint"):
        size = dtypes.ALL[dtype].size
        return lambda value: int(value).to_bytes(size, "little", signed=kind == "int")
    if kind == "float8":
        return lambda value: bytes.fromhex(FLOAT8[dtype][2 if value != value else (1, 0).index(value)])
    if kind == "complex":
        return lambda value: pack(PARTS[dtype], (complex(value).real, complex(value).imag))
    if kind == "bfloat16":
        return _pack_bfloat16
    return lambda value: _pack_float(LETTERS[dtype], value)


def _pack_float(letter, value):
    try:
        return struct.pack("<" + letter, NAN if value != value else value)
    except OverflowError:
        return struct.pack("<" + letter, math.copysign(math.inf, value))


def _pack_bfloat16(value):
    if value != value:
        return b"\xc0\x7f"
    bits = int.from_bytes(_pack_float("f", value), "little")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


def unpack(dtype, memory):
    """Returns the numbers of a dense memory."""
    kind, size = dtypes.ALL[dtype].kind, dtypes.ALL[dtype].size
    if kind == "complex":
        parts = unpack(PARTS[dtype], memory)
        return [complex(*pair) for pair in zip(parts[::2], parts[1::2])]
    elements = [memory[at : at + size] for at in range(0, len(memory), size)]
    if kind in ("bool", "int", "uint"):
        found = [int.from_bytes(element, "little", signed=kind == "int") for element in elements]
        return list(map(bool, found)) if kind == "bool" else found
    if kind == "bfloat16":
        return [struct.unpack("<f", bytes(2) + element)[0] for element in elements]
    return [struct.unpack("<" + LETTERS[dtype], element)[0] for element in elements]


def rounded(dtype, value):
    """Returns the number that the dtype has instead of a result. Integers wrap around."""
    kind = dtypes.ALL[dtype].kind
    if kind in ("int", "uint"):
        bits = 8 * dtypes.ALL[dtype].size
        low = value % 2**bits
        return low - 2**bits if kind == "int" and low >= 2 ** (bits - 1) else low
    if dtype in ("float64", "complex128"):
        return value
    if dtype in LETTERS:
        return struct.unpack("<" + LETTERS[dtype], _pack_float(LETTERS[dtype], value))[0]
    return unpack(dtype, pack(dtype, [value]))[0]


def _fill(d):
    if d.kind == "bool":
        return b"\x01"
    if d.kind in ("int", "uint"):
        return pack(d.name, [limits(d.name)[d.kind == "uint"]])
    return b"\x7f" if d.name == "float8_e5m2" else pack(d.name, [NAN])  # not the NaN of ml_dtypes, 0x7e


def limits(dtype):
    bits = dtypes.ALL[dtype].size * 8
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtypes.ALL[dtype].kind == "int" else (0, 2**bits - 1)


# The element that jax.numpy.take writes in its mode "fill". The grid of the profile jax_fill confirms it.
FILL_BY_DTYPE = {name: _fill(dtypes.ALL[name]) for name in dtypes.NUMERIC}
