"""The command line of tables in files: ``python -m libgather.table``.

::

    python -m libgather.table FILE                 lists the arrays: dtype, shape, bytes of a row, name
    python -m libgather.table FILE NAME 17 4 9     prints rows
    python -m libgather.table bench FILE NAME      measures reads of random rows

NAME is ``-`` if the file has only one array. The bench compares both modes with a plain map and with ``os.pread``, in
microseconds a row, with rows in the page cache (warm) and not in it (cold).
"""

from __future__ import annotations

import mmap
import os
import random
import sys
from bisect import bisect_right
from itertools import accumulate
from statistics import median
from time import perf_counter

from . import errors
from . import types as t
from ._files.headers import entries_of
from ._files.opener import open_table
from ._files.table import Table

#: The numbers of rows of a call. A plain map of rows that are not in memory takes milliseconds a row.
COUNTS, MOST_OF_PLAIN_MAP, ROUNDS = (1, 18, 256, 4096), 256, 3


def listed(path: str) -> list[str]:
    lines = [f"{'dtype':16} {'shape':24} {'bytes a row':>12}  name"]
    for name, entry in entries_of(path).items():
        row = entry.nbytes // entry.shape[0] if entry.shape and entry.shape[0] else 0
        reason = f" ({entry.refusal})" if entry.refusal else ""
        lines.append(f"{entry.dtype:16} {entry.shape!s:24} {row:12}  {name or '-'}{reason}")
    return lines


class Rows:
    """Rows of the files of a table, read one after the other by calls of Python."""

    def __init__(self, table: Table, is_mapped: bool) -> None:
        self._row = table.nbytes // len(table)
        self._files = [os.open(each.source, os.O_RDONLY) for each in table.segments]
        self._maps = [mmap.mmap(file, 0, access=mmap.ACCESS_READ) for file in self._files] if is_mapped else []
        self._segments = table.segments
        self._firsts = [0, *accumulate(each.rows for each in table.segments)][:-1]

    def __getitem__(self, ids: list[int]) -> bytes:
        return b"".join(map(self.read, ids))

    def read(self, row: int) -> bytes:
        number = bisect_right(self._firsts, row) - 1
        segment = self._segments[number]
        begin = segment.offset + (row - self._firsts[number]) * (segment.row_stride or self._row)
        if self._maps:
            return self._maps[number][begin : begin + self._row]
        return os.pread(self._files[number], self._row, begin)

    def forget(self) -> None:
        """Removes the files from the page cache. Maps of them must be closed before."""
        for file in self._files:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        for each in self._maps:
            each.close()
        for file in self._files:
            os.close(file)


def measured(path: str, name: str | None) -> list[str]:
    """Returns the lines of the bench. The ways run in turn, each on a new table, and the medians are of 3 rounds."""
    ways: dict[str, t.Callable[[], t.Any]] = {
        "read": lambda: open_table(path, name),
        "map": lambda: open_table(path, name, mode="map"),
        "plain map": lambda: Rows(whole, True),
        "os.pread": lambda: Rows(whole, False),
    }
    lines = [f"{'us a row':10}" + "".join(f"{f'{way}, {state}':>18}" for way in ways for state in ("cold", "warm"))]
    with open_table(path, name) as whole:
        cache = Rows(whole, False)
        for count in COUNTS:
            times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
            for _ in range(ROUNDS):
                ids = random.choices(range(len(whole)), k=count)
                for way, begin in ways.items():
                    if way != "plain map" or count <= MOST_OF_PLAIN_MAP:
                        cache.forget()
                        rows = begin()
                        times[way].append((timed(rows, ids), timed(rows, ids)))
                        rows.close()
            cells = [
                f"{median(each[state] for each in found) / count * 1e6:18.2f}" if found else f"{'-':>18}"
                for found in times.values()
                for state in (0, 1)
            ]
            lines.append(f"{count:<10}" + "".join(cells))
        cache.close()
    return lines


def timed(rows: t.Any, ids: list[int]) -> float:
    begin = perf_counter()
    rows[ids]
    return perf_counter() - begin


def main(arguments: list[str]) -> int:
    """Runs the command line. Returns the status of the process."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.partition("::\n\n")[2])
        return 2
    try:
        if arguments[0] == "bench" and len(arguments) == 3:
            lines = measured(arguments[1], None if arguments[2] == "-" else arguments[2])
        elif len(arguments) == 1:
            lines = listed(arguments[0])
        else:
            path, name, *ids = arguments
            with open_table(path, None if name == "-" else name) as table:
                lines = [str(row.tolist()) for row in table[list(map(int, ids))]]
    except (errors.Error, ImportError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(*lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
