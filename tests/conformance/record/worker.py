"""Runs one system over pickled cases in a process of its own.

    python -m record.worker SYSTEM [--isolated] < cases > answers

Without --isolated, cases that may end or hang the process are marked and not run. The worker sends its results one by
one. So the parent can find the case at which a worker ended.
"""

import importlib
import os
import pickle
import signal
import sys

from .format import Error, Ok, tensor

NOT_EXPRESSED = "not expressed"
RISKY = "risky"
HANG_SECONDS = 15


def main():
    name, isolated = sys.argv[1], "--isolated" in sys.argv
    # Output of libraries must not be mixed with the results.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    system = importlib.import_module(f"{__package__}.systems.{name}")
    if isolated:
        # The default action of the alarm also ends a loop in native code.
        signal.alarm(HANG_SECONDS)
    for case in pickle.load(sys.stdin.buffer):
        pickle.dump((system.SOURCE, *ask(system, case, isolated)), answers)
        answers.flush()


def ask(system, case, isolated):
    """Returns the result, and the message of the system if it rejects the case."""
    if not system.expresses(case):
        return NOT_EXPRESSED, ""
    if system.risky(case) and not isolated:
        return RISKY, ""
    try:
        result = tensor(system.run(case))
    except Exception as error:  # every kind of rejection is a result
        return Error(), f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return Ok(result.dtype, result.shape, result.memory), ""


if __name__ == "__main__":
    main()
