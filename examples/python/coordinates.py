"""Gathers elements by coordinates. Each row of indices is a tuple with one index for each dim."""

import libgather

matrix = [[0, 1, 2], [10, 11, 12]]
for element in libgather.gather_nd(matrix, [[1, 2], [0, 0]]):
    print(element)
