"""The cases: profile x pool x format x kind. Dtypes, shapes and numbers alternate."""

import itertools
import math
import random
from dataclasses import replace

from .. import data, dtypes, profiles
from ..format import Case
from . import oracle

# The number of cases of each cell, and the pools that the system does not have. One case of a cell has such a pool.
TURNS = {"none": 5, "torch": 5, "tensorflow": 4, "jax_fill": 3, "jax_clip": 2}
ABSENT = {"torch": ("sqrtn", "min"), "jax_fill": ("mean", "sqrtn"), "jax_clip": ("mean", "sqrtn")}
POOLS = oracle.POOLS["float"]
FORMATS = ("offsets", "starts", "lengths", "segments", "dense")
KINDS = (
    "plain",
    "weights",
    "padding",
    "empty",
    "wrong",
    "outside",
    "negative",
    "strided",
    "special",
    "long",
    "nothing",
    "refused",
)
FLOATS = ("float32", "float32", "float64", "float16", "bfloat16")
OTHERS = ("int8", "uint16", "int32", "uint64", "int64", "complex64", "complex128")
BOUNDS = ("error", "fill", "clamp", "modulo", "skip")
NAN, INFINITY = float("nan"), float("inf")


def cases():
    for profile, pool, bag_format, kind in itertools.product(TURNS, POOLS, FORMATS, KINDS):
        for turn in range(1 if pool in ABSENT.get(profile, ()) else TURNS[profile]):
            name = f"{profile}/gather_bags/{bag_format}_{pool}/{kind}_{turn}"
            case = make(random.Random(name), name, profile, pool, bag_format, kind)
            if case is not None:
                yield case
    yield from named()


def make(rng, name, profile, pool, bag_format, kind):
    """Returns a case, or None if the kind does not exist for the format."""
    is_dense = bag_format == "dense"
    if kind == "wrong" and is_dense:
        return None
    dtype = choose_dtype(rng, profile, pool, kind)
    index_dtype = choose_index(rng, profile)
    rows, inner = rng.randint(2, 6), rng.choice(((3,), (5,), (9,), (2, 2), ()))
    if profile.startswith("jax"):  # JAX compiles a function for each shape and dtype.
        rows, inner, index_dtype = 4, (3,), "int64"
    lengths = choose_lengths(rng, kind, is_dense)
    if kind == "nothing":
        if rng.random() < 0.5:
            inner = (0, *inner)
        else:
            lengths = []
    count = sum(lengths)
    is_exact = rng.random() < 0.5 or profile != "torch"
    case = Case(
        name,
        "gather_bags",
        numbers(rng, dtype, (rows, *inner), is_exact),
        ids(rng, profile, kind, index_dtype, rows, shape_of_ids(rng, lengths, is_dense)),
        profile,
        bag_format=bag_format,
        pool=pool if pool != "sum" or rng.random() < 0.5 else None,
        bag_count=len(lengths) if bag_format == "segments" else None,
    )
    if not is_dense:
        same = profile == "torch" or rng.random() < 0.4
        bag_dtype = index_dtype if same and data.limits(index_dtype)[1] >= count else "int64"
        bag_dtype = bag_dtype if same else rng.choice([d for d in dtypes.INTEGERS if data.limits(d)[1] >= count])
        found = bags(bag_format, lengths)
        if kind == "wrong":
            found = wrong(rng, bag_format, found, count, data.limits(bag_dtype))
        case = replace(case, bags=data.indices(bag_dtype, (len(found),), found))
    return of_kind(rng, case, kind, is_exact)


def choose_dtype(rng, profile, pool, kind):
    if kind == "refused":
        return rng.choice([d for d in ("bool", "float8_e5m2", *OTHERS) if not oracle.has_pool(d, pool)])
    if kind in ("special", "weights") or rng.random() < (0.9 if profile == "torch" else 0.6):
        return rng.choice(FLOATS)
    others = ("int32", "uint64", "complex64") if profile.startswith("jax") else OTHERS
    return rng.choice([d for d in (*others, "float32") if oracle.has_pool(d, pool)])


def choose_index(rng, profile):
    allowed = sorted(profiles.index_dtypes(profile, "gather"))
    return rng.choice(("int32", "int64") if rng.random() < 0.6 else allowed)


def choose_lengths(rng, kind, is_dense):
    if kind == "long":
        return [40] if is_dense else [3, 70]
    if is_dense:
        return [0 if kind == "empty" else rng.randint(1, 4)] * rng.choice((1, 2, 4))
    lengths = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    if kind == "empty" or rng.random() < 0.2:
        for place in {rng.randrange(len(lengths)) for _ in range(2)}:
            lengths[place] = 0
    return lengths


def shape_of_ids(rng, lengths, is_dense):
    if not is_dense:
        return (sum(lengths),)
    if not lengths:
        return (0, 3)
    if len(lengths) == 1 and rng.random() < 0.5:
        return (lengths[0],)
    return (2, len(lengths) // 2, lengths[0]) if len(lengths) > 1 and rng.random() < 0.4 else (len(lengths), lengths[0])


def bags(bag_format, lengths):
    begin = [0, *itertools.accumulate(lengths)]
    segments = [bag for bag, length in enumerate(lengths) for _ in range(length)]
    return {"offsets": begin, "starts": begin[:-1], "lengths": lengths, "segments": segments}[bag_format]


def wrong(rng, bag_format, found, count, limits):
    """Changes one number, or appends one if there is none."""
    place = rng.randrange(len(found)) if found else 0
    changes = (-1, 1, count + 1, count + 3, found[place] - 1 if found else 0, found[place] + 1 if found else 1)
    number = rng.choice([n for n in changes if limits[0] <= n <= limits[1]])
    return [*found[:place], number, *found[place + 1 :]] if found else found


def ids(rng, profile, kind, dtype, rows, shape):
    wraps = profiles.TABLE[profile].negative["gather"] == "wrap"
    found = []
    for _ in range(math.prod(shape)):
        if kind == "outside" and rng.random() < 0.3:
            found.append(data.bad_index(rng, dtype, rows, wraps, profile in ("none", "torch")))
        elif kind == "negative" and data.limits(dtype)[0] < 0 and rng.random() < 0.5:
            found.append(rng.randrange(-rows, 0))
        else:
            found.append(rng.randrange(rows))
    return data.indices(dtype, shape, found)


def numbers(rng, dtype, shape, is_exact):
    """Returns numbers whose sums and products are exact in float32, or numbers of which each sum is rounded."""
    kind, count = dtypes.ALL[dtype].kind, math.prod(shape)
    if kind in ("bool", "float8"):
        return data.params(dtype, shape)
    if kind in ("int", "uint"):
        low, high = data.limits(dtype)
        return data.indices(dtype, shape, [rng.randint(low, high) for _ in range(count)])
    draw = (lambda: rng.randint(-500, 500) / 16) if is_exact else (lambda: rng.randint(-10000, 10000) / 37)
    return data.array(dtype, shape, [complex(draw(), draw()) if kind == "complex" else draw() for _ in range(count)])


def of_kind(rng, case, kind, is_exact):
    own = case.profile != "none"
    if kind == "weights":
        dtype = case.params.dtype if own or rng.random() < 0.6 else "float32"
        low = 1 if case.profile == "tensorflow" else -16
        drawn = [rng.randint(low, 16) / (8 if is_exact else 7) for _ in range(case.indices.size)]
        case = replace(case, weights=data.array(dtype, case.indices.shape, drawn))
    if kind == "padding":
        case = with_padding(rng, case)
    if kind == "empty" and not own:
        case = with_fill(rng, replace(case, empty=rng.choice((None, "zero", "fill", "error"))))
    if kind == "empty" and own and rng.random() < 0.2:
        case = replace(case, empty="zero")
    if kind == "outside" and not own:
        case = with_fill(rng, replace(case, bounds=rng.choice(BOUNDS)))
    if kind == "outside" and own and rng.random() < 0.2:
        case = replace(case, bounds="skip")
    if kind == "negative" and not own:
        case = replace(case, negative=rng.choice(("wrap", "reject")))
    if kind == "strided":
        if case.pool not in oracle.EXTREMES and oracle.kind(case.params.dtype) == "float" and not own:
            case = replace(case, weights=numbers(rng, "float32", case.indices.shape, True))
        operands = {name: getattr(case, name) for name in ("params", "indices", "bags", "weights")}
        case = replace(case, **{name: data.strided(rng, each) for name, each in operands.items() if each and each.size})
    if kind == "special":
        case = replace(case, params=with_special(rng, case))
    if case.params.dtype in ("float16", "bfloat16") and rng.random() < 0.3:
        case = replace(case, accumulate=rng.choice(("dtype", "float32")))
    return case


def with_padding(rng, case):
    rows, low = case.params.shape[0], data.limits(case.indices.dtype)[0]
    choices = [rng.randrange(rows)] if case.profile == "torch" else [-1] if case.profile == "tensorflow" else []
    choices = choices or [rng.randrange(rows), -1, rows, -7]
    padding = rng.choice(choices)
    if padding < low:  # No id has this value.
        return replace(case, padding_index=padding)
    found = [padding if rng.random() < 0.4 else number for number in case.indices.integers()]
    return replace(case, padding_index=padding, indices=data.indices(case.indices.dtype, case.indices.shape, found))


def with_fill(rng, case):
    """Sets a fill value if the case has one."""
    if "fill" not in (case.empty, case.bounds):
        return case
    fill = rng.choice(("zero", "value", "by_dtype"))
    image = numbers(rng, case.params.dtype, (1,), True).memory if fill == "value" else None
    return replace(case, fill=fill, fill_value=image)


def with_special(rng, case):
    """Replaces some numbers by NaN, infinities and zeros. Maxima have no negative zero, because it equals zero."""
    special = [NAN, NAN, INFINITY, -INFINITY, 0.0, *([] if case.pool in oracle.EXTREMES else [-0.0])]
    kept = case.params.numbers()
    drawn = [rng.choice(special) if rng.random() < 0.15 else number for number in kept]
    return data.array(case.params.dtype, case.params.shape, drawn)


def named():
    """Facts about the systems, and errors, one by one."""
    floats = data.array("float32", (3, 2), [1, 2, 4, 8, 16, 32])
    for profile in TURNS:
        common = dict(op="gather_bags", profile=profile, bag_format="offsets")
        three = data.indices("int64", (3,), [0, 1, 2])
        for pool in POOLS:  # The last offset is less than the number of ids.
            early = data.indices("int64", (2,), [0, 2])
            yield Case(
                f"{profile}/gather_bags/early/{pool}", params=floats, indices=three, bags=early, pool=pool, **common
            )
        thirds = data.array("float32", (3, 1), [1 / 3, 2 / 3, 4 / 3])
        whole = data.indices("int64", (2,), [0, 3])
        weights = data.array("float32", (3,), [1 / 7, 5 / 7, 3 / 7])
        for pool in ("sum", "mean", "sqrtn"):
            yield Case(
                f"{profile}/gather_bags/rounded_products/{pool}",
                params=thirds,
                indices=three,
                bags=whole,
                weights=weights,
                pool=pool,
                **common,
            )
        for dtype in ("float16", "bfloat16"):
            ones = data.array(dtype, (1, 1), [1.125])
            yield Case(
                f"{profile}/gather_bags/halves/{dtype}",
                params=ones,
                indices=data.indices("int64", (400,), [0] * 400),
                bags=data.indices("int64", (2,), [0, 400]),
                **common,
            )
    none = dict(op="gather_bags", params=floats)
    for bag_format, found in (("offsets", [0, 2**63, 3]), ("starts", [0, 2**64 - 1]), ("lengths", [2**64 - 1])):
        large = data.indices("uint64", (len(found),), found)
        yield Case(f"none/gather_bags/large/{bag_format}", bag_format=bag_format, indices=three, bags=large, **none)
    large = data.indices("uint64", (3,), [0, 2**63, 1])
    yield Case("none/gather_bags/large/segments", bag_format="segments", bag_count=3, indices=three, bags=large, **none)
    for padding in (None, -1):
        last = data.indices("uint64", (1, 2), [0, 2**64 - 1])
        name = f"none/gather_bags/large/id_{'padding' if padding else 'plain'}"
        yield Case(name, bag_format="dense", indices=last, padding_index=padding, **none)
    yield from disagreeing(floats)


def disagreeing(params):
    """Calls whose operands have other ranks or extents than they need."""
    index = lambda *shape: data.indices("int64", shape, [0] * math.prod(shape))  # noqa: E731
    weights = lambda *shape: data.array("float32", shape, [1.0] * math.prod(shape))  # noqa: E731
    calls = {
        "params_scalar": dict(params=data.array("float32", (), [1.0])),
        "indices_matrix": dict(indices=index(2, 2)),
        "indices_scalar": dict(indices=index(), bags=None, bag_format="dense"),
        "bags_matrix": dict(bags=index(2, 2)),
        "bags_scalar": dict(bags=index()),
        "offsets_none": dict(bags=index(0)),
        "segments_fewer": dict(bag_format="segments", bag_count=2, bags=index(3)),
        "weights_matrix": dict(weights=weights(4, 1)),
        "weights_fewer": dict(weights=weights(3)),
        "weights_float64": dict(weights=data.array("float64", (4,), [1.0] * 4)),
        "weights_dense": dict(indices=index(2, 3), bags=None, bag_format="dense", weights=weights(2, 4)),
        "weights_complex": dict(params=numbers(random.Random(1), "complex64", (3, 2), True), weights=weights(4)),
    }
    for name, call in calls.items():
        given = dict(params=params, indices=index(4), bags=index(2), bag_format="offsets") | call
        yield Case(f"none/gather_bags/disagree/{name}", op="gather_bags", **given)
