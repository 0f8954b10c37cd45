"""Writes rows into a table by id. The last update of a row remains, or all updates are added."""

import libgather

table = [[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0]]
ids, rows = [3, 0, 3], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
for reduction in ("none", "add"):
    table = libgather.scatter(table, ids, rows, reduction=reduction)
    for row in table:
        print(f"{row[0]:g} {row[1]:g}")
