"""The loaded library, refused if its ABI is another one than this package was made for."""

from __future__ import annotations

from . import _abi
from ._constants import ABI_VERSION

if _abi.version() != ABI_VERSION:
    raise ImportError(f"libgather: the loaded library has ABI {_abi.version()}, this package needs ABI {ABI_VERSION}")

# After the check: of a library of another ABI these would only say which symbol they miss.
from ._low import ffi as ffi
from ._low import lib as lib

NULL = ffi.NULL


def token(handle: object) -> int:
    """A handle as the integer that libgather._objects takes."""
    return int(ffi.cast("uintptr_t", handle))


def text(pointer: object) -> str:
    return ffi.string(pointer).decode()  # type: ignore[no-any-return]
