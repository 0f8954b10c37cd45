"""``torch.compile``: Dynamo calls the functions of this package and does not trace them.

Tracing fails inside torch, because the package calls methods such as ``__dlpack_device__`` of the tensors. The
operators of libgather.torch can be traced, and so can a rule that they share with other functions.
"""

from __future__ import annotations

import sys
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

#: The torch module with the rules for files that Dynamo does not trace.
_RULES = "torch._dynamo.trace_rules"


def skip_package() -> None:
    """Adds the rules now if Dynamo is imported, and otherwise when it is. Importing it here would take seconds."""
    if _RULES in sys.modules:
        add_rules(sys.modules[_RULES])
    else:
        sys.meta_path.insert(0, Finder())


def add_rules(rules: ModuleType) -> None:
    from pkgutil import iter_modules

    package = __package__.partition(".")[0]
    for module in iter_modules(sys.modules[package].__path__):
        if module.name not in ("torch", "_bounds"):
            rules.add(f"{package}.{module.name}")


def untraced(function: Any) -> Any:
    """Returns a function that Dynamo does not trace, nor what it calls. Importing Dynamo here would take seconds."""
    disabled: Any = None

    def call(*arguments: Any) -> Any:
        nonlocal disabled
        if _RULES not in sys.modules:
            return function(*arguments)
        if disabled is None:
            disabled = sys.modules["torch"].compiler.disable(function)
        return disabled(*arguments)

    return call


class Finder:
    """Import hook for the module with the rules. It adds the rules of this package after the module has run."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != _RULES:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            setattr(spec.loader, "exec_module", partial(self.run, spec.loader.exec_module))  # noqa: B010
        return spec

    def run(self, exec_module: Any, module: ModuleType) -> None:
        exec_module(module)
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        add_rules(module)
