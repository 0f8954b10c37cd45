"""The loaded library, refused if its ABI is another one than this package was made for."""

from __future__ import annotations

from ._constants import ABI_VERSION
from ._low import ffi as ffi
from ._low import lib as lib

_loaded = lib.gth_abi_version()
if _loaded != ABI_VERSION:
    raise ImportError(f"libgather: the loaded library has ABI {_loaded}, this package needs ABI {ABI_VERSION}")

NULL = ffi.NULL


def token(handle: object) -> int:
    """A handle as the integer that libgather._objects takes."""
    return int(ffi.cast("uintptr_t", handle))


def text(pointer: object) -> str:
    return ffi.string(pointer).decode()  # type: ignore[no-any-return]
