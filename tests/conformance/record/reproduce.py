"""python -m record.reproduce [SYSTEM] [--every N]

Runs every Nth of the recorded cases of one system, and compares its results with the files.

The default system is NumPy. The program needs only that system, and takes seconds instead of the minutes of --check.
"""

import argparse
import importlib
import sys

from . import systems, worker
from .files import CASES
from .format import parse
from .scatter import __main__ as scatter
from .settle import agree

# The other systems run some cases in an unusual way, which the files do not record.
SYSTEMS = ("numpy", "onnx", "onnxruntime")


def main():
    parser = argparse.ArgumentParser(prog="record.reproduce", description=__doc__.splitlines()[2])
    parser.add_argument("system", nargs="?", default="numpy", choices=SYSTEMS)
    parser.add_argument("--every", type=int, default=5, metavar="N")
    arguments = parser.parse_args()
    system = importlib.import_module(f"{__package__}.systems.{arguments.system}")
    found = [case for case in recorded(arguments.system) if answered(system, case)]
    sample = found[:: arguments.every]
    if not sample:
        sys.exit(f"no recorded case was answered by {system.SOURCE}")
    differing = [case.name for case in sample if not reproduced(system, case)]
    print(f"{system.SOURCE}: {len(sample)} of {len(found)} recorded cases asked, {len(differing)} differ")
    sys.exit("\n".join(differing) or 0)


def recorded(name):
    for profile, system in systems.OF_PROFILE.items():
        if system == name:
            for path in sorted(CASES.rglob(f"{profile}.txt")):
                yield from parse(path.read_text())


def answered(system, case):
    """Returns true if this version of the system recorded the case, and cannot end or hang the process on it."""
    return case.source == system.SOURCE and not system.risky(case)


def reproduced(system, case):
    if case.updates is not None:
        return scatter.reproduced(case)
    answer, _ = worker.ask(system, case, isolated=False)
    return agree(answer, case.system or case.expect)


if __name__ == "__main__":
    main()
