"""Codec: the format of packed rows."""

from __future__ import annotations

from .. import errors
from .. import types as t
from .._base import constants as c
from .._base.dtypes import NUMBERS
from .._base.integers import named
from .._base.library import NULL, ffi, lib
from .._base.library_calls import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: The names of the numbers of a field, by the prefix of their constants.
_PREFIXES = {
    "structure": "CODEC_",
    "code": "CODE_",
    "packing": "PACKING_",
    "rule": "RULE_",
    "scale_place": "PLACE_",
    "zero_place": "PLACE_",
    "zero_dtype": "ZERO_",
}
_NUMBERS = "zero", "factor", "block_values", "block_bytes", "row_tail", "code_at", "scale_at", "zero_at"
_FIELDS = frozenset((*_PREFIXES, *_NUMBERS, "scale_dtype", "code_table"))


class Codec:
    """The format of the rows of a :class:`Packed`: a known format, and the fields that differ from it.

    A codec is immutable. ``gather.h`` describes the fields of ``gth_codec`` and their values.

    Args:
        name: ``"q8_0"``, ``"rowwise4"``, ``"int4"`` or another name of ``gth_codec_named``.
        fields: Fields of ``gth_codec``, except its operands. A value is a number, or the last word of its constant:
            ``code="uint4"``, ``packing="high"``, ``rule="fused"``, ``scale_place="tail"``,
            ``zero_dtype="uint4"``, ``scale_dtype="float16"``. `code_table` is 16 numbers.

    Raises:
        OptionError: The name is unknown, or a field cannot have the value.
        TypeError: There is no such field.

    >>> import libgather
    >>> libgather.Codec("int4", block_values=128)
    libgather.Codec('int4', block_values=128)
    >>> libgather.Codec("rowwise8").row_bytes(64)
    72
    """

    __slots__ = ("_fields", "_name")

    def __init__(self, name: str, **fields: t.Any) -> None:
        unknown = fields.keys() - _FIELDS
        if unknown:
            raise TypeError(f"a codec has no field {min(unknown)!r}")
        self._name: str = name
        self._fields: Mapping[str, t.Any] = {field: kept(field, value) for field, value in fields.items()}
        self._struct()  # raises the errors

    @property
    def name(self) -> str:
        """The name of the known format."""
        return self._name

    @property
    def fields(self) -> dict[str, t.Any]:
        """The fields that differ from it."""
        return dict(self._fields)

    def row_bytes(self, values: int) -> int:
        """Returns the bytes of a row of `values` numbers.

        Raises:
            Error: No row has so many numbers, or a field is invalid.
        """
        return row_bytes(self._struct()[0], values)

    def __eq__(self, other: object) -> bool:
        return self.__reduce__() == other.__reduce__() if isinstance(other, Codec) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._name, *sorted(self._fields)))

    def __repr__(self) -> str:
        return f"libgather.Codec({', '.join((repr(self._name), *(f'{k}={v!r}' for k, v in self._fields.items())))})"

    def __reduce__(self) -> tuple[t.Any, ...]:
        return _codec_again, (self._name, dict(self._fields))

    def _struct(self) -> tuple[t.Any, t.Any]:
        """Returns the struct of the library, and the memory that it refers to."""
        codec = ffi.new("gth_codec *")
        codec.size = ffi.sizeof("gth_codec")
        call(lib.gth_codec_named, str(self._name).encode("utf-8", "replace"), codec)
        table = NULL
        for name, value in self._fields.items():
            try:
                if name == "code_table":
                    table = codec.code_table = ffi.new("float[]", value)
                else:
                    setattr(codec, name, number_of(name, value))
            except (TypeError, ValueError, KeyError, OverflowError) as error:
                raise invalid(name, value) from error
        return codec, table


def _codec_again(name: str, fields: dict[str, t.Any]) -> Codec:
    return Codec(name, **fields)


def invalid(field: str, value: object) -> errors.OptionError:
    message = f"codec: {field} cannot be {value!r}"
    return errors.OptionError(message, status=c.E_VERSION, operand="codec")


def kept(field: str, value: t.Any) -> t.Any:
    """Returns the value of a field, with a copy of the numbers of a table."""
    if field != "code_table":
        return value
    try:
        numbers = tuple(float(each) for each in value)
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid(field, value) from error
    if len(numbers) != 16:
        raise invalid(field, value)
    return numbers


def number_of(field: str, value: t.Any) -> t.Any:
    """Returns the number of a field, which may be given as the last word of its constant."""
    if not isinstance(value, str):
        return value
    known = named(_PREFIXES[field]) if field in _PREFIXES else {}
    return (known | NUMBERS if field.endswith("dtype") else known)[value]


def row_bytes(codec: t.Any, values: int) -> int:
    """Returns the bytes of a row of a struct of the library."""
    if not -(2**63) <= values < 2**63:
        message = f"codec: a row of {values} numbers does not fit in memory"
        raise errors.ShapeError(message, status=c.E_SIZE, operand="codec", limit=2**63 - 1)
    written = ffi.new("int64_t *")
    call(lib.gth_codec_row_bytes, codec, values, written)
    return int(written[0])
