"""Runs a plan. Shapes and options are validated once. Each run sets the number of ids."""

from array import array

import libgather

table = memoryview(array("f", [0, 1, 10, 11, 20, 21, 30, 31])).cast("B").cast("f", (4, 2))
plan = libgather.Plan(table, libgather.Spec("int64", (-1,)))
for ids in (array("q", [2]), array("q", [0, 1, 3])):
    rows = memoryview(bytearray(8 * len(ids))).cast("f", (len(ids), 2))
    for row in plan(table, ids, rows).tolist():
        print(f"{row[0]:g} {row[1]:g}")
