"""Uses the extension: extension.py FOLDER, which contains it."""

import sys
from array import array

sys.path.insert(0, sys.argv[1])
from extension import lookup


def failure(ids, out):
    """Returns the exception of a lookup."""
    try:
        lookup(table, 3, ids, out)
    except Exception as error:
        return error
    return None


table = array("f", range(12))
out = array("f", [-1] * 6)
lookup(table, 3, array("q", [3, 1]), out)
assert out.tolist() == [9, 10, 11, 3, 4, 5], out

invalid = failure(array("q", [0, 4]), out)
assert isinstance(invalid, IndexError) and invalid.args == (1, 4, 4), repr(invalid)
assert out.tolist() == [9, 10, 11, 3, 4, 5], out
short = failure(array("q", [0, 1]), array("f", [0] * 5))
assert isinstance(short, ValueError) and "out" in str(short), repr(short)
print("extension: rows are looked up, and an invalid id is an IndexError")
