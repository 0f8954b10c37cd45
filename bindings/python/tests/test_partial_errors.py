"""bounds="error_partial": the results and errors of "error", but an error may leave the output partly written."""

from __future__ import annotations

import numpy as np
import pytest

import libgather

TABLE = np.arange(24, dtype=np.int32).reshape(8, 3)


def test_valid_indices_give_the_result_of_numpy() -> None:
    indices = np.arange(70_000) % 8
    np.testing.assert_array_equal(libgather.gather(TABLE, indices, bounds="error_partial"), TABLE[indices])


def test_invalid_index_gives_the_error_of_the_first_one() -> None:
    indices = np.arange(70_000) % 8
    indices[[500, 600]] = 8, -1
    out = np.full((70_000, 3), -5, np.int32)
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather(TABLE, indices, out=out, bounds="error_partial")
    assert (caught.value.position, caught.value.value, caught.value.limit) == (500, 8, 8)
    written = (out != -5).any(axis=1)
    np.testing.assert_array_equal(out[written], TABLE[indices[written]])


def test_scatter_with_an_invalid_index_gives_the_error_of_the_first_one() -> None:
    counts = np.zeros(3, np.int64)
    indices = np.full(9_000, 1)
    indices[[8_000, 8_500]] = 3, -1
    with pytest.raises(libgather.IndexError) as caught:
        libgather.scatter(
            counts, indices, np.ones(9_000, np.int64), reduction="add", bounds="error_partial", inplace=True
        )
    assert caught.value.position == 8_000
    assert counts[0] == counts[2] == 0
    assert counts[1] <= 8_998
