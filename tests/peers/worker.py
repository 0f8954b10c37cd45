"""Gives one system hostile inputs, in this process: worker.py SYSTEM [NAME]... writes a line of JSON for each.

The last line of a process that died is of the input before the one that it died of. worker.py SYSTEM --exit leaves
while the system is at work.
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
    signal.alarm(HANG_SECONDS)  # whose default action ends a loop that never returns to Python, too
    try:
        INPUTS[name](system)
    except Unable as unable:
        return "unable", str(unable)
    except Wrong as wrong:
        return "other", str(wrong)
    except Exception as error:  # every way to refuse is an answer
        return "error", type(error).__name__
    return "right", ""


def main():
    name, *names = sys.argv[1:]
    # Libraries that print must not break the answers.
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
