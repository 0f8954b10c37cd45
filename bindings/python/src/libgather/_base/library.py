"""The loaded library. The import fails if its ABI is not the one that this package was built for."""

from __future__ import annotations

# Imported first, because it may load the library that the extension modules need.
from . import cuda_package  # noqa: F401

# isort: split
from .. import _abi
from .constants import ABI_VERSION

if _abi.version() != ABI_VERSION:
    raise ImportError(f"libgather: the loaded library has ABI {_abi.version()}, this package needs ABI {ABI_VERSION}")

# Imported after the check: with a library of another ABI, the import would only name a missing symbol.
from .._low import ffi as ffi
from .._low import lib as lib

NULL = ffi.NULL


def token(handle: object) -> int:
    """Returns a handle as the integer that libgather._objects accepts."""
    return int(ffi.cast("uintptr_t", handle))


def text(pointer: object) -> str:
    return ffi.string(pointer).decode()  # type: ignore[no-any-return]
