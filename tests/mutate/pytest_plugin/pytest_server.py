"""Runs pytest in a fork of this process for each line of the input: arguments, the file for the output, and variables.

A fork has pytest and the other packages that the tests need, but not the package under test. For each line, the exit
status is printed. A fork that uses too much processor time is killed.
"""

import json
import os
import resource
import sys

import hypothesis.extra.numpy  # noqa: F401
import ml_dtypes  # noqa: F401
import pyarrow  # noqa: F401
import pytest

PROCESSOR_TIME = 300  # seconds


def run(words, output, variables):
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_TIME, PROCESSOR_TIME))
    os.environ.update(variables)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for old in (1, 2):
        os.dup2(file, old)
    return int(pytest.main(words))


for line in sys.stdin:
    child = os.fork()
    if not child:
        status = run(*json.loads(line))
        sys.stdout.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
