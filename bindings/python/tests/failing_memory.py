"""The allocations of the library fail one after the other.

test_leaks.py runs this file with a library that supports this.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import libgather

library = ctypes.CDLL(os.environ["GATHER_EMULATED"])
library.gth_testing_fail_allocation.argtypes = (ctypes.c_int64, ctypes.c_int32)
library.gth_testing_allocations.restype = ctypes.c_int64

TABLE = np.arange(8, dtype="f4").reshape(4, 2)
WORDS = ["one", "two", "three"]


def closed(made: Any) -> None:
    made.close()


CALLS: dict[str, Callable[[], Any]] = {
    "gather": lambda: libgather.gather([[1, 2], [3, 4]], [1]),
    "gather_nd": lambda: libgather.gather_nd(libgather.Tensor(TABLE), [[2], [0]]),
    "gather_elements": lambda: libgather.gather_elements(libgather.Tensor(TABLE), [[1, 0]], extents="prefix"),
    "strings": lambda: libgather.gather(WORDS, [2, 0]),
    "Tensor of rank 64": lambda: libgather.Tensor(np.zeros((1,) * 64)),
    "zeros": lambda: libgather.Tensor.zeros((1000,)),
    "exports": lambda: np.from_dlpack(libgather.Tensor(TABLE)),
    "Context": lambda: closed(libgather.Context()),
    "Plan": lambda: closed(libgather.Plan(libgather.Spec("float32", (4, 2)), libgather.Spec("int64", (3,)))),
}


@pytest.mark.parametrize("sticky", [0, 1])
@pytest.mark.parametrize("call", CALLS)
def test_g4_every_allocation_fails(call: str, sticky: int) -> None:
    """Allocation n fails, and all later ones if `sticky` is set.

    Each call raises MemoryError until n is large enough.
    """
    CALLS[call]()  # allocates what only the first call needs
    for n in range(1, 100):
        library.gth_testing_fail_allocation(n, sticky)
        try:
            CALLS[call]()
        except MemoryError:
            continue
        except BufferError as error:  # the DLPack protocol requires this type
            if not isinstance(error.__cause__, MemoryError):
                raise
        else:
            assert library.gth_testing_allocations() < n, "a failure went unnoticed"
            assert n > 1, "nothing was allocated"
            return
        finally:
            library.gth_testing_fail_allocation(0, 0)
    pytest.fail("it never succeeds")
