"""Compares a small call on each kind of array with the same call of its own library: one row of 64 floats of 1000.

    bench.py            prints ratios and nanoseconds
    bench.py --write    writes the table in README.md
    bench.py --json     prints the ratios as JSON, for tests/bench --python; can be combined with --write

Both calls run alternately in one process, so a disturbance of the machine affects both. A ratio is the median of many
rounds. A library that is not installed is skipped with a message.
"""

from __future__ import annotations

import json
import statistics
import sys
import timeit
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import libgather

ROUNDS, CALLS = 41, 400
README = Path(__file__).resolve().parent / "README.md"
BEGIN, END = "<!-- bench.py --write -->\n", "<!-- end of bench.py -->\n"
HEADING = ("call", "compared with", "ratio")

#: For each library: the function that converts NumPy arrays, and pairs of our call and the library's own call.
KINDS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "numpy": (
        "np.asarray",
        [
            ("gather(params, indices)", "np.take(params, indices, 0)"),
            ("gather(params, indices, out=out)", "np.take(params, indices, 0, out)"),
            ("gather(params, indices, bounds='clamp')", "np.take(params, indices, 0, mode='clip')"),
            ("gather(params, indices, fill_value=0.0)", "np.take(params, indices, 0)"),
            ("gather(params, [5])", "np.take(params, [5], 0)"),
            ("gather(params, 5)", "np.take(params, 5, 0)"),
            ("plan(params, indices)", "gather(params, indices)"),
            ("plan(params, indices, out)", "gather(params, indices, out=out)"),
            ("bound()", "plan(params, indices, out)"),
        ],
    ),
    "torch": (
        "torch.from_numpy",
        [
            ("gather(params, indices)", "torch.index_select(params, 0, indices)"),
            ("gather(params, indices)", "torch.nn.functional.embedding(indices, params)"),
            ("gather(params, indices, out=out)", "torch.index_select(params, 0, indices, out=out)"),
            ("plan(params, indices)", "gather(params, indices)"),
            ("plan(params, indices, out)", "gather(params, indices, out=out)"),
            ("bound()", "plan(params, indices, out)"),
        ],
    ),
    "pyarrow": (
        "lambda array: pyarrow.array(array.reshape(-1))",
        [("gather(params, indices)", "params.take(indices)")],
    ),
    "jax": (
        "jax.numpy.asarray",
        [
            ("gather(params, indices)", "jax.numpy.take(params, indices, 0).block_until_ready()"),
            ("libgather.jax.gather(params, indices)", "jax.numpy.take(params, indices, 0)"),
        ],
    ),
    "tensorflow": (
        "tensorflow.constant",
        [
            ("gather(params, indices)", "tensorflow.gather(params, indices)"),
            ("libgather.tf.gather(params, indices)", "tensorflow.gather(params, indices)"),
        ],
    ),
}


def names_of(library: str) -> dict[str, Any]:
    """Returns the variables that the calls of a library use."""
    names = {"np": np, "libgather": libgather, "gather": libgather.gather, library: import_module(library)}
    make = eval(KINDS[library][0], names)
    for name, array in (("params", np.ones((1000, 64), "f4")), ("indices", [5]), ("out", np.empty((1, 64), "f4"))):
        names[name] = make(np.asarray(array))
    if any("plan" in call for call, _ in KINDS[library][1]):
        names["plan"] = libgather.Plan(names["params"], libgather.Spec("int64", (-1,)))
        names["bound"] = names["plan"].bind(names["params"], names["indices"], names["out"])
    return names


def measured() -> Iterator[tuple[str, str, str, float, float]]:
    """Yields for each call: the library, our call, the compared call, the ratio, and the best time in nanoseconds."""
    for library, (_, calls) in KINDS.items():
        try:
            names = names_of(library)
        except ImportError:
            print(f"{library} is not installed: it is left out", file=sys.stderr)
            continue
        for ours, theirs in calls:
            timers = [timeit.Timer(call, globals=names) for call in (ours, theirs)]
            rounds = [[timer.timeit(CALLS) / CALLS * 1e9 for timer in timers] for _ in range(ROUNDS)]
            yield library, ours, theirs, statistics.median(a / b for a, b in rounds), min(a for a, _ in rounds)


def table_of(rows: list[tuple[str, str, str, float, float]]) -> str:
    lines = [f"| arrays of | {' | '.join(HEADING)} |", "|---|---|---|---|"]
    lines += [f"| {library} | `{ours}` | `{theirs}` | {ratio:.2f} |" for library, ours, theirs, ratio, _ in rows]
    return "\n".join(lines) + "\n"


def write(rows: list[tuple[str, str, str, float, float]]) -> None:
    text = README.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    README.write_text(f"{head}{BEGIN}{table_of(rows)}{END}{rest.split(END)[1]}", encoding="utf-8")


def main(arguments: list[str]) -> int:
    if not {*arguments} <= {"--write", "--json"}:
        print(__doc__)
        return 2
    rows = list(measured())
    if "--write" in arguments:
        write(rows)
    if "--json" in arguments:
        fields = ("library", "call", "against", "ratio", "nanoseconds")
        print(json.dumps([dict(zip(fields, row, strict=True)) for row in rows], indent=1))
    if not arguments:
        for library, ours, theirs, ratio, best in rows:
            print(f"{ratio:6.2f} {best:8.0f} ns  {library:10} {ours:40} {theirs}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
