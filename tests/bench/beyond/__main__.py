"""Measures gathers over several processes, and writes docs/beyond.md from the results.

    python3 tests/bench/beyond measure steps|ray|calls|dask --json RAW [--table FILE] [--rounds N]
    python3 tests/bench/beyond report --json RAW --docs FOLDER

Needs the Python package, Ray, dask and distributed. Each measurement adds its part to RAW. The results of contestants
are compared before they are timed. The table has 1.04 GB.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import sys
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))  # machine


def parse(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="beyond", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    todo = parser.add_subparsers(dest="todo", required=True)
    measure = todo.add_parser("measure")
    measure.add_argument("part", choices=["steps", "ray", "calls", "dask"])
    measure.add_argument("--json", type=pathlib.Path, required=True, help="raw results; the measurement is added")
    measure.add_argument(
        "--table", type=pathlib.Path, default="/var/tmp/libgather-beyond.npy", help="created if it does not exist"
    )
    measure.add_argument("--rounds", type=int, default=15)
    report = todo.add_parser("report")
    report.add_argument("--json", type=pathlib.Path, required=True, help="raw results")
    report.add_argument("--docs", type=pathlib.Path, required=True, help="the folder of beyond.md")
    return parser.parse_args(args)


def facts() -> dict[str, Any]:
    from machine import processor

    names = ("numpy", "ray", "dask", "distributed")
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "versions": {name: importlib.metadata.version(name) for name in names},
    }


def measure(part: str, path: pathlib.Path, rounds: int) -> Any:
    from rounds import write_table

    if not path.exists():
        write_table(str(path))
    if part == "steps":
        import steps

        return steps.measure(str(path), rounds)
    if part in ("ray", "calls"):
        import rays

        return rays.measure(str(path), rounds) if part == "ray" else rays.calls(str(path))
    import dasks

    return dasks.measure(str(path), rounds)


def main() -> None:
    options = parse(sys.argv[1:])
    record = json.loads(options.json.read_text()) if options.json.exists() else {}
    if options.todo == "measure":
        record[options.part] = {"facts": facts(), "results": measure(options.part, options.table, options.rounds)}
        options.json.write_text(json.dumps(record))
        return
    from report import report

    options.docs.joinpath("beyond.md").write_text(report(record))


if __name__ == "__main__":  # workers of dask also import this file
    main()
