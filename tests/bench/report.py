"""Formats raw results as a table, and as the section of a processor in docs/performance.md."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

from claims import hold
from standings import ours, rival

UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"), (1, "B"))


def size(count: int) -> str:
    unit, name = next((unit, name) for unit, name in UNITS if count >= unit and count % unit == 0)
    return f"{count // unit} {name}"


def compare(result: dict[str, Any], own: str) -> dict[str, Any]:
    """Compares the library with the best peer and with the limits, by the best rounds and by the medians."""
    ns = result["ns"]
    best, median = ({name: each[by] for name, each in ns.items()} for by in ("best", "median"))
    name, peer = ours(ns, own), rival(ns, own)
    touch = [best[n] for n in ns if n.startswith("limit: touch")]
    copy = [best[n] for n in ns if n.startswith("limit: copy")]
    # Rows are read at random and written in order. The slower of the two is the limit.
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
        "of_validating_loop": best["limit: validating loop"] / best[name] if "limit: validating loop" in ns else None,
    }


def compare_all(record: dict[str, Any], own: str = "libgather") -> list[dict[str, Any]]:
    compared = [compare(result, own) for result in record["results"]]
    return sorted(compared, key=lambda j: j["ratio"] or math.inf)


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


def describe_bags(cell: dict[str, Any]) -> str:
    words = [f"{size(cell['table'])}, {cell['pool']} of {cell['bags']} bags of {cell['length']}"]
    words += ["weighted"] if cell["weighted"] else []
    return ", ".join([*words, f"{cell['tables']} tables"] if cell["tables"] > 1 else words)


def describe(cell: dict[str, Any]) -> str:
    if "pool" in cell:
        return describe_bags(cell)
    if "reduction" in cell:
        return describe_scatter(cell)
    if "batched" in cell:
        return f"axis 1 of {cell['outer']} x {cell['rows']}{', own indices for each batch' if cell['batched'] else ''}"
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
        words.append(f"output of {size(cell['out'])}")
    return ", ".join(words)


HEAD = (
    "cores",
    "table",
    "row B",
    "ns/row",
    "quartiles",
    "GB/s",
    "best peer",
    "its ns/row",
    "ratio",
    "ratio of medians",
    "limit / time",
    "loop / time",
    "validating loop / time",
)


def line(compared: dict[str, Any]) -> tuple[str, ...]:
    cell, ours, peer = compared["cell"], compared["ours"], compared["peer_ns"]
    row = cell.get("row") or cell.get("length") or 4
    return (
        str(compared["cores"]),
        describe(cell),
        str(row),
        number(ours["best"]),
        f"{number(ours['low'])} {number(ours['median'])} {number(ours['high'])}",
        number(row / ours["best"], 1),
        compared["peer"] or "-",
        number(peer["best"] if peer else None),
        number(compared["ratio"]),
        number(compared["median_ratio"]),
        number(compared["of_limit"]),
        number(compared["of_loop"]),
        number(compared["of_validating_loop"]),
    )


def totals(compared: list[dict[str, Any]]) -> str:
    ratios = [j["ratio"] for j in compared if j["ratio"]]
    if not ratios:
        return "No peer was installed."
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    ahead = sum(ratio >= 1 for ratio in ratios)
    return (
        f"libgather is at least as fast as the best peer in {ahead} of {len(ratios)} cells. The geometric mean of the "
        f"ratios is {mean:.2f}."
    )


def is_scatter(result: dict[str, Any]) -> bool:
    return "reduction" in result["cell"]


def is_bags(result: dict[str, Any]) -> bool:
    return "pool" in result["cell"]


def parts_of(compared: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Returns the cells of gathers, those of scatters and those of bags."""
    gathers = [each for each in compared if not is_scatter(each) and not is_bags(each)]
    return [gathers, list(filter(is_scatter, compared)), list(filter(is_bags, compared))]


def table(record: dict[str, Any]) -> str:
    parts = [part for part in parts_of(compare_all(record)) if part]
    lines = [[HEAD, *map(line, part)] for part in parts]
    widths = [max(len(each[i]) for each in itertools.chain(*lines)) for i in range(len(HEAD))]
    texts = []
    for part, rows in zip(parts, lines, strict=True):
        texts += ["  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows]
        texts.append(totals(part))
    return "\n".join(texts)


TITLE = "# Speed on the CPU"
METHOD = """
`./dev bench` measures this page. Each processor has a section. In each table the slowest cells come first.

A cell of *Gathers* gathers rows by random indices. Each call of a turn has other indices. The results of all
contestants are compared byte by byte before they are timed. All contestants of a cell take turns in one process that
is confined to the given number of cores. A turn that copies less than 64 KB has several calls, at most 64.

- *ns/row* and *ratio* are those of the best rounds, because other programs can only make a round slower.
  *quartiles* and *ratio of medians* use all rounds. *ratio* is the time of the best peer divided by the time of
  libgather.
- Each system is measured with several of its functions, and the fastest one counts. libgather is measured through C
  (called by ctypes, which takes more time) and through its Python package. The memcpy loop validates
  nothing.
- If the output exists before the call, libgather reads the indices of large calls twice, so that an error leaves the
  output unchanged.
- The *limit* is the slower of two operations: copying the same number of bytes in order, and reading one byte of
  each cache line of each row.
- The *loop* is written by hand in C. Its compiler knows the size of a row for 1, 2, 4, 8, 12, 16, 48, 64 and 100
  bytes. It calls memcpy for other sizes. For elements it knows the shape. The *validating loop* validates all
  indices before it copies the first row, which is the least work that leaves the output unchanged on error.

A cell of *Scatters* writes float32 updates to the rows that random indices select, or adds them. There are no
duplicates, few (any row is drawn) or many (one of a hundred rows is drawn). *in place* writes the target. *new output*
creates a copy of the target with the updates. *into memory* writes this copy to existing memory.

The peers are those whose results are the same in each run: torch with deterministic algorithms, JAX in place with a
donated target, and ONNX Runtime's ScatterND on several threads only without duplicates. All values are integers, so
that a sum has the same bits in any order. libgather reads indices twice here, too. The loops by hand run on one
core. They validate all indices first, or none.

A cell of *Bags* pools the rows of bags of random ids into existing memory, by one call for all tables. *ns/row* is the
time for one id. The peers are torch's embedding_bag, and NumPy's take with reduceat. Their calls make a new output.
With several tables, they make one call for each table, and join the results. Tables and weights are small integers, so
that a sum has the same bits in any order.
"""


def aims(record: dict[str, Any]) -> list[str]:
    """Returns the table of aims: in how many cells each is reached."""
    gathers = parts_of(record["results"])[0]
    return [
        "This table shows in how many cells each aim is reached, and the cell that is farthest from it. A value of "
        "1.00 reaches the aim.",
        "",
        "| Aim | Cells | Farthest cell |",
        "|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in hold(gathers, describe)),
        "",
    ]


def cells(name: str, compared: list[dict[str, Any]], between: list[str]) -> list[str]:
    """Returns the table of the gathers, the scatters or the bags."""
    if not compared:
        return []
    rows = [HEAD, ("---",) * len(HEAD), *map(line, compared)]
    return [f"### {name}", "", totals(compared), "", *between, *("| " + " | ".join(row) + " |" for row in rows), ""]


def section(record: dict[str, Any]) -> str:
    """Returns the section of the processor of a record."""
    facts, (gathers, scatters, bags) = record["facts"], parts_of(compare_all(record))
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [
        f"## {facts['processor']}",
        "",
        f"Measured on {facts['date']}: {facts['cores']} cores, load {facts['load']:.1f}; {versions or 'no peers'}.",
        "",
        *cells("Gathers", gathers, aims(record)),
        *cells("Scatters", scatters, []),
        *cells("Bags", bags, []),
    ]
    return "\n".join(lines).rstrip() + "\n"


def sections_of(page: str) -> list[str]:
    """Returns the sections of the processors of a page."""
    return [each.rstrip() + "\n" for each in re.split("^(?=## )", page, flags=re.MULTILINE)[1:]]


def page_of(sections: list[str]) -> str:
    return "\n".join([TITLE, "", METHOD.strip(), "", *sections])


def markdown(record: dict[str, Any], old: str) -> str:
    """Returns the old page with the section of the processor of the record, which replaces its older one."""
    new = section(record)
    title = new.partition("\n")[0]
    others = [each for each in sections_of(old) if each.partition("\n")[0] != title]
    return page_of([new, *others])
