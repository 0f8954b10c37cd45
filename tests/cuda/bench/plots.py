"""The plots of the report, if matplotlib is installed."""

import pathlib

from .analysis import Measured
from .contenders import CLAMP, ERROR


class Plots:
    """The plots beside a report, or the reason why there are none."""

    def __init__(self, report):
        self._path = pathlib.Path(report).with_suffix("")
        self.folder = self._path.name
        self.names = []
        self.reason = "they are drawn at the end of a run"

    def has(self, name):
        return name in self.names

    def draw(self, results, plan):
        try:
            import matplotlib

            matplotlib.use("svg")
            from matplotlib import pyplot
        except ImportError:
            self.reason = "matplotlib is not installed"
            return
        # The same results give the same files.
        matplotlib.rcParams["svg.hashsalt"] = "gather"
        self.reason = "nothing was measured that they show"
        by_key = {cell.key: cell for cell in plan}
        measured = [Measured(by_key[found["key"]], found) for found in results["cells"]]
        measured = [m for m in measured if m.has(CLAMP, ERROR)]
        for name, draw in DRAWN.items():
            figure = draw(pyplot, measured)
            if not figure:
                continue
            if results["is_rehearsal"]:
                figure.suptitle("a rehearsal: the figures mean nothing")
            figure.savefig(self._path / name, bbox_inches="tight", metadata={"Date": None})
            pyplot.close(figure)
            self.names.append(name)


def draw_rows(pyplot, measured):
    """Share of the limit by row size, for each contender."""
    some = sorted((m for m in measured if m.cell.section == "rows"), key=lambda m: m.cell.row)
    if not some:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 5), layout="constrained")
    draw_contenders(axes, some, lambda m: m.cell.row, lambda m, name: m.share(name))
    axes.set(xscale="log", xlabel="bytes of a row", ylabel="share of the limit", ylim=(0, None))
    axes.axhline(1, color="grey", linewidth=0.5)
    return figure


def draw_tables(pyplot, measured):
    """Share of the limit by table size, for each row size, and speed by distribution."""
    some = sorted((m for m in measured if m.cell.section == "tables"), key=lambda m: m.cell.table)
    if not some:
        return None
    figure, (axes, beside) = pyplot.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    draw_distributions(beside, measured)
    for row in sorted({m.cell.row for m in some}):
        there = [m for m in some if m.cell.row == row]
        axes.plot([m.cell.table for m in there], [m.share(ERROR) for m in there], "o-", label=f"rows of {row} B")
    axes.set(xscale="log", xlabel="bytes of the table", ylabel="share of the limit, error", ylim=(0, None))
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.legend(fontsize=8)
    return figure


def draw_distributions(axes, measured):
    bars = [m for m in measured if m.cell.section == "distributions"]
    rows = {m.cell.row for m in bars}
    bars += [m for m in measured if m.cell.section == "rows" and m.cell.row in rows]
    bars.sort(key=lambda m: (m.cell.row, m.cell.distribution))
    axes.barh([f"{m.cell.row} B, {m.cell.distribution}" for m in bars], [m.speed(ERROR) / 1e9 for m in bars])
    axes.set(xlabel="GB/s, error")


def draw_counts(pyplot, measured):
    """Device time by number of rows, for each contender and row size."""
    some = sorted((m for m in measured if m.cell.section == "counts"), key=lambda m: m.cell.n)
    if not some:
        return None
    rows = sorted({m.cell.row for m in some})
    figure, every = pyplot.subplots(
        1, len(rows), figsize=(5 * len(rows), 4.5), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, row in zip(every[0], rows, strict=True):
        there = [m for m in some if m.cell.row == row]
        draw_contenders(axes, there, lambda m: m.cell.n, lambda m, name: m.median(name) * 1e6)
        axes.set(xscale="log", yscale="log", xlabel="rows gathered", ylabel="us", title=f"rows of {row} B")
    return figure


def draw_contenders(axes, some, x, y):
    peers = sorted({name for m in some for name in m.names("peer")})
    for name in (CLAMP, ERROR, *peers):
        there = [m for m in some if m.has(name)]
        axes.plot([x(m) for m in there], [y(m, name) for m in there], ".--" if name in peers else "o-", label=name)
    axes.legend(fontsize=8)


DRAWN = {"rows.svg": draw_rows, "tables.svg": draw_tables, "counts.svg": draw_counts}
