"""Columns of pyarrow, pandas and polars of each type, for the tests of columns."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

DAY = datetime.datetime(2020, 2, 29, 12)


def library(name: str) -> Any:
    """Imports a library, or skips the test. The hidden frame makes the file of the test that of the skip."""
    __tracebackhide__ = True
    return pytest.importorskip(name, reason=f"{name} is not installed")


def some(make: Callable[[int], Any], share: float = 0.3) -> Callable[[random.Random, int], list[Any]]:
    """Returns a function that creates values, of which a share is null."""
    return lambda chance, n: [None if chance.random() < share else make(chance.randrange(1000)) for _ in range(n)]


#: A type of Arrow, and a function that creates values of it from an integer.
ARROW: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "null": (pa.null(), lambda i: None),
    "bool": (pa.bool_(), lambda i: i % 3 == 0),
    "int8": (pa.int8(), lambda i: i % 100),
    "uint64": (pa.uint64(), lambda i: 2**63 + i),
    "float16": (pa.float16(), lambda i: i / 4),
    "float64": (pa.float64(), lambda i: i / 4),
    "timestamp": (pa.timestamp("us", "Europe/Paris"), lambda i: DAY + datetime.timedelta(hours=i)),
    "date32": (pa.date32(), lambda i: DAY.date() + datetime.timedelta(days=i)),
    "date64": (pa.date64(), lambda i: DAY.date() + datetime.timedelta(days=i)),
    "time32": (pa.time32("s"), lambda i: datetime.time(i % 24)),
    "time64": (pa.time64("ns"), lambda i: datetime.time(i % 24)),
    "duration": (pa.duration("ms"), lambda i: datetime.timedelta(hours=i)),
    "month_day_nano": (pa.month_day_nano_interval(), lambda i: pa.MonthDayNano([i, 1, 2])),
    "decimal128": (pa.decimal128(20, 2), lambda i: decimal.Decimal(i) / 4),
    "decimal256": (pa.decimal256(50, 2), lambda i: decimal.Decimal(i) / 4),
    "string": (pa.string(), lambda i: "w" * (i % 40)),
    "large_string": (pa.large_string(), str),
    "binary": (pa.binary(), lambda i: b"\0" * (i % 20)),
    "fixed_size_binary": (pa.binary(5), lambda i: f"{i:05}".encode()),
    "list": (pa.list_(pa.int32()), lambda i: [i] * (i % 5)),
    "list of strings": (pa.large_list(pa.string()), lambda i: [str(i), None] * (i % 3)),
    "vector": (pa.list_(pa.float32(), 3), lambda i: [i, 1.0, 2.0]),
    "list view": (pa.list_view(pa.int32()), lambda i: [i] * (i % 5)),
    "list view of strings": (pa.large_list_view(pa.string()), lambda i: [str(i), None] * (i % 3)),
    "map": (pa.map_(pa.string(), pa.int8()), lambda i: [("a", i % 9)]),
    "struct": (pa.struct({"a": pa.int64(), "b": pa.string()}), lambda i: {"a": i, "b": str(i) if i % 2 else None}),
    "dictionary": (pa.dictionary(pa.int16(), pa.string()), lambda i: f"value {i % 7}"),
}
#: Types for which pyarrow has no take, or a wrong one. The expected rows are those of Python's lists.
ODD: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "string_view": (pa.string_view(), lambda i: "w" * (i % 40)),
    "binary_view": (pa.binary_view(), lambda i: b"w" * (i % 40)),
    "vector of vectors": (pa.list_(pa.list_(pa.int16(), 2), 2), lambda i: [[i, 1], [2, i]]),
}


def arrow_column(name: str, chance: random.Random, length: int) -> Any:
    """Returns an array or a chunked array that is a slice."""
    kind, make = (ARROW | ODD)[name]
    whole = [pa.array(some(make)(chance, chance.randrange(length)), kind) for _ in range(chance.randrange(1, 4))]
    whole.append(pa.array(some(make, 0.1)(chance, length), kind))
    parts = [part[chance.randrange(3) :] for part in whole]
    return parts[-1] if chance.random() < 0.5 else pa.chunked_array(parts, kind)


PANDAS = (
    "str",
    "python",
    "object",
    "category",
    "Int64",
    "boolean",
    "time zone",
    "datetime",
    "timedelta",
    "period",
    "interval",
    "sparse",
    "decimal",
    "chunks",
    "chunks of decimals",
    "int64",
    "float64",
    "bool",
)


def pandas_column(name: str) -> Any:
    """Returns a column with labels, a name and, if its dtype has nulls, nulls."""
    __tracebackhide__ = True
    pd = library("pandas")
    words = ["a", None, "ccc", "d", "a", "\u00e4"]
    numbers = [1, None, 3, 4, 5, 6]
    days = pd.to_datetime(["2020-01-01", None, "2021-05-01", "2020-01-03", "2020-01-04", "2020-01-05"])
    decimals = pa.array([None if n is None else decimal.Decimal(n) for n in numbers], pa.decimal128(9, 1))
    text = pa.chunked_array([words[:2], words[2:]], pa.large_string())
    values: dict[str, Callable[[], Any]] = {
        "str": lambda: pd.array(words, "str"),
        "python": lambda: pd.array(words, pd.StringDtype("python", na_value=np.nan)),
        "object": lambda: np.array([1, None, "x", {}, 2**80, "y"], object),
        "category": lambda: pd.Categorical(words, ["d", "a", "unused", "ccc", "\u00e4"], ordered=True),
        "Int64": lambda: pd.array(numbers, "Int64"),
        "boolean": lambda: pd.array([True, None, False, True, True, False], "boolean"),
        "time zone": lambda: days.tz_localize("Europe/Paris").array,
        "datetime": lambda: days.array,
        "timedelta": lambda: (days - days[0]).array,
        "period": lambda: days.to_period("M").array,
        "interval": lambda: pd.arrays.IntervalArray.from_breaks(range(7)),
        "sparse": lambda: pd.arrays.SparseArray([0, 0, 3, 0, 5, 0]),
        "decimal": lambda: pd.array(decimals, pd.ArrowDtype(decimals.type)),
        "chunks": lambda: type(pd.array(words, "str"))(text, dtype=pd.array(words, "str").dtype),
        "chunks of decimals": lambda: pd.arrays.ArrowExtensionArray(pa.chunked_array([decimals[:2], decimals[2:]])),
        "int64": lambda: np.arange(6),
        "float64": lambda: np.array([1.5, np.nan, 2.5, 3.5, 4.5, 5.5]),
        "bool": lambda: np.array([True, False, False, True, True, True]),
    }
    return pd.Series(values[name](), index=list("uvwxyz"), name="n")


POLARS = {
    "String": lambda pl: pl.Series(["a", None, "a longer string of bytes"]),
    "Categorical": lambda pl: pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "Enum": lambda pl: pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
    "Datetime": lambda pl: pl.Series([DAY, None, DAY]).dt.replace_time_zone("Europe/Paris"),
    "Duration": lambda pl: pl.Series([datetime.timedelta(1), None, datetime.timedelta(2)]),
    "Decimal": lambda pl: pl.Series([decimal.Decimal("1.5"), None, decimal.Decimal(2)]),
    "List": lambda pl: pl.Series([[1], None, [2, 3]]),
    "Array": lambda pl: pl.Series([[1, 2], None, [2, 3]], dtype=pl.Array(pl.Int8, 2)),
    "Struct": lambda pl: pl.Series([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}]),
    "Int64": lambda pl: pl.Series([1, None, 3]),
    "Int128": lambda pl: pl.Series([1, None, 2**100], dtype=pl.Int128),
    "Float32": lambda pl: pl.Series([1.5, 2.5, 3.5], dtype=pl.Float32),
    "Boolean": lambda pl: pl.Series([True, None, False]),
    "Binary": lambda pl: pl.Series([b"a", None, b"c"]),
    "Null": lambda pl: pl.Series([None, None, None]),
    "chunks": lambda pl: pl.concat([pl.Series(["a"]), pl.Series([None, "b"])], rechunk=False),
    "chunks of lists": lambda pl: in_chunks(pl.Series([[1], None, [2, 3]])),
    "chunks of arrays": lambda pl: in_chunks(pl.Series([[1, 2], None, [2, 3]], dtype=pl.Array(pl.Int8, 2))),
    "chunks of structs": lambda pl: in_chunks(pl.Series([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}])),
    "chunks of enums": lambda pl: in_chunks(pl.Series([["a"], None, ["b", None]], dtype=pl.List(pl.Enum(["b", "a"])))),
}


def in_chunks(column: Any) -> Any:
    return column[:1].clone().append(column[1:])
