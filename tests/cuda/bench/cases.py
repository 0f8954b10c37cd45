"""The list of cells to measure, the most important ones first."""

import dataclasses

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

DISTRIBUTIONS = ("uniform", "sorted", "zipf")
HOME = 4 * GIB  # table of all cells that do not vary the table


@dataclasses.dataclass(frozen=True)
class Cell:
    """out[b, o, j] = params[b, o, indices[b, j]], with rows of `row` bytes. b and o run over one batch dim and one
    outer dim."""

    section: str
    priority: int
    row: int
    table: int  # bytes
    n: int  # tuples, including batch dims
    index_bytes: int = 8
    distribution: str = "uniform"
    offset: int = 0  # bytes from the table to an aligned address
    depth: int = 0  # components of a gather_nd tuple, or 0 for gather
    batch: int = 1
    outer: int = 1
    way: str = "queue"  # or "graph" (replays of a graph), "host" (host time of a call)

    @property
    def dims(self):
        """Returns the indexed dims: one for gather, and as many of about equal extent as a gather_nd tuple has
        components."""
        rows = max(self.table // self.row // (self.batch * self.outer), 1)
        if self.depth < 2:
            return (rows,)
        extent = int(rows ** (1 / self.depth))
        while (extent + 1) ** self.depth <= rows:
            extent += 1
        return (extent,) * self.depth

    @property
    def size(self):
        """Returns the number of rows that a tuple can select."""
        product = 1
        for extent in self.dims:
            product *= extent
        return product

    @property
    def params_bytes(self):
        return self.batch * self.outer * self.size * self.row

    @property
    def output(self):
        return self.outer * self.n * self.row

    @property
    def tuples_bytes(self):
        return self.n * self.index_bytes * max(self.depth, 1)

    @property
    def moved(self):
        """Returns the bytes that must be read and written: the indices, the rows, the output."""
        return self.tuples_bytes + 2 * self.output

    @property
    def copied(self):
        """Returns the bytes of a copy that moves as many bytes."""
        return max(self.moved // 32 * 16, 16)

    @property
    def grain(self):
        """Returns the piece size of the probe: the largest power of two in a row, at least one sector."""
        return min(max(1 << (self.row.bit_length() - 1), 32), 1024)

    def probed(self, grain):
        """Returns the number of bytes that the probe reads.

        The number is close to the bytes of the rows, so the probe takes a similar time.
        """
        sectors = self.n * self.outer * max(self.row, 32)
        return max(sectors // grain, 1) * grain

    @property
    def key(self):
        """Returns the name of a cell, from its differences to the default cell."""
        words = [self.section, f"row {self.row}", f"table {show_bytes(self.table)}", f"n {self.n}"]
        for name in ("index_bytes", "distribution", "offset", "depth", "batch", "outer"):
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                words.append(f"{name} {getattr(self, name)}")
        return ", ".join(words)


def show_bytes(count):
    for unit, size in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"


class Sizes:
    """The sizes of a real run, for a device with this much memory for a table."""

    rounds = 11
    batch_seconds = 2e-3  # least duration of a contender's runs in a round
    calls_in_graph = 20
    calls_on_host = 8  # few enough that the queue is not full
    most_n = 1 << 28

    def __init__(self, most_table):
        self.most_table = most_table // MIB * MIB

    def table(self, nominal):
        return min(nominal, self.most_table)

    def output(self, nominal):
        return nominal

    def n(self, nominal):
        return min(nominal, self.most_n)


class RehearsalSizes(Sizes):
    most_table = 128 * GIB
    rounds = 3
    batch_seconds = 1e-5
    calls_in_graph = 2
    calls_on_host = 2

    def __init__(self):
        pass

    def table(self, nominal):
        return max(nominal >> 12, 4 * KIB)

    def output(self, nominal):
        return nominal >> 19

    def n(self, nominal):
        return min(nominal, 4097)


def rows(sizes):
    """Rows of all sizes with uniform indices. The table and the output far exceed the cache."""
    for row in (4, 8, 32, 64, 128, 256, 1024, 3, 6, 12, 30, 100, 1000):
        yield _large("rows", 1, sizes, row)
    # These sizes are no multiples of a power of two of vectors, and no multiples of the number of warps.
    for row in (264, 272, 400, 528, 1200):
        yield _large("rows", 2, sizes, row)
    for row in (1, 2, 16, 512, 4096, 16 * KIB, 64 * KIB):
        yield _large("rows", 4, sizes, row)


def outputs(sizes):
    """Outputs above 2^31 and above 2^32 bytes. At least two outputs and a copy of this size must fit."""
    for output, priority in ((3 * GIB, 5), (12 * GIB, 6)):
        if 10 * output > sizes.most_table:
            continue
        for row in (4, 64, 100, 264, 1000, 1024):
            yield _large("outputs", priority, sizes, row, output=output, most_n=1 << 28)


def rows_of_int32(sizes):
    for row in (4, 8, 12, 16, 32, 64, 100, 128, 256, 1024):
        yield _large("int32", 3 if row in (4, 8, 32, 64) else 5, sizes, row, index_bytes=4)


def misaligned(sizes):
    for row in (64, 256, 1024):
        for offset in (1, 4, 8):
            yield _large("misaligned", 2, sizes, row, offset=offset)


def distributions(sizes):
    for row in (4, 64, 512):
        for distribution in ("sorted", "zipf"):
            yield _large("distributions", 3, sizes, row, distribution=distribution)


def tables(sizes):
    for table in (MIB, 32 * MIB, 256 * MIB, GIB, HOME, 16 * GIB, 64 * GIB):
        for row in (4, 64, 512, 4 * KIB):
            # Cells that need new memory run last.
            priority = 4 if table <= HOME else 7
            yield _large("tables", priority, sizes, row, table=table, output=256 * MIB)


def counts(sizes):
    for row in (4, 64, 1024):
        # From 4097 indices of 8 bytes on, error uses a separate validating kernel.
        for n in (1, 8, 64, 1000, 4096, 5000, 10**4, 3 * 10**4, 10**5, 10**6, 10**7, 10**8):
            if n * row > GIB:
                continue
            # For sizes this small, frameworks take longer to enqueue the work than the device to run it.
            small = n <= 10**6
            yield Cell(
                "counts",
                0 if n <= 1000 else 1 if n <= 10**5 else 3,
                row,
                sizes.table(HOME),
                sizes.n(n),
                way="graph" if small else "queue",
            )


def tuples(sizes):
    for row in (4, 64, 256):
        for depth in range(1, 6):
            n = min(sizes.n(1 << 24), max(sizes.output(256 * MIB) // row, 1))
            yield Cell("gather_nd", 2, row, sizes.table(HOME), n, depth=depth)


def shapes(sizes):
    """An axis in the middle, batch dims, and both."""
    for batch, outer in ((1, 64), (64, 1), (8, 8)):
        for row in (4, 64, 256):
            n = max(sizes.output(256 * MIB) // (outer * row) // batch, 1) * batch
            yield Cell("shapes", 5, row, sizes.table(HOME), n, batch=batch, outer=outer)


def host(sizes):
    for n in (1, 1000, 4097, 10**5, 10**6):
        for depth in (0, 3):
            yield Cell("host", 0, 64, sizes.table(HOME), sizes.n(n), depth=depth, way="host")


def limits(sizes):
    """The limits of the device."""
    for table in (MIB, 32 * MIB, 256 * MIB, HOME, 64 * GIB):
        yield Cell("limits", 1 if table <= HOME else 6, 32, sizes.table(table), sizes.n(1 << 24))


def _large(section, priority, sizes, row, table=HOME, output=GIB, most_n=1 << 26, **others):
    n = max(min(sizes.n(most_n), sizes.output(output) // row), 1)
    return Cell(section, priority, row, sizes.table(table), n, **others)


SECTIONS = {
    "rows": rows,
    "int32": rows_of_int32,
    "misaligned": misaligned,
    "outputs": outputs,
    "tables": tables,
    "counts": counts,
    "distributions": distributions,
    "gather_nd": tuples,
    "shapes": shapes,
    "host": host,
    "limits": limits,
}


def plan(sizes):
    """Returns all cells once, in the order of measurement."""
    cells = {cell.key: cell for section in SECTIONS.values() for cell in section(sizes)}
    return sorted(cells.values(), key=lambda cell: cell.priority)


def cell(sizes, text):
    """Returns the cell of "ROW,N"."""
    row, n = map(int, text.split(","))
    return Cell("counts", 0, row, sizes.table(HOME), sizes.n(n))


def to_json(cell):
    return dataclasses.asdict(cell)


def from_json(fields):
    return Cell(**fields)
