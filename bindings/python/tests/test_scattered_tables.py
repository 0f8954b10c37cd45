"""Large gathers from tables whose slices are scattered in memory. The library copies such a table first."""

from __future__ import annotations

import numpy as np
import pytest

import libgather

ROWS, COLUMNS = 300, 40
TABLES = {
    "fortran": np.asfortranarray(np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)),
    "every third column": np.arange(ROWS * COLUMNS * 3, dtype=np.int16).reshape(ROWS, COLUMNS * 3)[:, ::3],
    "reversed": np.asfortranarray(np.arange(ROWS * COLUMNS, dtype=np.complex64).reshape(ROWS, COLUMNS))[::-1, ::-1],
    "read-only": np.broadcast_to(np.arange(ROWS, dtype=np.uint8)[:, None], (ROWS, COLUMNS)),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_those_of_numpy(table: np.ndarray, threads: int) -> None:
    indices = np.random.default_rng(7).integers(-ROWS, ROWS, (3, 400))
    before = table.copy()
    np.testing.assert_array_equal(libgather.gather(table, indices, negative="wrap", threads=threads), table[indices])
    np.testing.assert_array_equal(
        libgather.gather_nd(table, indices[..., None], negative="wrap", threads=threads), table[indices]
    )
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_batches_and_skipped_rows_are_those_of_numpy(table: np.ndarray) -> None:
    batches = np.stack([table, table]).transpose(0, 2, 1)
    indices = np.random.default_rng(8).integers(0, COLUMNS + 9, (2, 700))
    inside = indices < COLUMNS
    expected = np.where(inside[..., None], batches[np.arange(2)[:, None], np.where(inside, indices, 0)], 0)
    for bounds in ("fill", "skip"):
        result = libgather.gather(batches, indices, axis=1, batch_dims=1, bounds=bounds)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_error_names_the_first_invalid_index(table: np.ndarray) -> None:
    indices = np.arange(1000) % ROWS
    indices[[700, 900]] = ROWS, -1
    with pytest.raises(libgather.IndexError) as caught:
        libgather.gather(table, indices)
    assert (caught.value.position, caught.value.value, caught.value.limit) == (700, ROWS, ROWS)
