"""What is measured: a list of cells, the most important first."""

import dataclasses

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

DISTRIBUTIONS = ("uniform", "sorted", "zipf")
HOME = 4 * GIB  # the table of all cells that are not about tables


@dataclasses.dataclass(frozen=True)
class Cell:
    """out[b, o, j] = params[b, o, indices[b, j]], rows of `row` bytes; b and o run over one batch and one outer dim."""

    section: str
    priority: int
    row: int
    table: int  # bytes
    n: int  # tuples, batch dims included
    index_bytes: int = 8
    distribution: str = "uniform"
    offset: int = 0  # of the table from an aligned address
    depth: int = 0  # of gather_nd's tuples; 0: gather
    batch: int = 1
    outer: int = 1
    way: str = "queue"  # or "graph" (replays of one), "host" (the host's time of a call)

    @property
    def dims(self):
        """The indexed dims: one, or for gather_nd as many as a tuple has components, of about equal extents."""
        rows = max(self.table // self.row // (self.batch * self.outer), 1)
        if self.depth < 2:
            return (rows,)
        extent = int(rows ** (1 / self.depth))
        while (extent + 1) ** self.depth <= rows:
            extent += 1
        return (extent,) * self.depth

    @property
    def size(self):
        """Rows that a tuple chooses from."""
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
        """What has to be read and written: the indices, the rows, the output."""
        return self.tuples_bytes + 2 * self.output

    @property
    def copied(self):
        """What a copy of as many bytes copies."""
        return max(self.moved // 32 * 16, 16)

    @property
    def grain(self):
        """What the probe reads at a time: as much of a row as is a power of two, whole sectors."""
        return min(max(1 << (self.row.bit_length() - 1), 32), 1024)

    def probed(self, grain):
        """Bytes that the probe reads: about what the rows come to, so that it takes about as long."""
        sectors = self.n * self.outer * max(self.row, 32)
        return max(sectors // grain, 1) * grain

    @property
    def key(self):
        """Its name, by what makes it differ from the plainest cell."""
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
    """Of a real run, on a device with so much memory for a table."""

    rounds = 11
    batch_seconds = 2e-3  # of a contender in a round, at least
    calls_in_graph = 20
    calls_on_host = 8  # so few that the queue does not fill
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
        return min(nominal, 2049)


def rows(sizes):
    """Rows of all sizes, uniform, from a table and into an output far beyond the cache."""
    for row in (4, 8, 32, 64, 128, 256, 1024, 3, 6, 12, 30, 100, 1000):
        yield _large("rows", 1, sizes, row)
    # Vectors that no power of two, nor a number of warps, divides.
    for row in (264, 272, 400, 528, 1200):
        yield _large("rows", 2, sizes, row)
    for row in (1, 2, 16, 512, 4096, 16 * KIB, 64 * KIB):
        yield _large("rows", 4, sizes, row)


def outputs(sizes):
    """Outputs of more bytes than 31 bits count, and than 32; there are two of them at least, and as much of a copy."""
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
            # Those that need memory anew come at the end.
            priority = 4 if table <= HOME else 7
            yield _large("tables", priority, sizes, row, table=table, output=256 * MIB)


def counts(sizes):
    for row in (4, 64, 1024):
        # 2049 indices of 8 bytes are the first that error judges in a kernel of its own.
        for n in (1, 8, 64, 1000, 2049, 5000, 10**4, 3 * 10**4, 10**5, 10**6, 10**7, 10**8):
            if n * row > GIB:
                continue
            # So small that frameworks take longer to enqueue it than the device to do it.
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
    for n in (1, 1000, 2049, 10**5, 10**6):
        for depth in (0, 3):
            yield Cell("host", 0, 64, sizes.table(HOME), sizes.n(n), depth=depth, way="host")


def limits(sizes):
    """What the device can do at best, by itself."""
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
    """All cells in the order in which they are measured, each once."""
    cells = {cell.key: cell for section in SECTIONS.values() for cell in section(sizes)}
    return sorted(cells.values(), key=lambda cell: cell.priority)


def to_json(cell):
    return dataclasses.asdict(cell)


def from_json(fields):
    return Cell(**fields)
