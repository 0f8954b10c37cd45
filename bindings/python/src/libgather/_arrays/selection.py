"""The rows that a call selects from a column. The library validates the indices, which may be null."""

from __future__ import annotations

from .. import _objects, errors
from .._base import constants as c
from .._base.integers import integer
from .._base.optional_packages import module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

#: The validity of indices: bits in the order of Arrow, and the number of the first one. None means that none is null.
NO_NULLS = (None, 0)


class Selection:
    """Indices without nulls, their shape, and the validity bits of those that were null.

    Attributes:
        axis: The axis that indices select in.
        shape: The shape of the indices.
        fill_value: The fill value of the call, or None.
        fills: True if an index out of bounds selects the fill value.
        may_be_null: True if an index may select null.
    """

    __slots__ = ("axis", "fill_value", "fills", "flags", "indices", "may_be_null", "options", "shape", "validity")

    def __init__(
        self, indices: Any, shape: tuple[int, ...], validity: tuple[Any, int], axis: int, options: tuple[Any, ...]
    ) -> None:
        _, batch_dims, negative, bounds, fill_value, *others = options
        is_null = bounds == "null"
        self.fill_value: Any = fill_value
        self.fills: bool = bounds == "fill" or fill_value is not None
        self.may_be_null: bool = is_null or validity[0] is not None
        self.flags: int = c.TAKE_NULL if is_null else 0
        self.axis: int = axis
        self.indices: Any = indices
        self.shape: tuple[int, ...] = shape
        self.validity: tuple[Any, int] = validity
        # The library resolves the fill value to -1.
        zero = "zero" if self.fills else None
        self.options: tuple[Any, ...] = (axis, batch_dims, negative, None if is_null else bounds, zero, *others)

    def numbers(self, params: Any, extent: int) -> Any:
        """Returns a row number for each index as an array of NumPy. It is -1 for null and for the fill value.

        Returns NotImplemented if the C half does not read the indices.
        """
        operands = (c.OP_GATHER, params, self.indices, None)
        return _objects.resolve(extent, self.flags, *self.validity, *operands, *self.options)

    def taken(self, params: Any, stream: Any, importer: Any, kind: Any, flags: int = 0) -> Any:
        """Returns rows of an Arrow array, or of the stream of params, as an object of a type of Arrow.

        Returns NotImplemented if the C half does not read the indices.
        """
        operands = (c.OP_GATHER, params, self.indices, None)
        return _objects.take_rows(stream, importer, kind, self.flags | flags, *self.validity, *operands, *self.options)

    def filled(self, rows: np.ndarray) -> np.ndarray:
        """Returns a mask of the row numbers that stand for the fill value. Null indices do not."""
        mask = rows < 0
        bits, first = self.validity
        if bits is None:
            return mask
        np = module("numpy")
        valid = np.unpackbits(np.frombuffer(bits, np.uint8), count=first + rows.size, bitorder="little")[first:]
        return mask & valid.astype(bool)  # type: ignore[no-any-return]

    def merged(self, target: Any, extent: int) -> Any:
        """Returns for each row of a scatter its row in the target, behind which the updates are.

        Returns NotImplemented if the C half does not read the indices.
        """
        rows = self.numbers(target, extent)
        if rows is NotImplemented:
            return rows
        np = module("numpy")
        places, merged = written_of(rows), np.arange(extent)
        merged[rows.reshape(-1)[places]] = extent + places
        return merged

    def at(self, rows: np.ndarray) -> Selection:
        """Returns the selection of validated row numbers of one dim. The null indices are the same."""
        *_, opset, threads, context = self.options[:9]
        plain = (0, 0, None, None, None, None, opset, threads, context, *self.options[9:])
        return Selection(rows, rows.shape, self.validity, 0, plain)


def bits_of(valid: np.ndarray) -> tuple[Any, int]:
    """Returns the validity bits of a mask, or those without nulls."""
    return NO_NULLS if valid.all() else (module("numpy").packbits(valid, bitorder="little"), 0)


def written_of(rows: np.ndarray) -> np.ndarray:
    """Returns the places of the updates that write a row. The row numbers of the others are negative."""
    return module("numpy").flatnonzero(rows.reshape(-1) >= 0)  # type: ignore[no-any-return]


def check_updates(count: int, shape: tuple[int, ...]) -> None:
    """Raises ShapeError if a column of updates does not have a row for each index. Indices have at most one dim."""
    needed = shape[0] if shape else 1
    if count != needed:
        message = f"updates: shape ({count},), needed is ({needed},)"
        raise errors.ShapeError(message, status=c.E_SHAPE, operand="updates")


def is_first(axis: int | None, rank: int) -> bool:
    """Returns true if an axis is the first one."""
    return axis is None or integer("axis", axis) in (0, -rank)


def tables_have_rows(shape: tuple[int, ...]) -> errors.Error:
    message = f"indices: rank {len(shape)}, a table takes indices of rank 1"
    return errors.RankError(message, status=c.E_RANK, operand="indices")


def no_zero(dtype: Any) -> errors.Error:
    return errors.dtype_error("options", f"{dtype} has no zero to fill with: give a fill_value, None for null")
