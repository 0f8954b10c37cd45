"""The functions of this module, and those of torch that they replace, for packed rows.

:class:`libgather.Packed` has the protocol ``__torch_function__``, so that calls with such a table arrive here.
"""

from __future__ import annotations

from functools import partial

import torch
from torch.compiler import is_compiling
from torch.nn import functional

from .. import errors
from .._base import constants as c
from .._base.torch_dynamo import untraced
from .._memory.packed_memory import TABLES, TORCH_FUNCTIONS, PackedRows
from .._operations import bags, gathers
from ._calls import flag_of, from_front, not_a, number_of, require_matrix, tensor_of
from ._common import LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def as_torchs(table: Any) -> Any:
    """Returns the table with results of torch."""
    if not isinstance(table, PackedRows):
        raise errors.dtype_error("params", f"{type(table).__name__} is not a packed table")
    return table._with_like(torch.empty(0, dtype=getattr(torch, table._memory.dtype)))


#: The options that the operators have, and the formats of bags.
OPTIONS = "negative", "bounds", "fill_value", "padding_index", "profile", "opset"
BAG_OPTIONS = "pool", "padding_index", "empty", "accumulate", "negative", "bounds", "fill_value", "profile"
FORMS = "offsets", "starts", "lengths", "segments"


def table_of(number: int) -> Any:
    table = TABLES.get(number)
    if table is None:
        raise errors.closed("params")
    return table


@untraced
def run_gather(number: int, name: str, indices: Any, axis: int, batch_dims: int, *given: Any) -> Any:
    options = dict(zip(OPTIONS, given, strict=True))
    return gather(name, table_of(number), indices.detach(), axis, batch_dims, **options)


def fake_gather(number: int, name: str, indices: Any, axis: int, batch_dims: int, *_: Any) -> Any:
    dims = table_of(number)._dims
    if name == "gather_nd":
        lead, rest = indices.shape[:-1], dims[batch_dims + indices.shape[-1] :]
    else:
        axis, batch_dims = from_front(axis, len(dims)), from_front(batch_dims, indices.dim())
        lead, rest = (*dims[:axis], *indices.shape[batch_dims:]), dims[axis + 1 :]
    return rows_of(number, indices, (*lead, *rest))


@untraced
def run_bags(number: int, indices: Any, form: str | None, of: Any, count: int | None, weights: Any, *given: Any) -> Any:
    options = dict(zip(BAG_OPTIONS, given, strict=True))
    options |= {} if form is None else {form: of}
    return gather_bags(table_of(number), indices.detach(), count=count, weights=weights, **options)


def fake_bags(number: int, indices: Any, form: str | None, of: Any, count: int | None, *_: Any) -> Any:
    lead: Any = indices.shape[:-1]
    if form is not None:
        lead = (count if form == "segments" else of.shape[0] - (form == "offsets"),)
    return rows_of(number, indices, (*lead, *table_of(number)._dims[1:]))


def rows_of(number: int, indices: Any, shape: tuple[Any, ...]) -> Any:
    return indices.new_empty(shape, dtype=getattr(torch, table_of(number)._memory.dtype))


def define(name: str, parameters: str, run: Callable[..., Any], fake: Callable[..., Any]) -> None:
    """Defines an operator on the table of a number, which is valid in this process as long as the table lives."""
    LIBRARY.define(f"{name}(int table, {parameters}) -> Tensor", tags=torch.Tag.pt2_compliant_tag)
    LIBRARY.impl(name, run, "CompositeExplicitAutograd")
    torch.library.register_fake(f"libgather::{name}", fake, lib=LIBRARY)


_RULES = "str? negative, str? bounds, Scalar? fill_value"
define(
    "packed_gather",
    f"str name, Tensor indices, int axis, int batch_dims, {_RULES}, int? padding_index, str? profile, int? opset",
    run_gather,
    fake_gather,
)
define(
    "packed_gather_bags",
    "Tensor indices, str? form, Tensor? bags, SymInt? count, Tensor? weights, str? pool, int? padding_index, "
    f"str? empty, str? accumulate, {_RULES}, str? profile",
    run_bags,
    fake_bags,
)


def gather(
    name: str,
    params: Any,
    indices: Any,
    axis: int | None = None,
    batch_dims: int = 0,
    *,
    order: str | None = None,
    **options: Any,
) -> Any:
    number_of("order", order)  # raises an error
    if is_compiling():
        axis = batch_dims if axis is None else axis
        given = (options.get(option) for option in OPTIONS)
        return torch.ops.libgather.packed_gather(params._number, name, indices, axis, batch_dims, *given)
    own = {"axis": axis} if name != "gather_nd" else {}
    own |= {"batch_dims": batch_dims} if name != "gather_elements" else {}
    return getattr(gathers, name)(as_torchs(params), indices, **own, **options)


def gather_bags(params: Any, indices: Any, *, sparse: bool = False, order: str | None = None, **options: Any) -> Any:
    flag_of("sparse", sparse)
    number_of("order", order)  # raises an error
    if not is_compiling():
        return bags.gather_bags(as_torchs(params), indices, **options)
    weights, form = options.get("weights"), next((form for form in FORMS if options.get(form) is not None), None)
    if weights is not None and weights.requires_grad:
        raise errors.unsupported("weights", "bags of packed rows have no gradient")
    given = (options.get(option) for option in BAG_OPTIONS)
    return torch.ops.libgather.packed_gather_bags(
        params._number, indices, form, None if form is None else options[form], options.get("count"), weights, *given
    )


def index_select(input: Any, dim: int, index: Any) -> Any:
    return gather("gather", input, index, dim)


def embedding(ids: Any, weight: Any, padding_idx: int | None = None, *, sparse: bool = False, **others: Any) -> Any:
    refuse(others)
    flag_of("sparse", sparse)
    require_rank(weight)
    if padding_idx is not None:
        row_of(padding_idx, weight)
    return gather("gather", weight, ids)


def embedding_bag(
    ids: Any,
    weight: Any,
    offsets: Any = None,
    *,
    mode: Any = "mean",
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
    sparse: bool = False,
    **others: Any,
) -> Any:
    refuse(others)
    require_rank(weight)
    if not isinstance(mode, str):
        raise not_a("string", "mode", mode)
    if offsets is None:
        ids = tensor_of(ids, torch.empty(0))
        require_matrix("indices", ids, " without offsets")
    is_last = flag_of("include_last_offset", include_last_offset)
    form = {} if offsets is None else {"offsets" if is_last else "starts": offsets}
    padding = None if padding_idx is None else row_of(padding_idx, weight)
    rules: Any = {"weights": per_sample_weights, "pool": mode, "padding_index": padding, "profile": "torch"}
    return gather_bags(weight, ids, sparse=sparse, **form, **rules)


def row_of(padding_idx: int, weight: Any) -> int:
    """Returns the number of the padding row. Raises RankError if there is none."""
    rows = weight._dims[0]
    if not -rows <= padding_idx < rows:
        message = f"options: padding_idx is {padding_idx}, weight has {rows} rows"
        raise errors.RankError(message, status=c.E_AXIS, operand="options")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def require_rank(weight: Any) -> None:
    rank = len(weight._dims)
    if rank != 2:
        raise errors.RankError(f"params: rank is {rank}, needed is 2", status=c.E_RANK, operand="params", limit=2)


def refuse(others: dict[str, Any]) -> None:
    """Raises UnsupportedError for the arguments of torch's functions that change the table or a gradient."""
    for name in ("max_norm", "scale_grad_by_freq"):
        if others.get(name):
            raise errors.unsupported("options", f"{name} is not for packed rows")


def register(**own: Callable[..., Any]) -> None:
    """Adds the functions for packed rows. `own` are the functions of the package by name."""
    found = TORCH_FUNCTIONS
    for name in ("gather", "gather_nd", "gather_elements"):
        found[own[name]] = partial(gather, name)
    found[own["gather_bags"]] = gather_bags
    found |= {own["embedding"]: embedding, functional.embedding: embedding}
    found |= {own["embedding_bag"]: embedding_bag, functional.embedding_bag: embedding_bag}
    found[torch.index_select] = index_select
