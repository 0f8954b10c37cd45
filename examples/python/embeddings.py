"""Gathers rows of a table by id. The table may be an array of NumPy, torch, JAX or pyarrow, or a list."""

import libgather

table = [[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0]]
ids = [3, 0, 3]
for i, row in zip(ids, libgather.gather(table, ids), strict=True):
    print(f"{i}: {row[0]:g} {row[1]:g}")
