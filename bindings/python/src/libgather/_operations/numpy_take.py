"""take and take_along_axis with the rules of NumPy."""

from __future__ import annotations

import builtins
import sys

from .. import errors
from .. import types as t
from .._arrays.kinds import flat, loaded, rank_of
from .._base import constants as c
from .._base.constants import OP_GATHER, OP_GATHER_ELEMENTS
from .._base.integers import integer
from .._base.request_fields import Request
from .._requests.operation_table import GATHER, GATHER_ELEMENTS
from .._requests.options_struct import choice
from .gathers import run
from .native_functions import TAKE, run_natively

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._memory.packed_memory import PackedRows

_PROFILES: dict[str, t.Profile] = {"raise": "numpy_raise", "wrap": "numpy_wrap", "clip": "numpy_clip"}
_MODES = dict.fromkeys(_PROFILES, 0)
#: The modes by NumPy's numbers, numpy.CLIP and so on.
_NUMBERED = ("clip", "wrap", "raise")


@t.overload
def take(a: t.Any, indices: t.Any, axis: int | None = None, *, out: t.OutT, mode: t.Mode = "raise") -> t.OutT: ...
@t.overload
def take(a: PackedRows, indices: t.Any, axis: int | None = None, out: None = None, mode: t.Mode = "raise") -> t.Any: ...
@t.overload
def take(
    a: t.ArrayT, indices: t.Any, axis: int | None = None, out: None = None, mode: t.Mode = "raise"
) -> t.ArrayT: ...
@t.overload
def take(a: t.Any, indices: t.Any, axis: int | None = None, out: t.Any = None, mode: t.Mode = "raise") -> t.Any: ...
@run_natively(OP_GATHER, TAKE, _PROFILES, a="table", out="rows", mode="profile")
def take(a: t.Any, indices: t.Any, axis: int | None = None, out: t.Any = None, mode: t.Mode = "raise") -> t.Any:
    """``numpy.take`` for any arrays: gathers slices of `a` along an axis, or its elements in row-major order.

    The result's shape is ``a.shape[:axis] + indices.shape + a.shape[axis+1:]``. It is :func:`gather` with
    ``profile="numpy_raise"`` and more rules of NumPy. Without an axis, `a` is flat. A scalar is an array of one
    element. `out` may overlap `a`. NumPy itself takes from arrays of Python objects and of ``StringDType``.

    Args:
        a: Any array that :func:`gather` accepts.
        indices: Integers. A mask is not accepted, but its ``nonzero()`` is.
        axis: The axis to take along. None takes the elements of the flat array.
        out: An array of the result's shape and dtype that the call writes.
        mode: The result of an index out of bounds: ``"raise"`` (negative indices count from the end), ``"wrap"``
            (modulo), or ``"clip"`` (the nearest index, 0 for negative ones). NumPy's numbers of them, such as
            ``numpy.WRAP``, are accepted too.

    Returns:
        `out`, or a new array of the kind and dtype of `a`. It is a scalar if NumPy returns one.

    Raises:
        IndexError: An index is out of bounds, or selects in an empty dim.
        RankError: `axis` is out of range.
        ShapeError, DTypeError: `out` has another shape or dtype.
        DTypeError: `indices` are not integers, or an argument is not an array.
        OptionError: `mode` has an unknown value.

    >>> import libgather
    >>> libgather.take([[10, 20], [30, 40]], [3, -4]).tolist()
    [40, 10]
    >>> libgather.take([[10, 20], [30, 40]], [1, 5], axis=1, mode="clip").tolist()
    [[20, 20], [40, 40]]
    """
    request = Request(axis, profile=_PROFILES[mode_named(mode)])
    a = loaded(a, "params")
    if is_numpys(a):
        return by_numpy(a.take, indices, axis, out, mode)
    if axis is None or (integer("axis", axis) in (0, -1) and rank_of(a, "params") == 0):
        a, request = flat(a), request._replace(axis=0)
    try:
        return run(GATHER, a, indices, out, request)
    except errors.OutputError as error:
        if error.status != c.E_ALIAS or not hasattr(out, "__setitem__"):
            raise
    out[...] = run(GATHER, a, indices, None, request)
    return out


def mode_named(mode: t.Any) -> str:
    """Returns the name of a mode, which is a name, one of NumPy's numbers or None."""
    if mode is None:
        return "raise"
    if hasattr(type(mode), "__index__") and not isinstance(mode, bool):
        number = integer("mode", mode)
        mode = _NUMBERED[number] if 0 <= number < len(_NUMBERED) else str(number)
    choice("mode", mode, _MODES)
    return mode  # type: ignore[no-any-return]


def is_numpys(a: t.Any) -> bool:
    """Returns whether the elements are objects, which only NumPy can copy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(a, numpy.ndarray) and a.dtype.hasobject


def by_numpy(function: t.Callable[..., t.Any], *arguments: t.Any) -> t.Any:
    """Calls a NumPy function, and converts its exceptions to errors of this package."""
    try:
        return function(*arguments)
    except builtins.IndexError as error:
        raise errors.IndexError(f"indices: {error}", status=c.E_INDEX, operand="indices") from None
    except TypeError as error:
        raise errors.dtype_error(None, str(error)) from None
    except ValueError as error:
        raise errors.ShapeError(str(error), status=c.E_SHAPE) from None


@run_natively(OP_GATHER_ELEMENTS, TAKE, fixed={"profile": "numpy_raise"}, arr="table")
def take_along_axis(arr: t.Any, indices: t.Any, axis: int | None = -1) -> t.Any:
    """``numpy.take_along_axis`` for any arrays: gathers elements of `arr` along an axis.

    The other dims keep their positions.

    For axis 1 of three::

        out[i, j, k] = arr[i, indices[i, j, k], k]

    The result's shape is that of `indices`. Beside the axis, a dim of size 1 in one of both arrays is repeated. It is
    :func:`gather_elements` with ``profile="numpy_raise"``.

    Args:
        arr: Any array of numbers or strings that :func:`gather` accepts.
        indices: Integers of the rank of `arr`. Negative ones count from the end.
        axis: The axis to take along. None takes from the elements in row-major order, and `indices` then have one dim.

    Returns:
        A new array of the kind and dtype of `arr`.

    Raises:
        IndexError: An index is out of bounds.
        ShapeError: Two dims beside the axis differ and neither has size 1.
        RankError: Ranks differ, or `axis` is out of range.
        DTypeError: `indices` are not integers, `arr` has records, or an argument is not an array.
        Error: `axis` is None, and `arr` has several dims but no method ``reshape``.

    >>> import libgather
    >>> libgather.take_along_axis([[10, 30, 20], [60, 40, 50]], [[1], [-3]]).tolist()
    [[30], [60]]
    >>> libgather.take_along_axis([[10, 30, 20], [60, 40, 50]], [4, 0], axis=None).tolist()
    [40, 10]
    """
    if axis is None:
        arr, axis = flat(loaded(arr, "params")), 0
    return run(GATHER_ELEMENTS, arr, indices, None, Request(axis, profile="numpy_raise"))
