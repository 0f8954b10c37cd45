"""Optional packages. A package is usually imported already, because the caller has an array of it."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def module(name: str) -> Any:
    return sys.modules.get(name) or import_module(name)
