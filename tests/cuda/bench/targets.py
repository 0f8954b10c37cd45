"""The targets of the library, compared with the measurements."""

import dataclasses
import typing

from .analysis import Measured
from .contenders import CLAMP, ERROR, SAME_CLAMP, SAME_ERROR


@dataclasses.dataclass(frozen=True)
class Target:
    title: str
    bound: float
    is_least: bool  # the bound is a minimum, otherwise a maximum
    unit: str
    applies: typing.Callable  # takes a cell
    values: typing.Callable  # takes a Measured, returns [(value, its name)]
    strict: typing.Callable = None  # the same values by a stricter measure, shown in addition

    def allows(self, value):
        return value >= self.bound if self.is_least else value <= self.bound


@dataclasses.dataclass(frozen=True)
class Verdict:
    target: Target
    planned: int  # number of planned cells for this target
    measured: int
    worst: typing.Any  # (value, its name), or None
    strict: typing.Any  # the same by the stricter measure

    @property
    def text(self):
        if self.worst is None:
            return "not measured"
        return "met" if self.target.allows(self.worst[0]) else "not met"


def evaluate(plan, measured):
    """Returns the verdicts, from the planned cells and {key: Measured} of the measured ones."""
    return [_evaluate(target, plan, measured) for target in TARGETS]


def _evaluate(target, plan, measured):
    bearing = [cell for cell in plan if target.applies(cell)]
    there = [measured[cell.key] for cell in bearing if cell.key in measured]
    values = [some for some in map(target.values, there) if some]
    strict = [some for some in map(target.strict, there) if some] if target.strict else []
    return Verdict(target, len(bearing), len(values), _worst(target, values), _worst(target, strict))


def _worst(target, values):
    pick = min if target.is_least else max
    return pick((value for some in values for value in some), key=lambda value: value[0], default=None)


# ---- cells


def _is_grid(cell):
    """Returns whether the cell has uniform rows, with a table and an output far beyond the cache."""
    return cell.section in ("rows", "int32", "misaligned", "outputs")


def _is_aligned(cell):
    return cell.row % 16 == 0 and cell.offset % 16 == 0


def _is_element(cell):
    return cell.row in (4, 8) and cell.offset == 0


def _is_unaligned(cell):
    return _is_grid(cell) and not _is_aligned(cell) and cell.row not in (1, 2, 4, 8)


def _has_peers(cell):
    """Host times are not compared, because those of the peers include Python."""
    return cell.section != "limits" and cell.way != "host"


# ---- values


def _share_of(name, share=Measured.share):
    def values(measured):
        return [(share(measured, name), measured.cell.key)] if measured.has(name) else []

    return values


def _nd_over_gather(measured: Measured):
    pairs = ((CLAMP, SAME_CLAMP), (ERROR, SAME_ERROR))
    return [(measured.ratio(a, b), f"{measured.cell.key}, {a}") for a, b in pairs if measured.has(a, b)]


def _leads_of(name):
    def values(measured):
        if not measured.has(name):
            return []
        return [(lead, f"{measured.cell.key}: {peer}") for peer, lead in measured.leads(name).items()]

    return values


def _host_microseconds(measured):
    return [(measured.median(name) * 1e6, f"{measured.cell.key}: {name}") for name in measured.names("ours")]


def _cost_of_checking(measured):
    return [(measured.ratio(ERROR, CLAMP), measured.cell.key)] if measured.has(ERROR, CLAMP) else []


def _added_by_checking(measured):
    if not measured.has(ERROR, CLAMP):
        return []
    return [((measured.median(ERROR) - measured.median(CLAMP)) * 1e6, measured.cell.key)]


def _shares(title, applies, clamp, error):
    for name, bound in ((CLAMP, clamp), (ERROR, error)):
        strict = _share_of(name, Measured.strict_share)
        yield Target(f"{title}, {name}: share of the limit", bound, True, "", applies, _share_of(name), strict)


TARGETS = [
    *_shares("aligned rows of 64 B and more", lambda c: _is_grid(c) and _is_aligned(c) and c.row >= 64, 0.95, 0.90),
    *_shares("aligned rows of 32 B", lambda c: _is_grid(c) and _is_aligned(c) and c.row == 32, 0.90, 0.85),
    *_shares("unaligned rows", _is_unaligned, 0.85, 0.85),
    *_shares("elements of 4 and 8 B", lambda c: _is_grid(c) and _is_element(c), 0.90, 0.90),
    Target(
        "gather_nd of depth 1 to 5: time over gather of the same rows",
        1.03,
        False,
        "",
        lambda c: c.section == "gather_nd",
        _nd_over_gather,
    ),
    *(
        Target(f"every peer's time over ours, {name}", 1.0, True, "", _has_peers, _leads_of(name))
        for name in (ERROR, CLAMP)
    ),
    Target("host time of a call", 3.0, False, "us", lambda c: c.section == "host", _host_microseconds),
    Target(
        "error over clamp, rows of 128 B and more",
        1.05,
        False,
        "",
        lambda c: _is_grid(c) and c.row >= 128,
        _cost_of_checking,
    ),
    Target(
        "error over clamp, rows of 64 B",
        1.07,
        False,
        "",
        lambda c: _is_grid(c) and c.row == 64,
        _cost_of_checking,
    ),
    Target(
        "added by error, n up to 1000",
        3.0,
        False,
        "us",
        lambda c: c.section == "counts" and c.n <= 1000,
        _added_by_checking,
    ),
    Target(
        "added by error, n from 2049 to 100,000",
        3.0,
        False,
        "us",
        lambda c: c.section == "counts" and 2049 <= c.n <= 10**5,
        _added_by_checking,
    ),
]
