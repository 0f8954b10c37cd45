"""The matrix of gather_elements: profile x bounds x kind. Dtype classes and index dtypes alternate over its cells.

A cell with only the policy of the profile has every dtype class and every index dtype several times. A system can run
these calls. The other cells have a few cases each, in which classes and index dtypes alternate.
"""

import itertools
import math
import random
from dataclasses import dataclass, replace

from . import data, dtypes, elements, policy, profiles
from .format import Case, Tensor

OP = "gather_elements"
BOUNDS = ("error", "fill", "clamp", "modulo", "skip")
RANKS = {
    "line": (1,),
    "first": (2, 3, 4),
    "middle": (3, 4, 5),
    "last": (2, 3, 4),
    "deep": (5, 6, 7, 8),
    "prefix": (2, 3, 4),
    "broadcast": (2, 3, 4),
    "empty_indices": (1, 2, 3),
    "empty_axis": (1, 2, 3),
    "empty_beside": (2, 3, 4),
    "strided": (1, 2, 3, 4),
    "disagree": (2, 3, 4),
}
KINDS = tuple(RANKS)
MOST_ELEMENTS = 24
CASES_OTHER = 3

# Other functions of a system, as switches on top of its profile: torch.take_along_dim, and NumPy's
# take_along_axis in TensorFlow.
ALONG = {
    "torch": (("int64",), {"extents": "broadcast", "bounds": "modulo"}),
    "tensorflow": (("int32", "int64"), {"extents": "broadcast", "negative": "wrap"}),
}


@dataclass(frozen=True)
class Cell:
    profile: str
    bounds: str
    kind: str

    @property
    def name(self):
        return f"{self.profile}/elements_grid/{self.bounds}/{self.kind}"

    @property
    def rule(self):
        """Returns the extents that the kind needs, or those of the profile."""
        return self.kind if self.kind in ("prefix", "broadcast") else profiles.TABLE[self.profile].extents

    @property
    def own(self):
        profile = profiles.TABLE[self.profile]
        return self.profile == "none" or (self.bounds == profile.bounds and self.rule == profile.extents)

    @property
    def rounds(self):
        """The number of cases, which test valid and invalid indices. There are more cases if a system can run them."""
        return 4 if self.bounds == "error" or self.profile in ("tensorflow_gpu", "jax_fill", "jax_clip") else 2


def cell_of(name):
    """Returns the cell that a case of this grid fills, or None for any other case."""
    profile, section, *rest = name.split("/")
    return Cell(profile, *rest[:2]) if section == "elements_grid" else None


def cells():
    return itertools.starmap(Cell, itertools.product(profiles.TABLE, BOUNDS, KINDS))


def classes(cell):
    allowed = profiles.params_dtypes(cell.profile, OP, 0)
    found = [c for c in dtypes.CLASSES if allowed & set(dtypes.of_class(c))]
    return [c for c in found if (c, cell.kind) != ("string", "strided")]  # strings are always dense


def index_dtypes(profile):
    return [t for t in dtypes.INTEGERS if t in profiles.index_dtypes(profile, OP)]


def cases():
    for turn, cell in enumerate(cells()):
        if not cell.own:
            yield from _deal(cell, CASES_OTHER, "other", turn * CASES_OTHER, index_dtypes(cell.profile))
            continue
        indices = index_dtypes(cell.profile)
        width = max(len(classes(cell)), len(indices))
        for number in range(cell.rounds):
            good = cell.bounds == "error" and number % 2 == 0
            yield from _deal(cell, width, f"{number}{'_good' * good}", turn + number, indices, good=good)
        if cell.profile in ALONG and cell.bounds == "error":
            yield from _deal(cell, width, "along", turn, *ALONG[cell.profile])


def _deal(cell, count, label, start, index_dtypes, switches=None, good=False):
    dtype_classes = classes(cell)
    for n in range(count):
        dtype_class = dtype_classes[(start + n) % len(dtype_classes)]
        # Rounds step through the index dtypes by different numbers. Otherwise a class would always have the same index
        # dtype.
        index_dtype = index_dtypes[(start * 3 + n) % len(index_dtypes)]
        name = f"{cell.name}/{label}_{dtype_class}_{index_dtype}"
        yield _case(cell, name, dtype_class, index_dtype, switches or {}, good)


def _case(cell, name, dtype_class, index_dtype, switches, good):
    rng = random.Random(name)
    allowed = profiles.params_dtypes(cell.profile, OP, 0)
    dtype = rng.choice([t for t in dtypes.of_class(dtype_class) if t in allowed])
    switches = {**_switches(rng, cell, dtype), **switches}
    params_shape, index_shape, axis = _shapes(rng, cell.kind, switches.get("extents", cell.rule))
    params = data.params(dtype, params_shape)
    case = Case(
        name=name,
        op=OP,
        params=_strided(rng, params) if cell.kind == "strided" else params,
        indices=Tensor(index_dtype, index_shape, b""),
        profile=cell.profile,
        axis=_as_given(rng, axis, len(params_shape)),
        **switches,
    )
    return _with_indices(rng, cell, case, params_shape[axis], good)


def _switches(rng, cell, dtype):
    """Returns the switches of the case.

    They are mostly absent if the profile has the same values, so that its system can run the case.
    """
    profile, switches = profiles.TABLE[cell.profile], {}
    own = cell.bounds == profile.bounds
    if not own or rng.random() < 0.1:
        switches["bounds"] = cell.bounds
    if cell.rule != profile.extents or rng.random() < 0.1:
        switches["extents"] = cell.rule
    if rng.random() < (0.5 if cell.profile == "none" or not own else 0.05):
        switches["negative"] = rng.choice(["reject", "wrap"])
    if cell.bounds != "fill":
        return switches
    by_dtype = profile.fill == "by_dtype"
    if dtype == "string":
        return {**switches, "fill": "zero"} if by_dtype else switches
    if rng.random() < (0.6 if cell.profile == "none" or not own else 0.05):
        switches["fill"] = rng.choice(["zero", "value", "by_dtype"])
    if switches.get("fill") == "value":
        switches["fill_value"] = bytes(range(0x31, 0x31 + dtypes.ALL[dtype].size))
    return switches


def _shapes(rng, kind, rule):
    """Draws shapes of params and indices and the axis, until they have the properties of the kind."""
    while True:
        rank = rng.choice(RANKS[kind])
        axis = {"first": 0, "last": rank - 1, "middle": rng.randrange(1, max(rank - 1, 2))}.get(
            kind, rng.randrange(rank)
        )
        params = [rng.choice((1, 2, 2, 3)) for _ in range(rank)]
        params[axis] = rng.choice((1, 2, 3, 4, 5))
        indices = list(params)
        indices[axis] = rng.choice((1, 1, 2, 3, 4))
        _bend(rng, kind, params, indices, axis)
        if _suits(kind, rule, params, indices, axis):
            return tuple(params), tuple(indices), axis


def _bend(rng, kind, params, indices, axis):
    beside = [d for d in range(len(params)) if d != axis]
    if kind == "prefix":
        for d in beside:
            indices[d] = rng.randint(1, indices[d])
    elif kind == "broadcast":
        for d in beside:
            rng.choice((params, indices, [0] * len(params)))[d] = 1
    elif kind == "empty_indices":
        indices[axis] = 0
    elif kind == "empty_axis":
        params[axis] = 0
    elif kind == "empty_beside":
        params[axis] = rng.choice((0, 2, 3))
        d = rng.choice(beside)
        params[d], indices[d] = rng.choice(((0, 0), (0, 0), (0, 1), (1, 0), (2, 0)))
    elif kind == "disagree":
        for d in beside:
            indices[d] = rng.choice((0, 1, indices[d], indices[d] + 1))


def _suits(kind, rule, params, indices, axis):
    beside = [(p, i) for d, (p, i) in enumerate(zip(params, indices)) if d != axis]
    agree = all(elements.fits(rule, p, i) for p, i in beside)
    differ = any(p != i for p, i in beside)
    out = math.prod(max(p, i) for p, i in zip(params, indices))
    if math.prod(params) > MOST_ELEMENTS or out > MOST_ELEMENTS * 2:
        return False
    if kind in ("prefix", "broadcast"):
        return agree and differ
    return not agree if kind == "disagree" else agree


def _as_given(rng, axis, rank):
    if axis == 0 and rng.random() < 0.3:
        return None
    return axis - rank if rng.random() < 0.5 else axis


def _strided(rng, t):
    if rng.random() < 0.2:
        return data.repeated(rng, t.dtype, t.shape)
    return data.strided(rng, t)


def _with_indices(rng, cell, case, size, good):
    index_dtype, count = case.indices.dtype, math.prod(case.indices.shape)
    negative, bounds, _ = policy.switches(case)
    # If an invalid index fails the call, there are few of them. Otherwise there are many.
    share, bad_at = (0.1, rng.randrange(max(count, 1))) if bounds == "error" else (0.4, None)
    # With the ends of a dtype, ONNX's reference evaluator would run for hours. One named case shows this.
    far, numbers = cell.profile != "onnx", []
    for n in range(count):
        bad = not good and (n == bad_at or rng.random() < share)
        if bad or size == 0:
            numbers.append(data.bad_index(rng, index_dtype, size, negative == "wrap", far))
        else:
            numbers.append(data.good_index(rng, index_dtype, size, negative == "wrap"))
    indices = data.indices(index_dtype, case.indices.shape, numbers)
    if cell.kind == "strided" and rng.random() < 0.7:
        indices = data.strided(rng, indices)
    return replace(case, indices=indices)
