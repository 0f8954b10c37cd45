"""Arrow's string types. Types with 32-bit offsets hold at most 2 GiB, and larger results use the large types."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The largest number of bytes of the strings of an array with 32-bit offsets, or of a view.
ROOM = 2**31 - 1


def large_of(pa: Any, kind: Any) -> Any:
    """Returns the type with 64-bit offsets for a string type, and None for other types."""
    if kind in (pa.string(), pa.large_string(), pa.string_view()):
        return pa.large_string()
    if kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        return pa.large_binary()
    return None


def fitted(pa: Any, strings: Any, kind: Any) -> Any:
    """Casts strings with 64-bit offsets to a type. Returns them unchanged if they are too large for it."""
    chunks = strings.chunks if isinstance(strings, pa.ChunkedArray) else [strings]
    has_room = sum(data.size for chunk in chunks if (data := chunk.buffers()[2])) <= ROOM
    return strings.cast(kind) if has_room or kind == large_of(pa, kind) else strings


def combined(pa: Any, chunked: Any) -> Any:
    """Returns the chunks as one array."""
    kind = large_of(pa, chunked.type)
    return (chunked.cast(kind) if kind and chunked.nbytes > ROOM else chunked).combine_chunks()


def decoded(pa: Any, dictionary: Any) -> Any:
    """Returns the values of a dictionary array. They may be much larger than the dictionary."""
    kind = large_of(pa, dictionary.type.value_type)
    if kind:
        dictionary = pa.DictionaryArray.from_arrays(dictionary.indices, dictionary.dictionary.cast(kind))
    return dictionary.dictionary_decode()


def encoded(pa: Any, flat: Any, kind: Any) -> Any:
    """Returns the strings as a dictionary array of a type, which defines its index type and its value type."""
    made = flat.dictionary_encode()
    values, numbers = made.dictionary, made.indices.cast(kind.index_type)
    values = fitted(pa, values, kind.value_type) if large_of(pa, values.type) else values
    return pa.DictionaryArray.from_arrays(numbers, values, ordered=kind.ordered)
