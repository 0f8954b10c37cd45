"""The contestants of a gather of strings. All create new outputs, because strings have no other form."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from cells import StringsCell
from contestants import Gather, module
from library import GATHER, Library, Result, request


@dataclass
class StringsCase:
    """A table of strings of different lengths in Arrow's form: offsets and bytes."""

    cell: StringsCell
    offsets: np.ndarray  # int64 [rows + 1]
    bytes: np.ndarray
    ids: list[np.ndarray]

    @classmethod
    def make(cls, cell: StringsCell, sets: int, random: np.random.Generator) -> StringsCase:
        lengths = random.integers(0, 2 * cell.length + 1, cell.rows)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        letters = random.integers(97, 123, offsets[-1], np.uint8)
        return cls(cell, offsets, letters, [random.integers(0, cell.rows, cell.count) for _ in range(sets)])

    def expected(self, k: int) -> np.ndarray:
        """Returns the bytes of the selected strings, computed from the positions of bytes."""
        begins, lengths = self.offsets[:-1][self.ids[k]], np.diff(self.offsets)[self.ids[k]]
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        return self.bytes[np.repeat(begins, lengths) + within]

    def arrow(self) -> Any:
        """Returns an Arrow array with 64-bit offsets, or None without pyarrow."""
        pa = module("pyarrow")
        if pa is None:
            return None
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.bytes)]
        return pa.Array.from_buffers(pa.large_string(), self.cell.rows, buffers)

    def words(self) -> list[bytes]:
        text = self.bytes.tobytes()
        return [text[a:b] for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)]


class Strings(Result):
    """A new tensor of strings."""

    __slots__ = ()

    def __call__(self) -> np.ndarray:
        return self._library.read_strings(self._handle)


def ours(library: Library, case: StringsCase) -> Iterator[tuple[str, Gather]]:
    table = library.strings(case.offsets, case.bytes)
    requests = [request(GATHER, table, library.borrow(ids)) for ids in case.ids]
    yield "allocating", library.allocating(requests, Strings)


def letters_of(array: Any) -> np.ndarray:
    """Returns the bytes of an Arrow array of strings."""
    offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(array.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]


def package(case: StringsCase) -> Iterator[tuple[str, Gather]]:
    libgather, table = module("libgather"), case.arrow()
    if libgather is None or table is None:
        return

    def gather(k: int) -> Any:
        taken = libgather.gather(table, case.ids[k])
        return lambda: letters_of(taken)

    yield "Python", gather


def arrow_take(case: StringsCase) -> Iterator[tuple[str, Gather]]:
    table = case.arrow()
    if table is None:
        return
    pa, compute = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
    ids = [pa.array(x) for x in case.ids]

    def gather(k: int) -> Any:
        taken = compute.take(table, ids[k])
        return lambda: letters_of(taken)

    yield "take", gather


def joined(words: Any) -> np.ndarray:
    return np.frombuffer(b"".join(words), np.uint8)


def numpy_take(case: StringsCase) -> Iterator[tuple[str, Gather]]:
    """Yields np.take of a StringDType array. A take of an object array would not copy the bytes."""
    texts = np.array([word.decode() for word in case.words()], np.dtypes.StringDType())

    def gather(k: int) -> Any:
        taken = np.take(texts, case.ids[k])
        return lambda: joined(word.encode() for word in taken)

    yield "take", gather


def tensorflow_gather(case: StringsCase) -> Iterator[tuple[str, Gather]]:
    tf = module("tensorflow")
    if tf is None:
        return
    table, ids = tf.constant(case.words()), [tf.constant(x) for x in case.ids]

    def gather(k: int) -> Any:
        taken = tf.gather(table, ids[k])
        return lambda: joined(taken.numpy())

    yield "eager", gather


PEERS: dict[str, Callable[[StringsCase], Iterator[tuple[str, Gather]]]] = {
    "numpy": numpy_take,
    "pyarrow": arrow_take,
    "tensorflow": tensorflow_gather,
}
