"""Runs hostile inputs with one system in this process: worker.py SYSTEM [NAME]... writes a line of JSON for each.

If the process ends early, its last line is that of the input before the one that ended it. worker.py SYSTEM --exit ends
the process while the system runs.
"""

import json
import os
import resource
import signal
import sys
import warnings

import exchange  # noqa: F401 - its inputs
import process
from inputs import INPUTS, Wrong
from systems import SYSTEMS, Unable

HANG_SECONDS = 60
MEMORY = 8 << 30  # of addresses


def did(system, name):
    signal.alarm(HANG_SECONDS)  # its default action also ends a loop in native code
    try:
        INPUTS[name](system)
    except Unable as unable:
        return "unable", str(unable)
    except Wrong as wrong:
        return "other", str(wrong)
    except Exception as error:  # every kind of rejection is a result
        return "error", type(error).__name__
    return "right", ""


def main():
    name, *names = sys.argv[1:]
    # Output of libraries must not be mixed with the results.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    system = SYSTEMS[name]()
    if names == ["--exit"]:
        process.exit_while_busy(system)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for each in names:
        outcome, words = did(system, each)
        print(json.dumps({"version": system.version, "input": each, "did": outcome, "words": words}), file=answers)
        answers.flush()


if __name__ == "__main__":
    main()
