"""The compiled extension: C++ operators for one minor version of torch in a shared object."""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location

import torch

from ._object_files import MODULE, found, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMAND = "python -m libgather.torch.build"


def module_of(name: str) -> Any:
    """Loads the module of a shared object."""
    spec = spec_from_file_location(MODULE, name, loader=ExtensionFileLoader(MODULE, name))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loaded() -> tuple[Any, str]:
    """Returns the module of the extension, or None and the reason why there is none."""
    reason = f"there is none for torch {torch.__version__}"
    for path in found(torch.__version__):
        try:
            with opened(path) as name:
                return module_of(name), ""
        except ImportError as error:  # the object of the package may need a newer C++ library
            reason = str(error)
    return None, reason


extension, REASON = loaded()
