"""Measures the library beside its peers and the machine's limits.

python3 tests/bench smoke|elements|axes|strings|scatters|bags|report|full --library [NAME=]PATH --limits PATH ...
python3 tests/bench requests ...    # random requests of the Python package; see random_requests.py

Each number of cores has a process of its own. The process is confined to these cores before it imports any peer. All
contestants of a cell take turns in it. Their results are compared before they are timed. Only a wrong result is a
failure.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from machine import processor, version_of

HERE = pathlib.Path(__file__).resolve().parent


def parse(args: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cells", choices=["smoke", "elements", "axes", "strings", "scatters", "bags", "report", "full"])
    parser.add_argument(
        "--library", action="append", required=True, help="[NAME=]PATH; the first library is compared with the peers"
    )
    parser.add_argument("--limits", required=True, help="the library of limits.c")
    parser.add_argument("--cores", help="such as 1,2; default: 1 and all")
    parser.add_argument(
        "--peers",
        help="such as numpy,torch, or none; default: all for report and full, else the peers that import quickly",
    )
    parser.add_argument("--seconds", type=float, help="for each cell; default: 2.5 for full, else 0.5")
    parser.add_argument("--json", type=pathlib.Path, help="raw results")
    parser.add_argument("--markdown", type=pathlib.Path, help="the page that gets the section of this processor")
    parser.add_argument(
        "--python",
        action="store_true",
        help="also measures a small call with each kind of array, and writes the table in the README of the package",
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(args)


def facts(peers: list[str]) -> dict[str, Any]:
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "versions": {name: version_of(name) for name in peers},
    }


def child(options: argparse.Namespace) -> None:
    """Measures with one number of cores and prints the results as JSON."""
    cores = int(options.cores)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ |= {"OMP_NUM_THREADS": str(cores), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    from cells import SETS
    from library import Library
    from measure import measure

    libraries = {}
    for each in options.library:
        name, _, path = each.rpartition("=")
        libraries[name or "libgather"] = Library(path)
    cells = SETS[options.cells]()
    begin, done = time.monotonic(), 0

    def progress(cell: Any) -> None:
        nonlocal done
        done += 1
        seconds = time.monotonic() - begin
        print(f"\r{cores} core(s), cell {done} of {len(cells)}, {seconds:.0f} s ", end="", file=sys.stderr)

    peers = [peer for peer in options.peers.split(",") if peer]
    results = measure(cells, libraries, ctypes.CDLL(options.limits), peers, cores, options.seconds, progress)
    print(file=sys.stderr)
    json.dump(results, sys.stdout)


def run_child(options: argparse.Namespace, peers: list[str], cores: int) -> list[dict[str, Any]]:
    command = [sys.executable, str(HERE), options.cells, "--child", "--cores", str(cores), "--peers", ",".join(peers)]
    command += ["--limits", options.limits, "--seconds", str(options.seconds)]
    for library in options.library:
        command += ["--library", library]
    # Peers may print when they are imported. The results are the last line.
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    results: list[dict[str, Any]] = json.loads(output.splitlines()[-1])
    return results


def measure_python() -> list[dict[str, Any]]:
    """Returns the ratios that bench.py of the Python package measures."""
    command = [sys.executable, str(HERE.parents[1] / "bindings/python/bench.py"), "--json", "--write"]
    ratios: list[dict[str, Any]] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return ratios


def main() -> None:
    if sys.argv[1:2] == ["requests"]:
        from random_requests import main as measure_requests

        measure_requests(sys.argv[2:])
        return
    options = parse(sys.argv[1:])
    if options.child:
        child(options)
        return
    if version_of("numpy") is None:
        raise SystemExit("the benchmark needs NumPy: python3 -m pip install numpy")
    from contestants import PEERS, SMOKE_PEERS
    from report import markdown, table

    names = list(PEERS if options.cells in ("report", "full") else SMOKE_PEERS)
    if options.peers is not None:
        names = [] if options.peers == "none" else options.peers.split(",")
    options.seconds = options.seconds or (2.5 if options.cells == "full" else 0.5)
    peers = [name for name in names if version_of(name)]
    for missing in sorted(set(names) - set(peers)):
        print(f"{missing} is not installed and is not measured", file=sys.stderr)
    available = len(os.sched_getaffinity(0))
    cores = [int(each) for each in options.cores.split(",")] if options.cores else sorted({1, available})
    results = [result for each in cores for result in run_child(options, peers, each)]
    record = {"facts": facts(peers), "results": results}
    if options.python:
        record["python"] = measure_python()
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    if options.markdown:
        old = options.markdown.read_text() if options.markdown.exists() else ""
        options.markdown.write_text(markdown(record, old))
    print(table(record))


if __name__ == "__main__":
    main()
