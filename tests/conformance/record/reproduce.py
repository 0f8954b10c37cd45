"""python -m record.reproduce [SYSTEM] [--every N]

Runs every Nth of the recorded cases of one system, and compares its results with the files.

The default system is NumPy. The program needs only that system, and takes seconds instead of the minutes of --check.
"""

import argparse
import importlib
import sys

from . import __main__ as gathers
from . import systems, worker
from .recordings import Recordings
from .scatter import __main__ as scatters
from .settle import agree

# The other systems run some cases in an unusual way, which the files do not record.
SYSTEMS = ("numpy", "onnx", "onnxruntime")


def main():
    parser = argparse.ArgumentParser(prog="record.reproduce", description=__doc__.splitlines()[2])
    parser.add_argument("system", nargs="?", default="numpy", choices=SYSTEMS)
    parser.add_argument("--every", type=int, default=5, metavar="N")
    arguments = parser.parse_args()
    system = importlib.import_module(f"{__package__}.systems.{arguments.system}")
    found = list(recorded(arguments.system, system))
    sample = found[:: arguments.every]
    if not sample:
        sys.exit(f"no recorded case was answered by {system.SOURCE}")
    differing = [case.name for case, answer in sample if not reproduced(system, case, answer)]
    print(f"{system.SOURCE}: {len(sample)} of {len(found)} recorded cases asked, {len(differing)} differ")
    sys.exit("\n".join(differing) or 0)


def recorded(name, system):
    """Yields the pairs of a case and its answer that this version of the system recorded.

    The cases are missing that can end or hang the process.
    """
    for folder, part in (("gather", gathers), ("scatter", scatters)):
        recordings = Recordings(folder)
        for case in part.cases():
            if systems.OF_PROFILE.get(case.profile) == name:
                source, answer = recordings.ask(case)
                if source == system.SOURCE and not system.risky(case):
                    yield case, answer


def reproduced(system, case, answer):
    if case.updates is not None:
        return scatters.agree(scatters.ask(case)[1], answer)
    return agree(worker.ask(system, case, isolated=False)[0], answer)


if __name__ == "__main__":
    main()
