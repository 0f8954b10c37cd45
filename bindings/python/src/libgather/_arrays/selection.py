"""The rows that a call selects from a column. The library validates the indices, which may be null."""

from __future__ import annotations

from copy import copy
from math import prod

from .. import _objects, errors
from .._base import constants as c
from .._base.integers import integer
from .._base.optional_packages import module
from .._base.request_fields import NULLS, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy as np

#: The description of a piece of a column takes as long as taking this number of rows.
_ROWS_OF_PIECE = 64
#: The validity of indices: bits in the order of Arrow, and the number of the first one. None means that none is null.
NO_NULLS = (None, 0)


class Fills(dict):  # type: ignore[type-arg]
    """The fill values of a table by the names of its columns. Other columns are filled with null."""


class Selection:
    """Indices without nulls, and the validity bits of those that were null.

    Attributes:
        number: The number of the operation that has the indices.
        axis: The axis that indices select in.
        shape: The shape of the rows that are selected.
        fill_value: The fill value of the call, or None.
        promotes: True if a column whose dtype has no null is promoted to one that has it.
        fills: True if padding or an index out of bounds selects the fill value.
        may_be_null: True if an index may select null.
    """

    def __init__(
        self, number: int, indices: Any, shape: tuple[int, ...], validity: tuple[Any, int], request: Request
    ) -> None:
        """Creates a selection. With a fill value of NULL_FILL, null replaces the fill value."""
        value, bounds, pads = request.fill_value, request.bounds, request.padding_index is not None
        has_value = value is not _objects.NULL_FILL
        if isinstance(value, Fills) and bounds in NULLS:
            bounds = "fill"
        is_null = bounds in NULLS or (not has_value and (bounds == "fill" or (bounds is None and not pads)))
        self.number: int = number
        self.request: Request = request
        self.promotes: bool = request.bounds == "promote"
        self.fill_value: Any = value if has_value else None
        self.fills: bool = has_value and not is_null and (pads or bounds == "fill" or value is not None)
        self.may_be_null: bool = validity[0] is not None or is_null or (pads and not self.fills)
        self.flags: int = c.TAKE_NULL if is_null else 0
        self.axis: int = request.axis or 0
        self.indices: Any = indices
        self.shape: tuple[int, ...] = shape
        self.validity: tuple[Any, int] = validity
        # The library resolves the fill value to -1.
        zero = "zero" if self.fills else None
        self.options: tuple[Any, ...] = request._replace(
            axis=self.axis, bounds=None if is_null else bounds, fill_value=zero
        )

    def numbers(self, params: Any, extent: int) -> Any:
        """Returns a row number for each index as an array of NumPy. It is -1 for null and for the fill value.

        Returns NotImplemented if the C code does not read the indices.
        """
        operands = (self.number, params, self.indices, None)
        return _objects.resolve(extent, self.flags, *self.validity, *operands, *self.options)

    def taken(self, params: Any, stream: Any, importer: Any, kind: Any, flags: int = 0) -> Any:
        """Returns rows of an Arrow array, or of the stream of params, as an object of a type of Arrow.

        Returns NotImplemented if the C code does not read the indices.
        """
        operands = (self.number, params, self.indices, None)
        return _objects.take_rows(stream, importer, kind, self.flags | flags, *self.validity, *operands, *self.options)

    def of_column(self, name: Any) -> Selection:
        """Returns the selection of a column of a table."""
        if not isinstance(self.fill_value, Fills):
            return self
        value, bounds = self.fill_value.get(name), self.request.bounds
        changed = self.request._replace(fill_value=_objects.NULL_FILL)
        if value is not None:
            changed = self.request._replace(fill_value=value, bounds="fill" if bounds in NULLS else bounds)
        return Selection(self.number, self.indices, self.shape, self.validity, changed)

    def flat(self) -> Selection:
        """Returns the same selection, whose rows have one dim."""
        made = copy(self)
        made.shape = (prod(self.shape),)
        return made

    def filled(self, rows: np.ndarray) -> np.ndarray:
        """Returns a mask of the row numbers that stand for the fill value. Null indices do not."""
        mask = rows < 0
        bits, first = self.validity
        if bits is None:
            return mask
        np = module("numpy")
        valid = np.unpackbits(np.frombuffer(bits, np.uint8), count=first + rows.size, bitorder="little")[first:]
        return mask & valid.astype(bool)  # type: ignore[no-any-return]

    def at(self, rows: np.ndarray) -> Selection:
        """Returns the selection of validated row numbers of one dim. The null indices are the same."""
        _, _, _, _, _, _, _, threads, context, *_ = self.options
        return Selection(c.OP_GATHER, rows, rows.shape, self.validity, Request(threads=threads, context=context))


def bits_of(valid: np.ndarray) -> tuple[Any, int]:
    """Returns the validity bits of a mask, or those without nulls."""
    return NO_NULLS if valid.all() else (module("numpy").packbits(valid, bitorder="little"), 0)


def written_of(rows: np.ndarray) -> np.ndarray:
    """Returns the places of the updates that write a row. The row numbers of the others are negative."""
    return module("numpy").flatnonzero(rows.reshape(-1) >= 0)  # type: ignore[no-any-return]


def is_sparse(rows: np.ndarray, extent: int) -> bool:
    """Returns whether a scatter writes so few rows that whole pieces of the target are copied."""
    return rows.size * _ROWS_OF_PIECE <= extent


def pieces(target: Any, updates: Any, rows: np.ndarray) -> Iterator[Any]:
    """Yields slices of a target and of updates, which together are the result of a scatter."""
    np = module("numpy")
    places = written_of(rows)
    found, last = np.unique(rows.reshape(-1)[places][::-1], return_index=True)
    done = 0
    for row, place in zip(found.tolist(), places[places.size - 1 - last].tolist(), strict=True):
        if done < row:
            yield target[done:row]
        yield updates[place : place + 1]
        done = row + 1
    yield target[done:]


def merged(rows: np.ndarray, extent: int) -> np.ndarray:
    """Returns for each row of a scatter its row in the target, behind which the updates are."""
    np = module("numpy")
    places, whole = written_of(rows), np.arange(extent)
    whole[rows.reshape(-1)[places]] = extent + places
    return whole  # type: ignore[no-any-return]


def repeated(updates: Any, shape: tuple[int, ...]) -> Any:
    """Returns a row of updates for each index. A single row is repeated. Indices have at most one dim."""
    if getattr(updates, "shape", None) == ():
        updates = updates[()]
    is_row = not hasattr(updates, "__len__") or isinstance(updates, (str, bytes, dict)) or hasattr(updates, "as_py")
    return [updates] * (shape[0] if shape else 1) if is_row or not shape else updates


def check_shape(operand: str, shape: tuple[int, ...], needed: tuple[int, ...]) -> None:
    if shape != needed:
        raise errors.ShapeError(f"{operand}: shape {shape}, needed is {needed}", status=c.E_SHAPE, operand=operand)


def is_first(axis: int | None, rank: int) -> bool:
    """Returns true if an axis is the first one."""
    return axis is None or integer("axis", axis) in (0, -rank)


def tables_have_rows(shape: tuple[int, ...]) -> errors.Error:
    message = f"indices: rank {len(shape)}, a table takes indices of rank 1"
    return errors.RankError(message, status=c.E_RANK, operand="indices")


def fill_or_zero(value: Any, python: Any, dtype: Any) -> Any:
    """Returns a fill value, or the zero of a type of Python that it stands for.

    Raises DTypeError for other types than numbers, booleans, strings and bytes.
    """
    if value is not None and not (isinstance(value, str) and value == "zero"):
        return value
    if python not in (bool, int, float, str, bytes):
        raise errors.dtype_error("options", f"{dtype} has no zero to fill with: give a fill_value, None for null")
    return python()
