"""The cases: profile x operation x reduction x kind. Dtypes and index dtypes alternate."""

import itertools
import math
import random
from dataclasses import replace

from .. import data, dtypes
from ..format import Case
from . import rules

KINDS = (
    "plain",
    "duplicates",
    "negative",
    "outside",
    "middle",
    "strided",
    "empty_indices",
    "empty_rows",
    "disagree",
)
BOUNDS = {
    "none": ("error", "skip", "clamp", "modulo"),
    "torch": (None, "skip"),
}
REDUCTIONS = (None, "add", "mul", "max", "min")
NAN = float("nan")
NAN_ORDERS = {"held": (NAN, 8.0), "update": (8.0, NAN), "then_number": (1.0, NAN, 8.0)}


def cases():
    for profile in rules.TABLE:
        for op in rules.OPS:
            for kind in KINDS:
                for reduction in REDUCTIONS:
                    for bounds in BOUNDS.get(profile, (None,)):
                        yield from of_cell(profile, op, kind, reduction, bounds)
    yield from named()
    yield from with_options()


def of_cell(profile, op, kind, reduction, bounds):
    for turn in range(1):
        name = f"{profile}/{op}/{kind}/{reduction or 'none'}_{bounds or 'own'}_{turn}"
        rng = random.Random(name)
        allowed = sorted(rules.target_dtypes(profile, op))
        dtype = rng.choice([d for d in allowed if rules.reduces(dtypes.ALL[d].kind, reduction)])
        index_dtype = rng.choice(sorted(rules.index_dtypes(profile, op)))
        yield make(rng, name, profile, op, kind, reduction, bounds, dtype, index_dtype)


def make(rng, name, profile, op, kind, reduction, bounds, dtype, index_dtype):
    rank = rng.choice((2, 3, 4) if kind == "middle" else (1, 2, 3))
    shape = [rng.choice((2, 3, 4)) for _ in range(rank)]
    options = {}
    if op == "scatter_nd":
        k = rng.randint(1, rank)
        index_shape = [rng.choice((1, 2, 3)) for _ in range(rng.choice((0, 1, 2)))] + [k]
        sizes, inner = shape[:k], shape[k:]
        updates = index_shape[:-1] + inner
        if kind == "empty_rows" and inner:
            shape[-1] = updates[-1] = 0
    else:
        axis = rng.randrange(1, rank - 1) if kind == "middle" and rank > 2 else rng.randrange(rank)
        if kind == "empty_rows" and rank > 1:
            shape[(axis + 1) % rank] = 0
        if axis or rng.random() < 0.5:
            options["axis"] = axis
        sizes = [shape[axis]]
        if op == "scatter":
            index_shape = [rng.choice((1, 2, 3, 5))]
            updates = shape[:axis] + index_shape + shape[axis + 1 :]
        else:
            index_shape = list(shape)
            index_shape[axis] = rng.choice((1, 2, 3, 5))
            updates = list(index_shape)
    if kind == "empty_indices":
        # For elements, on the axis. Extents beside the axis must be valid together.
        dim = options.get("axis", 0) if op == "scatter_elements" else 0
        index_shape[dim if op != "scatter_nd" or len(index_shape) > 1 else -1] = 0
        updates = None
    numbers = indices_of(
        rng,
        kind,
        index_shape,
        sizes,
        index_dtype,
        rules.TABLE[profile].negative == "wrap",
    )
    indices = data.indices(index_dtype, index_shape, numbers)
    if updates is None:
        updates = updates_without_indices(op, shape, index_shape, options.get("axis", 0))
    if kind == "disagree":
        updates = [*updates, 2] if rng.random() < 0.3 or not updates else [updates[0] + 1, *updates[1:]]
    target, rows = values(rng, dtype, shape), values(rng, dtype, updates)
    if kind == "strided" and dtype != "string":
        target, rows = data.strided(rng, target), data.strided(rng, rows)
    return Case(
        name,
        op,
        target,
        indices,
        profile,
        bounds=bounds,
        updates=rows,
        reduction=reduction,
        **options,
    )


def updates_without_indices(op, shape, index_shape, axis):
    if op == "scatter_nd":
        return index_shape[:-1] + shape[index_shape[-1] :]
    if op == "scatter":
        return shape[:axis] + index_shape + shape[axis + 1 :]
    return list(index_shape)


def indices_of(rng, kind, index_shape, sizes, index_dtype, wraps):
    numbers = []
    for n in range(math.prod(index_shape)):
        size = sizes[n % len(sizes)]
        if kind == "duplicates":
            numbers.append(n % min(size, 2))
        elif kind == "outside" and rng.random() < 0.3:
            numbers.append(data.bad_index(rng, index_dtype, size, wraps, False))
        elif kind == "negative" and data.limits(index_dtype)[0] < 0 and rng.random() < 0.5:
            numbers.append(rng.randrange(-size, 0))
        else:
            numbers.append(rng.randrange(size))
    return numbers


def values(rng, dtype, shape):
    """Returns small numbers. All their sums are exact in the wider types, and are rounded in half types."""
    count = math.prod(shape)
    kind = dtypes.ALL[dtype].kind
    if kind in ("string", "float8"):
        return data.params(dtype, tuple(shape))
    low = 0 if kind in ("uint", "bool") else -9
    if kind == "bool":
        numbers = [rng.random() < 0.5 for _ in range(count)]
    elif kind == "complex":
        numbers = [complex(rng.randint(-3, 3), rng.randint(-3, 3)) for _ in range(count)]
    elif kind in ("float", "bfloat16"):
        numbers = [rng.randint(-2000, 2000) / 64 for _ in range(count)]
    else:
        numbers = [rng.randint(low, 100) for _ in range(count)]
    return data.array(dtype, tuple(shape), numbers)


def named():
    """Facts about the systems, one by one."""
    floats = lambda *numbers, dtype="float32": data.array(dtype, (len(numbers),), numbers)  # noqa: E731
    for profile in rules.TABLE:
        index_dtype = "int64"
        for op, reduction in itertools.product(("scatter_nd", "scatter_elements"), ("max", "min")):
            shape, axis = ((), {"axis": 0}) if op == "scatter_elements" else ((1,), {})
            for order, (held, *updates) in NAN_ORDERS.items():
                yield Case(
                    f"{profile}/{op}/nan/{reduction}_{order}",
                    op,
                    floats(held, 1.0),
                    data.indices(index_dtype, (len(updates), *shape), [0] * len(updates)),
                    profile,
                    updates=floats(*updates),
                    reduction=reduction,
                    **axis,
                )
        for dtype in rules.HALVES:
            if dtype in rules.target_dtypes(profile, "scatter_elements"):
                for op in ("scatter", "scatter_elements"):
                    yield Case(
                        f"{profile}/{op}/halves/{dtype}",
                        op,
                        floats(0.0, dtype=dtype),
                        data.indices(index_dtype, (400,), [0] * 400),
                        profile,
                        axis=0,
                        updates=floats(*[1.125] * 400, dtype=dtype),
                        reduction="add",
                    )
        for dtype in ("float32", "float8_e5m2"):
            yield Case(
                f"{profile}/scatter/refused/{dtype}",
                "scatter",
                data.params("string" if dtype == "float32" else dtype, (2,)),
                data.indices(index_dtype, (1,), [0]),
                profile,
                axis=0,
                updates=data.params("string" if dtype == "float32" else dtype, (1,)),
                reduction="add",
            )
    for profile in ("onnx", "ort"):
        for opset in (11, 13, 15, 16, 17, 18):
            for op in ("scatter_nd", "scatter_elements"):
                for reduction in (None, "add", "mul", "max", "min"):
                    shape = (1, 1) if op == "scatter_nd" else (1,)
                    axis = {} if op == "scatter_nd" else {"axis": 0}
                    yield Case(
                        f"{profile}/{op}/opset_{opset}/{reduction or 'none'}",
                        op,
                        floats(1.0, 2.0),
                        data.indices("int64", shape, [1]),
                        profile,
                        opset=opset,
                        updates=floats(5.0),
                        reduction=reduction,
                        **axis,
                    )
    yield from without_elements()
    yield from sums_of_rows()


#: reduction, and what it begins with
BEGINNINGS = (*((reduction, "update") for reduction in (*REDUCTIONS[1:], "mean")), ("mean", None))
OPTION_KINDS = ("plain", "duplicates", "middle", "strided", "outside", "empty_indices", "empty_rows")
PADDINGS = (0, 1, -1, 7)


def with_options():
    """Means, reductions that ignore the target, sums in float64, and padding."""
    for profile, op, kind in itertools.product(("none", "torch"), rules.OPS, OPTION_KINDS):
        for reduction, initial in BEGINNINGS:
            for turn in range(3):
                name = f"{profile}/{op}/{kind}/{reduction}_{initial or 'target'}_{turn}"
                yield replace(optional(name, profile, op, kind, reduction), initial=initial)
        for reduction, initial in (("add", None), ("mul", "update"), ("mean", None)):
            name = f"{profile}/{op}/{kind}/{reduction}_{initial or 'target'}_float64"
            for dtype in ("float32", "float16"):
                case = optional(f"{name}_{dtype}", profile, op, kind, reduction, dtype)
                yield replace(case, initial=initial, accumulate="float64")
    for op, kind, padding in itertools.product(rules.OPS, OPTION_KINDS, PADDINGS):
        for bounds, reduction in (("error", None), ("skip", "add"), ("clamp", "mean"), ("modulo", "max")):
            case = optional(f"none/{op}/{kind}/padding_{padding}_{bounds}", "none", op, kind, reduction)
            yield padded(replace(case, bounds=bounds, padding_index=padding))


def optional(name, profile, op, kind, reduction, dtype=None):
    rng = random.Random(name)
    allowed = [d for d in sorted(rules.target_dtypes(profile, op)) if rules.reduces(dtypes.ALL[d].kind, reduction)]
    index_dtype = rng.choice(sorted(rules.index_dtypes(profile, op)))
    return make(rng, name, profile, op, kind, reduction, None, dtype or rng.choice(allowed), index_dtype)


def padded(case):
    """Returns the case with padding in place of every third tuple, if the indices have its number."""
    low, high = data.limits(case.indices.dtype)
    if not low <= case.padding_index <= high or not case.indices.size:
        return case
    size = case.indices.shape[-1] if case.op == "scatter_nd" else 1
    numbers = [case.padding_index if n // size % 3 == 0 else i for n, i in enumerate(case.indices.integers())]
    return replace(case, indices=data.indices(case.indices.dtype, case.indices.shape, numbers))


def without_elements():
    """torch validates the indices of reductions other than add, also if no element is written."""
    for reduction in ("add", "mul", "max", "min"):
        for kind, numbers in (("inside", [1]), ("outside", [9]), ("negative", [-1]), ("none", [])):
            yield Case(
                f"torch/scatter/no_elements/{reduction}_{kind}",
                "scatter",
                data.array("float32", (4, 1, 0), ()),
                data.indices("int64", (len(numbers),), numbers),
                "torch",
                axis=0,
                updates=data.array("float32", (len(numbers), 1, 0), ()),
                reduction=reduction,
            )


def sums_of_rows():
    """The type in which torch adds half types depends on rank and axis."""
    for axis, shape, rows in ((0, (1, 2), (400, 2)), (1, (2, 1), (2, 400)), (1, (2, 1, 2), (2, 400, 2))):
        for dtype in rules.HALVES:
            yield Case(
                f"torch/scatter/halves/{dtype}_rank_{len(shape)}_axis_{axis}",
                "scatter",
                data.array(dtype, shape, [0.0] * math.prod(shape)),
                data.indices("int64", (400,), [0] * 400),
                "torch",
                axis=axis,
                updates=data.array(dtype, rows, [1.125] * math.prod(rows)),
                reduction="add",
            )
