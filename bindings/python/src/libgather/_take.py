"""NumPy's own forms: take and take_along_axis."""

from __future__ import annotations

import builtins
import sys

from . import _constants as c
from . import errors
from . import types as t
from ._arrays import flat, rank_of
from ._operation import GATHER, GATHER_ELEMENTS
from ._operations import run
from ._options import choice
from ._request import Request

_PROFILES: dict[str, t.Profile] = {"raise": "numpy_raise", "wrap": "numpy_wrap", "clip": "numpy_clip"}
_MODES = dict.fromkeys(_PROFILES, 0)


@t.overload
def take(a: t.Any, indices: t.Any, axis: int | None = None, *, out: t.OutT, mode: t.Mode = "raise") -> t.OutT: ...
@t.overload
def take(
    a: t.ArrayT, indices: t.Any, axis: int | None = None, out: None = None, mode: t.Mode = "raise"
) -> t.ArrayT: ...
@t.overload
def take(a: t.Any, indices: t.Any, axis: int | None = None, out: t.Any = None, mode: t.Mode = "raise") -> t.Any: ...
def take(a: t.Any, indices: t.Any, axis: int | None = None, out: t.Any = None, mode: t.Mode = "raise") -> t.Any:
    """``numpy.take`` for any arrays: slices of `a` along an axis, or its elements in row-major order.

    The result's shape is ``a.shape[:axis] + indices.shape + a.shape[axis+1:]``. It is :func:`gather` with
    ``profile="numpy_raise"``, and NumPy's rules beside: without an axis `a` is flat, a scalar is an array of one
    element, and `out` may overlap `a`. Arrays of Python's objects and ``StringDType`` are taken by NumPy itself.

    Args:
        a: any array that :func:`gather` takes
        indices: integers; a mask is none, as ``nonzero()`` of it has them
        axis: None takes the elements of the flat array
        out: an array of the result's shape and dtype to write to
        mode: what an index out of bounds means: ``"raise"`` (negative ones count from the end), ``"wrap"`` (modulo),
            ``"clip"`` (the nearest, negative ones being 0)

    Returns:
        `out`, or a new array of the kind and dtype of `a`; a scalar where NumPy gives one.

    Raises:
        IndexError: an index out of bounds, or any index into a dim of no elements
        RankError: `axis` out of range
        ShapeError, DTypeError: an `out` of another shape or dtype
        DTypeError: indices that are no integers, an argument that is no array
        OptionError: a `mode` that there is not

    >>> import libgather
    >>> libgather.take([[10, 20], [30, 40]], [3, -4]).tolist()
    [40, 10]
    >>> libgather.take([[10, 20], [30, 40]], [1, 5], axis=1, mode="clip").tolist()
    [[20, 20], [40, 40]]
    """
    choice("mode", mode, _MODES)
    if is_numpys(a):
        return by_numpy(a.take, indices, axis, out, mode)
    if axis is None:
        a, axis = flat(a), 0
    elif axis in (0, -1) and rank_of(a, "params") == 0:
        a = flat(a)
    request = Request(axis, profile=_PROFILES[mode])
    try:
        return run(GATHER, a, indices, out, request)
    except errors.OutputError as error:
        if error.status != c.E_ALIAS or not hasattr(out, "__setitem__"):
            raise
    out[...] = run(GATHER, a, indices, None, request)
    return out


def is_numpys(a: t.Any) -> bool:
    """Whether the elements are objects, which only NumPy can copy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(a, numpy.ndarray) and a.dtype.hasobject


def by_numpy(function: t.Callable[..., t.Any], *arguments: t.Any) -> t.Any:
    """A function of NumPy's, whose errors become ours."""
    try:
        return function(*arguments)
    except builtins.IndexError as error:
        raise errors.IndexError(f"indices: {error}", status=c.E_INDEX, operand="indices") from None
    except TypeError as error:
        raise errors.dtype_error(None, str(error)) from None
    except ValueError as error:
        raise errors.ShapeError(str(error), status=c.E_SHAPE) from None


def take_along_axis(arr: t.Any, indices: t.Any, axis: int | None = -1) -> t.Any:
    """``numpy.take_along_axis`` for any arrays: elements of `arr` along an axis, each at its own place in the others.

    For axis 1 of three::

        out[i, j, k] = arr[i, indices[i, j, k], k]

    The result's shape is that of `indices`, but where one of both has an extent of 1 beside the axis, it is repeated.
    It is :func:`gather_elements` with ``profile="numpy_raise"``.

    Args:
        arr: any array that :func:`gather` takes, of numbers or strings
        indices: integers of the rank of `arr`; negative ones count from the end
        axis: None takes the elements in row-major order for one dim, and `indices` of one dim

    Returns:
        A new array of the kind and dtype of `arr`.

    Raises:
        IndexError: an index out of bounds
        ShapeError: extents beside the axis that differ, and none of both is 1
        RankError: ranks that differ, `axis` out of range
        DTypeError: indices that are no integers, an `arr` of records, an argument that is no array
        Error: an `axis` of None for an array of several dims that has no method ``reshape``

    >>> import libgather
    >>> libgather.take_along_axis([[10, 30, 20], [60, 40, 50]], [[1], [-3]]).tolist()
    [[30], [60]]
    >>> libgather.take_along_axis([[10, 30, 20], [60, 40, 50]], [4, 0], axis=None).tolist()
    [40, 10]
    """
    if axis is None:
        arr, axis = flat(arr), 0
    return run(GATHER_ELEMENTS, arr, indices, None, Request(axis, profile="numpy_raise"))
