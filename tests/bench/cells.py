"""The cells that are measured: a table, a row size, an operation and the kind of its output."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import prod
from typing import Any

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30

ALL_ROWS = (1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 100, 128, 192, 200, 256, 300, 384, 512, 768, 1000)
LONG_ROWS = (1024, 1536, 2048, 3072, 4096, 16 * KB, 64 * KB, MB)


@dataclass(frozen=True)
class Cell:
    table: int  # bytes
    row: int  # bytes
    depth: int = 1  # 1: gather, above 1: gather_nd, with this number of components
    index: str = "int64"
    spread: str = "uniform"
    fresh: bool = False  # each call allocates its output
    out: int = 4 * MB  # bytes

    @property
    def count(self) -> int:
        return max(1, self.out // self.row)

    @property
    def side(self) -> int:
        """The extent of each indexed dim."""
        rows = self.table // self.row
        side = round(rows ** (1 / self.depth))
        while side**self.depth > rows:
            side -= 1
        return side

    def facts(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Elements:
    """float32 elements. Indices have `extent` along the axis, and the extents of the table in the other dims."""

    shape: tuple[int, ...]
    axis: int
    extent: int

    @property
    def count(self) -> int:
        return prod(self.shape) // self.shape[self.axis] * self.extent

    @property
    def table(self) -> int:
        return 4 * prod(self.shape)

    def facts(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ElementsCell(Elements):
    """gather_elements."""

    index: str = "int64"
    fresh: bool = False


@dataclass(frozen=True)
class AxisCell:
    """gather along the middle axis of [outer, rows, row], with an output of 4 MB."""

    outer: int
    rows: int
    row: int  # bytes
    batched: bool  # with batch dims: each of the outer has its own indices

    @property
    def each(self) -> int:
        return max(1, 4 * MB // (self.outer * self.row))

    @property
    def count(self) -> int:
        return self.outer * self.each

    @property
    def table(self) -> int:
        return self.outer * self.rows * self.row

    def facts(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class StringsCell:
    """gather of strings with a mean length of `length` bytes."""

    rows: int
    length: int
    count: int

    @property
    def table(self) -> int:
        return self.rows * (self.length + 8)

    def facts(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ScatterCell:
    """scatter of float32 rows: 4 MB of updates, or fewer if the target is smaller."""

    depth: int  # 1: scatter, above 1: scatter_nd, with this number of components
    row: int  # bytes
    duplicates: str  # "no": each row at most once; "few": any row is drawn; "many": one of 100 rows
    reduction: str  # "none" or "add"
    into: str  # "itself": the target; "new": a new tensor; "memory": existing memory
    table: int = 8 * MB  # bytes

    @property
    def side(self) -> int:
        """The extent of each indexed dim."""
        return Cell(self.table, self.row, self.depth).side

    @property
    def count(self) -> int:
        return min(4 * MB // self.row, self.side**self.depth)

    def facts(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class ScatterElementsCell(Elements):
    """scatter_elements."""

    reduction: str
    into: str


@dataclass(frozen=True)
class BagsCell:
    """gather_bags of float32 rows: `bags` bags of `length` ids for each of `tables` tables."""

    table: int  # bytes of one table
    row: int  # bytes
    bags: int
    length: int
    pool: str = "sum"
    weighted: bool = False
    tables: int = 1

    @property
    def count(self) -> int:
        return self.tables * self.bags * self.length

    def facts(self) -> dict[str, Any]:
        return asdict(self)


AnyCell = Cell | ElementsCell | AxisCell | StringsCell | ScatterCell | ScatterElementsCell | BagsCell


def bags() -> list[AnyCell]:
    """Returns bags of 20 and 40 ids, short bags, pools, weights, and the 26 tables of a recommender."""
    large = 256 * MB
    cells: list[AnyCell] = [BagsCell(large, row, 2048, 20) for row in (256, 512)]
    cells += [BagsCell(5 * MB, 256, 2048, 20), BagsCell(30 * MB, 1024, 1024, 20), BagsCell(64 * MB, 64, 4096, 40)]
    cells += [BagsCell(5 * MB, 256, 2048, 20, pool) for pool in ("mean", "max")]
    cells += [BagsCell(5 * MB, 256, 2048, 20, weighted=True), BagsCell(large, 256, 4096, 1)]
    cells += [BagsCell(256 * KB, 256, 1, 1), BagsCell(256 * KB, 256, 1, 20), BagsCell(256 * KB, 256, 64, 20)]
    return [*cells, BagsCell(256 * KB, 256, 64, 1, tables=26)]


def scatters() -> list[AnyCell]:
    """Returns scatters of rows of 4 B to 4 KB, by tuples, and of elements. Updates are written or added."""
    kinds = [(reduction, into) for reduction in ("none", "add") for into in ("itself", "new")]
    rows = [(row, "no") for row in (4, 16, 64, 512, 4096)] + [(row, "few") for row in (4, 64)]
    rows += [(row, "many") for row in (4, 64, 512, 4096)]
    cells: list[AnyCell] = [ScatterCell(1, *each, *kind) for each in rows for kind in kinds]
    by_cache = [(256 * KB, 4), (256 * KB, 64), (64 * MB, 64), (64 * MB, 512)]
    cells += [ScatterCell(1, row, "no", *kind, table=table) for table, row in by_cache for kind in kinds]
    cells += [ScatterCell(1, row, "no", reduction, "memory") for row in (64, 512) for reduction in ("none", "add")]
    cells += [ScatterCell(depth, row, "no", *kind) for depth, row in ((2, 4), (2, 64), (4, 64)) for kind in kinds]
    shapes = (
        ((1000, 1000), 1, 1000),
        ((1000, 1000), 0, 1000),
        ((100_000, 64), 0, 10_000),
        ((1_000_000,), 0, 1_000_000),
    )
    return cells + [ScatterElementsCell(*each, *kind) for each in shapes for kind in kinds]


def axes() -> list[AxisCell]:
    """Returns gathers along the middle axis of tables of 256 KB and 8 MB. With rows of 4 B the axis is the last."""
    shapes = [
        (outer, table // (outer * row), row)
        for table in (256 * KB, 8 * MB)
        for outer in (16, 512)
        for row in (4, 64, 1024)
        if table >= 4 * outer * row
    ]
    return [AxisCell(*shape, batched) for shape in shapes for batched in (False, True)]


def strings() -> list[StringsCell]:
    """Returns gathers of words and texts, from tables in the L2 cache and larger ones."""
    in_cache, larger = ((4096, 8, 400_000), (4096, 40, 100_000)), ((1_000_000, 8, 400_000), (500_000, 40, 100_000))
    return [StringsCell(*each) for each in (*in_cache, *larger, (50_000, 400, 10_000))]


def elements(fresh: bool) -> list[ElementsCell]:
    """Returns gathers of elements: long and short axes, few elements of a long axis, and points of 3 coordinates."""
    shapes = (
        ((1000, 1000), 1, 1000),
        ((1000, 1000), 0, 1000),
        ((100, 100, 100), 1, 100),
        ((100_000, 64), 1, 64),
        ((100_000, 64), 0, 10_000),
        ((1_000_000,), 0, 1_000_000),
        ((4096, 4096), 1, 1),
        ((64, 100), 1, 100),
        ((8, 8), 1, 8),
        ((300, 1000, 3), 1, 1000),
        ((100_000, 8), 1, 8),
    )
    return [ElementsCell(*each, fresh=fresh) for each in shapes]


def growth(most_rows: int, most_bytes: int) -> list[Cell]:
    """Returns gathers of one to most_rows rows, and of tables of 16 KB to most_bytes."""
    counts = (10**power for power in range(9) if 10**power <= most_rows)
    cells = [Cell(8 * MB, row, out=row * count) for count in counts for row in (4, 64) if row * count <= 512 * MB]
    tables = (16 * KB << 2 * power for power in range(10) if 16 * KB << 2 * power <= most_bytes)
    return cells + [Cell(table, row) for table in tables for row in (4, 64)]


def smoke() -> list[AnyCell]:
    """Returns cells that take about a minute with both numbers of cores."""
    cells = [Cell(table, row) for table in (256 * KB, 8 * MB, GB) for row in (4, 12, 64, 256, 4096)]
    scattered: list[AnyCell] = [ScatterCell(1, 64, "no", "none", "itself"), ScatterCell(1, 64, "many", "add", "new")]
    scattered.append(ScatterElementsCell((1000, 1000), 1, 1000, "add", "itself"))
    return [*cells, *elements(fresh=False)[:4], *scattered, *bags()[-3:]]


def full() -> list[AnyCell]:
    """Returns cells that take at most forty minutes with both numbers of cores."""
    tables = (16 * KB, 256 * KB, 2 * MB, 8 * MB, 64 * MB, GB)
    cells = [Cell(table, row) for table in tables for row in ALL_ROWS + LONG_ROWS if table >= 4 * row]
    cells += [Cell(table, row, fresh=True) for table in tables for row in (4, 64, 1024)]
    by_cache = (256 * KB, 8 * MB, GB)
    cells += [Cell(table, row, depth) for depth in (2, 3, 4) for table in by_cache for row in (4, 64, 1024)]
    cells += [Cell(table, row, index="int32") for table in by_cache for row in (4, 8, 64)]
    cells += tiny()
    spreads = ("sorted", "reverse", "zipf", "equal", "neighbours")
    cells += [Cell(table, row, spread=spread) for spread in spreads for table in (8 * MB, GB) for row in (4, 64, 1024)]
    outs = (4 * KB, 64 * KB, 64 * MB, 256 * MB)
    cells += growth(10**8, 8 * GB)
    cells += [Cell(table, row, out=out) for out in outs for table in (8 * MB, GB) for row in (4, 64, 1024)]
    return [*dict.fromkeys(cells), *others()]


def others() -> list[AnyCell]:
    """Returns the cells of every other operation."""
    return [*elements(fresh=False), *elements(fresh=True), *axes(), *strings(), *scatters(), *bags()]


def tiny() -> list[Cell]:
    """Returns gathers from tables of 16 rows, which quantized models use."""
    return [Cell(16 * row, row, index=index) for index in ("int64", "int32") for row in (1, 4)]


def report() -> list[AnyCell]:
    """Returns the cells of docs/performance.md. They take about five minutes with both numbers of cores."""
    by_cache = (256 * KB, 8 * MB, GB)
    cells = [Cell(table, row) for table in by_cache for row in (1, 4, 12, 16, 48, 64, 100, 256, 1024, 4096, 64 * KB)]
    cells += [Cell(table, row, fresh=True) for table in by_cache[:2] for row in (4, 64, 1024)]
    cells += [Cell(table, row, depth) for depth in (2, 4) for table in by_cache for row in (4, 64, 1024)]
    cells += [Cell(table, row, index="int32") for table in by_cache[:2] for row in (4, 64)]
    cells += tiny()
    cells += [Cell(8 * MB, row, spread=spread) for spread in ("sorted", "zipf", "neighbours") for row in (4, 64)]
    cells += [Cell(8 * MB, row, out=out) for out in (4 * KB, 64 * KB, 64 * MB) for row in (4, 64, 1024)]
    cells += growth(10**7, 4 * GB)
    return [*dict.fromkeys(cells), *others()]


def elements_alone() -> list[AnyCell]:
    return [*elements(fresh=False), *elements(fresh=True)]


SETS = {
    "smoke": smoke,
    "full": full,
    "report": report,
    "elements": elements_alone,
    "strings": strings,
    "axes": axes,
    "scatters": scatters,
    "bags": bags,
}
