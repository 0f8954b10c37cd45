"""Operators of torch, which support autograd, ``torch.compile``, ``torch.export``, FakeTensor and ``vmap``.

The functions of :mod:`libgather` itself accept torch tensors as memory. These operators are registered in
``torch.ops.libgather``. They have shapes for tensors without values, gradients that do not depend on the number of
threads, and batching for ``vmap``. The module needs torch 2.4 or newer. It is imported at the first use.

The operators are compiled for one minor version of torch. The wheel for glibc on x86-64 has them for two versions.
``python -m libgather.torch.build`` compiles them for the installed one. Without them, there are only :func:`gather`,
:func:`gather_nd` and :func:`gather_elements`, and they take ten times as long for a few rows.
"""

from __future__ import annotations

from .._requests.options_struct import CHOICES
from . import _devices, _gathers, _packed  # noqa: F401
from ._calls import error_of
from ._extension import extension
from ._functions import (
    gather,
    gather_bags,
    gather_bags_positions,
    gather_elements,
    gather_nd,
    scatter,
    scatter_elements,
    scatter_nd,
    scatter_positions,
)
from ._torch_names import Embedding, EmbeddingBag, embedding, embedding_bag, index_add, index_select, take_along_dim

__all__ = [
    "Embedding",
    "EmbeddingBag",
    "embedding",
    "embedding_bag",
    "gather",
    "gather_bags",
    "gather_bags_positions",
    "gather_elements",
    "gather_nd",
    "index_add",
    "index_select",
    "is_compiled",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "scatter_positions",
    "take_along_dim",
]


def is_compiled() -> bool:
    """Returns whether the operators are compiled for this torch."""
    return extension is not None


if extension is not None:
    extension.configure(CHOICES, error_of)
    _devices.register()
_packed.register(
    gather=gather,
    gather_nd=gather_nd,
    gather_elements=gather_elements,
    gather_bags=gather_bags,
    embedding=embedding,
    embedding_bag=embedding_bag,
)
