"""TensorFlow's lookups of sparse ids, as bags of ids."""

from __future__ import annotations

import sys
from functools import partial
from math import prod

from .. import errors
from .. import types as t
from .._arrays.kinds import enter
from .._base import constants as c
from .._base.integers import integer
from .._base.optional_packages import module
from .._operations.bags import gather_bags
from ._arguments import checked_indices, constant, shortened
from ._differentiated import differentiated, is_differentiated, unconverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Bags(NamedTuple):
        """The ids of all bags: the id, the bag and the weight of each, and the number of bags."""

        ids: t.Any
        segments: t.Any
        weights: t.Any
        count: t.Any

else:
    from collections import namedtuple

    Bags = namedtuple("Bags", "ids segments weights count")

#: The number of bags follows from the last segment.
_AS_SEGMENTS = -1
_COMBINERS = {"sum", "mean", "sqrtn"}


@unconverted
def embedding_lookup_sparse(
    params: t.Any,
    sp_ids: t.Any,
    sp_weights: t.Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: t.Any = None,
    allow_fast_lookup: bool = False,
) -> t.Any:
    """``tf.nn.embedding_lookup_sparse``: adds the rows of `params` that each row of ids selects, with weights.

    The result has the shape ``(rows,) + params.shape[1:]``. As in TensorFlow, the last id decides the number of rows.
    The result has a gradient with respect to params (``tf.IndexedSlices``) and to weights.

    Args:
        params: A table, or a list of the shards of a table, as ``"div"`` distributes its rows.
        sp_ids: A ``tf.SparseTensor`` or ``tf.RaggedTensor`` of rank 2, or another object that has the arrays
            ``indices``, ``values`` and ``dense_shape``.
        sp_weights: The weights of the ids in the same form, or None. They are converted to the dtype of `params`, and
            to float32 for float16 and bfloat16.
        combiner: ``"mean"`` (default), ``"sum"`` or ``"sqrtn"``. A mean or sqrtn is the quotient. TensorFlow multiplies
            by the reciprocal of the divisor, so its last bit may differ.
        max_norm: Rows with a larger norm are scaled to this norm before they are added. This and several shards
            need TensorFlow, whose ``embedding_lookup`` then reads the rows.
        name, allow_fast_lookup: These are ignored.

    Raises:
        IndexError: An id is out of bounds.
        OffsetsError: The rows of ids are not sorted.
        OptionError: The combiner is unknown.
        ShapeError, RankError, DTypeError: TensorFlow would reject the arguments.
        DeviceError: An array is on a device.

    >>> import libgather.tf, numpy as np
    >>> from types import SimpleNamespace as Sparse
    >>> cells, ids = np.array([[0, 0], [0, 1], [1, 0]]), np.array([0, 2, 1])
    >>> sparse = Sparse(indices=cells, values=ids, dense_shape=np.array([2, 2]))
    >>> table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> libgather.tf.embedding_lookup_sparse(table, sparse, None).tolist()
    [[3.0, 4.0], [3.0, 4.0]]
    """
    cells, ids, _ = parts_of(sp_ids)
    weights = None if sp_weights is None else sp_weights.values
    return combined(params, Bags(ids, cells[:, 0], weights, _AS_SEGMENTS), combiner, max_norm)


@unconverted
def safe_embedding_lookup_sparse(
    embedding_weights: t.Any,
    sparse_ids: t.Any,
    sparse_weights: t.Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: t.Any = None,
    allow_fast_lookup: bool = False,
) -> t.Any:
    """``tf.nn.safe_embedding_lookup_sparse``: as :func:`embedding_lookup_sparse` for ids that may be missing.

    Negative ids are ignored. Ids whose weight is not positive are ignored too, unless the combiner is ``"sum"``. The
    result has the shape ``sparse_ids.dense_shape[:-1] + embedding_weights.shape[1:]``. It needs NumPy.

    Args:
        embedding_weights, sparse_weights, combiner, max_norm: As for :func:`embedding_lookup_sparse`.
        sparse_ids: A ``tf.SparseTensor`` of any rank from 1 on, or a ``tf.RaggedTensor`` of rank 2.
        default_id: The id whose row is the result for no ids. None means zeros.
        name, allow_fast_lookup: These are ignored.

    Raises:
        Error: As for :func:`embedding_lookup_sparse`.

    >>> import libgather.tf, numpy as np
    >>> from types import SimpleNamespace as Sparse
    >>> cells, ids = np.array([[0, 0], [0, 1], [2, 0]]), np.array([1, -1, 0])
    >>> sparse = Sparse(indices=cells, values=ids, dense_shape=np.array([3, 2]))
    >>> libgather.tf.safe_embedding_lookup_sparse(np.array([[1.0, 2.0], [3.0, 4.0]]), sparse).tolist()
    [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]
    """
    cells, ids, shape = parts_of(sparse_ids)
    weights = None if sparse_weights is None else sparse_weights.values
    default_id = None if default_id is None else integer("default_id", constant(default_id), 32)
    find = partial(kept, -1 if default_id is None else default_id, combiner != "sum")
    operands = [cells, ids, shape, *([] if weights is None else [weights])]
    if is_differentiated(*operands):
        tf = sys.modules["tensorflow"]
        places, segments = tf.numpy_function(find, operands, (tf.int64, tf.int64))
        places.set_shape([None])
        segments.set_shape([None])
        count = tf.reduce_prod(shape)
    else:
        places, segments = find(*map(constant, operands))
        count = prod(shape)
    ids = at_places(places, ids, default_id or 0)
    weights = None if weights is None else at_places(places, weights, 1)
    rows = combined(embedding_weights, Bags(ids, segments, weights, count), combiner, max_norm)
    return rows if shape.shape == (1,) else reshaped(rows, shape)


def parts_of(sparse: t.Any) -> tuple[t.Any, t.Any, t.Any]:
    """Returns the cells of sparse or ragged ids without the last dim, the ids, and the shape without the last dim."""
    if hasattr(sparse, "row_splits"):
        shape = constant(sparse.bounding_shape())[:1]
        return constant(sparse.value_rowids())[:, None], constant(sparse.values), shape
    if not hasattr(sparse, "dense_shape"):
        raise errors.dtype_error("indices", f"{type(sparse).__name__} is neither a SparseTensor nor a RaggedTensor")
    return constant(sparse.indices)[:, :-1], constant(sparse.values), constant(sparse.dense_shape)[:-1]


def kept(
    default_id: int, needs_weight: bool, cells: t.Any, ids: t.Any, shape: t.Any, weights: t.Any = None
) -> tuple[t.Any, t.Any]:
    """Returns the places of valid ids, and their bags. The place after the last id is that of the default id."""
    np = module("numpy")
    is_kept = ids >= 0
    if weights is not None and needs_weight:
        is_kept &= weights > 0
    places = np.flatnonzero(is_kept)
    steps = np.cumprod([1, *shape[:0:-1]])[::-1]
    segments = cells[places] @ steps[: len(shape)]
    if default_id >= 0:
        empty = np.setdiff1d(np.arange(shape.prod()), segments)
        segments = np.append(segments, empty)
        order = np.argsort(segments, kind="stable")
        places, segments = np.append(places, np.full_like(empty, len(ids)))[order], segments[order]
    return places.astype(np.int64), segments.astype(np.int64)


def at_places(places: t.Any, array: t.Any, last: int) -> t.Any:
    """Returns the elements of an array at places. The place after its end has the element `last`."""
    if is_differentiated(places, array):
        tf = sys.modules["tensorflow"]
        return tf.gather(tf.concat([array, tf.cast([last], array.dtype)], 0), places)
    np = module("numpy")
    return np.append(constant(array), np.array([last], constant(array).dtype))[constant(places)]


def reshaped(rows: t.Any, shape: t.Any) -> t.Any:
    if hasattr(rows, "reshape"):
        return rows.reshape(*shape, *rows.shape[1:])
    tf = sys.modules["tensorflow"]
    return tf.reshape(rows, tf.concat([tf.cast(shape, tf.int32), tf.shape(rows)[1:]], 0))


def combined(params: t.Any, bags: Bags, combiner: str | None, max_norm: float | None) -> t.Any:
    combiner = "mean" if combiner is None else combiner
    if not isinstance(combiner, str) or combiner not in _COMBINERS:
        message = f"options: combiner {combiner!r} is none of 'mean', 'sqrtn' and 'sum'"
        raise errors.OptionError(message, status=c.E_VERSION, operand="options")
    if isinstance(params, (list, tuple)) and len(params) == 1:
        (params,) = params
    if max_norm is not None or isinstance(params, (list, tuple)):
        tf = module("tensorflow")
        unique, ids = tf.unique(bags.ids)
        params = tf.nn.embedding_lookup(params, unique, max_norm)
        bags = bags._replace(ids=ids)
    return looked_up(combiner, params, bags)


def looked_up(combiner: str, params: t.Any, bags: Bags) -> t.Any:
    if not is_differentiated(params, *bags[:3]):
        return pooled(combiner, params, bags.ids, bags.segments, bags.count, bags.weights)
    tf = sys.modules["tensorflow"]
    params = tf.convert_to_tensor(params)
    operands = [params, bags.ids, bags.segments, bags.count]
    if bags.weights is not None:
        operands.append(tf.cast(bags.weights, type_of_sums(params.dtype)))
    shape = [None, *params.shape[1:]] if params.shape.rank is not None else None
    return differentiated(partial(pooled, combiner), partial(gradient_of, combiner), shape, *operands)


def pooled(combiner: str, params: t.Any, ids: t.Any, segments: t.Any, count: t.Any, weights: t.Any = None) -> t.Any:
    params, segments, count = shortened(params), constant(segments), int(count)
    if count == _AS_SEGMENTS:
        count = int(segments[-1]) + 1 if len(segments) else 0
    if weights is not None:
        dtype = enter(params, None, "params")[0].dtype
        weights = constant(weights).astype("float32" if dtype in ("float16", "bfloat16") else dtype, copy=False)
    return gather_bags(
        params,
        checked_indices(ids),
        segments=segments,
        count=count,
        weights=weights,
        pool=combiner,  # type: ignore[call-overload]
        profile="tensorflow",
    )


# ------------------------------------------------------------------------------------------------------- gradients


def type_of_sums(dtype: t.Any) -> t.Any:
    tf = sys.modules["tensorflow"]
    return tf.float32 if dtype in (tf.float16, tf.bfloat16) else dtype


def gradient_of(combiner: str, operands: t.Any, result: t.Any, upstream: t.Any) -> t.Any:
    tf = sys.modules["tensorflow"]
    params, ids, segments, count, *given = operands
    dtype, bags = type_of_sums(params.dtype), tf.shape(upstream)[0]
    weights = given[0] if given else tf.ones_like(ids, dtype)
    scale = scale_of(combiner, weights, segments, bags)
    rows = tf.gather(tf.cast(upstream, dtype) * beside(scale, upstream), segments)
    slices = tf.IndexedSlices(tf.cast(rows * beside(weights, rows), params.dtype), ids, tf.shape(params))
    if not given:
        return slices, None, None, None
    changes = tf.cast(tf.gather(params, ids), dtype)
    if combiner != "sum":
        mean = looked_up(combiner, params, Bags(ids, segments, weights, count))
        factors = tf.ones_like(weights) if combiner == "mean" else weights * tf.gather(scale, segments)
        changes -= tf.cast(tf.gather(mean, segments), dtype) * beside(factors, rows)
    of_weights = tf.reduce_sum(rows * changes, axis=tf.range(1, tf.rank(rows)))
    return slices, None, None, None, of_weights


def scale_of(combiner: str, weights: t.Any, segments: t.Any, count: t.Any) -> t.Any:
    """Returns the factor of each bag."""
    tf = sys.modules["tensorflow"]
    if combiner == "sum":
        return tf.ones([count], weights.dtype)
    if combiner == "mean":
        return tf.math.reciprocal_no_nan(tf.math.unsorted_segment_sum(weights, segments, count))
    return tf.math.reciprocal_no_nan(tf.sqrt(tf.math.unsorted_segment_sum(weights * weights, segments, count)))


def beside(factors: t.Any, rows: t.Any) -> t.Any:
    """Returns factors with dims of size 1, one for each further dim of the rows."""
    tf = sys.modules["tensorflow"]
    return tf.reshape(factors, tf.concat([tf.shape(factors), tf.ones([tf.rank(rows) - 1], tf.int32)], 0))
