"""Small calls that repeat the last call of their function have the results and the errors of the first one."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

import libgather
from libgather._base.constants import OP_GATHER, OP_SCATTER
from libgather._base.request_fields import Request
from libgather._objects import run_arrays

TABLES = [np.arange(24).reshape(4, 6).astype(dtype) for dtype in ("f4", "i8", "u1")]
TABLES += [TABLES[0].T, TABLES[0][::2], TABLES[0].reshape(2, 2, 6), TABLES[0].reshape(24), np.arange(5_000.0)]
OPTIONS: list[dict[str, Any]] = [
    {}, {"negative": "wrap"}, {"bounds": "clamp"}, {"bounds": "fill"}, {"fill_value": 7}, {"fill_value": 8},
    {"bounds": "skip"}, {"profile": "numpy_wrap"}, {"threads": 1}, {"axis": -1}, {"batch_dims": 1},
]  # fmt: skip
INDICES = [np.array([1, 0]), np.array([-1, 1]), np.array([9, 0]), np.array([[1], [0]]), np.array([1, 0], "u1"), [1, 0]]
INDICES += [np.array([0, 7, 1, 7])[::2], np.arange(5_000) % 2, np.array([], int), np.array([5, 5])]


def unplanned(operation: int, table: Any, indices: Any, rows: Any = None, **options: Any) -> Any:
    """Runs a call that has no plan of the last call."""
    return run_arrays(operation, table, indices, rows, *Request(**options))


def outcome(function: Any, *arguments: Any, **options: Any) -> Any:
    """Returns the elements of the result, or the fields of the error."""
    try:
        result = function(*arguments, **options)
    except libgather.Error as error:
        return type(error), str(error), error.position, error.value, error.limit, error.operand, error.component
    return result.dtype, result.shape, result.tolist()


def test_random_sequences_of_calls_have_the_results_of_the_general_path() -> None:
    choose = random.Random(5)
    calls = [(choose.choice(TABLES), choose.choice(INDICES), choose.choice(OPTIONS)) for _ in range(200)]
    for table, indices, options in calls:
        expected = outcome(unplanned, OP_GATHER, table, indices, **options)
        for _ in range(choose.randint(1, 4)):
            assert outcome(libgather.gather, table, indices, **options) == expected
        if isinstance(expected[0], np.dtype):
            out = np.zeros(expected[1], expected[0])
            for _ in range(choose.randint(1, 3)):
                assert outcome(libgather.gather, table, indices, out=out, **options) == expected


SCATTERS: list[dict[str, Any]] = [
    {}, {"reduction": "add"}, {"bounds": "skip"}, {"negative": "wrap"}, {"bounds": "error_partial", "reduction": "add"},
]  # fmt: skip


def layout(array: Any, name: str) -> Any:
    """Returns a copy of an array in this layout."""
    if name == "step":
        wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if name == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    return np.array(array, order="F" if name == "fortran" else "C")


def test_random_sequences_of_scatters_in_place_have_the_results_of_the_general_path() -> None:
    choose = random.Random(11)
    general = partial(unplanned, OP_SCATTER)
    for _ in range(200):
        shape = choose.choice([(7,), (6, 5), (4, 3, 5)])
        start = np.arange(np.prod(shape)).reshape(shape).astype(choose.choice(["f4", "i8", "u1", "f8"]))
        options, n = choose.choice(SCATTERS), choose.choice([1, 3, 9])
        names = [choose.choice(["dense", "step", "reversed", "fortran"]) for _ in range(3)]
        for _ in range(choose.randint(2, 5)):
            some = [choose.randrange(-1 if choose.random() < 0.2 else 0, shape[0]) for _ in range(n)]
            some[choose.randrange(n)] += choose.choice([0, 0, 0, shape[0]])
            updates = np.array([choose.randrange(50) for _ in range(n * start[0].size)]).reshape(n, *shape[1:])
            targets, outcomes = [layout(start, names[0]) for _ in range(2)], []
            rows, added = layout(np.array(some), names[1]), layout(updates.astype(start.dtype), names[2])
            for function, target in zip((libgather.scatter, general), targets, strict=True):
                outcomes.append(outcome(function, target, rows, added, axis=0, inplace=True, **options))
            assert outcomes[0] == outcomes[1], (shape, names, options, some)
            assert targets[0].tolist() == targets[1].tolist(), (shape, names, options, some)


@pytest.mark.parametrize("name", ["gather", "gather_elements", "gather_nd", "take", "take_along_axis"])
def test_changed_elements_are_read_by_each_call(name: str) -> None:
    table, indices = np.arange(6.0), np.array([[2]]) if name == "gather_nd" else np.array([2])
    for value in range(6):
        indices[...] = value
        table += 10
        assert getattr(libgather, name)(table, indices).tolist() == [table[value]]
    indices[...] = 6
    for _ in range(2):
        with pytest.raises(libgather.IndexError) as caught:
            getattr(libgather, name)(table, indices)
        assert (caught.value.value, caught.value.limit, caught.value.position) == (6, 6, 0)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(2, "f4"),
        np.zeros(3),
        np.zeros((2, 1)),
        np.broadcast_to(0.0, 2),
        np.frombuffer(bytes(16)),
        np.zeros((2, 2))[:, 0],
        bytearray(16),
    ],
    ids=["dtype", "extent", "rank", "overlapping elements", "read-only", "strided", "bytes"],
)
def test_other_out_of_a_repeated_call_is_validated(out: Any) -> None:
    table, indices, right = np.arange(6.0), np.array([2, 1]), np.zeros(2)
    expected = outcome(unplanned, OP_GATHER, table, indices, out)
    for _ in range(3):
        libgather.gather(table, indices, out=right)
    assert outcome(libgather.gather, table, indices, out=out) == expected
    assert right.tolist() == [2, 1]


def test_out_of_a_repeated_call_may_not_overlap_its_operands() -> None:
    table, indices = np.arange(6.0), np.array([2, 1])
    for _ in range(3):
        libgather.gather(table, indices, out=np.zeros(2))
    for out in (table[1:3], indices.view("f8")):
        with pytest.raises(libgather.OutputError, match="shares memory"):
            libgather.gather(table, indices, out=out)
    assert table.tolist() == [0, 1, 2, 3, 4, 5] and indices.tolist() == [2, 1]


def test_repeated_call_on_closed_context_raises_its_error() -> None:
    table, indices = np.arange(6.0), np.array([2, 1])
    with libgather.Context(threads=1) as context:
        for _ in range(3):
            assert libgather.gather(table, indices, context=context).tolist() == [2, 1]
            assert libgather.gather(table, indices).tolist() == [2, 1]
    with pytest.raises(libgather.ClosedError):
        libgather.gather(table, indices, context=context)
