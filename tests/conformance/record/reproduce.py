"""python -m record.reproduce [SYSTEM] [--every N]

Asks one system, NumPy unless told otherwise, every Nth of the recorded cases that it answered, and compares
its answers with the files. Needs only that system, and seconds instead of the minutes of --check.
"""

import argparse
import importlib
import sys

from . import systems, worker
from .files import CASES
from .format import parse
from .scatter import __main__ as scatter
from .settle import agree

# The others are asked some cases in an unusual way, which the files do not say.
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
    """By this version, in a way that neither ends nor hangs the process."""
    return case.source == system.SOURCE and not system.risky(case)


def reproduced(system, case):
    if case.updates is not None:
        return scatter.reproduced(case)
    answer, _ = worker.ask(system, case, isolated=False)
    return agree(answer, case.system or case.expect)


if __name__ == "__main__":
    main()
