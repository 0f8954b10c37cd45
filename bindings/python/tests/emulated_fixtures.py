"""The fixtures of the tests on emulated devices."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import emulated_arrays
import libgather
from emulated_arrays import Stream

emulated_arrays.install()

# The arrays of a failed call belong to its traceback, which is a cycle. If the collector released one of them within a
# capture, it would free memory there, which CUDA forbids.
gc.disable()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    emulated_arrays.cuda.stream = type(emulated_arrays.cuda).stream
    try:
        libgather.sync()
    finally:
        emulated_arrays.pool.clear()
        emulated_arrays.allocated.clear()


@pytest.fixture
def current() -> Stream:
    """Returns a held stream, and makes it the current one of the emulated array library."""
    emulated_arrays.cuda.stream = Stream().hold()
    return emulated_arrays.cuda.stream
