"""The expected result of a case, from the definition of gather_bags in gather.h, number by number."""

import itertools
import math
import struct
from fractions import Fraction

from .. import dtypes, policy, profiles
from .. import numbers as formats
from ..format import Ok
from ..policy import Refused

FILLED = "filled"
EXTREMES = ("max", "min")
POOLS = {
    "float": ("sum", "mean", "sqrtn", *EXTREMES),
    "int": ("sum", *EXTREMES),
    "complex": ("sum", "mean"),
}


def answer(case):
    try:
        check_form(case)
        bags = borders(case)
        read = read_ids(case, bags)
        return pooled(case, read)
    except Refused as refused:
        return refused.error


# ---- The form of a call


def kind(dtype):
    return {"bfloat16": "float", "uint": "int"}.get(dtypes.ALL[dtype].kind, dtypes.ALL[dtype].kind)


def has_pool(dtype, pool):
    return pool in POOLS.get(kind(dtype), ())


def check_form(case):
    params, indices, bags, weights = case.params, case.indices, case.bags, case.weights
    if weights is not None and pool_of(case) in EXTREMES:
        raise Refused("VERSION", "weights", -1, 0, 0)
    check_dtypes(params.dtype, pool_of(case), weights)
    if not params.shape:
        raise Refused("RANK", "params", -1, 0, 1)
    rank = len(indices.shape)
    if rank < 1 if bags is None else rank != 1:
        raise Refused("RANK", "indices", -1, rank, 1)
    if bags is not None and len(bags.shape) != 1:
        raise Refused("RANK", "bags", -1, len(bags.shape), 1)
    if weights is not None and len(weights.shape) != rank:
        raise Refused("RANK", "weights", -1, len(weights.shape), rank)
    if case.bag_format == "offsets" and bags.shape == (0,):
        raise Refused("SHAPE", "bags", 0, 0, 1)
    if case.bag_format == "segments" and bags.shape != indices.shape:
        raise Refused("SHAPE", "bags", 0, bags.shape[0], indices.shape[0])
    for dim, (extent, needed) in enumerate(zip(weights.shape if weights else (), indices.shape)):
        if extent != needed:
            raise Refused("SHAPE", "weights", dim, extent, needed)


def check_dtypes(params, pool, weights):
    number = dtypes.ALL[params].number
    if not has_pool(params, pool):
        raise Refused("DTYPE", "params", -1, number, 0)
    if weights is None:
        return
    is_float32 = weights.dtype == "float32" and kind(params) == "float"
    if kind(params) == "complex" or not (weights.dtype == params or is_float32):
        limit = 0 if kind(params) == "complex" else number
        raise Refused("DTYPE", "weights", -1, dtypes.ALL[weights.dtype].number, limit)


def pool_of(case):
    return case.pool or "sum"


# ---- Bags


def borders(case):
    """Returns the number of ids in front of each bag, and in front of the end of the last bag."""
    if case.bags is None:
        length = case.indices.shape[-1]
        return [length * bag for bag in range(math.prod(case.indices.shape[:-1]) + 1)]
    return {"offsets": of_offsets, "starts": of_starts, "lengths": of_lengths, "segments": of_segments}[
        case.bag_format
    ](case, case.bags.integers(), case.indices.size)


def refuse(position, value, limit):
    raise Refused("OFFSETS", "bags", -1, *policy.reported(value, (), limit, position))


def check_order(numbers, limit):
    """Rejects numbers that decrease or exceed the limit."""
    for position, (before, number) in enumerate(itertools.pairwise([0, *numbers])):
        if number > limit:
            refuse(position, number, limit)
        if number < before:
            refuse(position, number, before)


def check_offsets(numbers, ids):
    if numbers and numbers[0] != 0:
        refuse(0, numbers[0], 0)
    check_order(numbers, ids)


def of_offsets(case, numbers, ids):
    check_offsets(numbers, ids)
    if numbers[-1] != ids and case.profile != "torch":
        refuse(len(numbers) - 1, numbers[-1], ids)
    return numbers


def of_starts(case, numbers, ids):
    check_offsets(numbers, ids)
    return [*numbers, ids]


def of_lengths(case, numbers, ids):
    begin = [0]
    for position, length in enumerate(numbers):
        if length < 0:
            refuse(position, length, 0)
        if length > ids - begin[-1]:
            refuse(position, length, ids - begin[-1])
        begin.append(begin[-1] + length)
    if begin[-1] != ids:
        refuse(len(numbers), begin[-1], ids)
    return begin


def of_segments(case, numbers, ids):
    for position, number in enumerate(numbers):
        if number >= case.bag_count:
            refuse(position, number, case.bag_count)
        if number < max([0, *numbers[:position]]):
            refuse(position, number, max([0, *numbers[:position]]))
    return [sum(number < bag for number in numbers) for bag in range(case.bag_count + 1)]


# ---- Ids


def read_ids(case, bags):
    """Returns for each bag the pairs of a row, or FILLED, and the position of its id, without ids that are not read."""
    negative, bounds, _ = switches(case)
    ids, size = case.indices.integers(), case.params.shape[0]
    read = []
    for begin, end in itertools.pairwise(bags):
        read.append([])
        for position in range(begin, end):
            if case.padding_index is not None and ids[position] == case.padding_index:
                continue
            row = policy.resolve((ids[position],), (size,), negative, bounds, position)
            if row or bounds == "fill":
                read[-1].append((row[0] if row else FILLED, position))
    if case.empty == "error" and [] in read:
        raise Refused("OFFSETS", "bags", -1, 0, 1, read.index([]))
    return read


def switches(case):
    profile = profiles.TABLE[case.profile]
    negative = case.negative or profiles.negative_rule(case.profile, "gather", 0)
    return negative, case.bounds or profile.bounds, case.fill or profile.fill


# ---- Numbers


class Floats:
    """Sums of float32 and of half types in float32, or sums of float64."""

    def __init__(self, dtype, rounds_each):
        self.wide = "float64" if dtype == "float64" else "float32"
        self.step = dtype if rounds_each else self.wide

    def number(self, value):
        return formats.rounded(self.wide, value)

    def add(self, total, row, weight):
        if weight is None:
            added = self.number(total + row)
        elif self.wide == "float64":
            added = total + weight * row
        else:
            added = fused(weight, row, total)
        return formats.rounded(self.step, added)

    def divide(self, total, divisor):
        return 0.0 if divisor == 0 else self.number(total / divisor)


class Integers:
    """Sums that wrap around."""

    def __init__(self, dtype, rounds_each):
        self.dtype, self.number = dtype, int

    def add(self, total, row, weight):
        return formats.rounded(self.dtype, total + (1 if weight is None else weight) * row)


def fused(a, b, c):
    """Returns a * b + c as float32 that is rounded once.

    The product is exact in float64. If the sum is inexact, its last bit is set to 1 (round to odd). The second
    rounding, to float32, then returns what a single rounding of the exact sum returns.
    """
    near = float(a) * float(b) + float(c)
    if not math.isfinite(near):
        return near
    rest = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) - Fraction(near)
    bits = struct.unpack("<q", struct.pack("<d", near))[0]
    if rest and bits % 2 == 0:
        bits += 1 if (rest > 0) == (near > 0) else -1
    return formats.rounded("float32", struct.unpack("<d", struct.pack("<q", bits))[0])


def pooled(case, read):
    """Returns the outcome for the rows that each bag reads. A complex number is a pair of numbers."""
    params = case.params
    is_complex = kind(params.dtype) == "complex"
    part = {"complex64": "float32", "complex128": "float64"}.get(params.dtype, params.dtype)
    numbers = (Integers if kind(part) == "int" else Floats)(part, case.accumulate == "dtype")
    columns = math.prod(params.shape[1:]) * (2 if is_complex else 1)
    table, filler, start = parts(params, part, columns), fill_row(case, part), start_row(case, part)
    weights = None if case.weights is None else case.weights.numbers()
    rows = []
    for bag in read:
        found = [filler if row is FILLED else table[row] for row, _ in bag]
        given = None if weights is None else [numbers.number(weights[position]) for _, position in bag]
        for column in range(columns):
            column_of = [row[column % len(row)] for row in found]
            rows.append(pool(case, numbers, column_of, given) if bag else start[column % len(start)])
    shape = (*(case.indices.shape[:-1] if case.bags is None else (len(read),)), *params.shape[1:])
    data = formats.pack(part, rows)
    assert is_complex or len(rows) == math.prod(shape)
    return Ok(params.dtype, shape, data)


def parts(tensor, part, columns):
    found = formats.unpack(part, tensor.dense())
    return [found[at * columns : (at + 1) * columns] for at in range(tensor.shape[0])]


def fill_bytes(case):
    fill = switches(case)[2]
    size = dtypes.ALL[case.params.dtype].size
    return {"zero": bytes(size), "value": case.fill_value, "by_dtype": formats.FILL_BY_DTYPE[case.params.dtype]}[fill]


def fill_row(case, part):
    return formats.unpack(part, fill_bytes(case))


def start_row(case, part):
    """Returns the numbers of a bag of which no id is read."""
    if case.empty == "fill":
        return fill_row(case, part)
    if case.empty is None and case.profile.startswith("jax") and pool_of(case) in EXTREMES:
        lowest, highest = limits(part)
        return [lowest if pool_of(case) == "max" else highest]
    return [0]


def limits(part):
    if kind(part) == "float":
        return -math.inf, math.inf
    return formats.limits(part)


def pool(case, numbers, rows, weights):
    rows = [numbers.number(row) for row in rows]
    if pool_of(case) in EXTREMES:
        return extreme(rows, pool_of(case) == "max")
    total = numbers.number(0)
    for row, weight in itertools.zip_longest(rows, weights or ()):
        total = numbers.add(total, row, weight)
    if pool_of(case) == "sum":
        return total
    squares = pool_of(case) == "sqrtn"
    divisor = numbers.number(len(rows) if weights is None else 0)
    for weight in weights or ():
        divisor = numbers.number(divisor + (numbers.number(weight * weight) if squares else weight))
    return numbers.divide(total, numbers.number(math.sqrt(divisor)) if squares else divisor)


def extreme(rows, is_max):
    best = rows[0]
    for row in rows[1:]:
        if best == best and (row != row or (row > best if is_max else row < best)):
            best = row
    return best
