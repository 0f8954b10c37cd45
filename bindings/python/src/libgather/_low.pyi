"""The cffi module over gather.h, made when the package is built."""

from typing import Any

ffi: Any
lib: Any
