"""Runs the operation, the profile and the option that __main__.py adds, in the C code and on the general path."""

from contextlib import suppress

import numpy as np

from libgather import OptionError, _objects, gather
from libgather._base import constants as c
from libgather._base.request_fields import Request
from libgather._requests.operation_table import GATHER, OPERATIONS, operation_named

AGAIN = OPERATIONS[c.OP_GATHER_AGAIN]


def again(params, indices, **options):
    return _objects.run_arrays(AGAIN.number, params, indices, None, *Request(**options))


numbers, times = np.array([3, 5, 8], "f4"), np.array([3, 5, 8], "M8[s]")
assert again(numbers, np.array([2, 0])).tolist() == [8, 3]
assert again([3, 5, 8], [2, 0]).tolist() == [8, 3]
assert again(numbers, [-1, 1, 7], profile="fresh", fresh=4).tolist() == [8, 5, 8]
assert again(times, [-1, 7], profile="fresh").tolist() == times[[2, 2]].tolist()
assert gather(numbers, [-1, 7], profile="fresh").tolist() == [8, 8]
assert operation_named("gather_again", nd=False) is AGAIN
assert AGAIN.of_kind("gradient") is GATHER.of_kind("gradient")
assert AGAIN.roles == ("params", "indices", "out") and AGAIN.has_axis
with suppress(OptionError):
    raise SystemExit(f"the profile {again(numbers, [0], profile='new')} is no error")
