"""Fill values, padding and updates of columns: a value that a column does not return equal is refused."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from column_kinds import ARROW, ODD, PANDAS, POLARS, library, pandas_column

import libgather

UTC = dt.UTC
#: Types of Arrow that some values do not fit into. pandas has a column of each, too.
NARROW = (
    *(kind for kind, _ in (ARROW | ODD).values()),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp(unit, "UTC") for unit in ("s", "ns")),
    *(pa.int32(), pa.uint8(), pa.float32(), pa.decimal128(5, 2), pa.time32("ms"), pa.time64("us")),
    *(pa.duration("s"), pa.duration("ns"), pa.struct({"a": pa.int8()}), pa.list_(pa.timestamp("s"))),
    *(pa.list_(pa.struct({"a": pa.int8()})), pa.map_(pa.string(), pa.int16()), pa.dictionary(pa.int8(), pa.int32())),
)
DTYPES = ("int8", "uint64", "float16", "float32", "complex64", "datetime64[s]", "datetime64[ns]", "timedelta64[s]")
MASKED = ("Int8", "UInt64", "Float32", "string", "string[python]", "Sparse[float64]", "Sparse[int8]", "category")


def values(pd: Any) -> list[Any]:
    moment = dt.datetime(2020, 2, 29, 1, 2, 3, 4567)
    fine = "2020-02-29T01:02:03.004567891"
    numbers = [0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**70, 1.0, 1.5, 0.1, 1e300, math.nan, math.inf, True, 1 + 2j, 1 + 0j]
    texts = ["x", "1", "", "2020-02-29", "caf\u00e9", b"x", b"12345", bytearray(b"vwxyz"), np.str_("q")]
    decimals = [Decimal("1.2345678901"), Decimal("1.5"), Decimal("0.1"), Decimal(10**20)]
    times = [moment, moment.replace(microsecond=0), moment.replace(tzinfo=UTC), moment.date(), moment.time()]
    times += [dt.time(1, 2, 3), dt.timedelta(1), dt.timedelta(microseconds=1), np.datetime64(fine), np.timedelta64(1)]
    times += [np.datetime64("2020-02-29"), pd.Timestamp(fine), pd.Timestamp(fine, tz="Asia/Tokyo"), pd.Timedelta(1)]
    nested: list[Any] = [[], [1], [1.5], ["a"], [1, 2], [1, 2.5], [1, None, 3], [[1, 2], [3, 4]], (1, 2), [1.0, 0.1, 3]]
    nested += [{"a": 1}, {"a": 1.5}, {"a": 1, "b": "x"}, {"a": 1, "z": 2}, [{"a": 1}], [{"a": 1, "z": 2}], [("a", 1)]]
    nested += [[moment], np.array([1, 2]), np.array([1.5, 2.5, 3.5])]
    scalars = [np.float64(1.5), np.float32(0.1), np.int8(3), np.uint64(2**63), np.bool_(True), pa.scalar(5)]
    pandas = [pd.NaT, pd.NA, pd.Period("2020-02", "M"), pd.Period("2020-02-29", "D"), pd.Interval(0, 1)]
    return [*numbers, *texts, *decimals, *times, *nested, *scalars, *pandas, pd.Interval(0.5, 1.5), object()]


def columns() -> dict[str, Callable[[], Any]]:
    made: dict[str, Callable[[], Any]] = {}
    for kind in dict.fromkeys(NARROW):
        made[f"pyarrow {kind}"] = lambda kind=kind: pa.array([None, None], kind)
        if not pa.types.is_dictionary(kind) and "view" not in str(kind):  # pandas does not write them
            made[f"pandas {kind}"] = lambda kind=kind: library("pandas").Series(
                library("pandas").arrays.ArrowExtensionArray(pa.array([None, None], kind))
            )
    for name in PANDAS:
        made[f"pandas {name}"] = lambda name=name: pandas_column(name)
    for dtype in DTYPES + MASKED:
        numbers = ["2020", "2021"] if dtype[0] == "d" else ["1", "2"] if "string" in dtype else [1, 2]
        made[f"pandas {dtype}"] = lambda dtype=dtype, numbers=numbers: library("pandas").Series(numbers, dtype=dtype)
    arrays = (np.array(["a", "bbb"]), np.array([b"a", b"bb"]), np.array([(1, 2.5)] * 2, "i4,f4"))
    for array in arrays:
        made[f"pandas {array.dtype}"] = lambda array=array: library("pandas").arrays.NumpyExtensionArray(array)
    for name, make in POLARS.items():
        made[f"polars {name}"] = lambda make=make: make(library("polars"))
    for name in ("Datetime('ms')", "Datetime('ns', 'UTC')", "Date", "Time", "Duration('ms')", "Decimal(5, 2)", "UInt8"):
        made[f"polars {name}"] = lambda name=name: empty_polars(name)
    for name in ("Float64", "List(pl.Int8)", "List(pl.Datetime('ms'))", "Struct({'a': pl.Int8})"):
        made[f"polars {name}"] = lambda name=name: empty_polars(name)
    return made


def empty_polars(name: str) -> Any:
    pl = library("polars")
    return pl.Series([None, None], dtype=eval(f"pl.{name}", {"pl": pl}))


def first_of(rows: Any) -> Any:
    listed = next(getattr(rows, name) for name in ("to_pylist", "to_list", "tolist") if hasattr(rows, name))
    return listed()[0]


def python_of(value: Any) -> Any:
    if isinstance(value, np.generic) and value.dtype.kind in "biufcV":
        return value.item()
    return value.as_py() if isinstance(value, pa.Scalar) else value


def equal(value: Any, element: Any) -> bool:
    """Returns whether an element is a value. A float may have been rounded to 16, 32 or 64 bits."""
    if value is element:
        return True
    value, element = python_of(value), python_of(element)
    nulls = [str(part) in ("None", "nan", "NaT", "<NA>", "NaN", "(nan+0j)") for part in (value, element)]
    if any(nulls):
        return all(nulls)
    if isinstance(element, dict):
        known = value if isinstance(value, dict) else dict(value)
        return all(equal(known.get(name), part) for name, part in element.items()) and known.keys() <= element.keys()
    if isinstance(element, (list, tuple)):
        parts = list(value.items() if isinstance(value, dict) else value)
        return len(parts) == len(element) and all(map(equal, parts, element))
    if isinstance(value, float) and isinstance(element, (float, complex)) and math.isfinite(value):
        with np.errstate(over="ignore"):
            return any(element == rounded(value) for rounded in (np.float16, np.float32, np.float64))
    has_zone = [getattr(part, "tzinfo", None) is not None for part in (value, element)]
    is_time = [
        isinstance(part, (dt.datetime, dt.timedelta, np.datetime64, np.timedelta64)) for part in (value, element)
    ]
    return bool(value == element) and has_zone[0] == has_zone[1] and is_time[0] == is_time[1]


def error_of(call: Callable[[], Any], found: list[Any]) -> libgather.DTypeError | None:
    """Adds the first element of the result of a call to a list, or returns the error of the call."""
    try:
        found.append(first_of(call()))
    except libgather.DTypeError as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore")  # pandas and NumPy warn of some lossy conversions
@pytest.mark.parametrize("name", COLUMNS := columns())
def test_column_returns_what_it_accepts(name: str) -> None:
    """The three ways into a column accept the same values, and refuse the others by name."""
    column = COLUMNS[name]()
    for value in values(library("pandas")):
        found = []
        for operand, call in (
            ("options", lambda value=value: libgather.gather(column, [99, 0], fill_value=value)),
            ("options", lambda value=value: libgather.gather(column, [-7, 0], padding_index=-7, fill_value=value)),
            ("updates", lambda value=value: libgather.scatter(column, [0], [value])),
        ):
            error = error_of(call, found)
            if error is None:
                assert equal(value, found[-1]), (value, found)
            else:
                assert error.operand == operand or "not in the categories" in str(error), error
                assert repr(value) in str(error) or "not in the dictionary" in str(error)
        is_dictionary = "dictionary" in name  # a fill value may be a new value of it
        assert len(found) in (0, 3) or (is_dictionary and len(found) == 2), (value, found)


LOST: list[tuple[Any, Any]] = [
    (pa.list_(pa.int64()), [1.5]),
    (pa.time32("s"), dt.time(1, 2, 3, 500_000)),
    (pa.timestamp("s"), dt.datetime(2020, 1, 1, 1, 2, 3, 500_000)),
    (pa.duration("s"), dt.timedelta(milliseconds=1500)),
    (pa.date32(), dt.datetime(2020, 1, 1, 12)),
    (pa.decimal128(9, 2), Decimal("1.005")),
    (pa.int64(), 1.5),
    (pa.timestamp("us", "Europe/Paris"), 5),
    (pa.timestamp("us", "Europe/Paris"), dt.datetime(2020, 1, 1)),
    (pa.timestamp("us"), 5),
    (pa.duration("us"), 5),
    (pa.struct({"a": pa.int64()}), {"a": 1, "z": 2}),
    (pa.list_(pa.struct({"a": pa.int64()})), [{"z": 2}]),
    (pa.binary(), "x"),
    (pa.string(), b"x"),
    (pa.float32(), 2**24 + 1),
    (pa.float32(), 1e300),
]


@pytest.mark.parametrize(("kind", "value"), LOST, ids=repr)
def test_value_that_loses_something_is_an_error(kind: Any, value: Any) -> None:
    pd, pl = library("pandas"), library("polars")
    arrow = pa.array([None, None], kind)
    columns = [arrow, pa.chunked_array([arrow]), pd.Series(pd.arrays.ArrowExtensionArray(arrow), name="c")]
    polars = pl.Series("c", arrow)
    columns += [polars] if polars.to_arrow().type == kind or "string" in str(kind) else []  # it has no unit of seconds
    for column in columns:
        named = "" if type(column).__module__.startswith("pyarrow") else ": column 'c'"
        for call in (
            lambda column=column: libgather.gather(column, [9], fill_value=value),
            lambda column=column: libgather.gather(column, [9], padding_index=9, fill_value=value),
            lambda column=column: libgather.scatter(column, [0, 1], [None, value]),
            lambda column=column: libgather.scatter(column, [0], [value]),
        ):
            with pytest.raises(libgather.DTypeError) as caught:
                call()
            assert repr(value) in str(caught.value) and str(caught.value).endswith(named)
            assert caught.value.column == ("c" if named else None)


def test_values_of_a_column_are_accepted() -> None:
    """Each column accepts its own elements, as lists and as arrays."""
    for name, make in COLUMNS.items():
        column = make()
        elements = [first_of(column[i : i + 1]) for i in range(len(column))]
        for value in elements:
            if "dictionary" not in name:
                assert equal(value, first_of(libgather.scatter(column, [0], [value]))), name
            if not (isinstance(value, str) and value == "zero"):
                filled = libgather.gather(column, [9], fill_value=value) if value is not None else [value]
                assert value is None or equal(value, first_of(filled)), name


def test_null_and_objects_are_values_of_their_own_columns() -> None:
    pd = library("pandas")
    times = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))
    for column in (times, times.dt.tz_localize("Asia/Tokyo"), times - times[0], times.dt.to_period("D")):
        for rows in (libgather.scatter(column, [0], [pd.NaT]), libgather.gather(column, [9, 1], fill_value=pd.NaT)):
            assert rows.dtype == column.dtype and rows.isna().tolist() == [True, False]
            assert rows.iloc[1] == column.iloc[1]
    for column in (pa.array([None], pa.timestamp("ns")), pd.array([None], pd.ArrowDtype(pa.timestamp("ns")))):
        assert pd.isna(first_of(libgather.scatter(column, [0], [pd.NaT])))
    objects = pd.Series(["a", None, {}], dtype=object)
    for value in ([1, 2], {"k": 1}, object(), pd.Series([1, 2]), np.arange(3), (), 2**80, pd.NaT):
        assert libgather.gather(objects, [0, 9], fill_value=value).iloc[1] is value
        assert libgather.scatter(objects, [1], [value]).iloc[1] is value
        assert libgather.gather(objects, [-5], padding_index=-5, fill_value=value).iloc[0] is value


def test_errors_name_the_column_of_a_table() -> None:
    pd, pl = library("pandas"), library("polars")
    data = {"n": [1, 2], "s": ["x", "y"]}
    for table in (pd.DataFrame(data), pl.DataFrame(data), pa.table(data)):
        for value, name in ((0, "s"), ("z", "n"), (1.5, "n")):
            with pytest.raises(
                libgather.DTypeError, match=rf"^options: fill_value {value!r} is no .*: column '{name}'$"
            ):
                libgather.gather(table, [9], fill_value=value)
    table = pd.DataFrame({("a", 1): [1], ("a", 2): ["x"]})
    with pytest.raises(libgather.DTypeError) as caught:
        libgather.gather(table, [9], fill_value=0)
    assert caught.value.column == ("a", 2)


def test_arrays_of_another_type_are_converted_as_their_elements() -> None:
    pd = library("pandas")
    seconds = pa.array([None, None], pa.timestamp("s"))
    for updates in (np.array(["2020-01-01T00:00:07"], "M8[ms]"), pd.Series(pd.to_datetime(["2020-01-01T00:00:07"]))):
        assert libgather.scatter(seconds, [1], updates).to_pylist() == [None, dt.datetime(2020, 1, 1, 0, 0, 7)]
        zoned = seconds.cast(pa.timestamp("s", "UTC"))
        with pytest.raises(libgather.DTypeError, match=r"^updates: .* is no timestamp\[s, tz=UTC\]"):
            libgather.scatter(zoned, [1], updates)
    with pytest.raises(libgather.DTypeError, match=r"^updates: .* is no timestamp"):
        libgather.scatter(seconds, [1], np.array(["2020-01-01T00:00:07.5"], "M8[ms]"))
    words = pa.array(["a", "b", None])
    for dtype in ("str", "string", pd.ArrowDtype(pa.string()), "category"):
        written = libgather.scatter(words, [0, 1], pd.Series(["z", None], dtype=dtype))
        assert written.type == words.type and written.to_pylist() == ["z", None, None]
    numbers = pa.array([1, None], pa.int32())
    assert libgather.scatter(numbers, [1], np.array([2.0])).to_pylist() == [1, 2]
    for updates in (np.array([2.5]), np.array([2**31]), pd.Series([2.5]), pd.Series([2**31], dtype="Int64")):
        with pytest.raises(libgather.DTypeError, match=r"^updates: (2.5|2147483648) is no int32"):
            libgather.scatter(numbers, [1], updates)
    letters = pd.Series(["a", "b"], dtype="category")
    with pytest.raises(libgather.DTypeError, match=r"^updates: 'z' is not in the categories of the column$"):
        libgather.scatter(letters, [0], pd.Categorical(["z"]))
