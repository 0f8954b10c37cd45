"""Repeats each take of the tests of pandas and pyarrow by libgather, and compares the results.

    python -m pytest -p checked_takes --pyargs pandas.tests.frame ...

This plugin of pytest replaces the functions that take rows. The replaced function returns the result of the original.
If libgather has another result, or an error where there is a result, the test fails. The end of the run states how many
takes were equal, and the types that libgather refuses by name.
"""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

import libgather

equal: collections.Counter[str] = collections.Counter()
refused: collections.Counter[str] = collections.Counter()
is_busy = False


def are_plain(indices: Any) -> bool:
    """Returns true if the indices are integers in one dim. pandas also takes by slices and masks."""
    if not isinstance(indices, (list, np.ndarray, pd.Index)):
        return False
    values = np.asarray(indices)
    return values.ndim == 1 and values.dtype.kind in "iu"


def ours(params: Any, indices: Any) -> Any:
    return libgather.gather(params, np.asarray(indices), profile="numpy_raise")


def assert_equal(result: Any, expected: Any) -> None:
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(result, expected, check_freq=False)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(result, expected, check_freq=False)
    elif type(expected) is pd.Index and isinstance(expected.dtype, pd.api.extensions.ExtensionDtype):
        # assert_index_equal needs a == of elements, which the arrays of JSON in the tests of pandas do not have.
        pd.testing.assert_extension_array_equal(result.array, expected.array)
        assert result.names == expected.names
    elif isinstance(expected, pd.Index):
        pd.testing.assert_index_equal(result, expected, exact=True)
    elif isinstance(expected, pd.api.extensions.ExtensionArray):
        pd.testing.assert_extension_array_equal(result, expected)
    else:
        assert result.equals(expected), f"{result} instead of {expected}"
    assert type(result) is type(expected), f"{type(result)} instead of {type(expected)}"


def compare(params: Any, indices: Any, expected: Any) -> None:
    """Compares a take of libgather with the result of the original, which is an exception if it has failed."""
    name = type(params).__name__
    try:
        result = ours(params, indices)
    except (libgather.DTypeError, libgather.UnsupportedError):
        refused[f"{name} of {getattr(params, 'dtype', 'columns')}"] += 1
        return
    except libgather.IndexError:
        if not isinstance(expected, IndexError):
            raise
    else:
        assert not isinstance(expected, IndexError), f"a result instead of {expected!r}"
        assert_equal(result, expected)
    equal[name] += 1


def checked(original: Any) -> Any:
    """Returns a take that also takes by libgather, and compares the results. Takes that a comparison itself calls are
    not compared."""

    @functools.wraps(original)
    def take(params: Any, indices: Any, *args: Any, **keywords: Any) -> Any:
        global is_busy
        is_compared = not (is_busy or args or keywords) and are_plain(indices)
        was_busy, is_busy = is_busy, True
        try:
            try:
                result = original(params, indices, *args, **keywords)
            except IndexError as error:
                if is_compared:
                    compare(params, indices, error)
                raise
            if is_compared:
                compare(params, indices, result)
            return result
        finally:
            is_busy = was_busy

    return take


def classes(base: type) -> set[type]:
    return {base}.union(*map(classes, base.__subclasses__()))


def pytest_collection_finish() -> None:
    """Replaces the functions after the tests were imported, because some of them define arrays of their own."""
    for base in (pd.DataFrame, pd.Series, pd.Index, pd.api.extensions.ExtensionArray):
        for each in classes(base):
            if "take" in vars(each):
                each.take = checked(each.take)  # type: ignore[attr-defined]
    pc.take = checked(pc.take)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    takes = ", ".join(f"{count} of {name}" for name, count in sorted(equal.items()))
    terminalreporter.write_line(f"{equal.total()} takes are equal: {takes}")
    for name, count in sorted(refused.items()):
        terminalreporter.write_line(f"refused: {count} of {name}")
