"""Fails if a file of src includes a file of a later layer, or if files of src include each other in a cycle.

A module is a header together with the C++ source of the same name. A file of kernels is a module of its own.
"""

import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"

# Each layer may include itself and the layers before it. cpu and cuda do not include each other.
LAYERS = [
    ("core/base",),
    ("core/os",),
    ("core/types",),
    ("core/options",),
    ("core/meaning",),
    ("core/plan",),
    ("files",),
    ("cpu", "cuda"),
    ("columns",),
    ("execution",),
    ("api",),
]
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}


# Files that count as one module: a device has queues and waiting releases, which are run on the device.
TOGETHER = {"cuda/queue": "cuda/device_state", "cuda/waiting": "cuda/device_state"}


def folder_of(path):
    return next(folder for folder in RANK if path.startswith(folder + "/"))


def includes(path):
    return [
        each for each in re.findall(r'^#include "([^"]+)"', (SRC / path).read_text(), re.M) if (SRC / each).exists()
    ]


def find_wrong_layers(files):
    for path in files:
        for included in includes(path):
            mine, other = folder_of(path), folder_of(included)
            if RANK[other] > RANK[mine] or (RANK[other] == RANK[mine] and mine != other):
                yield f"{path} includes {included}, of a later layer"


def module_of(path):
    name = path if path.endswith(".cu") else path.rsplit(".", 1)[0]
    return TOGETHER.get(name, name)


def find_cycle(graph):
    """Returns the modules of one cycle, or nothing."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return None
        path.append(module)
        for other in sorted(graph.get(module, ())):
            if cycle := visit(other):
                return cycle
        path.pop()
        done.add(module)
        return None

    return next(filter(None, map(visit, sorted(graph))), None)


def main():
    files = [
        str(path.relative_to(SRC))
        for path in sorted(SRC.rglob("*"))
        if path.suffix in {".hpp", ".cpp", ".cu"} and "package" not in path.parts
    ]
    lines = list(find_wrong_layers(files))
    graph = {}
    for path in files:
        graph.setdefault(module_of(path), set()).update(module_of(each) for each in includes(path))
    for module, others in graph.items():
        others.discard(module)
    if cycle := find_cycle(graph):
        lines.append("include cycle: " + " -> ".join(cycle))
    print("\n".join(lines or [f"{len(files)} files in {len(LAYERS)} layers"]))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
