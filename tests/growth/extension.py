"""Uses the extension: extension.py FOLDER, which contains it."""

import sys
from array import array

sys.path.insert(0, sys.argv[1])
from extension import lookup

table = array("f", range(12))
out = array("f", [-1] * 6)
lookup(table, 3, array("q", [3, 1]), out)
assert out.tolist() == [9, 10, 11, 3, 4, 5], out

try:
    lookup(table, 3, array("q", [0, 4]), out)
    raise AssertionError("an invalid id was accepted")
except IndexError as error:
    assert error.args == (1, 4, 4), error.args
assert out.tolist() == [9, 10, 11, 3, 4, 5], out

try:
    lookup(table, 3, array("q", [0, 1]), array("f", [0] * 5))
    raise AssertionError("an output that is too small was accepted")
except ValueError as error:
    assert "out" in str(error), error
print("extension: rows are looked up, and an invalid id is an IndexError")
