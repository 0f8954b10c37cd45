"""padding_index of gathers: numbers in bounds and out of bounds, beside other invalid indices, under each policy."""

import itertools
import random

from .. import data, dtypes
from .build import gather, gather_elements, gather_nd, index, strings, table

PADDINGS = (0, -1, 2, 9)
BOUNDS = ("error", "fill", "clamp", "modulo", "skip")
FILLS = ("zero", "value", "by_dtype")
#: The fill value of a case with `fill value`. It has the bytes of one element of the dtype.
PATTERN = bytes(range(1, 17))


def cases():
    yield from of_policies()
    yield from of_shapes()
    yield from of_ends()


def of_policies():
    for (op, numbers), bounds, negative in itertools.product(
        (("gather", [1, None, 0]), ("gather_elements", [1, None, 0]), ("gather_nd", [[1], [None], [0]])),
        BOUNDS,
        ("reject", "wrap"),
    ):
        for padding, kind in itertools.product(PADDINGS, ("plain", "outside")):
            rng = random.Random(f"{op}{bounds}{negative}{padding}{kind}")
            dtype, fill = rng.choice(sorted(dtypes.NUMERIC)), rng.choice(FILLS)
            found = with_padding(numbers, padding)
            if kind == "outside":
                found = [*found, [-7] if op == "gather_nd" else -7, found[0]]
            yield named(op)(
                f"none/padding/{op}/{bounds}_{negative}_{padding}_{kind}",
                table(3, 2, dtype=dtype) if op != "gather_elements" else table(3, dtype=dtype),
                index(found, rng.choice(("int8", "int16", "int32", "int64"))),
                bounds=bounds,
                negative=negative,
                fill=fill,
                fill_value=PATTERN[: dtypes.ALL[dtype].size] if fill == "value" else None,
                padding_index=padding,
            )


def of_shapes():
    """A tuple is padding if all its components are. A tuple of no components is none."""
    p = "none/padding/shape/"
    pairs = [[1, 1], [-1, -1], [0, 2]]
    for bounds in BOUNDS:
        yield gather_nd(f"{p}pairs_{bounds}", table(2, 3), index(pairs), bounds=bounds, padding_index=-1)
        yield gather_nd(
            f"{p}half_{bounds}", table(2, 3), index([[1, 1], [-1, 1], [-1, -1]]), bounds=bounds, padding_index=-1
        )
        yield gather(f"{p}empty_dim_{bounds}", table(0, 2), index([-1, -1]), bounds=bounds, padding_index=-1)
        yield gather(f"{p}empty_dim_other_{bounds}", table(0, 2), index([-1, 0]), bounds=bounds, padding_index=-1)
    yield gather_nd(p + "no_components", table(2), data.indices("int64", (2, 0), []), padding_index=-1)
    yield gather(p + "batches", table(2, 3, 2), index([[0, -1], [-1, 2]]), batch_dims=1, padding_index=-1)
    yield gather(p + "middle", table(2, 3, 2), index([2, -1, 0]), axis=1, padding_index=-1)
    yield gather(p + "scalar", table(3, 2), index(-1), padding_index=-1)
    yield gather(p + "long", table(5, 3), index([i % 6 - 1 for i in range(600)]), padding_index=-1)
    yield gather_elements(
        p + "rows", table(3, 4), index([[0, -1, 2, 1], [-1, -1, 0, 2]]), extents="prefix", padding_index=-1
    )
    yield gather_elements(p + "columns", table(2, 3), index([[2, -1], [0, 1]]), axis=1, padding_index=-1)
    yield gather(p + "strings", strings([b"a", b"", b"longer"]), index([2, -1, 0]), padding_index=-1)
    yield gather(p + "filled_strings", strings([b"a"]), index([0]), padding_index=-1, fill="value", fill_value=b"")


def of_ends():
    """A large uint64 has the bits of a negative number, but is not padding."""
    p = "none/padding/ends/"
    for padding, number, dtype in (
        (-1, 2**64 - 1, "uint64"),
        (-(2**63), 2**63, "uint64"),
        (-1, 2**32 - 1, "uint32"),
        (-1, 255, "uint8"),
        (2**63 - 1, 2**63 - 1, "int64"),
        (2**63 - 1, 2**63 - 1, "uint64"),
        (-(2**63), -(2**63), "int64"),
        (255, 255, "uint8"),
        (-128, -128, "int8"),
        (2**32 + 1, 1, "int32"),
    ):
        yield gather(f"{p}{padding}_{number}_{dtype}", table(3, 2), index([1, number, 0], dtype), padding_index=padding)


def named(op):
    return {"gather": gather, "gather_nd": gather_nd, "gather_elements": gather_elements}[op]


def with_padding(numbers, padding):
    return [with_padding(n, padding) if isinstance(n, list) else padding if n is None else n for n in numbers]
