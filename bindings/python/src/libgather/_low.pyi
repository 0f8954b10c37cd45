"""The cffi module of gather.h. The build of the package generates it."""

from typing import Any

ffi: Any
lib: Any
