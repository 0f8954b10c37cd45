"""The report in Markdown. Its content depends on the results only."""

import dataclasses

from .analysis import Measured
from .cases import DISTRIBUTIONS, show_bytes
from .contenders import CLAMP, COPY, ERROR, GRAINS, MEMCPY, PARTIAL, PROBE, SAME_CLAMP, SAME_ERROR

METHOD = """\
The contenders of a cell take turns in one process. Each runs for at least {batch:.3g} ms per round, in {rounds} rounds.
Times are medians, with the quartiles in brackets. Ratios and shares are computed within each round, and their median
is shown. Before a contender is timed, every byte of its result is compared with the formula of the table. A wrong
result of the library fails the run.

- Times are measured between two CUDA events on one stream, which all contenders use.
- *GB/s* counts indices, rows read and rows written. *sectors* counts the 32-byte sectors that contain each row instead
  of the rows read, and *64 B* the 64-byte sectors.
- *copy* is the faster of a device-to-device copy and a kernel that copies 16 bytes per thread, of as many bytes as the
  cell moves. *random* is a kernel that only reads pieces at random places of the cell's table. A piece is the largest
  power of two in a row, from 32 B to 1 KiB. Both are in GB/s.
- *share* is the speed in sectors over the lower speed of these two. A share above 1 means that data came from a cache.
- *clamp* is `bounds` = clamp, which does not validate. *error* is the default, which validates before the copy, and
  *partial* is error_partial, which validates while it copies, as for a new output.
- Peers gather from the same memory, with elements of the widest usual type that divides a row. Their values are times
  relative to the library's *error*. A **bold** value is below 1, so the peer is faster than the library.
"""

COUNTS = """\
Device time of a call by the number of rows. *graph*: replays of a CUDA graph of {calls} calls, divided by that number.
The operands do not change, so data that fits is in a cache. *queue*: consecutive calls on the stream. *copy*: a copy
of as many bytes.
"""

HOST = """\
Host time of a call, with {calls} calls at a time on an idle stream. Calls of the library are made from C, those of the
peers from Python. *depth* is the number of components of a gather_nd tuple.
"""


@dataclasses.dataclass(frozen=True)
class Grid:
    """A section of cells that are compared with the limits."""

    title: str
    section: str
    fields: tuple
    note: str


GRIDS = (
    Grid("Rows", "rows", ("row",), "Rows of a table and into an output far beyond the cache, int64 indices."),
    Grid("Indices of int32", "int32", ("row",), "The same with int32 indices."),
    Grid("A misaligned table", "misaligned", ("row", "offset"), "Tables that begin *offset* bytes behind alignment."),
    Grid("Large outputs", "outputs", ("n", "row"), "Rows into an output of more bytes than 31 bits count."),
    Grid("Tables", "tables", ("table", "row"), "Tables from far below to far beyond the cache."),
    Grid(
        "Distributions",
        "distributions",
        ("distribution", "row"),
        "Ascending indices, and zipf's with exponent 1.05. A sector counts as often as a row lies in it.",
    ),
    Grid("gather_nd", "gather_nd", ("depth", "row"), "Tuples of *depth* components, beside gather of the same rows."),
    Grid("Axis and batch dims", "shapes", ("batch", "outer", "row"), "*outer* is the extent of a dim before the axis."),
)


class Report:
    """results: everything that the driver has written so far."""

    def __init__(self, results, plan):
        self._results = results
        self._plan = plan
        by_key = {cell.key: cell for cell in plan}
        self._measured = {found["key"]: Measured(by_key[found["key"]], found) for found in results["cells"]}

    def text(self):
        parts = [
            self._title(),
            section("Machine", self._machine()),
            section("Where others are ahead", self._ahead()),
            section("Method", self._method()),
            section("Limits", self._limits()),
            *(section(grid.title, self._grid(grid)) for grid in GRIDS),
            section("Counts", self._counts()),
            section("Host time", self._host()),
            section("Left out", self._left_out()),
        ]
        return "\n\n".join(part.strip() for part in parts) + "\n"

    # ---- what it is about

    def _title(self):
        lines = ["# Gathers on a CUDA device", ""]
        if self._results["is_rehearsal"]:
            lines += ["**A rehearsal on an emulated device: no figure here means anything.**", ""]
        if self._results["failures"]:
            lines += ["**Failures:**", "", *(f"- {each}" for each in self._results["failures"]), ""]
        lines.append(f"`tests/cuda/bench` wrote this page from one run of {self._results['date']}.")
        return "\n".join(lines)

    def _machine(self):
        rows = [(name.replace("_", " "), value) for name, value in self._results["machine"].items()]
        rows += [(f"peer: {name}", version) for name, version in self._results["peers"].items()]
        rows += [(f"no peer: {name}", reason) for name, reason in self._results["absent_peers"].items()]
        return table(["what", "which"], rows)

    def _method(self):
        return METHOD.format(batch=self._results["batch_seconds"] * 1e3, rounds=self._results["rounds"])

    # ---- cells

    def _of(self, name, *fields):
        """Returns the cells of a section, sorted by fields."""
        some = [self._measured[cell.key] for cell in self._plan if cell.section == name and cell.key in self._measured]
        return sorted(some, key=lambda m: [sort_value(getattr(m.cell, field)) for field in fields])

    def _limits(self):
        some = self._of("limits", "table")
        head = ["table", *(f"random {grain} B" for grain in GRAINS), "copied", MEMCPY, COPY]
        return "GB/s; of copies, read and written.\n\n" + table(head, [limits_line(m) for m in some])

    def _grid(self, grid):
        some = self._of(grid.section, *grid.fields)
        peers = peers_of(some)
        ours, theirs = [], []
        for m in some:
            label = [show(m.cell, field) for field in grid.fields]
            ours.append([*label, show_count(m.cell.n), *own_figures(m)])
            theirs.append([*label, *peer_figures(m, peers)])
        head = [*grid.fields, "n", "copy", "random"]
        head += [word for name in (CLAMP, ERROR) for word in (f"{name}, us", "GB/s", "sectors", "64 B", "share")]
        head += ["error / clamp"]
        if any(m.has(PARTIAL) for m in some):
            head += ["partial / clamp"]
        if any(m.has(SAME_CLAMP, SAME_ERROR) for m in some):
            head += ["over gather, clamp", "over gather, error"]
        parts = [grid.note, table(head, ours)]
        if peers:
            parts += ["Peers, over *error*:", table([*grid.fields, *peers], theirs)]
        return "\n\n".join(part.strip() for part in parts) + absences(some)

    def _counts(self):
        some = self._of("counts", "row", "n")
        peers = peers_of(some)
        rows = []
        for m in some:
            times = [us(m, name) for name in (m.copy(), CLAMP, ERROR)]
            added = f"{(m.median(ERROR) - m.median(CLAMP)) * 1e6:.2f}" if m.has(CLAMP, ERROR) else "wrong"
            rows.append([m.cell.row, show_count(m.cell.n), m.cell.way, *times, added, *peer_figures(m, peers)])
        note = COUNTS.format(calls=self._results["calls_in_graph"]).strip()
        head = ["row", "n", "way", "copy, us", "clamp, us", "error, us", "added by error, us", *peers]
        return note + "\n\n" + table(head, rows).strip() + absences(some)

    def _host(self):
        some = self._of("host", "depth", "n")
        rows = [
            [m.cell.depth, show_count(m.cell.n), name, us(m, name)]
            for m in some
            for name in [*m.names("ours"), *m.names("peer")]
        ]
        note = HOST.format(calls=self._results["calls_on_host"])
        return note + "\n" + table(["depth", "n", "call", "us"], rows).strip() + absences(some)

    # ---- what is not in the tables

    def _ahead(self):
        """Counts the cells in which a peer is faster, and lists them with their fastest peer."""
        compared = [
            m for m in self._measured.values() if m.cell.way != "host" and m.has(ERROR, CLAMP) and m.leads(ERROR)
        ]
        fastest = {m: min(m.leads(ERROR), key=m.leads(ERROR).get) for m in compared}
        behind = sorted((m.leads(ERROR)[peer], m.leads(CLAMP)[peer], peer, m.cell.key) for m, peer in fastest.items())
        rows = [(key, peer, mark(error), mark(clamp)) for error, clamp, peer, key in behind if error < 1]
        if not rows:
            return "In no cell that was measured."
        note = f"In {len(rows)} of {len(compared)} cells a peer is faster than *error*. Host times are not compared."
        return note + "\n\n" + table(["cell", "fastest peer", "over *error*", "over *clamp*"], rows)

    def _left_out(self):
        reasons = self._results["left_out"]
        lines = [
            f"- {cell.key}: {reasons.get(cell.key, 'the run ended before it')}"
            for cell in self._plan
            if cell.key not in self._measured
        ]
        lines += [
            f"- {m.cell.key}, {name}: its result is wrong in {count} bytes"
            for m in self._measured.values()
            for name, count in m.wrong.items()
        ]
        return "\n".join(lines) or "Nothing."


# ---- pieces


def section(title, text):
    return f"## {title}\n\n{text.strip()}"


def table(head, rows):
    if not rows:
        return "Not measured.\n"
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(word) for word in line) + " |\n" for line in lines)


def show(cell, field):
    value = getattr(cell, field)
    return show_bytes(value) if field == "table" else value


def sort_value(value):
    return DISTRIBUTIONS.index(value) if isinstance(value, str) else value


def show_count(n):
    return f"{n:,}".replace(",", " ")


def gbs(speed):
    return f"{speed / 1e9:.0f}"


def us(m, name):
    if not m.has(name):
        return "wrong"
    digits = ".3g" if m.median(name) < 1e-4 else ".0f"
    low, middle, high = (format(seconds * 1e6, digits) for seconds in m.seconds(name))
    return f"{middle} ({low}-{high})"


def limits_line(m):
    probes = [gbs(m.probe_speed(f"{PROBE} of {grain} B", grain)) for grain in GRAINS]
    copies = [gbs(2 * m.cell.copied / m.median(name)) for name in (MEMCPY, COPY)]
    return [show_bytes(m.cell.table), *probes, show_bytes(m.cell.copied), *copies]


def own_figures(m):
    if not m.has(CLAMP, ERROR):
        return ["wrong"]
    figures = [gbs(m.copy_speed()), gbs(m.probe_speed())]
    for name in (CLAMP, ERROR):
        figures += [us(m, name), *(gbs(m.speed(name, sector)) for sector in (None, 32, 64))]
        figures.append(f"{m.share(name):.3f}")
    figures.append(f"{m.ratio(ERROR, CLAMP):.3f}")
    if m.has(PARTIAL):
        figures.append(f"{m.ratio(PARTIAL, CLAMP):.3f}")
    if m.has(SAME_CLAMP, SAME_ERROR):
        figures += [f"{m.ratio(CLAMP, SAME_CLAMP):.3f}", f"{m.ratio(ERROR, SAME_ERROR):.3f}"]
    return figures


def peers_of(some):
    return sorted({peer for m in some for peer in m.names("peer")})


def peer_figures(m, peers):
    leads = m.leads(ERROR) if m.has(ERROR) else {}
    return [mark(leads[peer]) if peer in leads else "" for peer in peers]


def mark(lead):
    return f"{lead:.2f}" if lead >= 1 else f"**{lead:.2f}**"


def absences(some):
    """Lists the contenders that are missing in cells of a table, with the reasons."""
    cells = {}
    for m in some:
        for name, reason in m.absent.items():
            cells[name, reason] = cells.get((name, reason), 0) + 1
    lines = [f"- {name}, in {count} cells: {reason}" for (name, reason), count in cells.items()]
    return "\n\nWithout:\n\n" + "\n".join(lines) if lines else ""
