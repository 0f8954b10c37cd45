"""The structs of gather.h for ctypes. Their fields are read from the header, so they have the size that it states."""

import ctypes
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings/generate"))

from header import HEADER, Header

TYPES: dict[str, Any] = {
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "char": ctypes.c_char,
    "pointer": ctypes.c_void_p,
}
STRUCTS = {struct.name: struct for struct in Header(HEADER.read_text()).structs}


def fields_of(name: str, **types: Any) -> list[tuple[str, Any]]:
    """Returns the fields of a struct. `types` replaces the types of some fields, which are pointers."""
    fields = STRUCTS[name].fields
    if unknown := types.keys() - {field.name for field in fields if field.type == "pointer"}:
        raise ValueError(f"{name} has no pointer {', '.join(sorted(unknown))}")
    return [(field.name, types.get(field.name) or type_of(field)) for field in fields]


def type_of(field: Any) -> Any:
    kind = TYPES[field.type]
    return kind if field.count == 1 else kind * field.count
