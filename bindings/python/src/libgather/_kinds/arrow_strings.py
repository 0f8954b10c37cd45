"""Arrow's types of strings: those with 32-bit offsets have no room for more than 2 GiB, and then the large ones stand
for them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: How many bytes the strings of an array with 32-bit offsets, or of a view, may have together.
ROOM = 2**31 - 1


def large_of(pa: Any, kind: Any) -> Any:
    """The type with 64-bit offsets for a type of strings; None for other types."""
    if kind in (pa.string(), pa.large_string(), pa.string_view()):
        return pa.large_string()
    if kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        return pa.large_binary()
    return None


def fitted(pa: Any, strings: Any, kind: Any) -> Any:
    """Strings with 64-bit offsets as those of a type, or as they are where that has no room for them."""
    chunks = strings.chunks if isinstance(strings, pa.ChunkedArray) else [strings]
    has_room = sum(data.size for chunk in chunks if (data := chunk.buffers()[2])) <= ROOM
    return strings.cast(kind) if has_room or kind == large_of(pa, kind) else strings


def combined(pa: Any, chunked: Any) -> Any:
    """The chunks as one array."""
    kind = large_of(pa, chunked.type)
    return (chunked.cast(kind) if kind and chunked.nbytes > ROOM else chunked).combine_chunks()


def decoded(pa: Any, dictionary: Any) -> Any:
    """The values of a dictionary's array, which may be much larger than the dictionary."""
    kind = large_of(pa, dictionary.type.value_type)
    if kind:
        dictionary = pa.DictionaryArray.from_arrays(dictionary.indices, dictionary.dictionary.cast(kind))
    return dictionary.dictionary_decode()


def encoded(pa: Any, flat: Any, kind: Any) -> Any:
    """As a dictionary of a type, which says how wide its numbers are and what its values are."""
    made = flat.dictionary_encode()
    values, numbers = made.dictionary, made.indices.cast(kind.index_type)
    values = fitted(pa, values, kind.value_type) if large_of(pa, values.type) else values
    return pa.DictionaryArray.from_arrays(numbers, values, ordered=kind.ordered)
