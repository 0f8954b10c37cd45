"""The matrix: profile x op x bounds x dtype class x index dtype x kind. A cell has one or two cases."""

import random
from dataclasses import dataclass

from . import data, dtypes, oracle, policy, profiles
from .format import Case, Tensor

OPS = ("gather", "gather_nd")
BOUNDS = ("error", "fill", "clamp", "modulo", "skip")
KINDS = ("plain", "empty_inner", "empty_outer", "empty_axis", "k0", "batch", "strided")

# (params shape, indices shape, axis, batch_dims)
_GATHER = {
    "plain": [
        ((4,), (3,), 0, 0),
        ((4,), (), None, 0),
        ((3, 2), (2,), 1, 0),
        ((3, 2), (2, 2), None, 0),
        ((2, 3, 2), (2,), 1, 0),
        ((2, 3), (), -1, 0),
        ((3, 2), (3,), -2, 0),
        ((2, 2, 2), (1, 2), -1, 0),
    ],
    "empty_inner": [
        ((3, 0), (2,), 0, 0),
        ((2, 3, 0), (2,), 1, 0),
        ((3, 0, 2), (1, 2), None, 0),
        ((3, 0), (), 0, 0),
        ((2, 3, 0), (2, 2), 1, 1),
    ],
    "empty_outer": [
        ((0, 3), (2,), 1, 0),
        ((2, 0, 3), (2,), 2, 0),
        ((0, 3), (), -1, 0),
        ((0, 2, 2), (1, 2), 1, 0),
        ((2, 0, 3), (2, 1), 2, 1),
    ],
    "empty_axis": [
        ((0,), (2,), 0, 0),
        ((2, 0), (3,), 1, 0),
        ((0, 2), (1, 1), None, 0),
        ((0,), (0,), 0, 0),
        ((0, 2), (), 0, 0),
        ((2, 0, 2), (2,), -2, 0),
        ((0, 0), (1,), 0, 0),
        ((0, 0), (2,), 1, 0),
        ((2, 0), (2, 1), 1, 1),
    ],
    "batch": [
        ((2, 3), (2, 2), 1, 1),
        ((2, 3, 2), (2, 2), None, 1),
        ((2, 2, 3), (2, 3), 2, 1),
        ((2, 2, 3), (2, 2, 2), None, 2),
        ((2, 3), (2,), 1, 1),
        ((2, 3), (2, 2), 1, -1),
        ((2, 2, 3), (2, 1, 2), -1, -2),
        ((0, 3), (0, 2), 1, 1),
        ((2, 3, 2), (2, 0), 1, 1),
    ],
}
_GATHER_ND = {
    "plain": [
        ((4,), (3, 1), None, 0),
        ((3, 2), (2, 2), None, 0),
        ((3, 2), (2, 1), None, 0),
        ((2, 3, 2), (2, 2), None, 0),
        ((4,), (1,), None, 0),
        ((2, 3), (2,), None, 0),
        ((2, 2, 2), (2, 1, 3), None, 0),
    ],
    "empty_inner": [
        ((3, 0), (2, 1), None, 0),
        ((2, 3, 0), (2, 2), None, 0),
        ((3, 0), (1,), None, 0),
        ((2, 3, 0), (2, 1, 1), None, 1),
    ],
    "empty_outer": [
        ((3, 2), (0, 2), None, 0),
        ((3,), (0, 1), None, 0),
        ((3, 2), (2, 0, 1), None, 0),
        ((0, 3), (0, 1), None, 1),
        ((0, 3), (0, 2, 1), None, 1),
    ],
    "empty_axis": [
        ((0,), (2, 1), None, 0),
        ((0, 2), (2, 1), None, 0),
        ((2, 0), (1, 2), None, 0),
        ((2, 0), (2,), None, 0),
        ((0, 0), (2, 1), None, 0),
        ((0, 3), (0, 1), None, 0),
        ((2, 0, 2), (2, 1, 1), None, 1),
    ],
    "k0": [
        ((3,), (2, 0), None, 0),
        ((2, 2), (0,), None, 0),
        ((2, 3), (2, 0), None, 1),
        ((0, 2), (2, 0), None, 0),
        ((3,), (0, 0), None, 0),
        ((2, 2), (2, 2, 0), None, 1),
    ],
    "batch": [
        ((2, 3), (2, 1), None, 1),
        ((2, 3, 2), (2, 2, 1), None, 1),
        ((2, 3, 2), (2, 2), None, 1),
        ((2, 2, 3), (2, 2, 1), None, 2),
        ((2, 2, 3), (2, 2, 2, 1), None, 2),
        ((0, 3), (0, 1), None, 1),
    ],
}
SHAPES = {"gather": _GATHER, "gather_nd": _GATHER_ND}


@dataclass(frozen=True)
class Cell:
    profile: str
    op: str
    bounds: str
    dtype_class: str
    index_dtype: str
    kind: str

    @property
    def name(self):
        return f"{self.profile}/grid/{self.op}/{self.bounds}/{self.dtype_class}/{self.index_dtype}/{self.kind}"


def cell_of(name):
    """Returns the cell that a case of the grid fills, or None for a named case."""
    profile, section, *rest = name.split("/")
    if section != "grid":
        return None
    *path, last = rest
    return Cell(profile, *path, last.removesuffix("_good").removesuffix("_bad"))


def cells():
    for profile in profiles.TABLE:
        for op in OPS:
            for bounds in BOUNDS:
                for dtype_class in dtypes.CLASSES:
                    for index_dtype in dtypes.INTEGERS:
                        for kind in KINDS:
                            yield Cell(profile, op, bounds, dtype_class, index_dtype, kind)


def impossible(cell):
    """Returns the reason that a cell has no case, or None."""
    onnx = profiles.TABLE[cell.profile].onnx_types
    if not _dtypes(cell):
        return f"{cell.profile} has no {cell.dtype_class} tables"
    if cell.index_dtype not in profiles.index_dtypes(cell.profile, cell.op):
        return f"{cell.profile} {cell.op} refuses {cell.index_dtype} indices"
    if cell.op == "gather" and cell.kind == "k0":
        return "gather has no tuples whose length could be 0"
    if cell.op == "gather" and cell.kind == "batch" and onnx:
        return f"{cell.profile} gather has no batch_dims"
    if cell.dtype_class == "string" and cell.kind == "strided":
        return "strings are always dense"
    return None


def _dtypes(cell):
    allowed = profiles.params_dtypes(cell.profile, cell.op, 0)
    return [n for n in dtypes.of_class(cell.dtype_class) if n in allowed]


def cases():
    for cell in cells():
        if impossible(cell):
            continue
        if cell.bounds == "error":
            yield _case(cell, "good")
            yield _case(cell, "bad")
        else:
            yield _case(cell, "mixed")


def _case(cell, values):
    name = cell.name if values == "mixed" else f"{cell.name}_{values}"
    rng = random.Random(name)
    dtype = rng.choice(_dtypes(cell))
    shape, index_shape, axis, batch_dims = rng.choice(_shapes(cell))
    case = Case(
        name=name,
        op=cell.op,
        params=_params(rng, cell.kind, dtype, shape),
        indices=Tensor(cell.index_dtype, index_shape, b""),
        profile=cell.profile,
        axis=axis,
        batch_dims=batch_dims,
        **_switches(rng, cell, dtype),
    )
    return _with_indices(rng, cell, case, values)


def _shapes(cell):
    shapes = SHAPES[cell.op]
    rows = shapes["plain"] + shapes["batch"] if cell.kind == "strided" else shapes[cell.kind]
    if cell.kind == "strided":
        rows = [row for row in rows if 0 not in row[0] + row[1]]
    if cell.op == "gather" and profiles.TABLE[cell.profile].onnx_types:
        rows = [row for row in rows if row[3] == 0]
    if cell.profile == "numpy_wrap" and cell.kind == "empty_axis":
        # np.take(mode="wrap") does not return if the output is also empty. One named case shows this.
        rows = [row for row in rows if row[0].count(0) == 1]
    return rows


def _params(rng, kind, dtype, shape):
    if kind != "strided":
        return data.params(dtype, shape)
    if rng.random() < 0.2:
        return data.repeated(rng, dtype, shape)
    return data.strided(rng, data.params(dtype, shape))


def _switches(rng, cell, dtype):
    """Returns the switches of the case.

    They are mostly absent if the profile has the same values, so that its system can run the case.
    """
    own = profiles.TABLE[cell.profile].bounds == cell.bounds
    switches = {}
    if not own or rng.random() < 0.2:
        switches["bounds"] = cell.bounds
    if rng.random() < (0.15 if own else 0.6):
        switches["negative"] = rng.choice(["reject", "wrap"])
    if cell.bounds == "fill" and rng.random() < (0.15 if own else 0.75):
        switches["fill"] = rng.choice(["zero", "value", "by_dtype"] if dtype != "string" else ["zero"])
    if switches.get("fill") == "value":
        switches["fill_value"] = bytes(range(0x31, 0x31 + dtypes.ALL[dtype].size))
    return {key: switches[key] for key in sorted(switches)} | _string_fill(cell, dtype, switches)


def _string_fill(cell, dtype, switches):
    """Strings are filled with the empty string only, for every fill of the profile."""
    by_dtype = profiles.TABLE[cell.profile].fill != "zero"
    return {"fill": "zero"} if dtype == "string" and by_dtype and "fill" not in switches else {}


def _with_indices(rng, cell, case, values):
    sizes = _indexed_sizes(case)
    count = case.indices.size
    wraps = policy.switches(case)[0] == "wrap"
    far = cell.profile != "numpy_wrap"
    bad_at = rng.randrange(count) if count and values == "bad" else None
    numbers = []
    for n in range(count):
        size = sizes[n % len(sizes)]
        bad = n == bad_at or (values != "good" and rng.random() < (0.15 if values == "bad" else 0.45))
        if bad or size == 0:
            numbers.append(data.bad_index(rng, cell.index_dtype, size, wraps, far))
        else:
            numbers.append(data.good_index(rng, cell.index_dtype, size, wraps))
    indices = data.indices(cell.index_dtype, case.indices.shape, numbers)
    if cell.kind == "strided" and rng.random() < 0.7:
        indices = data.strided(rng, indices)
    return Case(**{**vars(case), "indices": indices})


def _indexed_sizes(case):
    if case.op == "gather":
        axis, _ = oracle.gather_attributes(case)
        return (case.params.shape[axis],)
    b = case.batch_dims
    return case.params.shape[b : b + case.indices.shape[-1]] or (1,)
