"""Functions and modules with the names, the signatures and the rules of torch."""

from __future__ import annotations

import torch
from torch.compiler import is_compiling
from torch.overrides import handle_torch_function, has_torch_function

from .. import types as t
from .._requests.packed import Packed
from ._calls import (
    fast,
    flag_of,
    integer_of,
    not_a,
    number_of,
    padding_of,
    refuse,
    require_matrix,
    run_embedding,
    scalar_of,
    tensor_of,
)
from ._functions import gather, gather_bags, gather_elements, scatter

TYPE_CHECKING = False

_fast_embedding, _fast_bags = fast("embedding"), fast("gather_bags")
# The names of the options that the extension receives for an embedding_bag.
_EMBEDDING_BAG = "bag_format", "pool", "padding_index", "profile", "sparse"


def index_select(input: torch.Tensor | Packed, dim: int, index: torch.Tensor) -> torch.Tensor:
    """Returns ``torch.index_select(input, dim, index)``. It is :func:`gather`, and `index` may have any rank.

    >>> import torch, libgather.torch
    >>> libgather.torch.index_select(torch.tensor([5, 6, 7]), 0, torch.tensor([2, 0]))
    tensor([7, 5])
    """
    return gather(input, index, integer_of("dim", dim))


def take_along_dim(input: torch.Tensor, indices: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    """Returns ``torch.take_along_dim(input, indices, dim)``. It is :func:`gather_elements` with broadcast dims.

    With `dim`, a negative index counts from the end. Without it, both tensors are flattened.

    >>> import torch, libgather.torch
    >>> libgather.torch.take_along_dim(torch.tensor([[5, 6], [7, 8]]), torch.tensor([[1], [0]]), 1)
    tensor([[6],
            [7]])
    """
    if dim is None:
        return gather(input.reshape(-1), indices.reshape(-1))
    return gather_elements(input, indices, integer_of("dim", dim), negative="wrap", extents="broadcast")


def index_add(
    input: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, *, alpha: complex = 1
) -> torch.Tensor:
    """Returns ``torch.index_add(input, dim, index, source, alpha=alpha)``. It is :func:`scatter` with ``"add"``.

    >>> import torch, libgather.torch
    >>> libgather.torch.index_add(torch.zeros(3), 0, torch.tensor([1, 1]), torch.ones(2))
    tensor([0., 2., 0.])
    """
    factor = scalar_of("alpha", alpha)
    return scatter(input, index, source if factor == 1 else source * factor, integer_of("dim", dim), reduction="add")


def embedding(
    ids: torch.Tensor, weight: torch.Tensor | Packed, padding_idx: int | None = None, *, sparse: bool = False
) -> torch.Tensor:
    """Returns ``torch.nn.functional.embedding(ids, weight, padding_idx, sparse=sparse)``.

    Args:
        ids: Integers of any shape.
        weight: A matrix with one row for each id, or a :class:`libgather.Packed`.
        padding_idx: The row whose gradient is zero. A negative number counts from the end.
        sparse: If true, the gradient of `weight` is a sparse tensor. In a compiled program, in ``torch.func`` and for a
            dim of ``vmap`` it is dense.

    Raises:
        IndexError: An id is out of bounds.
        RankError: `weight` is not a matrix, or has no row `padding_idx`.
        UnsupportedError: `padding_idx` or `sparse` is given, and the operators are not compiled for this torch.

    >>> import torch, libgather.torch
    >>> weight = torch.ones(3, 2, requires_grad=True)
    >>> libgather.torch.embedding(torch.tensor([[1, 2]]), weight, padding_idx=2).sum().backward()
    >>> weight.grad
    tensor([[0., 0.],
            [1., 1.],
            [0., 0.]])
    """
    if has_torch_function((ids, weight)):
        return handle_torch_function(embedding, (ids, weight), ids, weight, padding_idx, sparse=sparse)
    require_matrix("params", weight)
    if padding_idx is None and sparse is False:
        return gather(weight, ids)
    padding = padding_of(padding_idx, weight)
    if not is_compiling():
        result = _fast_embedding(weight, ids, padding, sparse)
        if result is not NotImplemented:
            return result
    return run_embedding(ids, weight, padding, sparse)


def embedding_bag(
    ids: torch.Tensor,
    weight: torch.Tensor | Packed,
    offsets: torch.Tensor | None = None,
    *,
    mode: t.Pool = "mean",
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
    sparse: bool = False,
) -> torch.Tensor:
    """Returns ``torch.nn.functional.embedding_bag`` of the same arguments. It is :func:`gather_bags`.

    Args:
        ids: Integers of rank 1, or of rank 2 without `offsets`. Each row is a bag then.
        weight: A matrix with one row for each id, or a :class:`libgather.Packed`.
        offsets: The start of each bag.
        mode: ``"sum"``, ``"mean"`` or ``"max"``, or another pool of :func:`gather_bags`.
        per_sample_weights: A factor for each id, for sums and means.
        include_last_offset: If true, the last one of `offsets` is the end of the last bag.
        padding_idx: The row that is neither read nor counted. A negative number counts from the end.
        sparse: As for :func:`gather_bags`.

    Raises:
        OffsetsError: `offsets` are invalid.
        IndexError: An id is out of bounds.
        RankError: `weight` has no row `padding_idx`, or a tensor has another rank.
        UnsupportedError: The operators are not compiled for this torch.

    >>> import torch, libgather.torch
    >>> weight = torch.tensor([[1.0, 0.0], [0.0, 1.0], [4.0, 2.0]])
    >>> libgather.torch.embedding_bag(torch.tensor([0, 2, 1]), weight, torch.tensor([0, 2]), mode="sum").tolist()
    [[5.0, 2.0], [0.0, 1.0]]
    """
    relevant = weight, ids, offsets, per_sample_weights
    if has_torch_function(relevant):
        given = {"per_sample_weights": per_sample_weights, "include_last_offset": include_last_offset, "mode": mode}
        given |= {"padding_idx": padding_idx, "sparse": sparse}
        return handle_torch_function(embedding_bag, relevant, ids, weight, offsets, **given)
    require_matrix("params", weight)
    if offsets is None:
        ids = tensor_of(ids, weight)
        require_matrix("indices", ids, " without offsets")
    if not isinstance(mode, str):
        raise not_a("string", "mode", mode)
    is_last = flag_of("include_last_offset", include_last_offset)
    form = "dense" if offsets is None else "offsets" if is_last else "starts"
    padding = None if padding_idx is None else padding_of(padding_idx, weight)
    if not is_compiling():
        options = form, mode, padding, "torch", sparse
        result = _fast_bags(weight, ids, offsets, per_sample_weights, _EMBEDDING_BAG, *options)
        if result is not NotImplemented:
            return result
    number_of("pool", mode, "mode")
    bags: dict[str, t.Any] = {} if offsets is None else {form: offsets}
    rules: dict[str, t.Any] = {"padding_index": padding, "profile": "torch", "sparse": sparse}
    return gather_bags(weight, ids, **bags, weights=per_sample_weights, pool=mode, **rules)


# For type checkers, the modules are those of torch, whose arguments and attributes they have.
if TYPE_CHECKING:
    from torch.nn import Embedding as Embedding
    from torch.nn import EmbeddingBag as EmbeddingBag
else:

    class Embedding(torch.nn.Embedding):
        """``torch.nn.Embedding`` on :func:`embedding`, with the same arguments and the same state dict.

        `max_norm` and `scale_grad_by_freq` are not supported.

        >>> import torch, libgather.torch
        >>> module = libgather.torch.Embedding(10, 4, padding_idx=0)
        >>> module.load_state_dict(torch.nn.Embedding(10, 4, padding_idx=0).state_dict())
        <All keys matched successfully>
        >>> module(torch.tensor([[1, 0]])).shape
        torch.Size([1, 2, 4])
        """

        def __init__(self, *arguments: t.Any, **keywords: t.Any) -> None:
            super().__init__(*arguments, **keywords)
            refuse(self, "max_norm", "scale_grad_by_freq")

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return embedding(input, self.weight, self.padding_idx, sparse=self.sparse)

    class EmbeddingBag(torch.nn.EmbeddingBag):
        """``torch.nn.EmbeddingBag`` on :func:`embedding_bag`, with the same arguments and the same state dict.

        `max_norm` and `scale_grad_by_freq` are not supported.

        >>> import torch, libgather.torch
        >>> module = libgather.torch.EmbeddingBag(10, 4, mode="sum")
        >>> module.load_state_dict(torch.nn.EmbeddingBag(10, 4, mode="sum").state_dict())
        <All keys matched successfully>
        >>> module(torch.tensor([1, 0, 5]), torch.tensor([0, 2])).shape
        torch.Size([2, 4])
        """

        def __init__(self, *arguments: t.Any, **keywords: t.Any) -> None:
            super().__init__(*arguments, **keywords)
            refuse(self, "max_norm", "scale_grad_by_freq")

        def forward(
            self,
            input: torch.Tensor,
            offsets: torch.Tensor | None = None,
            per_sample_weights: torch.Tensor | None = None,
        ) -> torch.Tensor:
            return embedding_bag(
                input,
                self.weight,
                offsets,
                mode=self.mode,
                per_sample_weights=per_sample_weights,
                include_last_offset=self.include_last_offset,
                padding_idx=self.padding_idx,
                sparse=self.sparse,
            )
