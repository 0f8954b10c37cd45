"""Starts the workers and collects what the systems answer."""

import pickle
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .format import ABORT, HANG
from .worker import RISKY

ISOLATED_TIMEOUT = 30  # seconds, imports included
HERE = Path(__file__).resolve().parent


def ask_all(jobs):
    """{system: cases} -> {system: [(source, answer, words)]}, two systems at a time."""
    with ThreadPoolExecutor(2) as pool:
        futures = {system: pool.submit(_ask, system, cases) for system, cases in jobs.items()}
        return {system: future.result() for system, future in futures.items()}


def _ask(system, cases):
    answers = list(_run(system, cases))
    if len(answers) != len(cases):
        raise RuntimeError(f"{system} died of {cases[len(answers)].name}: mark it as risky")
    source = answers[0][0] if answers else system
    return [
        _ask_isolated(system, case, source) if answer[1] == RISKY else answer
        for case, answer in zip(cases, answers)
    ]


def _ask_isolated(system, case, source):
    try:
        answers = list(_run(system, [case], "--isolated", timeout=ISOLATED_TIMEOUT))
    except subprocess.TimeoutExpired:
        return source, HANG, ""
    return answers[0] if answers else (source, ABORT, "")


def _run(system, cases, *options, timeout=None):
    command = [sys.executable, "-m", f"{HERE.name}.worker", system, *options]
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        subprocess.run(
            command, input=pickle.dumps(cases), stdout=stdout, stderr=stderr, cwd=HERE.parent, timeout=timeout
        )
        stdout.seek(0)
        while True:
            try:
                yield pickle.load(stdout)
            except EOFError:
                return
