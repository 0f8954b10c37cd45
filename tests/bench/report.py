"""What the raw results say, as a table and as a page. Losing cells come first."""

from __future__ import annotations

import itertools
import math
from typing import Any

from claims import hold
from plot import is_plain, plots
from standings import kind, ours, rival

UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"), (1, "B"))


def size(count: int) -> str:
    unit, name = next((unit, name) for unit, name in UNITS if count >= unit and count % unit == 0)
    return f"{count // unit} {name}"


def judge(result: dict[str, Any], own: str) -> dict[str, Any]:
    """Ours beside the best of the others and beside the nearest limit, by the best rounds and by the medians."""
    ns = result["ns"]
    best, median = ({name: each[by] for name, each in ns.items()} for by in ("best", "median"))
    name, peer = ours(ns, own), rival(ns, own)
    touch = [best[n] for n in ns if n.startswith("limit: touch")]
    copy = [best[n] for n in ns if n.startswith("limit: copy")]
    # Rows are read at random and written in order: the slower of the two binds.
    limit = max(min(touch), min(copy)) if touch and copy else None
    return {
        "cell": result["cell"],
        "cores": result["cores"],
        "ours": ns[name],
        "peer": peer,
        "peer_ns": ns[peer] if peer else None,
        "limit": limit,
        "ratio": best[peer] / best[name] if peer else None,
        "median_ratio": median[peer] / median[name] if peer else None,
        "of_limit": limit / best[name] if limit else None,
        "of_loop": best["limit: loop"] / best[name] if "limit: loop" in ns else None,
        "of_judged_loop": best["limit: judged loop"] / best[name] if "limit: judged loop" in ns else None,
    }


def judge_all(record: dict[str, Any], own: str = "libgather") -> list[dict[str, Any]]:
    judged = [judge(result, own) for result in record["results"]]
    return sorted(judged, key=lambda j: j["ratio"] or math.inf)


def number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def describe_elements(cell: dict[str, Any]) -> str:
    words = [f"elements of {' x '.join(map(str, cell['shape']))} along {cell['axis']}"]
    if cell["extent"] != cell["shape"][cell["axis"]]:
        words.append(f"{cell['extent']} each")
    if cell["fresh"]:
        words.append("new output")
    return ", ".join(words)


INTO = {"itself": "in place", "new": "new output", "memory": "into memory"}


def describe_scatter(cell: dict[str, Any]) -> str:
    words = ["write" if cell["reduction"] == "none" else "add"]
    if "shape" in cell:
        words.append(describe_elements(cell | {"fresh": False}))
    else:
        words.append(size(cell["table"]))
        if cell["depth"] > 1:
            words.append(f"K = {cell['depth']}")
        words.append(f"{cell['duplicates']} duplicates")
    return ", ".join([*words, INTO[cell["into"]]])


def describe(cell: dict[str, Any]) -> str:
    if "reduction" in cell:
        return describe_scatter(cell)
    if "batched" in cell:
        return f"axis 1 of {cell['outer']} x {cell['rows']}{', indices of each' if cell['batched'] else ''}"
    if "length" in cell:
        return f"{cell['rows']} strings"
    if "shape" in cell:
        return describe_elements(cell)
    words = [size(cell["table"])]
    if cell["depth"] > 1:
        words.append(f"K = {cell['depth']}")
    if cell["index"] != "int64":
        words.append(cell["index"])
    if cell["spread"] != "uniform":
        words.append(cell["spread"])
    if cell["fresh"]:
        words.append("new output")
    if cell["out"] != 4 << 20:
        words.append(f"{size(cell['out'])} out")
    return ", ".join(words)


HEAD = (
    "cores",
    "table",
    "row B",
    "ns a row",
    "quartiles",
    "GB/s",
    "best other",
    "its ns",
    "ratio",
    "of medians",
    "of the limit",
    "of the loop",
    "judged",
)


def line(judged: dict[str, Any]) -> tuple[str, ...]:
    cell, ours, peer = judged["cell"], judged["ours"], judged["peer_ns"]
    row = cell.get("row") or cell.get("length") or 4
    return (
        str(judged["cores"]),
        describe(cell),
        str(row),
        number(ours["best"]),
        f"{number(ours['low'])} {number(ours['median'])} {number(ours['high'])}",
        number(row / ours["best"], 1),
        judged["peer"] or "-",
        number(peer["best"] if peer else None),
        number(judged["ratio"]),
        number(judged["median_ratio"]),
        number(judged["of_limit"]),
        number(judged["of_loop"]),
        number(judged["of_judged_loop"]),
    )


def totals(judged: list[dict[str, Any]]) -> str:
    ratios = [j["ratio"] for j in judged if j["ratio"]]
    if not ratios:
        return "No peer was there to compare with."
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    ahead = sum(ratio >= 1 for ratio in ratios)
    return f"Ahead of the best other in {ahead} of {len(ratios)} cells; geometric mean of the ratios {mean:.2f}."


def is_scatter(result: dict[str, Any]) -> bool:
    return "reduction" in result["cell"]


def halves(judged: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Gathers and scatters, which are not counted together."""
    return [each for each in judged if not is_scatter(each)], [each for each in judged if is_scatter(each)]


def table(record: dict[str, Any]) -> str:
    parts = [half for half in halves(judge_all(record)) if half]
    lines = [[HEAD, *map(line, part)] for part in parts]
    widths = [max(len(each[i]) for each in itertools.chain(*lines)) for i in range(len(HEAD))]
    texts = []
    for part, rows in zip(parts, lines, strict=True):
        texts += ["  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows]
        texts.append(totals(part))
    return "\n".join(texts)


def pictures(record: dict[str, Any], stem: str) -> list[str]:
    return [f"![{name}]({stem}-{name}.svg)" for name, _ in plots(record)]


GATHERS = (
    "Rows by random indices, other indices in each call, results compared byte by byte before they are timed. "
    "All contestants of a cell take turns in one process that is confined to so many cores; a turn of less than 64 KB "
    "has several calls, 64 at most. *ns a row* and "
    "*ratio* are of the best rounds (others on the machine can only slow a round down), *quartiles* and *of "
    "medians* of all. The limit is the slower of copying as many bytes in order and of touching each line of "
    "each row. The memcpy loop checks nothing. Everyone is measured in several ways, of which the quickest "
    "counts: the library through C, by Python's ctypes with its microsecond a call, and through its Python "
    "package. Where the output is the caller's, the library reads more than 2,048 indices twice, so that an "
    "error leaves the output as it was; no other does. *Of the loop* is the time of a loop in C, whose compiler "
    "knows the size of a row (1, 2, 4, 8, 12, 16, 48, 64 and 100; else memcpy copies), to ours: unchecked, and with "
    "all indices *judged* before the first row is copied, which is the least that our promise costs; of elements that "
    "knows the shape. Losing cells come first."
)
SCATTERS = (
    "Updates of float32, written to the rows that random indices name or added to them. Of duplicates there are "
    "none, few (any row is drawn) or many (a hundred rows are). The target is written *in place*, or a *new output* "
    "is a copy of it with the updates, or the copy goes *into memory* that is there. Peers are those whose result "
    "is the same in each run: torch with its deterministic algorithms, JAX in place with a donated target, ONNX "
    "Runtime's ScatterND beside several threads only without duplicates. All numbers are whole, so that a sum has "
    "the same bits in any order of its terms. Indices are read twice here, too; the loops by hand are of one core, and "
    "judge all indices first or none."
)


def aims(record: dict[str, Any]) -> list[str]:
    """How far gathers are from what is aimed at."""
    gathers = [result for result in record["results"] if not is_scatter(result)]
    return [
        "What is aimed at, in how many cells it is reached, and the cell that is farthest from it (1.00 would be "
        "there):",
        "",
        "| Aim | Cells | Farthest |",
        "|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in hold(gathers, describe)),
        "",
    ]


def section(judged: list[dict[str, Any]], words: str, between: list[str]) -> list[str]:
    rows = [HEAD, ("---",) * len(HEAD), *map(line, judged)]
    return [words, "", totals(judged), "", *between, *("| " + " | ".join(row) + " |" for row in rows), ""]


def markdown(record: dict[str, Any], stem: str) -> str:
    facts, (gathers, scatters) = record["facts"], halves(judge_all(record))
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [
        "# Speed on the CPU",
        "",
        f"Generated by `./dev bench` on {facts['date']}: {facts['processor']}, {facts['cores']} cores, "
        f"load {facts['load']:.1f}; {versions or 'no peers'}.",
        "",
    ]
    if gathers:
        lines += section(gathers, GATHERS, [*aims(record), *pictures(record, stem), ""])
    if scatters:
        lines += ["## Scatters", "", *section(scatters, SCATTERS, [])]
    return "\n".join(lines)


PEERS = ("numpy", "torch", "onnxruntime")
FRONT_TABLES = (256 << 10, 8 << 20, 1 << 30)


def front_page(record: dict[str, Any]) -> str:
    """The few cells that a reader asks about first, each peer by its quickest call."""
    facts = record["facts"]
    head = ("Cores", "Table", "Row", "libgather, ns a row", *PEERS)
    rows = [head, ("---",) * len(head)]
    for result in record["results"]:
        cell, best = result["cell"], {name: each["best"] for name, each in result["ns"].items()}
        if not is_plain(cell) or cell["row"] not in (4, 64, 1024) or cell["table"] not in FRONT_TABLES:
            continue
        own = [[ns for name, ns in best.items() if kind(name) == who] for who in ("libgather", *PEERS)]
        quickest = [min(each, default=None) for each in own]
        where = (str(result["cores"]), size(cell["table"]), size(cell["row"]))
        rows.append((*where, *(number(ns, 1) for ns in quickest)))
    versions = ", ".join(f"{name} {facts['versions'][name]}" for name in PEERS if facts["versions"].get(name))
    footnote = (
        f"Rows of float32 by random int64 indices into an output that is there, best rounds, written by `./dev bench` "
        f"on {facts['date']}: {facts['processor']}, {facts['cores']} cores, {versions}. All cells, losing ones first, "
        "are in [docs/performance.md](docs/performance.md)."
    )
    return "\n".join([*("| " + " | ".join(row) + " |" for row in rows), "", footnote])


def write_front_page(text: str, record: dict[str, Any]) -> str:
    begin, end = "<!-- peers -->\n", "<!-- end of peers -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{front_page(record)}\n{end}{after}"
