"""Gathers strings by id."""

import libgather

for word in libgather.gather(["zero", "one", "two", "three"], [3, 1]):
    print(word)
